//! Text to `syn`, safely: nothing reaches the parser before its nesting is known to be bounded.

use syn::parse::Parse;

use super::nesting::{self, FaultKind};
use crate::ir::body::ProblemKind;

/// Why a text was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The place, in bytes of the text.
    pub(crate) at: std::ops::Range<usize>,
    /// What is wrong, one sentence without a full stop.
    pub(crate) reason: String,
    /// Whether it is bad syntax or a bound of ours.
    pub(crate) kind: ProblemKind,
}

/// Parses a text as a `T`. Spans count from the start of the text.
pub(crate) fn read<T: Parse>(text: &str) -> Result<T, Refusal> {
    nesting::check(text).map_err(|fault| {
        let (reason, kind) = describe(fault.kind);
        Refusal { at: fault.at..fault.at + 1, reason: reason.to_owned(), kind }
    })?;
    syn::parse_str(text).map_err(|error| Refusal {
        at: error.span().byte_range(),
        reason: match error.to_string() {
            lexical if lexical.contains("token stream") => "not a Rust token".to_owned(),
            reason => reason,
        },
        kind: ProblemKind::Syntax,
    })
}

fn describe(kind: FaultKind) -> (&'static str, ProblemKind) {
    match kind {
        FaultKind::TooDeep => ("nested too deeply to be read safely", ProblemKind::Limit),
        FaultKind::Unclosed => ("this delimiter is never closed", ProblemKind::Syntax),
        FaultKind::Unopened => ("this delimiter closes nothing", ProblemKind::Syntax),
        FaultKind::Unterminated => ("this literal has no end", ProblemKind::Syntax),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, head, what is repeated to open, middle, what is repeated to close, tail.
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

    /// Every production of the parser that recurses, at many depths, on the stack that worker
    /// threads have. Nothing may abort: what is too deep is refused.
    #[test]
    fn no_depth_of_any_production_overflows_the_stack() {
        let all = || {
            for (head, open, middle, close, tail) in SHAPES {
                for depth in [190, 310, 620, 2400, 100_000] {
                    let (opened, closed) = (open.repeat(depth), close.repeat(depth));
                    let text = format!("{head}{opened}{middle}{closed}{tail}");
                    let read = read::<syn::File>(&text);
                    let deep = depth == 100_000;
                    assert!(!deep || read.is_err(), "{open} was read {depth} times");
                }
            }
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(all);
        assert!(thread.unwrap().join().is_ok());
    }

    #[test]
    fn long_but_shallow_text_is_read() {
        let arms = "Kind::A | Kind::B => one(1),\n".repeat(5000);
        let table = "&[-1.0, 2.0 * 3.0],\n".repeat(5000);
        let statements = "if a { b()?; }\nlet x: A<B> = &c;\n".repeat(5000);
        let text = format!(
            "static T: &[&[f64]] = &[{table}];\nfn f() {{ {statements} match k {{ {arms} }} }}"
        );
        assert!(read::<syn::File>(&text).is_ok());
    }

    #[test]
    fn a_refusal_says_what_and_where() {
        let unclosed = read::<syn::File>("fn a() { b( }").err().unwrap();
        assert_eq!((unclosed.at.start, unclosed.reason.as_str()), (12, "this delimiter closes nothing"));
        let wrong = read::<syn::File>("fn a() { let = 1; }").err().unwrap();
        assert_eq!(wrong.at, 13..14);
    }
}
