//! Every page is run: blocks under *Wrong* are reported on their marked lines, blocks under *Right*
//! and elsewhere are silent, under every rule that is on by default and the page's own.

use std::collections::BTreeSet;

use leaselint::config::Settings;
use leaselint::rules::{RULES, Rule, RuleInfo, page};
use leaselint::source::{Language, Tree};

use crate::{UNFINISHED, marks};

/// The parts of a page, in order.
const PARTS: [&str; 6] =
    ["Why it matters", "Wrong", "Right", "When to allow it", "Limits", "References"];

/// Rules that no piece of code shows: their pages have none, and they have no fixtures.
pub const NOT_OF_CODE: [&str; 2] = ["analysis-limit", "stale-baseline"];

/// One fenced block of a language of ours.
struct Block {
    section: String,
    line: u32,
    language: Language,
    name: &'static str,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut section = String::new();
    let mut fence = false;
    let mut open: Option<Block> = None;
    for (line, number) in page.lines().zip(1u32..) {
        if let Some(info) = line.strip_prefix("```") {
            fence = !fence;
            blocks.extend(open.take());
            let known = match info {
                "rust" => Some((Language::Rust, "page.rs")),
                "lua" => Some((Language::Lua, "page.lua")),
                "sql" => Some((Language::Sql, "page.sql")),
                _ => None,
            };
            open = known.filter(|_| fence).map(|(language, name)| Block {
                section: section.clone(),
                line: number,
                language,
                name,
                text: String::new(),
            });
        } else if let Some(block) = &mut open {
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(heading) = line.strip_prefix("## ")
            && !fence
        {
            section = heading.to_owned();
        }
    }
    blocks
}

/// What is wrong with one block of a page.
fn block_faults(rule: &Rule, block: &Block) -> Vec<String> {
    let marked = !marks::read(block.name, &block.text).is_empty();
    let mut faults = Vec::new();
    match block.section.as_str() {
        "Wrong" if !marked => faults.push("has no mark".to_owned()),
        "Right" if marked => faults.push("has a mark".to_owned()),
        _ => {}
    }
    let tree = Tree::from_texts(vec![(block.name.to_owned(), block.language, block.text.clone())]);
    let settings = Settings { extend_select: vec![rule.id.to_owned()], ..Settings::default() };
    faults.extend(marks::differences(tree, settings));
    let place = |fault| format!("rules/{}.md, block at line {}: {fault}", rule.id, block.line);
    faults.into_iter().map(place).collect()
}

#[test]
fn every_block_of_every_page_is_what_it_says() {
    crate::on_large_stack(|| {
        let mut failing = BTreeSet::new();
        let mut told = Vec::new();
        for rule in RULES {
            let faults: Vec<_> =
                blocks(rule.page).iter().flat_map(|block| block_faults(rule, block)).collect();
            if !faults.is_empty() {
                failing.insert(rule.id);
                told.extend(faults);
            }
        }
        let finished: Vec<_> = UNFINISHED.iter().filter(|id| !failing.contains(**id)).collect();
        let failing: Vec<_> = failing.iter().filter(|id| !UNFINISHED.contains(id)).collect();
        let all = told.join("\n");
        assert!(failing.is_empty(), "pages that do not hold: {failing:?}\n{all}");
        assert!(
            finished.is_empty(),
            "these pages hold now, take them off UNFINISHED in tests/all.rs: {finished:?}\n{all}"
        );
    });
}

#[test]
fn every_page_has_its_facts_and_its_parts() {
    for rule in RULES {
        let id = rule.id;
        RuleInfo::of_page(id, rule.page).unwrap_or_else(|fault| panic!("rules/{id}.md: {fault}"));
        let (_, body) = page::split(rule.page).unwrap();
        assert!(body.trim_start().starts_with(&format!("# {id}\n")), "rules/{id}.md: title");
        let headings: Vec<_> = body.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        let told_by_code = NOT_OF_CODE.contains(&id);
        let expected: Vec<_> = PARTS
            .into_iter()
            .filter(|part| !(told_by_code && matches!(*part, "Wrong" | "Right")))
            .collect();
        assert_eq!(headings, expected, "rules/{id}.md: headings");
        for section in ["Wrong", "Right"] {
            let has = blocks(rule.page).iter().any(|block| block.section == section);
            assert!(has || told_by_code, "rules/{id}.md: no block under {section}");
        }
    }
}
