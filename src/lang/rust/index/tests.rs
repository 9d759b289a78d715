//! What an index says of small files; expectations worked out by hand.

use super::index;
use crate::ir::body::ProblemKind;
use crate::ir::index::{FileIndex, Function, ItemId, Receiver, Role, TypeRef};
use crate::lang::rust::slice::{Form, slice};
use crate::source::{Language, Tree};

fn tree(files: &[(&str, &str)]) -> Tree {
    let text = |(path, text): &(&str, &str)| {
        let language = if path.ends_with(".rs") { Language::Rust } else { Language::Other };
        ((*path).to_owned(), language, (*text).to_owned())
    };
    Tree::from_texts(files.iter().map(text).collect())
}

fn indexed(text: &str) -> FileIndex {
    let tree = tree(&[("src/a.rs", text)]);
    index(tree.at("src/a.rs").unwrap(), &tree)
}

fn function<'i>(index: &'i FileIndex, name: &str) -> &'i Function {
    index.functions.iter().find(|function| function.name == name).unwrap()
}

fn named(name: &str, arguments: &[TypeRef]) -> TypeRef {
    let path = crate::ir::index::Path::parse(name);
    TypeRef::Named { path, arguments: arguments.to_vec() }
}

#[test]
fn a_method_knows_its_block_its_bounds_and_how_it_is_called() {
    let index = indexed(
        "impl<S: Store> Lock for RedisLock<S> where S: Clone {\n\
         /// Takes the\n    /// lease.\n    ///\n    /// More.\n    #[instrument(skip(self))]\n\
         async fn acquire<T>(&self, key: &str, ttl: Option<Box<Duration>>, (a, b): (u8, T)) \
         -> Result<Arc<Guard>, Error> where T: Into<u8> { self.store.set_nx(key)?; info!(\"x\"); }\n}",
    );
    let acquire = function(&index, "acquire");
    assert_eq!(acquire.owner, Some(named("RedisLock", &[named("S", &[])])));
    assert_eq!(acquire.of_trait.as_ref().unwrap().to_string(), "Lock");
    assert_eq!(acquire.receiver, Receiver::Borrowed);
    assert!(acquire.is_async && acquire.has_body);
    assert_eq!(acquire.returns, named("Result", &[named("Guard", &[]), named("Error", &[])]));
    let names: Vec<&str> = acquire.parameters.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["key", "ttl", ""]);
    assert_eq!(acquire.parameters[0].ty, named("str", &[]));
    assert_eq!(acquire.parameters[1].ty, named("Option", &[named("Duration", &[])]));
    let store = vec![named("Store", &[]), named("Clone", &[])];
    let into = vec![named("Into", &[named("u8", &[])])];
    assert_eq!(acquire.generics, [("S".to_owned(), store), ("T".to_owned(), into)]);
}

#[test]
fn functions_that_return_futures_are_async_and_return_the_output() {
    let index = indexed(
        "fn a() -> impl Future<Output = Result<u8>> + Send { x }\n\
         fn b() -> Pin<Box<dyn Future<Output = bool> + Send + 'static>> { x }\n\
         fn c(&self) -> BoxFuture<'_, u8> { x }\n\
         fn d() -> Box<dyn Fn(u8) -> bool> { x }",
    );
    assert_eq!(function(&index, "a").returns, named("Result", &[named("u8", &[])]));
    assert_eq!(function(&index, "b").returns, named("bool", &[]));
    assert_eq!(function(&index, "c").returns, named("u8", &[]));
    assert!(index.functions.iter().take(3).all(|function| function.is_async));
    let closure = TypeRef::Function {
        parameters: vec![named("u8", &[])],
        returns: Box::new(named("bool", &[])),
    };
    assert_eq!(function(&index, "d").returns, TypeRef::Bounds(vec![closure]));
}

#[test]
fn places_are_bytes_of_the_file_after_a_first_line_and_with_any_line_end() {
    let text = "\u{feff}#!/usr/bin/env run\r\n---\r\n[x]\r\n---\r\n// é🔒\r\nfn ключ() {}\r\npub(crate) fn r#try() {}\r\n";
    let tree = tree(&[("src/a.rs", text)]);
    let file = tree.at("src/a.rs").unwrap();
    let index = index(file, &tree);
    let names: Vec<&str> = index.functions.iter().map(|one| file.slice(one.name_span)).collect();
    assert_eq!(names, ["ключ", "r#try"]);
    let spans: Vec<&str> = index.functions.iter().map(|one| file.slice(one.span)).collect();
    assert_eq!(spans, ["fn ключ() {}", "pub(crate) fn r#try() {}"]);
    assert_eq!(index.functions[1].name, "try");
    assert!(index.problems.is_empty());
}

