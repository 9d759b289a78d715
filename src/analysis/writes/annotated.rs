//! Query files that are compiled to functions: `-- name: Reserve :exec` above a statement says what
//! its function gives back, and with that whether the row count is lost.

use super::{GuardedWrite, written};
use crate::analysis::Analysis;
use crate::analysis::row_guard::{Weight, row_guard};
use crate::config::Confidence;
use crate::ir::sql::Statement;

/// A guarded write whose function gives no row count.
#[derive(Clone, Debug)]
pub struct AnnotatedWrite<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The annotation: `:exec`.
    pub annotation: &'a str,
    /// The statement.
    pub statement: &'a Statement,
    /// What is lost.
    pub write: GuardedWrite,
}

/// Annotations whose function gives back no more than an error.
const COUNTLESS: [&str; 3] = [":exec", ":execlastid", ":batchexec"];

impl Analysis<'_> {
    /// Guarded writes of query files whose annotation loses the row count, in order of files. Those
    /// that are only doubtful are left out: who calls the function is not seen.
    #[must_use]
    pub fn annotated_writes(&self) -> Vec<AnnotatedWrite<'_>> {
        let mut found = Vec::new();
        for (name, annotation, statement, path) in self.annotated_statements() {
            if !COUNTLESS.contains(&annotation) {
                continue;
            }
            if let Some(write) = self.annotated_write(statement, path) {
                found.push(AnnotatedWrite { name, annotation, statement, write });
            }
        }
        found
    }

    fn annotated_write(&self, statement: &Statement, path: &str) -> Option<GuardedWrite> {
        statement.parts().iter().find_map(|part| {
            let (verb, name) = written(part)?;
            let guard = row_guard(part, self.schemas.table(name, path), self.words)?;
            (guard.guard.weight() == Weight::Full)
                .then(|| GuardedWrite::new(verb, &guard, Confidence::High))
        })
    }
}

/// The name and annotation in the last `name:` comment of a text.
pub(in crate::analysis) fn annotation(text: &str) -> Option<(&str, &str)> {
    text.lines().rev().find_map(|line| {
        let line = line.trim_start();
        let comment = ["--", "/*", "#"].iter().find_map(|leader| line.strip_prefix(leader))?;
        let mut words = comment.trim_start().strip_prefix("name:")?.split_whitespace();
        Some((words.next()?, words.next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::annotation;

    #[test]
    fn the_nearest_name_counts() {
        let text = "-- name: A :one\n\n-- name: Take :exec\n-- takes it\nUPDATE a SET b = 1";
        assert_eq!(annotation(text), Some(("Take", ":exec")));
        assert_eq!(annotation("/* name: B :execrows */ DELETE FROM b"), Some(("B", ":execrows")));
        assert_eq!(annotation("-- the name: of it\nDELETE FROM b"), None);
    }
}
