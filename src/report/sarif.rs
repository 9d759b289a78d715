//! SARIF 2.1.0, for code scanning.
//!
//! Columns are in UTF-16 code units, which is what a reader assumes that does not ask. In messages
//! braces are doubled and brackets escaped, as literal ones have to be; a page is no template and
//! is given as it is. The steps are related locations that the message links to, and a code flow.
//! What an allow comment silences is left out: GitHub would raise an alert for it all the same.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::place::{Place, Unit};
use super::{Report, one_line, write_json};
use crate::config::Severity;
use crate::finding::fix::{Edit, Fix};
use crate::finding::{Finding, Step};
use crate::source::{FileId, Skipped};

/// The hash of a line, as GitHub computes it.
mod line_hash;
/// The rules as SARIF describes them.
mod rules;

/// The official schema.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The most results that GitHub takes from a run.
const MOST_RESULTS: usize = 25_000;

/// What paths are relative to.
const ROOT: &str = "%SRCROOT%";

/// Hashes by file and line.
type Hashes = BTreeMap<FileId, BTreeMap<u32, String>>;

/// Writes a log of one run.
pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let findings = worst(report);
    let hashes = hashes(&findings, report);
    let results: Vec<_> = findings.iter().map(|finding| result(finding, report, &hashes)).collect();
    let left = report.findings.len() - findings.len();
    let mut told: Vec<_> = report.skipped.iter().map(|skipped| unread(skipped, report)).collect();
    if left > 0 {
        let text = format!("{left} results are left out: no more than {MOST_RESULTS} are taken.");
        told.push(json!({ "level": "warning", "message": { "text": text } }));
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": rules::driver() },
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "The top of the repository." } },
            },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": told,
            }],
            "results": results,
        }],
    });
    write_json(&log, true, out)
}

/// The findings in the order of their places; if there are too many, the worst of them.
fn worst<'r>(report: &Report<'r>) -> Vec<&'r Finding> {
    let mut numbered: Vec<_> = report.findings.iter().enumerate().collect();
    if numbered.len() > MOST_RESULTS {
        numbered
            .sort_by_key(|(_, finding)| std::cmp::Reverse((finding.severity, finding.confidence)));
        numbered.truncate(MOST_RESULTS);
        numbered.sort_by_key(|(number, _)| *number);
    }
    numbered.into_iter().map(|(_, finding)| finding).collect()
}

/// GitHub's hashes of the lines that findings begin on.
fn hashes(findings: &[&Finding], report: &Report<'_>) -> Hashes {
    let mut lines: BTreeMap<FileId, BTreeSet<u32>> = BTreeMap::new();
    for finding in findings {
        if let Some(file) = report.tree.file(finding.origin().file) {
            lines.entry(file.id).or_default().insert(file.lines.line(finding.origin().start));
        }
    }
    let hashed = lines.into_iter().filter_map(|(id, lines)| {
        let text = report.tree.file(id)?.as_written();
        Some((id, line_hash::line_hashes(text, &lines)))
    });
    hashed.collect()
}

fn result(finding: &Finding, report: &Report<'_>, hashes: &Hashes) -> Value {
    let place = report.place(finding.origin(), Unit::Utf16);
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rules::index(finding.rule),
        "level": level(finding.severity),
        "message": { "text": message(finding) },
        "locations": place.iter().map(|place| location(place, finding, report)).collect::<Vec<_>>(),
        "partialFingerprints": fingerprints(finding, place.as_ref(), hashes),
        "properties": { "confidence": finding.confidence.word() },
    });
    if let Some(fields) = result.as_object_mut() {
        let steps: Vec<_> =
            finding.steps.iter().filter_map(|step| step_location(step, report)).collect();
        if !steps.is_empty() {
            let numbered = (1..).zip(&steps).map(|(id, step)| {
                let mut related = step.clone();
                if let Some(fields) = related.as_object_mut() {
                    fields.insert("id".to_owned(), id.into());
                }
                related
            });
            fields.insert("relatedLocations".to_owned(), numbered.collect());
            let flow = steps.into_iter().map(|step| json!({ "location": step }));
            let flow = json!({ "locations": flow.collect::<Vec<_>>() });
            fields.insert("codeFlows".to_owned(), json!([{ "threadFlows": [flow] }]));
        }
        if !finding.fixes.is_empty() {
            let fixes = finding.fixes.iter().map(|one| fix(one, report));
            fields.insert("fixes".to_owned(), fixes.collect());
        }
    }
    result
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// What is wrong, what to do, and links to the steps.
fn message(finding: &Finding) -> String {
    let mut text = sentence(&literal(&finding.message));
    if !finding.help.is_empty() {
        text.push_str("\n\nHelp: ");
        text.push_str(&sentence(&literal(&finding.help)));
    }
    if !finding.steps.is_empty() {
        let steps = (1..).zip(&finding.steps);
        let links = steps.map(|(id, step)| format!("[{}]({id})", literal(&step.message)));
        text.push_str("\n\nSteps: ");
        text.push_str(&links.collect::<Vec<_>>().join(", "));
        text.push('.');
    }
    text
}

