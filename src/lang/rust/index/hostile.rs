//! Texts made to exhaust the parser's stack. A parser out of stack aborts the process, so a failure
//! here ends the whole test run.

use super::index;
use crate::source::{FileId, Language, SourceFile, Tree};

/// Head, what is repeated to open, middle, what is repeated to close, tail.
type Shape = (&'static str, &'static str, &'static str, &'static str, &'static str);

const SHAPES: [Shape; 62] = [
    ("fn f(){let x=", "(", "1", ")", ";}"),
    ("fn f(){", "{", "1", "}", "}"),
    ("fn f(){let x=", "[", "1", "]", ";}"),
    ("fn f(){let x=", "!", "1", "", ";}"),
    ("fn f(){let x=", "- ", "1", "", ";}"),
    ("fn f(){let x=", "&", "1", "", ";}"),
    ("fn f(x:", "& ", "u8", "", "){}"),
    ("fn f(){let x=", "1+", "1", "", ";}"),
    ("fn f(){let x=", "a||", "1", "", ";}"),
    ("fn f(){", "a=", "1", "", ";}"),
    ("fn f(){let x=", "a||b&&c==d|e^f&g<<h+i*", "1", "", ";}"),
    ("fn f(){", "if a {} else ", "{}", "", "}"),
    ("fn f(){", "if a {", "", "}", "}"),
    ("fn f(){", "if ", "a", "{}", "}"),
    ("fn f(x:", "A<", "u8", ">", "){}"),
    ("fn f(x:", "A<x, ", "u8", ">", "){}"),
    ("fn f(){let x=", "a::<A<", "u8", ">>", ";}"),
    ("fn f(x:", "A<(", "u8", ")>", "){}"),
    ("fn f(){let x=", "|a| ", "1", "", ";}"),
    ("fn f(){let x=", "|a,b| ", "1", "", ";}"),
    ("fn f(){let x=", "|a: [u8; 1]| ", "1", "", ";}"),
    ("fn f(){let x=", "|a|->u8 {", "1", "}", ";}"),
    ("fn f(){let x=", "x | |a, b| ", "1", "", ";}"),
    ("fn f(){", "return ", "1", "", ";}"),
    ("fn f(){loop{", "break ", "1", "", ";}}"),
    ("fn f(){", "match a { _ => ", "1", "}", "}"),
    ("fn f(){", "match ", "a", "{}", "}"),
    ("fn f(){let x=", "a(", "1", ")", ";}"),
    ("fn f(){let x=a", ".b()", "", "", ";}"),
    ("fn f(){let x=a", ".await?", "", "", ";}"),
    ("fn f(){let x=a", "[0]", "", "", ";}"),
    ("fn f(){let x=a", "()", "", "", ";}"),
    ("fn f(){let x=a", " as u8", "", "", ";}"),
    ("fn f(){let x=", "async {", "1", "}", ";}"),
    ("fn f(x:", "fn()->", "u8", "", "){}"),
    ("fn f(x:", "impl Fn()->", "u8", "", "){}"),
    ("fn f(x:", "<", "u8", " as A>::B", "){}"),
    ("fn f(x:", "*const ", "u8", "", "){}"),
    ("fn f(x:", "[", "u8", ";1]", "){}"),
    ("", "mod a {", "", "}", ""),
    ("", "impl A {fn a(){", "", "}}", ""),
    ("use ", "a::", "b", "", ";"),
    ("use ", "a::{", "b", "}", ";"),
    ("fn f(){let ", "&", "x", "", "=1;}"),
    ("fn f(){let ", "a @ ", "x", "", "=1;}"),
    ("fn f(){let ", "box ", "x", "", "=1;}"),
    ("fn f(){let ", "A{a:", "x", "}", "=1;}"),
    ("fn f(){let x=", "A{a:", "1", "}", ";}"),
    ("fn f(){", "m!{", "1", "}", "}"),
    ("fn f(){if ", "let a=", "1", "", "{}}"),
    ("fn f(){", "let a=b else{", "", "};", "}"),
    ("fn f(){", "for a in ", "1", "{}", "}"),
    ("fn f(){", "for S{} in ", "1", "{}", "}"),
    ("fn f(){", "'a:{", "1", "}", "}"),
    ("fn f(){let x=", "#[a]!", "1", "", ";}"),
    ("fn f() where ", "for<'a> ", "A:B", "", "{}"),
    ("fn f(x:", "A<{", "1", "}>", "){}"),
    ("fn f(x:", "&dyn A<T=", "u8", ">", "){}"),
    ("fn f(){let x=", "&raw const ", "1", "", ";}"),
    ("fn f(){let x=", "async move |a| ", "1", "", ";}"),
    ("fn f(){", "(", "", "", "}"),
    ("fn f(){", ")", "", "", "}"),
];

/// Every production of the parser that recurses, around the bound and far beyond it, on the stack
/// that worker threads have: what is too deep is refused, and nothing aborts.
#[test]
fn no_depth_of_any_production_overflows_the_stack() {
    let all = || {
        for (head, open, middle, close, tail) in SHAPES {
            for depth in [190, 620, 2400, 20_000] {
                let (opened, closed) = (open.repeat(depth), close.repeat(depth));
                // With an item inside, the body is walked too.
                let head = head.replace("(){", "(){use a::b;");
                let text = format!("{head}{opened}{middle}{closed}{tail}\nfn last() {{}}");
                let file = SourceFile::new(FileId(0), "a.rs", Language::Rust, &text);
                let found = index(&file, &Tree::default());
                let deep = depth == 20_000;
                assert!(!deep || !found.problems.is_empty(), "{open} was read {depth} times");
                assert!(found.problems.len() <= super::MOST_PROBLEMS + 1);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(all);
    assert!(thread.unwrap().join().is_ok());
}
