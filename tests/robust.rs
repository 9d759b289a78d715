//! Broken input never panics, and always ends: fixtures cut off at every seventh line, and texts
//! made to hurt.

use std::sync::Arc;

use leaselint::cli::check::lint;
use leaselint::config::Settings;
use leaselint::source::{Language, Tree};

use crate::{fixtures, on_large_stack};

/// Every how many lines a fixture is cut off.
const STEP: usize = 7;

fn lint_text(path: &str, language: Language, text: String) {
    let tree = Tree::from_texts(vec![(path.to_owned(), language, text)]);
    let _ = lint(Arc::new(tree), Settings::default());
}

#[test]
fn fixtures_cut_short_never_panic() {
    on_large_stack(|| {
        for case in fixtures::cases().into_values().flatten() {
            let (tree, _) = fixtures::read(&case);
            for file in tree.files().iter().filter(|file| file.language != Language::Other) {
                let lines: Vec<_> = file.text.split_inclusive('\n').collect();
                for end in (1..lines.len()).step_by(STEP) {
                    lint_text(&file.path, file.language, lines[..end].concat());
                }
            }
        }
    });
}

#[test]
fn texts_made_to_hurt_never_panic() {
    let deep = |open: &str, close: &str| open.repeat(20_000) + &close.repeat(20_000);
    let texts = [
        String::new(),
        "\0".to_owned(),
        "\r\r\n\r".to_owned(),
        "\u{feff}#!/usr/bin/env x\n".to_owned(),
        "🔒".repeat(1000),
        "\"".to_owned(),
        "[[[[".to_owned(),
        "$$ $a$ ; ; ;".to_owned(),
        "-- leaselint: allow(".to_owned(),
        "// leaselint: allow(a) -- b // leaselint: allow(c)".to_owned(),
        deep("(", ")"),
        format!("fn f() {{ {} }}", deep("(", ")")),
        format!("fn f() {}", deep("{", "}")),
        format!("return {}", deep("{", "}")),
        format!("SELECT {}", deep("(", ")")),
        format!("fn f() {{ {}1 }}", "-".repeat(20_000)),
        format!("return {}1", "not ".repeat(20_000)),
        format!("fn f() {{ x{} }}", ".y()".repeat(20_000)),
        format!("fn f() {{ {} {{}} }}", "if a {} else ".repeat(20_000)),
        format!("fn f() {{ 1{} }}", "+1".repeat(20_000)),
    ];
    on_large_stack(move || {
        for text in texts {
            for (path, language) in
                [("a.rs", Language::Rust), ("a.lua", Language::Lua), ("a.sql", Language::Sql)]
            {
                lint_text(path, language, text.clone());
            }
        }
    });
}