/// A text that holds neither placeholders nor links (SARIF 3.11.5 and 3.11.6).
fn literal(text: &str) -> String {
    let mut literal = String::new();
    for character in one_line(text).chars() {
        match character {
            '{' | '}' => literal.extend([character, character]),
            '[' | ']' | '\\' => literal.extend(['\\', character]),
            plain => literal.push(plain),
        }
    }
    literal
}

/// A sentence with a capital letter and a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

fn fingerprints(finding: &Finding, place: Option<&Place<'_>>, hashes: &Hashes) -> Value {
    let mut prints = BTreeMap::new();
    if let Some(print) = &finding.fingerprint {
        prints.insert("leaselint/v1", print.to_string());
    }
    let lines = hashes.get(&finding.origin().file);
    if let Some(hash) = lines.zip(place).and_then(|(lines, place)| lines.get(&place.line)) {
        prints.insert("primaryLocationLineHash", hash.clone());
    }
    json!(prints)
}

fn location(place: &Place<'_>, finding: &Finding, report: &Report<'_>) -> Value {
    let mut location = json!({ "physicalLocation": physical(place, report) });
    if let (Some(fields), Some(function)) = (location.as_object_mut(), &finding.function) {
        let logical = json!([{ "fullyQualifiedName": function, "kind": "function" }]);
        fields.insert("logicalLocations".to_owned(), logical);
    }
    location
}

fn step_location(step: &Step, report: &Report<'_>) -> Option<Value> {
    let place = report.place(step.span, Unit::Utf16)?;
    Some(json!({
        "physicalLocation": physical(&place, report),
        "message": { "text": literal(&step.message) },
    }))
}

fn physical(place: &Place<'_>, report: &Report<'_>) -> Value {
    json!({ "artifactLocation": artifact(place.path, report), "region": region(place) })
}

fn artifact(path: &str, report: &Report<'_>) -> Value {
    json!({ "uri": uri(&report.full_path(path)), "uriBaseId": ROOT })
}

fn region(place: &Place<'_>) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    })
}

/// A path as a relative reference: what is not plain in a URI is percent-encoded.
pub(super) fn uri(path: &str) -> String {
    const NOT_PLAIN: AsciiSet =
        NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, &NOT_PLAIN).to_string()
}

fn fix(fix: &Fix, report: &Report<'_>) -> Value {
    let mut files: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for edit in &fix.edits {
        files.entry(edit.span.file).or_default().push(edit);
    }
    let changes = files.into_iter().filter_map(|(id, edits)| {
        let replacements = edits.into_iter().filter_map(|edit| {
            let place = report.place(edit.span, Unit::Utf16)?;
            let text = json!({ "text": edit.text });
            Some(json!({ "deletedRegion": region(&place), "insertedContent": text }))
        });
        Some(json!({
            "artifactLocation": artifact(&report.tree.file(id)?.path, report),
            "replacements": replacements.collect::<Vec<_>>(),
        }))
    });
    json!({
        "description": { "text": sentence(&literal(&fix.title)) },
        "artifactChanges": changes.collect::<Vec<_>>(),
        "properties": { "applicability": fix.applicability },
    })
}

/// A file that was not read, or not in full.
fn unread(skipped: &Skipped, report: &Report<'_>) -> Value {
    let mut physical = json!({ "artifactLocation": artifact(&skipped.path, report) });
    if let (Some(fields), Some(place)) = (physical.as_object_mut(), skipped.place) {
        fields.insert("region".to_owned(), json!({ "startLine": place.line }));
    }
    let text = format!("Not linted in full: {}: {}", skipped.path, skipped.reason);
    json!({
        "level": "note",
        "message": { "text": sentence(&literal(&text)) },
        "locations": [{ "physicalLocation": physical }],
    })
}