#[test]
fn nested_items_are_found_and_stand_in_the_scope_of_their_function() {
    let index = indexed(
        "fn outer() { use redis::cmd as run; fn inner() { const K: u8 = 1; } struct S; }\n\
         mod m { pub fn deep() {} }\n\
         cfg_if! { if #[cfg(a)] { fn one() {} } else { fn two() {} } }\n\
         cfg_rt! { pub fn three() {} }\n\
         static L: Lazy<u8> = Lazy::new(|| { fn four() {} 1 });",
    );
    let scopes: Vec<String> =
        index.functions.iter().map(|one| format!("{}::{}", one.scope, one.name)).collect();
    assert_eq!(
        scopes,
        [
            "src::a::outer",
            "src::a::outer::inner",
            "src::a::m::deep",
            "src::a::one",
            "src::a::two",
            "src::a::three",
            "src::a::four",
        ]
    );
    assert_eq!(index.imports[0].scope.to_string(), "src::a::outer");
    assert_eq!(
        (index.imports[0].path.to_string().as_str(), index.imports[0].name.as_str()),
        ("redis::cmd", "run")
    );
    assert_eq!(index.constants[0].scope.to_string(), "src::a::outer::inner");
    assert_eq!(index.types[0].scope.to_string(), "src::a::outer");
}

#[test]
fn use_trees_are_flat() {
    let index = indexed(
        "pub use a::{self, b::*, c as d, e::{f, g as _}};\nextern crate h as i;\nuse ::j::r#type;",
    );
    let flat: Vec<String> =
        index.imports.iter().map(|one| format!("{} {}", one.path, one.name)).collect();
    assert_eq!(flat, ["a a", "a::b *", "a::c d", "a::e::f f", "a::e::g _", "h i", "j::type type",]);
}

#[test]
fn contracts_of_macros_are_things_of_the_macro() {
    let index = indexed(
        "sol! { #[sol(rpc)] interface Token { function pause() external; } contract Shop is Base {} }\n\
         ethers::abigen!(Pair, \"abi/pair.json\"; Router, r#\"[{}]\"#,);\n\
         labels!(Order, \"order\");",
    );
    let flat: Vec<String> =
        index.imports.iter().map(|one| format!("{} {}", one.path, one.name)).collect();
    assert_eq!(
        flat,
        [
            "sol::Token Token",
            "sol::Shop Shop",
            "ethers::abigen::Pair Pair",
            "ethers::abigen::Router Router",
        ]
    );
}

#[test]
fn constants_are_sliced_with_their_value() {
    let text = "pub const TTL: u64 = 30;\n\
                lazy_static! { /// Doc.\n pub static ref SCRIPT: Script = Script::new(\"x\"); }\n\
                thread_local! { static T: Cell<u8> = Cell::new(1) }\n\
                impl Keys { const PREFIX: &'static str = \"lock:\"; }\n\
                trait Ttl { const MS: u64 = 5; fn ms(&self) -> u64 { 1 } }";
    let tree = tree(&[("src/a.rs", text)]);
    let file = tree.at("src/a.rs").unwrap();
    let index = index(file, &tree);
    let slices: Vec<(&str, Form)> = (0..5)
        .map(|at| slice(file, &index, ItemId::Constant(at)).unwrap())
        .map(|slice| (slice.text, slice.form))
        .collect();
    assert_eq!(slices[0], ("pub const TTL: u64 = 30;", Form::Constant));
    let script = "/// Doc.\n pub static ref SCRIPT: Script = Script::new(\"x\");";
    assert_eq!(slices[1], (script, Form::Constant));
    assert_eq!(slices[2], ("static T: Cell<u8> = Cell::new(1)", Form::Constant));
    let prefix = "const PREFIX: &'static str = \"lock:\";";
    assert_eq!(slices[3], (prefix, Form::AssociatedConstant));
    assert_eq!(slices[4], ("const MS: u64 = 5;", Form::AssociatedConstant));
    let method = slice(file, &index, ItemId::Function(0)).unwrap();
    assert_eq!((method.text, method.form), ("fn ms(&self) -> u64 { 1 }", Form::TraitMethod));
    assert!(slice(file, &index, ItemId::Function(1)).is_none());
}

