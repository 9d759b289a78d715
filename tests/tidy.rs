//! What a compiler does not check: floors and walls, module docs, names, one name for one rule,
//! lengths, words.

use std::path::{Path, PathBuf};

use leaselint::rules::{self, RULES};

use crate::pages::NOT_OF_CODE;
use crate::{UNFINISHED, files, package, text};

/// The longest a source file may be.
const LONGEST_FILE: usize = 500;

/// A crate (or module of `std`) and the places that may name it.
const WALLS: &[(&str, &[&str])] = &[
    ("syn", &["src/lang/", "src/lang.rs"]),
    ("proc_macro2", &["src/lang/"]),
    ("quote", &["src/lang/"]),
    ("rustc_lexer", &["src/lang/"]),
    ("tree_sitter", &["src/lang/"]),
    ("tree_sitter_lua", &["src/lang/"]),
    ("tree_sitter_sql", &["src/lang/"]),
    ("sqlparser", &["src/lang/"]),
    ("miette", &["src/report/human.rs"]),
    ("quick_xml", &["src/report/xml.rs", "src/report/junit.rs"]),
    ("percent_encoding", &["src/report/sarif.rs"]),
    ("clap", &["src/cli.rs", "src/cli/"]),
    ("indicatif", &["src/cli/progress.rs"]),
    ("ignore", &["src/source/walk.rs"]),
    ("walkdir", &["src/source/walk.rs"]),
    ("std::fs", &["src/cli/", "src/source/walk.rs"]),
    ("std::net", &[]),
    ("std::process", &["src/cli.rs", "src/cli/", "src/main.rs", "src/bin/"]),
];

/// Floors that may name only these others.
const ROOMS: &[(&str, &[&str])] = &[
    ("rules", &["analysis", "ir", "finding", "config", "source", "rules"]),
    ("report", &["finding", "source", "rules", "config", "report"]),
    ("analysis", &["link", "catalog", "ir", "finding", "config", "source", "analysis"]),
];

/// Names that say nothing of what is inside.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc", "shared"];

/// Words that have another in this field.
const BANNED: &[(&str, &str)] = &[
    ("obtain", "acquire"),
    ("obtains", "acquires"),
    ("unlock", "release"),
    ("unlocks", "releases"),
    ("mutex", "lease"),
    ("violation", "finding"),
    ("violations", "findings"),
    ("heartbeats", "renewals"),
    ("toctou", "check-then-act"),
];

/// What is wrong with the words of a text, if anything. Code in backticks is left alone.
pub fn banned_word(text: &str) -> Option<String> {
    let prose: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let words = prose.split(|c: char| !(c.is_alphanumeric() || c == '-'));
    let mut found = words.filter_map(|word| BANNED.iter().find(|(banned, _)| *banned == word));
    found.next().map(|(banned, better)| format!("says `{banned}`, and our word is `{better}`"))
}

fn sources() -> Vec<(String, String)> {
    let relative =
        |path: &PathBuf| path.strip_prefix(package()).unwrap().to_string_lossy().replace('\\', "/");
    files(&package().join("src"), "rs").iter().map(|path| (relative(path), text(path))).collect()
}

/// The lines of code of a file: no comments, no items for tests. What `use` brings in over several
/// lines stands on its first.
fn code(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut lines = text.lines().zip(1..).peekable();
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    while let Some((line, number)) = lines.next() {
        if line.trim_start().starts_with("#[cfg(test)]") {
            // The item below, to the brace that stands as far in as it begins.
            let Some((head, _)) = lines.find(|(line, _)| !line.trim_start().starts_with("#["))
            else {
                break;
            };
            let indent = &head[..head.len() - head.trim_start().len()];
            if !head.trim_end().ends_with([';', '}']) {
                let closing = format!("{indent}}}");
                lines.find(|(line, _)| line.trim_end() == closing);
            }
            continue;
        }
        if is_comment(line) {
            continue;
        }
        let mut joined = line.to_owned();
        let begins = ["use ", "pub use ", "pub(crate) use "];
        if begins.iter().any(|begin| line.trim_start().starts_with(begin)) {
            while !joined.contains(';') {
                let Some((more, _)) = lines.next() else { break };
                joined.push_str(more.split("//").next().unwrap().trim());
            }
        }
        found.push((number, joined));
    }
    found
}

/// The floors in order, as `src/lib.rs` declares them.
fn floors() -> Vec<String> {
    let lib = text(&package().join("src/lib.rs"));
    let name = |line: &str| line.strip_prefix("pub mod ")?.strip_suffix(';').map(str::to_owned);
    lib.lines().filter_map(name).collect()
}

/// The floor of a file: `src/lang/rust.rs` and `src/lang.rs` are on `lang`.
fn floor(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split('/').next()?.split('.').next()
}

/// The modules of the crate that a line names.
fn named(line: &str) -> Vec<&str> {
    let rests = line.match_indices("crate::").map(|(at, word)| &line[at + word.len()..]);
    rests
        .flat_map(|rest| rest.strip_prefix('{').map_or(vec![rest], listed))
        .map(word)
        .filter(|name| !name.is_empty())
        .collect()
}

/// The parts of a list up to its brace, commas of inner lists left alone.
fn listed(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
                if letter == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    parts
}

