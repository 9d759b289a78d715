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
            // A list of all that could have stood there says less than its place.
            list if list.starts_with("expected one of") => "this is not expected here".to_owned(),
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
        assert_eq!(
            (unclosed.at.start, unclosed.reason.as_str()),
            (12, "this delimiter closes nothing")
        );
        let wrong = read::<syn::File>("fn a() { let = 1; }").err().unwrap();
        assert_eq!(wrong.at, 13..14);
    }
}