#[test]
fn types_have_fields_variants_aliases_and_derives() {
    let index = indexed(
        "#[derive(Clone, Debug)] struct A<T: X> { conn: Arc<Mutex<T>>, r#type: u8 }\n\
         struct B(u8, Option<String>);\n\
         enum C { D, E(u8), F { g: bool } }\n\
         type H<T> = Result<T, Error>;\n\
         union I { j: u8 }",
    );
    let fields: Vec<&str> = index.types[0].fields.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(fields, ["conn", "type"]);
    assert_eq!(index.types[0].fields[0].1, named("Mutex", &[named("T", &[])]));
    assert_eq!(index.types[0].attributes, [("derive".to_owned(), "Clone, Debug".to_owned())]);
    assert_eq!(index.types[1].fields[1].0, "1");
    assert_eq!(index.types[2].variants[2].1[0].0, "g");
    let alias = named("Result", &[named("T", &[]), named("Error", &[])]);
    assert_eq!(index.types[3].alias, Some(alias));
    assert_eq!(index.types.len(), 5);
}

#[test]
fn tables_of_two_libraries_are_declared() {
    let index = indexed(
        "diesel::table! {\n  use x::*;\n  #[sql_name = \"orders\"]\n  shop.orders_v (id, a) {\n    \
         id -> Int4,\n    /// D\n    #[max_length = 3]\n    #[sql_name = \"type\"]\n    \
         kind -> Nullable<Array<Text>>,\n  }\n}\n\
         #[derive(DeriveEntityModel)]\n#[sea_orm(schema_name = \"s\", table_name = \"refunds\")]\n\
         pub struct Model { #[sea_orm(primary_key, auto_increment = false)] pub id: i64, \
         #[sea_orm(column_name = \"ver\")] pub version: Option<i32> }",
    );
    let column =
        |code: &str, name: &str, ty: &str| (code.to_owned(), name.to_owned(), ty.to_owned());
    let [diesel, orm] = index.tables.as_slice() else { panic!("two tables") };
    assert_eq!(
        (diesel.table.as_str(), diesel.module.to_string().as_str()),
        ("orders", "src::a::orders_v")
    );
    assert_eq!(
        diesel.columns,
        [column("id", "id", "Int4"), column("kind", "type", "Nullable<Array<Text>>")]
    );
    assert_eq!(diesel.primary_key, ["id", "a"]);
    assert_eq!((orm.table.as_str(), orm.module.to_string().as_str()), ("refunds", "src::a"));
    assert_eq!(orm.columns, [column("id", "id", "i64"), column("version", "ver", "Option<i32>")]);
    assert_eq!(orm.primary_key, ["id"]);
}

#[test]
fn test_code_is_told_by_attributes_modules_and_names() {
    let index = indexed(
        "#[cfg(test)] mod checks { fn a() {} }\n#[tokio::test] async fn b() {}\n\
         impl Lock for MockLock { fn c(&self) {} }\nfn d() {}\nmod testing { fn e() {} }",
    );
    let test = |name: &str| function(&index, name).role == Role::Test;
    assert!(test("a") && test("b") && test("c") && test("e") && !test("d"));
}

#[test]
fn modules_in_other_files_are_named() {
    let files = [
        ("src/lib.rs", "#[path = \"odd.rs\"] mod a;\npub mod b;\nmod none;"),
        ("src/odd.rs", ""),
        ("src/b/mod.rs", ""),
    ];
    let tree = tree(&files);
    let index = index(tree.at("src/lib.rs").unwrap(), &tree);
    let found: Vec<Option<&str>> = index.modules.iter().map(|one| one.file.as_deref()).collect();
    assert_eq!(found, [Some("src/odd.rs"), Some("src/b/mod.rs"), None]);
}

#[test]
fn what_is_lost_is_reported_and_the_rest_is_indexed() {
    let text = format!(
        "fn a() {{}}\nfn b() {{ let = 1; }}\nfn c() {{ {}1{}; }}\nfn d() {{}}",
        "(".repeat(5000),
        ")".repeat(5000)
    );
    let index = indexed(&text);
    let names: Vec<&str> = index.functions.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["a", "d"]);
    let [syntax, limit] = index.problems.as_slice() else { panic!("two problems") };
    assert_eq!((syntax.kind, syntax.span.start), (ProblemKind::Syntax, 23));
    assert_eq!(limit.kind, ProblemKind::Limit);
}
