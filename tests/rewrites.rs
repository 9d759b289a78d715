//! A critical section is the same wherever it stands: every fixture that marks a region is linted again
//! with the region moved into a function, into a closure and into a function of another file, and must say
//! as much each time: every mark is a finding's place or one of its steps, and there are no more findings
//! than marks. Marks are part of the text, so they move with it.
//!
//! ```text
//! // <region> remove(conn, &key): (conn: &mut Connection, key: &str) -> RedisResult<u64> as gone
//! let gone: u64 = conn.del(&key).await?;
//! // </region>
//! ```
//!
//! Before the colon stands the call that takes the region's place; behind it are the parameters and the
//! type of the function. `as` names what the region binds and the rest of the code uses.

use std::path::Path;

use leaselint::config::Settings;
use leaselint::source::{Language, Tree};

use crate::{fixtures, marks, package, text};

/// A marked region of a text.
struct Region<'t> {
    before: &'t str,
    inside: &'t str,
    after: &'t str,
    /// The call without its arguments.
    name: &'t str,
    arguments: &'t str,
    parameters: &'t str,
    result: &'t str,
    bound: Option<&'t str>,
}

impl<'t> Region<'t> {
    /// The first region of a text; `None` when there is none.
    fn of(text: &'t str) -> Option<Self> {
        let (before, rest) = text.split_once("// <region> ")?;
        let (head, rest) = rest.split_once('\n')?;
        let (inside, after) = rest.split_once("// </region>\n").expect("a region that ends");
        let (call, function) = head.split_once("): (").expect("a call and its function");
        let (name, arguments) = call.split_once('(').expect("a call");
        let (parameters, result) = function.split_once(") -> ").expect("a result");
        let (result, bound) = match result.split_once(" as ") {
            Some((result, bound)) => (result, Some(bound)),
            None => (result, None),
        };
        Some(Self { before, inside, after, name, arguments, parameters, result, bound })
    }

    fn is_async(&self) -> bool {
        self.inside.contains(".await")
    }

    /// The statement that takes the region's place.
    fn call(&self, arguments: &str) -> String {
        let bound = self.bound.map(|name| format!("let {name} = ")).unwrap_or_default();
        let wait = if self.is_async() { ".await" } else { "" };
        format!("{bound}{}({arguments}){wait}?;\n", self.name)
    }

    /// The region as the body of a function.
    fn body(&self) -> String {
        format!("{{\n{}Ok({})\n}}", self.inside, self.bound.unwrap_or("()"))
    }

    fn function(&self, visibility: &str) -> String {
        let wait = if self.is_async() { "async " } else { "" };
        let Self { name, parameters, result, .. } = self;
        format!("{visibility}{wait}fn {name}({parameters}) -> {result} {}\n", self.body())
    }

    fn in_function(&self) -> Vec<(String, String)> {
        let text = format!("{}{}{}", self.before, self.call(self.arguments), self.after);
        vec![("src/lib.rs".to_owned(), format!("{text}\n{}", self.function("")))]
    }

    fn in_closure(&self) -> Vec<(String, String)> {
        let wait = if self.is_async() { "async " } else { "" };
        let closure =
            format!("let mut {} = {wait}|| -> {} {};\n", self.name, self.result, self.body());
        let text = format!("{}{closure}{}{}", self.before, self.call(""), self.after);
        vec![("src/lib.rs".to_owned(), text)]
    }

    fn in_another_file(&self) -> Vec<(String, String)> {
        let name = self.name;
        let text = format!(
            "mod elsewhere;\nuse elsewhere::{name};\n{}{}{}",
            self.before,
            self.call(self.arguments),
            self.after
        );
        let imports = self.before.split_inclusive(';').map(str::trim_start);
        let imports: String = imports
            .filter(|item| item.starts_with("use "))
            .map(|item| format!("{item}\n"))
            .collect();
        let other = format!("{imports}use super::*;\n\n{}", self.function("pub "));
        vec![("src/lib.rs".to_owned(), text), ("src/elsewhere.rs".to_owned(), other)]
    }
}

fn project(files: Vec<(String, String)>) -> Tree {
    let manifest = "[package]\nname = \"rewritten\"\n[dependencies]\nredis = \"1\"\n".to_owned();
    let mut texts = vec![("Cargo.toml".to_owned(), Language::Other, manifest)];
    texts.extend(files.into_iter().map(|(path, text)| (path, Language::Rust, text)));
    Tree::from_texts(texts)
}

/// The differences of all rewrites of one fixture, and how many there were.
fn differences(path: &Path) -> (usize, Vec<String>) {
    let text = text(path);
    let Some(region) = Region::of(&text) else { return (0, Vec::new()) };
    let rewrites = [
        ("in a function", region.in_function()),
        ("in a closure", region.in_closure()),
        ("in another file", region.in_another_file()),
    ];
    let count = rewrites.len();
    let place = path.strip_prefix(package()).unwrap().display();
    let told = rewrites.into_iter().flat_map(|(form, files)| {
        let found = marks::differences_up_to_steps(project(files), Settings::default());
        let place = &place;
        found.into_iter().map(move |fault| format!("{place} {form}: {fault}")).collect::<Vec<_>>()
    });
    (count, told.collect())
}

#[test]
fn a_moved_region_says_the_same() {
    crate::on_large_stack(|| {
        let single = fixtures::cases()
            .into_values()
            .flatten()
            .filter(|case| case.extension().is_some_and(|extension| extension == "rs"));
        let all: Vec<_> = single.map(|case| differences(&case)).collect();
        let rewrites: usize = all.iter().map(|(count, _)| count).sum();
        let told: Vec<String> = all.into_iter().flat_map(|(_, told)| told).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
        assert!(rewrites >= 45, "only {rewrites} rewrites: are the regions still marked?");
    });
}

#[test]
fn a_region_is_read_and_moved() {
    let text = "use a::{b, c};\nfn f() {\n// <region> moved(x, &y): (x: X, y: &Y) -> R<u8> as z\n\
                let z = x.go(y)?; //~ rule\n// </region>\nuse_it(z);\n}\n";
    let region = Region::of(text).unwrap();
    let [(_, file)] = region.in_function().try_into().unwrap();
    let expected = "use a::{b, c};\nfn f() {\nlet z = moved(x, &y)?;\nuse_it(z);\n}\n\n\
                    fn moved(x: X, y: &Y) -> R<u8> {\nlet z = x.go(y)?; //~ rule\nOk(z)\n}\n";
    assert_eq!(file, expected);
    let [(_, file)] = region.in_closure().try_into().unwrap();
    let expected = "use a::{b, c};\nfn f() {\nlet mut moved = || -> R<u8> {\n\
                    let z = x.go(y)?; //~ rule\nOk(z)\n};\nlet z = moved()?;\nuse_it(z);\n}\n";
    assert_eq!(file, expected);
    let [_, (path, file)] = region.in_another_file().try_into().unwrap();
    assert_eq!(path, "src/elsewhere.rs");
    let expected = "use a::{b, c};\nuse super::*;\n\npub fn moved(x: X, y: &Y) -> R<u8> {\n\
                    let z = x.go(y)?; //~ rule\nOk(z)\n}\n";
    assert_eq!(file, expected);
}
