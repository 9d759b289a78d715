//! What rules take and make, worked out by hand.

use super::*;
use crate::ir::index::Path;
use crate::source::{FileId, Language, SourceFile};

/// What a call of a macro with these rules stands for, without white space.
fn made(rules: &str, arguments: &str) -> Result<String, Failure> {
    expansion(rules, arguments, &[]).map(|made| squeezed(&made.text))
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// The definition stands in file 0, the arguments in file 1; the caller has variables in sight.
fn expansion(rules: &str, arguments: &str, variables: &[&str]) -> Result<Expansion, Failure> {
    let mut tree = Tree::default();
    for (path, text) in [("a.rs", rules), ("b.rs", arguments)] {
        tree.push(|id| SourceFile::new(id, path, Language::Rust, text));
    }
    let definition = MacroDefinition {
        name: "m".to_owned(),
        scope: Path::parse("locks::keys"),
        visible: Path::parse("locks::keys"),
        exported: true,
        rules: tree.file(FileId(0)).unwrap().whole(),
    };
    let place = Place { file: FileId(1), base: 0, made: None };
    let in_sight = |name: &str| variables.contains(&name);
    let arguments = Arguments {
        tokens: arguments.parse().unwrap(),
        place: &place,
        crate_name: Some("shop"),
        in_sight: &in_sight,
    };
    Expander::new(&tree, 100_000).expand(&definition, &arguments)
}

const NO_RULE: Failure = Failure::Unknown("its arguments fit no rule of the definition");

#[test]
fn the_first_rule_that_takes_the_arguments_is_used() {
    let rules = "() => { none }; ($a:literal) => { literal($a) }; ($a:ident) => { name($a) };
        ($($rest:tt)*) => { rest($($rest)*) }";
    assert_eq!(made(rules, "").unwrap(), "none");
    assert_eq!(made(rules, "-3").unwrap(), "literal(-3)");
    assert_eq!(made(rules, "async").unwrap(), "name(async)");
    assert_eq!(made(rules, "a => 'b c::d").unwrap(), "rest(a=>'bc::d)");
    assert_eq!(made("($a:ident) => { $a }", "1"), Err(NO_RULE));
    assert_eq!(made("($a:ident) => { $a }", "a b"), Err(NO_RULE));
}

#[test]
fn every_kind_of_fragment_is_taken_whole() {
    let of = |kind: &str, text: &str| made(&format!("(< $a:{kind} ; >) => {{ [$a] }}"), text);
    assert_eq!(of("expr", "< a + b(c) ; >").unwrap(), "[(a+b(c))]");
    assert_eq!(of("expr", "< a.b(c).await? ; >").unwrap(), "[a.b(c).await?]");
    assert_eq!(of("expr", "< a.b::<C>(d)[0] ; >").unwrap(), "[(a.b::<C>(d)[0])]");
    assert_eq!(of("expr", "< key ; >").unwrap(), "[key]");
    assert_eq!(of("ty", "< &'a Vec<Option<T>> ; >").unwrap(), "[&'aVec<Option<T>>]");
    assert_eq!(of("path", "< ::a::B<C> ; >").unwrap(), "[::a::B<C>]");
    assert_eq!(of("pat", "< Some(1) | None ; >").unwrap(), "[Some(1)|None]");
    assert_eq!(of("lifetime", "< 'static ; >").unwrap(), "['static]");
    assert_eq!(of("meta", "< derive(Clone) ; >").unwrap(), "[derive(Clone)]");
    assert_eq!(of("vis", "< pub(crate) ; >").unwrap(), "[pub(crate)]");
    assert_eq!(of("vis", "< ; >").unwrap(), "[]");
    assert_eq!(of("block", "< { a; b } ; >").unwrap(), "[{a;b}]");
    assert_eq!(of("stmt", "< let a = b ; >").unwrap(), "[leta=b]");
    assert_eq!(of("item", "< struct A; ; >").unwrap(), "[structA;]");
    assert_eq!(of("tt", "< ..= ; >").unwrap(), "[..=]");
    assert_eq!(of("literal", "< a ; >"), Err(NO_RULE));
}

#[test]
fn repetitions_nest_and_have_separators() {
    let rules = "($($key:ident => [$($field:expr),* $(,)?]);+ $(;)?) => {
        $(pub fn $key() { $(put(stringify!($key), $field);)* })+
    }";
    assert_eq!(
        made(rules, "a => [1, x, ]; b => [];").unwrap(),
        "pubfna(){put(stringify!(a),1);put(stringify!(a),x);}pubfnb(){}"
    );
    let joined = "($($a:ident)|*) => { $($a)+* }";
    assert_eq!(made(joined, "a | b | c").unwrap(), "a+b+c");
    assert_eq!(made("($(a)?, $($b:ident)?) => { $([$b])? }", ", x").unwrap(), "[x]");
    assert_eq!(made("($($a:ident),+) => { $($a)* }", ""), Err(NO_RULE));
    let both = "($($a:ident)*; $($b:ident)*) => { $($a = $b;)* }";
    assert_eq!(made(both, "a b; c d").unwrap(), "a=c;b=d;");
    let differ = Failure::Unknown("its repetitions differ in length");
    assert_eq!(made(both, "a b; c"), Err(differ));
    let arrows = "($($k:ident)=>*) => { $($k)=>* }";
    assert_eq!(made(arrows, "a => b").unwrap(), "a=>b");
}

