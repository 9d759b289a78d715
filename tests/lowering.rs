//! Lowering: each program under `fixtures/lowering` against the text of its bodies beside it.
//!
//! `UPDATE=1 cargo test` writes the texts anew; a missing one is an error otherwise.

#![allow(clippy::expect_used)]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use leaselint::config::Settings;
use leaselint::ir::index::{FileIndex, ItemId};
use leaselint::ir::text;
use leaselint::lang;
use leaselint::link::Program;
use leaselint::source::{Language, SourceFile, Tree};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/lowering")
}

/// All files of a folder as a tree, languages by name.
fn tree(folder: &Path) -> Tree {
    let mut texts = Vec::new();
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    for entry in entries.map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let language = match Path::new(&name).extension().and_then(|extension| extension.to_str()) {
            Some("rs") => Language::Rust,
            Some("lua") => Language::Lua,
            Some("sql") => Language::Sql,
            _ => continue,
        };
        let text = std::fs::read_to_string(entry.path()).expect("UTF-8");
        texts.push((name, language, text));
    }
    Tree::from_texts(texts)
}

/// The items of a file in the order they are written, with what to call them.
fn items(index: &FileIndex) -> Vec<(ItemId, String)> {
    let number = |at: usize| u32::try_from(at).expect("few items");
    let mut items = Vec::new();
    for (at, function) in index.functions.iter().enumerate() {
        items.push((function.span.start, ItemId::Function(number(at)), &function.name));
    }
    for (at, constant) in index.constants.iter().enumerate() {
        items.push((constant.span.start, ItemId::Constant(number(at)), &constant.name));
    }
    items.sort_by_key(|(start, ..)| *start);
    items.into_iter().map(|(_, item, name)| (item, name.clone())).collect()
}

fn rendered(file: &SourceFile, program: &Program) -> String {
    let front = lang::frontend(file.language).expect("a front-end");
    let index = program.index(file.id).expect("an index");
    let around = program.surroundings();
    let mut out = String::new();
    for (item, name) in items(index) {
        let lowered = front.lower(file, index, item, &around);
        let _ = writeln!(out, "== {name}\n{}", text::lowered(&lowered));
    }
    out
}

fn check(folder: &str, language: Language) {
    let folder = fixtures().join(folder);
    let tree = Arc::new(tree(&folder));
    let program = Program::build(Arc::clone(&tree), Settings::default());
    let mut wrong = Vec::new();
    let files: Vec<_> = tree.files().iter().filter(|file| file.language == language).collect();
    assert!(!files.is_empty(), "no program in {}", folder.display());
    for file in files {
        let expected = folder.join(&file.path).with_extension("ir");
        let actual = rendered(file, &program);
        if crate::updating() {
            std::fs::write(&expected, &actual).expect("can write");
            continue;
        }
        match std::fs::read_to_string(&expected) {
            Ok(text) if text == actual => {}
            Ok(text) => wrong.push(format!("{}:\n{}", file.path, difference(&text, &actual))),
            Err(_) => wrong.push(format!("{} is missing", expected.display())),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The lines that differ, from the first one on.
fn difference(expected: &str, actual: &str) -> String {
    let at = expected.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count();
    let from = |text: &str| text.lines().skip(at).take(12).collect::<Vec<_>>().join("\n");
    format!("line {}, expected:\n{}\nactual:\n{}", at + 1, from(expected), from(actual))
}

#[test]
fn rust_programs_lower_to_their_texts() {
    check("rust", Language::Rust);
}

#[test]
fn lua_programs_lower_to_their_texts() {
    check("lua", Language::Lua);
}