/// The name that a text begins with.
fn word(text: &str) -> &str {
    let text = text.trim_start();
    let end = text.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn a_module_imports_only_modules_declared_above_it() {
    let floors = floors();
    let height = |name: &str| floors.iter().position(|floor| floor == name);
    let mut faults = Vec::new();
    for (path, text) in sources() {
        let Some(own) = floor(&path).and_then(height) else { continue };
        let room = ROOMS.iter().find(|(room, _)| Some(*room) == floor(&path));
        for (line, code) in code(&text) {
            for name in named(&code) {
                let Some(other) = height(name) else { continue };
                // Tests make what they ask about with whatever makes it.
                let in_test = path.ends_with("/tests.rs");
                let walled = !in_test && room.is_some_and(|(_, may)| !may.contains(&name));
                if other > own || walled {
                    faults.push(format!("{path}:{line}: {} imports {name}", floors[own]));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn walls_hold() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        for (line, code) in code(&text) {
            for (name, places) in WALLS {
                let hit = code.match_indices(name).any(|(at, _)| {
                    let before = code[..at].chars().next_back();
                    let after = &code[at + name.len()..];
                    let ends = after.starts_with("::") || after.starts_with(';');
                    ends && !before
                        .is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '"'))
                });
                if hit && !places.iter().any(|place| path.starts_with(place)) {
                    faults.push(format!("{path}:{line}: names {name}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_file_says_what_it_is_for_and_is_short() {
    let mut faults = Vec::new();
    for (path, text) in sources() {
        if !text.starts_with("//!") {
            faults.push(format!("{path}: no `//!` on the first line"));
        }
        if text.lines().count() > LONGEST_FILE {
            faults.push(format!("{path}: longer than {LONGEST_FILE} lines"));
        }
        let stem = Path::new(&path).file_stem().unwrap().to_string_lossy();
        if EMPTY_NAMES.contains(&stem.as_ref()) {
            faults.push(format!("{path}: a name that says nothing"));
        }
        for (line, code) in code(&text) {
            if code.contains("todo!(") || code.contains("dbg!(") {
                faults.push(format!("{path}:{line}: unfinished"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_rule_has_one_name_everywhere() {
    let mut faults = Vec::new();
    let (mut pages, mut modules) = (Vec::new(), Vec::new());
    for path in files(&package().join("rules"), "md") {
        pages.push(path.file_stem().unwrap().to_string_lossy().into_owned());
    }
    let rules_folder = package().join("src/rules");
    for path in files(&rules_folder, "rs").iter().filter(|p| p.parent() == Some(&rules_folder)) {
        let stem = path.file_stem().unwrap().to_string_lossy().replace('_', "-");
        if text(path).contains("\nrule!(") {
            modules.push(stem);
        }
    }
    let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    ids.sort();
    pages.sort();
    modules.sort();
    assert_eq!(ids, pages, "rules and pages");
    assert_eq!(ids, modules, "rules and files in src/rules");
    for rule in RULES {
        let file = rules_folder.join(format!("{}.rs", rule.id.replace('-', "_")));
        let fold = |text: &str| text.trim().trim_end_matches('.').to_lowercase();
        let source = text(&file);
        let doc: String = source
            .lines()
            .map_while(|line| line.strip_prefix("//!"))
            .take_while(|line| !line.trim().is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        let summary = &rule.info().summary;
        let doc = fold(&doc).split_whitespace().collect::<Vec<_>>().join(" ");
        if !doc.starts_with(&fold(summary)) {
            faults.push(format!("{}: says `{doc}`, its page `{summary}`", file.display()));
        }
        let bad_start =
            ["no-", "prefer-", "require-", "ban-"].iter().any(|p| rule.id.starts_with(p));
        if bad_start {
            faults.push(format!("{}: a rule is named after the defect", rule.id));
        }
        let fixtures = package().join("fixtures").join(rule.id);
        let shown_by_code = !NOT_OF_CODE.contains(&rule.id);
        if !fixtures.is_dir() && !UNFINISHED.contains(&rule.id) && shown_by_code {
            faults.push(format!("{}: no fixtures", rule.id));
        }
    }
    for id in UNFINISHED {
        assert!(rules::find(id).is_some(), "UNFINISHED names no rule: {id}");
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pages_use_the_words_of_the_field() {
    let mut faults = Vec::new();
    for rule in RULES {
        let mut fence = false;
        for (line, number) in rule.page.lines().zip(1..) {
            fence ^= line.starts_with("```");
            if let Some(fault) = banned_word(line).filter(|_| !fence) {
                faults.push(format!("rules/{}.md:{number}: {fault}", rule.id));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn imports_are_recognised() {
    assert_eq!(named("use crate::ir::body::Body;"), ["ir"]);
    assert_eq!(named("use crate::{ir, link::Program};"), ["ir", "link"]);
    assert_eq!(named("let x = crate::rules::find(id);"), ["rules"]);
    assert_eq!(named("use crate::{ir::{body::Body, key}, lang::lua};"), ["ir", "lang"]);
    let text = "#[cfg(test)]\nmod tests;\nuse crate::{\n    ir::Body, // why\n    lang,\n};\n\
                #[cfg(test)]\nmod more {\n    use crate::cli;\n}\nuse crate::link;\n";
    let lines = code(text);
    let names: Vec<_> = lines
        .iter()
        .flat_map(|(line, code)| named(code).into_iter().map(|it| (*line, it)))
        .collect();
    assert_eq!(names, [(3, "ir"), (3, "lang"), (11, "link")]);
    assert_eq!(floor("src/lang/rust.rs"), Some("lang"));
    assert_eq!(banned_word("`unlock` is fine").as_deref(), None);
    assert!(banned_word("Unlock it").is_some());
}