#[test]
fn types_before_a_path_and_crates_are_named() {
    assert_eq!(made("($t:ty) => { $t::new() }", "Vec<u8>").unwrap(), "<Vec<u8>>::new()");
    assert_eq!(made("($t:ty) => { $t::new() }", "Client").unwrap(), "Client::new()");
    assert_eq!(made("() => { $crate::key() }", "").unwrap(), "locks::key()");
}

#[test]
fn variables_of_the_template_do_not_hide_those_of_the_caller() {
    let rules = "($key:expr) => {{
        let conn: Conn = self.conn.take(conn::new());
        conn.del($key, Pair { conn: conn })
    }}";
    assert_eq!(
        squeezed(&expansion(rules, "key(conn)", &["conn"]).unwrap().text),
        "{letconn_:Conn=self.conn.take(conn::new());conn_.del(key(conn),Pair{conn:conn_})}"
    );
    assert!(made(rules, "key").unwrap().starts_with("{letconn:Conn="));
    let arms =
        "($of:expr, $key:expr) => { match $of { Some(n) if key => $key + n, other => other } }";
    assert_eq!(
        squeezed(&expansion(arms, "key, n(other)", &["n", "other", "key"]).unwrap().text),
        "matchkey{Some(n_)ifkey=>n(other)+n_,other_=>other_}"
    );
}

#[test]
fn tokens_keep_their_places() {
    let made = expansion("($c:ident, $k:expr) => { $c.del($k) }", "conn, key(1)", &[]).unwrap();
    let piece = |text: &str| {
        let at = u32::try_from(made.text.find(text).unwrap()).unwrap();
        made.place(at..at + u32::try_from(text.len()).unwrap()).unwrap()
    };
    let place = |file, start, end| Span::new(FileId(file), start, end);
    assert_eq!(piece("conn"), place(1, 0, 4));
    assert_eq!(piece("key ( 1 )"), place(1, 6, 12));
    assert_eq!(piece("del"), place(0, 28, 31));
    assert_eq!(piece(&made.text), place(0, 34, 35));
}

#[test]
fn what_is_not_a_template_is_not_followed() {
    let failure = |rules: &str, arguments: &str| made(rules, arguments).unwrap_err().reason();
    let (unread, other) =
        ("its definition is not read", "its definition uses what is not followed");
    assert_eq!(failure("($a:ident) -> { $a }", "a"), unread);
    assert_eq!(failure("($a:ident) => { ${count(a)} }", "a"), other);
    assert_eq!(failure("($a:pattern) => { $a }", "a"), other);
    assert_eq!(failure("($a:ident) => { $($a)* }", "a"), "its definition repeats nothing");
    let less = "its definition repeats less than it matches";
    assert_eq!(failure("($($a:ident)*) => { $a }", "a"), less);
}

#[test]
fn what_grows_without_end_is_given_up() {
    let doubled = "($($a:tt)*) => { $($a)* $($a)* }";
    let mut text = "a b c d e f g h i j".to_owned();
    let mut turns = 0;
    let failure = loop {
        match made(doubled, &text) {
            Ok(more) => text = more.chars().map(|letter| format!("{letter} ")).collect(),
            Err(failure) => break failure,
        }
        turns += 1;
    };
    assert_eq!(failure, Failure::Limit("what this macro makes is too long to be followed"));
    // Ten tokens, doubled; a turn of the repetition counts as one, too: 4 * 10 * 1024 are less than 50000.
    assert_eq!(turns, 11);
    let square = "($($a:tt)*) => { $( $( $a )* )* }";
    assert_eq!(made(square, "a b"), Err(Failure::Unknown("its definition repeats nothing")));
    let nothing = "($($($a:ident)?)*) => { $($([$a])?)* }";
    assert_eq!(made(nothing, "a b").unwrap(), "[a][b]");
}
