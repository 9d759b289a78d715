//! Which definition a call means, told by the functions that come out.

use crate::link::Program;
use crate::link::tests::program;

fn functions(files: &[(&str, &str)]) -> Vec<String> {
    let program = program(files);
    let all = program.files.iter().flatten().flat_map(|index| &index.functions);
    let mut names: Vec<String> = all.map(|function| function.name.clone()).collect();
    names.sort();
    names
}

#[test]
fn the_last_definition_before_a_call_counts() {
    let text = "
        m!();
        macro_rules! m { () => { fn first() {} } }
        mod inner {
            m!();
            macro_rules! m { () => { fn inner() {} } }
        }
        macro_rules! m { () => { fn second() {} } }
        m!();";
    // The first call stands before both, and only a path could tell them apart.
    assert_eq!(functions(&[("a.rs", text)]), ["first", "second"]);
}

#[test]
fn modules_declared_later_see_a_definition_and_hand_theirs_on() {
    let files = [
        (
            "src/lib.rs",
            "#[macro_use] mod keys; mod locks; macro_rules! late { () => { fn late() {} } }
             #[macro_use] mod inside { macro_rules! handed { () => { fn handed() {} } } }
             handed!(); early!();",
        ),
        ("src/keys.rs", "macro_rules! early { () => { fn early() {} } }"),
        ("src/locks.rs", "early!();"),
    ];
    assert_eq!(functions(&files), ["early", "early", "handed"]);
}

#[test]
fn exported_and_imported_definitions_have_a_path() {
    let files = [
        ("keys/Cargo.toml", "[package]\nname = \"keys\""),
        (
            "keys/src/lib.rs",
            "pub mod a; pub mod b; #[macro_export] macro_rules! both { () => { $crate::one!(); } }",
        ),
        ("keys/src/a.rs", "#[macro_export] macro_rules! one { () => { fn one() {} } }"),
        ("keys/src/b.rs", "macro_rules! one { () => { fn other() {} } } pub(crate) use one;"),
        ("shop/Cargo.toml", "[package]\nname = \"shop\""),
        (
            "shop/src/lib.rs",
            "use keys::one as made; made!(); keys::both!(); use serde::one; mod c { use tracing::one; one!(); }
             one!(); none::one!();",
        ),
    ];
    assert_eq!(functions(&files), ["one", "one"]);
}

#[test]
fn what_a_call_wraps_is_there_once() {
    let files = [(
        "a.rs",
        "macro_rules! guarded { ($($item:item)*) => { $(#[cfg(unix)] $item)* } }
         guarded! { fn one() { two() } guarded! { fn two() {} } struct Key; }
         unseen! { fn three() {} }
         macro_rules! members { () => { fn four(&self) {} const NAME: &str = \"k\"; } }
         impl Key { members!(); }",
    )];
    assert_eq!(functions(&files), ["four", "one", "three", "two"]);
    let program = program(&files);
    let index = program.files[0].as_ref().unwrap();
    assert_eq!((index.types.len(), index.implementations.len()), (1, 1));
    assert_eq!(index.functions.iter().filter(|of| of.owner.is_some()).count(), 1);
}

#[test]
fn a_macro_that_calls_itself_is_given_up() {
    let problems = |text: &str| {
        let program: Program = program(&[("a.rs", text)]);
        let all: Vec<String> = program.problems.iter().map(|one| one.message.clone()).collect();
        all
    };
    let deep = "macros nest too deep here; what is inside was not linted";
    let long = "what this macro makes is too long to be followed";
    assert_eq!(problems("macro_rules! m { () => { m!(); } } m!();"), [deep]);
    assert_eq!(problems("macro_rules! m { () => { m!() } } fn f() { m!() }"), [deep]);
    let muncher = "macro_rules! m { ($a:tt $($b:tt)*) => { m!($($b)* $a); } } m!(a b c);";
    assert_eq!(problems(muncher), [deep]);
    let two = "macro_rules! m { () => { m!(); m!(); } } m!();";
    assert!(problems(two).iter().all(|problem| problem == deep || problem == long));
    let two = "macro_rules! m { () => { m!(); m!(); } } fn f() { m!(); }";
    assert_eq!(problems(two), [deep]);
}

#[test]
fn a_place_in_a_definition_is_brought_in_by_its_calls() {
    let text = "macro_rules! m { () => { fn one() { two!() } } }
        macro_rules! two { () => { three() } }
        m!();
        fn f() { two!(); }";
    let program = program(&[("a.rs", text)]);
    let calls = |word: &str| {
        let file = &program.tree.files()[0];
        let at = text.find(word).unwrap();
        let calls = program.macro_calls(file.range(at, at + word.len()));
        calls.iter().map(|(span, name)| format!("{name} {}", span.start)).collect::<Vec<_>>()
    };
    let place = |word: &str| text.find(word).unwrap();
    assert_eq!(calls("fn one"), [format!("m {}", place("m!();"))]);
    let twice = [format!("two {}", place("two!() ")), format!("two {}", place("two!();"))];
    assert_eq!(calls("three"), twice);
    assert_eq!(calls("fn f"), Vec::<String>::new());
}
