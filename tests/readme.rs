//! The generated parts of the README: the table of rules, and the output of its example.

use std::fmt::Write;

use leaselint::rules::RULES;

use crate::{UNFINISHED_PROJECTS, cli, package, text, updating};

/// Compares what stands between `<!-- name -->` and `<!-- /name -->`, or writes it.
fn part(name: &str, generated: &str) {
    let path = package().join("README.md");
    let readme = text(&path);
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = readme.split_once(&open).expect("the part begins");
    let (old, after) = rest.split_once(&close).expect("the part ends");
    if old == generated {
        return;
    }
    assert!(updating(), "README.md, {name}: `UPDATE=1 cargo test` writes\n{generated}\nnot\n{old}");
    std::fs::write(&path, format!("{before}{open}{generated}{close}{after}")).unwrap();
}

#[test]
fn generated_parts_are_as_the_program_prints_them() {
    let mut table = String::from("\n| rule | severity | what it finds |\n| --- | --- | --- |\n");
    for rule in RULES {
        let info = rule.info();
        let off = if info.pedantic { " (off unless selected)" } else { "" };
        let (id, severity, summary) = (rule.id, info.severity.word(), &info.summary);
        writeln!(table, "| [`{id}`](rules/{id}.md) | {severity} | {summary}{off} |").unwrap();
    }
    table.push('\n');
    part("rules", &table);
    if !UNFINISHED_PROJECTS.is_empty() && !updating() {
        return;
    }
    let run = cli::leaselint(package(), &["check", "fixtures/shop", "--color", "never"]);
    let (first, rest) = run.out.split_once("\n\n\n").unwrap_or(("", &run.out));
    let last = rest.trim_end().lines().last().unwrap_or("");
    let shown = if first.is_empty() { last.to_owned() } else { format!("{first}\n\n…\n{last}") };
    part("example", &format!("\n```text\n{shown}\n```\n\n"));
}
