//! The generated parts of the README: the table of rules, and the output of its example.

use std::fmt::Write;

use leaselint::report::Format;
use leaselint::rules::RULES;

use crate::{UNFINISHED_PROJECTS, cli, package, text, updating};

/// How many findings the example shows.
const SHOWN: usize = 1;

/// Compares what stands between `<!-- name -->` and `<!-- /name -->` in a page, or writes it.
pub fn part_of(page: &str, name: &str, generated: &str) {
    let path = package().join(page);
    let readme = text(&path);
    let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = readme.split_once(&open).expect("the part begins");
    let (old, after) = rest.split_once(&close).expect("the part ends");
    if old == generated {
        return;
    }
    assert!(updating(), "{page}, {name}: `UPDATE=1 cargo test` writes\n{generated}\nnot\n{old}");
    std::fs::write(&path, format!("{before}{open}{generated}{close}{after}")).unwrap();
}

fn part(name: &str, generated: &str) {
    part_of("README.md", name, generated);
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
    let mut table = String::from("\n| format | what it is |\n| --- | --- |\n");
    for format in Format::ALL {
        let (name, about) = format.names();
        writeln!(table, "| `{name}` | {about} |").unwrap();
    }
    table.push('\n');
    part("formats", &table);
    if !UNFINISHED_PROJECTS.is_empty() && !updating() {
        return;
    }
    let run = cli::leaselint(package(), &["check", "fixtures/shop", "--color", "never"]);
    let begins = |line: &&str| leaselint::rules::find(line).is_some();
    let starts: Vec<_> =
        run.out.lines().enumerate().filter(|(_, line)| begins(line)).map(|(at, _)| at).collect();
    let first = run.out.lines().take(starts.get(SHOWN).copied().unwrap_or(0)).collect::<Vec<_>>();
    let last = run.out.lines().last().unwrap_or("");
    let shown = format!("{}\n\n…\n\n{last}", first.join("\n").trim_end());
    part("example", &format!("\n```text\n{shown}\n```\n\n"));
}
