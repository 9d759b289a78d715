//! `leaselint explain` and `leaselint rules`: what the pages say, at the terminal.

use std::fmt::Write;

use super::{CLEAN, Failure, output, settings};
use crate::rules::{self, RULES, RuleInfo, page};

/// Prints a rule's page: its facts, then its text.
pub(super) fn explain(name: &str) -> Result<u8, Failure> {
    let rule = rules::find(name).ok_or_else(|| Failure(settings::unknown(name)))?;
    let info = rule.info();
    let text = page::split(rule.page).map_or(rule.page, |(_, text)| text);
    let mut out = String::new();
    writeln!(out, "{}\n\n{}", text.trim(), facts(info))?;
    output(out.as_bytes())?;
    Ok(CLEAN)
}

fn facts(info: &RuleInfo) -> String {
    let off = if info.pedantic { ", off unless selected" } else { "" };
    let fixes = info.fixes.map(|fix| format!(", fixable ({})", fix.word())).unwrap_or_default();
    format!(
        "severity {}, confidence {}, in {}, since {}{off}{fixes}\n{}",
        info.severity.word(),
        info.confidence.word(),
        info.languages.join(", "),
        info.since,
        info.url,
    )
}

/// Prints one line a rule, in groups.
pub(super) fn rules() -> Result<u8, Failure> {
    let widest = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
    let mut out = String::new();
    let mut group = "";
    for rule in RULES {
        let info = rule.info();
        if info.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}{}", info.group)?;
            group = &info.group;
        }
        let off = if info.pedantic { " (off unless selected)" } else { "" };
        let fixes = info.fixes.map(|fix| format!(" (fixable, {})", fix.word())).unwrap_or_default();
        let severity = info.severity.word();
        writeln!(out, "  {:widest$}  {severity:7}  {}{off}{fixes}", rule.id, info.summary)?;
    }
    output(out.as_bytes())?;
    Ok(CLEAN)
}
