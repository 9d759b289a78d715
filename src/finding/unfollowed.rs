//! Places where an acquire, a release or a row count could not be followed, and why. No findings: they
//! say where leaselint is blind, and nothing of the code.

use crate::source::Span;

/// A place where something was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfollowed {
    /// Where.
    pub span: Span,
    /// What was to be followed.
    pub what: Followed,
    /// Why it was given up.
    pub reason: Reason,
    /// The command or call, as it is named there.
    pub name: String,
    /// Qualified name of the enclosing function.
    pub function: Option<String>,
}

/// What was to be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Followed {
    /// An acquire.
    Acquire,
    /// A release.
    Release,
    /// An acquire or a release: it is not seen which.
    Lease,
    /// The row count of a write.
    RowCount,
}

/// Why something was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Nothing tells the command's key from other keys: no literal part, field, constant or parameter.
    KeyNotIdentified,
    /// The command is given more keys by its callers than are kept.
    TooManyKeys,
    /// The reply goes into a call, a field or a value that leaves sight.
    ReplyLeavesSight,
    /// The lease goes to a call that is not known, which may keep it or give it back.
    LeaseEscapes,
    /// The type of what the method is called on is not known, and its name alone does not tell.
    ClientTypeUnknown,
    /// The text of the script is not known.
    ScriptTextUnknown,
    /// The text of the statement is not known.
    StatementTextUnknown,
    /// The method is that of a trait, and nothing that ships implements it.
    NoImplementation,
    /// The macro's text is out of sight, or it is not expanded.
    MacroNotExpanded,
}

impl Followed {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Acquire => "acquire",
            Self::Release => "release",
            Self::Lease => "acquire or release",
            Self::RowCount => "row count",
        }
    }
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 9] = [
        Self::KeyNotIdentified,
        Self::TooManyKeys,
        Self::ReplyLeavesSight,
        Self::LeaseEscapes,
        Self::ClientTypeUnknown,
        Self::ScriptTextUnknown,
        Self::StatementTextUnknown,
        Self::NoImplementation,
        Self::MacroNotExpanded,
    ];

    /// Its name in reports, which stays.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::KeyNotIdentified => "key-not-identified",
            Self::TooManyKeys => "too-many-keys",
            Self::ReplyLeavesSight => "reply-leaves-sight",
            Self::LeaseEscapes => "lease-escapes",
            Self::ClientTypeUnknown => "client-type-unknown",
            Self::ScriptTextUnknown => "script-text-unknown",
            Self::StatementTextUnknown => "statement-text-unknown",
            Self::NoImplementation => "no-implementation",
            Self::MacroNotExpanded => "macro-not-expanded",
        }
    }

    /// The reason in words, for people.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::KeyNotIdentified => "nothing tells its key from other keys",
            Self::TooManyKeys => "its callers give it more keys than are kept",
            Self::ReplyLeavesSight => "its reply goes into a call or value that leaves sight",
            Self::LeaseEscapes => "the lease goes to a call that is not known",
            Self::ClientTypeUnknown => "the type of what it is called on is not known",
            Self::ScriptTextUnknown => "the text of the script is not known",
            Self::StatementTextUnknown => "the text of the statement is not known",
            Self::NoImplementation => "nothing that ships implements the trait's method",
            Self::MacroNotExpanded => "the macro is not expanded",
        }
    }
}
