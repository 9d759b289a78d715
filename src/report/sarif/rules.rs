//! The rules as SARIF describes them: what a page says is what code scanning shows beside an alert.

use serde_json::{Value, json};

use super::{level, sentence};
use crate::config::{Confidence, Severity};
use crate::rules::{RULES, Rule, page};

/// The longest description that GitHub takes, in characters.
const LONGEST_DESCRIPTION: usize = 1024;

/// This program, and every rule of it.
pub(super) fn driver() -> Value {
    json!({
        "name": "leaselint",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "informationUri": env!("CARGO_PKG_REPOSITORY"),
        "rules": RULES.iter().map(|rule| described(rule)).collect::<Vec<_>>(),
    })
}

/// The place of a rule in the list of the driver.
pub(super) fn index(id: &str) -> Option<usize> {
    RULES.iter().position(|rule| rule.id == id)
}

fn described(rule: &Rule) -> Value {
    let info = rule.info();
    let text = page::split(rule.page).map_or(rule.page, |(_, text)| text).trim();
    json!({
        "id": rule.id,
        "name": pascal(rule.id),
        "shortDescription": { "text": shortened(&sentence(&info.summary)) },
        "fullDescription": { "text": shortened(&first_paragraph(text)) },
        "help": { "text": text, "markdown": text },
        "helpUri": info.url,
        "defaultConfiguration": { "level": level(info.severity), "enabled": !info.pedantic },
        "properties": {
            "tags": tags(rule),
            "precision": precision(info.confidence),
            "problem.severity": match info.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "recommendation",
            },
        },
    })
}

fn tags(rule: &Rule) -> Vec<String> {
    let info = rule.info();
    let mut tags = vec!["redis".to_owned(), info.group.replace(' ', "-")];
    tags.extend(info.languages.iter().cloned());
    tags
}

fn precision(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    }
}

/// The first paragraph below the heading, on one line.
fn first_paragraph(page: &str) -> String {
    let mut paragraphs = page.split("\n\n").filter(|part| !part.trim_start().starts_with('#'));
    paragraphs.next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(text: &str) -> String {
    text.chars().take(LONGEST_DESCRIPTION).collect()
}

/// `pii-in-key` as `PiiInKey`.
fn pascal(id: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    id.split('-').map(word).collect()
}
