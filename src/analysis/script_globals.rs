//! Names that a script uses and that the server does not define.
//!
//! Assigning one is an error on every server. A name that is only read may be defined by text that a
//! loader puts before the script, so it is told where nothing of the kind is in sight.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::script_values::ScriptValues;
use crate::catalog::sandbox;
use crate::ir::body::{Callee, OpKind, ProblemKind};
use crate::ir::effect::BodyId;
use crate::ir::value::ValueKind;
use crate::source::{FileId, Language, Span};

/// What is done with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GlobalUse {
    /// It is given a value.
    Assigned,
    /// A table of the server is written to.
    LibraryChanged,
    /// It is read, and nothing defines it.
    Read,
}

/// A use of a name that the server does not define.
#[derive(Clone, Debug)]
pub struct GlobalName {
    /// The script.
    pub body: BodyId,
    /// Where.
    pub span: Span,
    /// The name.
    pub name: String,
    /// What is done with it.
    pub used: GlobalUse,
}

impl Analysis<'_> {
    /// The uses of names that the server does not define, the first of each name of a script.
    #[must_use]
    pub fn undefined_globals(&self) -> Vec<GlobalName> {
        let mut all: Vec<GlobalName> = Vec::new();
        let mut free: BTreeMap<String, BTreeSet<FileId>> = BTreeMap::new();
        for (body, values) in self.scripts() {
            if self.program.effects(body).is_empty() || self.is_a_piece(body) {
                continue;
            }
            let assigned = assigned(body, values);
            for read in reads(body, values) {
                if !assigned.iter().any(|one| one.name == read.name) {
                    free.entry(read.name.clone()).or_default().insert(read.span.file);
                    all.push(read);
                }
            }
            all.extend(assigned);
        }
        all.retain(|found| {
            found.used != GlobalUse::Read || {
                let several = free.get(&found.name).is_some_and(|files| files.len() > 1);
                self.is_undefined(found, several)
            }
        });
        all.sort_by_key(|found| (found.span, found.used));
        let mut seen = BTreeSet::new();
        all.retain(|found| seen.insert((found.span.file, found.body, found.name.clone())));
        all
    }

    /// Whether a script is a text of another language that no call is seen to run: it may be a piece.
    fn is_a_piece(&self, body: BodyId) -> bool {
        let file = self.program.body(body).and_then(|own| self.program.tree.file(own.file));
        file.is_some_and(|file| file.language != Language::Lua)
            && self.program.script_callers(body).is_empty()
    }

    /// Whether nothing in sight may define a name that is read.
    fn is_undefined(&self, found: &GlobalName, in_several_files: bool) -> bool {
        let file = found.span.file;
        let unreadable = |body: BodyId| {
            let whole = self.program.body(body).map(|own| own.body.span);
            self.program.problems.iter().any(|problem| {
                problem.kind == ProblemKind::Syntax
                    && whole.is_some_and(|whole| whole.covers(problem.span))
            })
        };
        if unreadable(found.body) {
            return false;
        }
        if sandbox::is_elsewhere(&found.name) || found.name.starts_with("os.") {
            return true;
        }
        let alone = self.program.script_callers(found.body).is_empty();
        let called = self.program.body(found.body).is_some_and(|own| {
            own.body.calls().any(|(_, _, call)| match &call.callee {
                Callee::Path(path) => path.first() == Some(found.name.as_str()),
                _ => false,
            })
        });
        let declared = self.program.tree.files().iter().any(|other| {
            other.language == Language::Lua
                && other.id != file
                && ["local ", "function ", "local function "]
                    .iter()
                    .any(|word| declares(&other.text, word, &found.name))
        });
        !(in_several_files || declared || alone && called)
    }
}

/// Whether a text has a word and a whole name behind it.
fn declares(text: &str, word: &str, name: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let rest = text.get(at + word.len()..).and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

/// The names that a script gives values to.
fn assigned(body: BodyId, values: &ScriptValues<'_>) -> Vec<GlobalName> {
    let stores = values.body.operations().filter_map(|(_, _, op)| match &op.kind {
        OpKind::Store { place, .. } => values.body.value(*place),
        _ => None,
    });
    let found = stores.filter_map(|place| {
        let ValueKind::Path(path) = &place.kind else { return None };
        let (name, used) = match path.0.as_slice() {
            [name] => (name.clone(), GlobalUse::Assigned),
            [library, member] if sandbox::is_library(library) => {
                (format!("{library}.{member}"), GlobalUse::LibraryChanged)
            }
            _ => return None,
        };
        Some(GlobalName { body, span: place.span, name, used })
    });
    found.collect()
}

/// The names that a script reads and that the server does not define.
fn reads(body: BodyId, values: &ScriptValues<'_>) -> Vec<GlobalName> {
    let found = values.body.values.iter().filter_map(|value| {
        let ValueKind::Path(path) = &value.kind else { return None };
        let name = match path.0.as_slice() {
            [name] if !sandbox::defines(name) => name.clone(),
            [table, member] if table == "os" && member != "clock" => format!("os.{member}"),
            _ => return None,
        };
        Some(GlobalName { body, span: value.span, name, used: GlobalUse::Read })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::declares;

    #[test]
    fn a_declared_name_is_a_whole_word() {
        assert!(declares("local settings_key = KEYS[8]", "local ", "settings_key"));
        assert!(!declares("local settings_keys = KEYS", "local ", "settings_key"));
    }
}
