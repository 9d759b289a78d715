//! What an allow comment says of one rule, and what came of it.

use crate::config::day::Day;
use crate::source::Span;

/// One rule of one allow comment, or a comment that allows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// The comment, from its leader to its end.
    pub comment: Span,
    /// The rule's name in it; the comment when that can't be told.
    pub span: Span,
    /// The rule as written; `None` when that can't be told.
    pub rule: Option<String>,
    /// Whether it speaks for the whole file.
    pub whole_file: bool,
    /// The last day on which it holds; for good when not said.
    pub until: Option<Day>,
    /// Why, in the author's words; empty when that can't be told.
    pub reason: String,
    /// What came of it.
    pub state: State,
}

/// What came of an allow comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It silences so many findings.
    Silences(usize),
    /// Its rule ran and found nothing there.
    Unused,
    /// Its rule is off, so that nobody knows.
    Off,
    /// It stands in test code, which is left alone.
    TestCode,
    /// Its last day has passed.
    Expired,
    /// There is no such rule.
    UnknownRule,
    /// It is not written as an allow comment; this is what is wrong.
    Malformed(String),
}
