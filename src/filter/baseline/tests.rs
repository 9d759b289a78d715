//! Paths from one folder seen from another, and the text of a baseline.

use super::*;

#[test]
fn paths_are_seen_from_the_baseline_and_back() {
    let folders = |home: &str, root: &str| Folders { home: home.to_owned(), root: root.to_owned() };
    for (home, root, path, entry) in [
        ("r", "r", "a/b.rs", "a/b.rs"),
        ("r", "r/sub", "a/b.rs", "sub/a/b.rs"),
        ("r/ci", "r", "a/b.rs", "../a/b.rs"),
        ("r/ci", "r", "ci/b.rs", "b.rs"),
        ("r/ci/x", "r/sub", "b.rs", "../../sub/b.rs"),
        ("", "r", "b.rs", "r/b.rs"),
        ("r", "", "b.rs", "../b.rs"),
    ] {
        let folders = folders(home, root);
        assert_eq!(folders.to_entry(path), entry, "{home} {root}");
        assert_eq!(folders.to_tree(entry).as_deref(), Some(path), "{home} {root}");
    }
    assert_eq!(folders("r", "r/sub").to_tree("other/b.rs"), None);
    assert_eq!(folders("r", "r/sub").to_tree("subs/b.rs"), None);
    assert_eq!(folders("r", "r").to_tree("../../b.rs"), None);
}

#[test]
fn what_is_printed_is_read() {
    let entry = |path: &str, print: &str| Entry {
        path: path.to_owned(),
        rule: "unconditional-del".to_owned(),
        function: Some("Lock::free".to_owned()),
        fingerprint: print.to_owned(),
    };
    let odd = entry("a\n\u{1b}[31m\"b\".rs", "2");
    let entries = vec![odd.clone(), entry("b.rs", "1"), odd.clone(), entry("a.rs", "3")];
    let text = print(entries);
    assert_eq!(text.lines().count(), 4, "{text}");
    let read = parse(&text).unwrap().entries;
    let paths: Vec<_> = read.iter().map(|(entry, line)| (entry.path.as_str(), *line)).collect();
    assert_eq!(paths, [(odd.path.as_str(), 2), ("a.rs", 3), ("b.rs", 4)]);
    assert!(parse(&print(Vec::new())).unwrap().entries.is_empty());
}
