//! What is known to be missed or false: the marks `FN` and `FP` of the fixtures, how many there are, and
//! the table of ARCHITECTURE.md that says what resolution can and cannot follow.

use std::io::Write;
use std::path::Path;

use crate::marks::{self, Kind, Mark};
use crate::readme::part_of;
use crate::{fixtures, package, text};

/// The marks of all fixtures that are cases.
fn all_marks() -> Vec<Mark> {
    let cases = fixtures::cases();
    cases.into_values().flatten().flat_map(|case| of_case(&case)).collect()
}

fn of_case(case: &Path) -> Vec<Mark> {
    let (tree, _) = fixtures::read(case);
    tree.files().iter().flat_map(|file| marks::read(&file.path, &file.text)).collect()
}

/// Whether a mark says that the answer is wrong.
fn is_gap(mark: &Mark) -> bool {
    matches!(mark.kind, Kind::FalseNegative | Kind::FalsePositive)
}

#[test]
fn known_gaps_of_the_fixtures_are_counted() {
    let marks = all_marks();
    let count = |kind: Kind| marks.iter().filter(|mark| mark.kind == kind).count();
    let (missed, wrong) = (count(Kind::FalseNegative), count(Kind::FalsePositive));
    let told = format!("known gaps: {missed} missed (FN), {wrong} false (FP)\n");
    // Past the capture of the test runner: whoever runs the fixtures sees it.
    std::io::stderr().write_all(told.as_bytes()).unwrap();
    part_of("ARCHITECTURE.md", "gaps", &told);
}

/// The rows of the table: whether it is followed, and its fixtures.
fn rows(page: &str) -> Vec<(bool, Vec<&str>)> {
    let (_, table) = page.split_once("| followed | what | fixtures |").expect("the table");
    let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [followed, _, links] = cells.as_slice() else { panic!("a row of three: {line}") };
            assert!(["yes", "no"].contains(followed), "{line}");
            let places = links.split("](").skip(1);
            let places = places.map(|rest| rest.split(')').next().unwrap_or_default());
            (*followed == "yes", places.collect())
        })
        .collect()
}

#[test]
fn the_table_of_what_is_followed_is_shown_by_fixtures() {
    let page = text(&package().join("ARCHITECTURE.md"));
    let rows = rows(&page);
    assert!(rows.len() > 10, "{rows:?}");
    let mut named: Vec<&str> = Vec::new();
    for (followed, fixtures) in &rows {
        assert!(!fixtures.is_empty(), "a row without fixtures");
        for place in fixtures {
            let case = package().join(place);
            assert!(case.exists(), "{place} is no fixture");
            let marks = of_case(&case);
            assert!(!marks.is_empty(), "{place} has no marks");
            let gap = marks.iter().any(is_gap);
            assert_eq!(gap, !followed, "{place}: followed {followed}, known gaps {gap}");
            named.push(place);
        }
    }
    // A gap that the table does not name would be told nowhere.
    for (rule, cases) in fixtures::cases() {
        for case in cases.iter().filter(|case| of_case(case).iter().any(is_gap)) {
            let place = case.strip_prefix(package()).unwrap().to_string_lossy().replace('\\', "/");
            assert!(named.contains(&place.as_str()), "{rule}: {place} is not in the table");
        }
    }
}
