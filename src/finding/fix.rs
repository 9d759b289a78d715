//! What to change so that a finding is gone, for a tool to do.

use serde::Serialize;

use crate::source::Span;

/// A change that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What it does, lower case, no full stop.
    pub title: String,
    /// Whether a tool may make it unasked.
    pub applicability: Applicability,
    /// What is replaced; no two overlap.
    pub edits: Vec<Edit>,
}

/// Whether a tool may make a change unasked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Applicability {
    /// The program does what it did, or what it was meant to do.
    Safe,
    /// A guess at what was meant: somebody has to look.
    Unsafe,
}

impl Applicability {
    /// `safe`, `unsafe`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
        }
    }
}

/// A text that another takes the place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What goes; empty where something is only added.
    pub span: Span,
    /// What comes in its place; empty where something is only deleted.
    pub text: String,
}
