//! Every fixture is linted, with every rule that is on by default, and must say what its marks say.
//!
//! `fixtures/<rule>/` holds cases of one rule: a file is a case, a folder is a project. Any other
//! folder of `fixtures/` is one project. A case may turn on rules with a `leaselint.toml` of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use leaselint::cli::settings;
use leaselint::config::Settings;
use leaselint::rules;
use leaselint::source::Tree;
use leaselint::source::exclude::Exclude;
use leaselint::source::walk::{LARGEST_FILE, Walk};

use crate::{UNFINISHED, UNFINISHED_PROJECTS, marks, package};

/// Fixtures that other tests read.
const NOT_CASES: &[&str] = &["lowering"];

/// The cases, by the name of their folder in `fixtures/`.
pub fn cases() -> BTreeMap<String, Vec<PathBuf>> {
    let mut cases = BTreeMap::new();
    for folder in entries(&package().join("fixtures")) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if NOT_CASES.contains(&name.as_str()) {
            continue;
        }
        let inside = if rules::find(&name).is_some() { entries(&folder) } else { vec![folder] };
        cases.insert(name, inside);
    }
    cases
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(read) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = read.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The files of a case, and its own settings.
pub fn read(case: &Path) -> (Tree, Settings) {
    let root = if case.is_dir() { case } else { case.parent().unwrap() };
    let walk = Walk {
        root: root.to_owned(),
        paths: vec![case.to_owned()],
        exclude: Exclude::default(),
        largest: LARGEST_FILE,
    };
    let tree = walk.read(&|| ()).unwrap();
    let settings = tree.text("leaselint.toml").map(|text| settings::parse(text).unwrap());
    (tree, settings.unwrap_or_default())
}

/// A case that is called wrong has a mark of its rule, one that is called right has none.
fn name_and_marks(rule: &str, case: &Path, tree: &Tree) -> Option<String> {
    let stem = case.file_stem().unwrap().to_string_lossy();
    let mut marks = tree.files().iter().flat_map(|file| marks::read(&file.path, &file.text));
    let marked = marks.any(|mark| mark.rule == rule);
    match (stem.ends_with("-wrong"), stem.ends_with("-right")) {
        (true, _) if !marked => Some(format!("{stem}: called wrong, and no mark of {rule}")),
        (_, true) if marked => Some(format!("{stem}: called right, and a mark of {rule}")),
        _ => None,
    }
}

#[test]
fn every_fixture_says_what_its_marks_say() {
    crate::on_large_stack(|| {
        let mut told = Vec::new();
        let mut wrong = Vec::new();
        for (name, cases) in cases() {
            let mut faults = Vec::new();
            for case in cases {
                let place = case.strip_prefix(package()).unwrap().display().to_string();
                let (tree, settings) = read(&case);
                faults.extend(name_and_marks(&name, &case, &tree));
                let differences = marks::differences(tree, settings);
                faults.extend(differences.into_iter().map(|fault| format!("{place}: {fault}")));
            }
            let unfinished =
                UNFINISHED.contains(&name.as_str()) || UNFINISHED_PROJECTS.contains(&name.as_str());
            let is_project = UNFINISHED_PROJECTS.contains(&name.as_str());
            match (faults.is_empty(), unfinished) {
                (false, false) => wrong.push(format!("{name} does not hold")),
                (true, true) if is_project => {
                    wrong.push(format!("{name} holds: take it off UNFINISHED_PROJECTS"));
                }
                _ => {}
            }
            told.extend(faults);
        }
        assert!(wrong.is_empty(), "{}\n\n{}", wrong.join("\n"), told.join("\n"));
    });
}
