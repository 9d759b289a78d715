//! What a rule says: a place, what is wrong, why it matters, what to do, and the steps that show
//! it. Plain data: this floor knows nothing of the analysis.

use crate::config::{Confidence, Severity};
use crate::source::Span;

/// What a rule found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The command, statement or call at fault.
    pub primary: Span,
    /// What is wrong, one sentence, lower case, no full stop.
    pub message: String,
    /// What to do, as code or one sentence for the client that was called.
    pub help: String,
    /// What makes it true, in the order things happen; at most [`MOST_STEPS`] are shown.
    pub steps: Vec<Step>,
    /// Edits that mend it.
    pub fixes: Vec<Fix>,
    /// Key template or normalised text that the fingerprint is made of.
    pub subject: String,
    /// Qualified name of the enclosing function.
    pub function: Option<String>,
}

/// How many steps a finding shows.
pub const MOST_STEPS: usize = 8;

/// One step of the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub span: Span,
    /// What happens there, lower case, no full stop.
    pub message: String,
}

/// An edit a tool can make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does.
    pub title: String,
    /// Whether it can be made unseen.
    pub safe: bool,
    /// Texts that replace spans.
    pub edits: Vec<(Span, String)>,
}
