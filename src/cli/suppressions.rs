//! `leaselint suppressions`: every allow comment, its reason, and whether it still silences something.

use std::fmt::Write;
use std::sync::Arc;

use serde_json::json;

use super::arguments::{ListFormat, SuppressionsArguments};
use super::progress::Progress;
use super::workspace::Scope;
use super::{CLEAN, Failure, check, output};
use crate::filter::suppression::{State, Suppression};
use crate::report::one_line;
use crate::source::Tree;

/// Prints the list.
pub(super) fn run(arguments: &SuppressionsArguments) -> Result<u8, Failure> {
    let progress = Progress::start();
    let scope = Scope { paths: &arguments.paths, workspace: false };
    let read = scope.read(&arguments.settings, &|| progress.advance())?;
    progress.say("linking and asking the rules");
    let tree = read.tree;
    let linted = check::lint(Arc::clone(&tree), read.settings);
    progress.finish();
    let all = &linted.filtered.suppressions;
    let text = match arguments.format {
        ListFormat::Human => human(all, &tree)?,
        ListFormat::Json => format!("{:#}\n", json(all, &tree)),
    };
    output(text.as_bytes())?;
    Ok(CLEAN)
}

/// One line of facts each, and one with the reason; then how many there are.
fn human(all: &[Suppression], tree: &Tree) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    for one in all {
        let (path, line) = place(one, tree);
        let rule = one.rule.as_deref().unwrap_or("?");
        let file = if one.whole_file { " for the file" } else { "" };
        let until = one.until.map_or_else(String::new, |until| format!(", until {until}"));
        let (path, rule) = (one_line(path), one_line(rule));
        writeln!(out, "{path}:{line}: {rule}{file}: {}{until}", words(&one.state))?;
        if !one.reason.is_empty() {
            writeln!(out, "    {}", one_line(&one.reason))?;
        }
    }
    let silent = all.iter().filter(|one| matches!(one.state, State::Silences(_))).count();
    let gap = if all.is_empty() { "" } else { "\n" };
    let comments = if all.len() == 1 { "allow" } else { "allows" };
    writeln!(out, "{gap}{} {comments}, {silent} of which silence something", all.len())?;
    Ok(out)
}

fn place<'t>(one: &Suppression, tree: &'t Tree) -> (&'t str, u32) {
    let file = tree.file(one.span.file);
    file.map_or(("", 0), |file| (file.path.as_str(), file.lines.line(one.span.start)))
}

/// What came of an allow comment, in words.
fn words(state: &State) -> String {
    match state {
        State::Silences(1) => "silences 1 finding".to_owned(),
        State::Silences(count) => format!("silences {count} findings"),
        State::Unused => "silences nothing".to_owned(),
        State::Off => "the rule is off".to_owned(),
        State::TestCode => "test code is not linted".to_owned(),
        State::Expired => "has expired".to_owned(),
        State::UnknownRule => "there is no such rule".to_owned(),
        State::Malformed(mistake) => format!("malformed: {}", one_line(mistake)),
    }
}

/// The same as one object for programs.
fn json(all: &[Suppression], tree: &Tree) -> serde_json::Value {
    let one = |one: &Suppression| {
        let (path, line) = place(one, tree);
        let (state, silences) = match &one.state {
            State::Silences(count) => ("silences", *count),
            State::Unused => ("unused", 0),
            State::Off => ("off", 0),
            State::TestCode => ("test-code", 0),
            State::Expired => ("expired", 0),
            State::UnknownRule => ("unknown-rule", 0),
            State::Malformed(_) => ("malformed", 0),
        };
        let mistake = match &one.state {
            State::Malformed(mistake) => Some(mistake),
            _ => None,
        };
        json!({
            "path": path,
            "line": line,
            "rule": one.rule,
            "whole_file": one.whole_file,
            "reason": one.reason,
            "until": one.until.map(|until| until.to_string()),
            "state": state,
            "findings": silences,
            "mistake": mistake,
        })
    };
    json!({ "version": 1, "suppressions": all.iter().map(one).collect::<Vec<_>>() })
}
