//! The baseline: what is known is left alone, wherever it goes, and what is mended is told.

use std::path::Path;

use serde_json::Value;

use crate::cli::leaselint;

const HEAD: &str = "use redis::RedisResult;\nuse redis::aio::MultiplexedConnection;\n\n";

/// A function that takes a lease, and one that deletes it whoever holds it.
fn module(key: &str) -> String {
    format!("{HEAD}{}{}", take(key), free("free", key))
}

fn take(key: &str) -> String {
    format!(
        "pub async fn take(con: &mut MultiplexedConnection, token: &str) -> RedisResult<bool> {{\n    \
         redis::cmd(\"SET\").arg(\"lock:{key}\").arg(token).arg(\"NX\").arg(\"PX\").arg(9000)\
         .query_async(con).await\n}}\n"
    )
}

fn free(name: &str, key: &str) -> String {
    format!(
        "pub async fn {name}(con: &mut MultiplexedConnection) -> RedisResult<()> {{\n    \
         redis::cmd(\"DEL\").arg(\"lock:{key}\").query_async(con).await\n}}\n"
    )
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap()
}

/// The findings of a run as `rule path:line`, how many the baseline knows, and the exit code.
fn run(folder: &Path, arguments: &[&str]) -> (Vec<String>, u64, i32) {
    let run = leaselint(folder, &[&["check", "--format", "json"], arguments].concat());
    let json: Value = serde_json::from_str(&run.out).expect(&run.err);
    let known = json["summary"]["known"].as_u64().unwrap();
    (crate::changed::places(&json), known, run.code)
}

const WRITE: [&str; 2] = ["--write-baseline", "known.jsonl"];
const USE: [&str; 2] = ["--baseline", "known.jsonl"];
const PRUNE: [&str; 3] = ["--baseline", "known.jsonl", "--prune-baseline"];

fn shown(places: &[&str], known: u64, code: i32) -> (Vec<String>, u64, i32) {
    (places.iter().map(|&place| place.to_owned()).collect(), known, code)
}

#[test]
fn what_is_known_is_left_alone_and_what_is_new_is_told() {
    let project = folder(&[("src/a.rs", &module("a")), ("src/b.rs", &module("b"))]);
    let root = project.path();
    assert_eq!(run(root, &[]).0.len(), 2);
    assert_eq!(run(root, &WRITE), shown(&[], 2, 0));
    assert_eq!(run(root, &USE), shown(&[], 2, 0));
    // Sorted, a line an entry, nothing that hangs on another line; the same bytes each time.
    let text = read(root, "known.jsonl");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "{\"leaselint-baseline\":1}");
    assert!(
        lines[1].starts_with("{\"path\":\"src/a.rs\",\"rule\":\"unconditional-del\""),
        "{text}"
    );
    assert!(lines[2].starts_with("{\"path\":\"src/b.rs\","), "{text}");
    assert_eq!(lines.len(), 3);
    run(root, &WRITE);
    assert_eq!(read(root, "known.jsonl"), text);
    let names: Vec<_> =
        std::fs::read_dir(root).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "nothing is left beside it: {names:?}");
    // A second release in another function is new, also of the same key.
    write(root, "src/a.rs", &format!("{}\n{}", module("a"), free("again", "a")));
    assert_eq!(run(root, &USE), shown(&["unconditional-del src/a.rs:12"], 2, 1));
    // A summary for people says how many are known.
    let run = leaselint(root, &["check", "--baseline", "known.jsonl"]);
    assert!(run.out.ends_with("1 error in 2 files (2 in the baseline)\n"), "{}", run.out);
}

#[test]
fn lines_may_move_and_files_be_renamed_and_a_copy_is_new() {
    let project = folder(&[("src/a.rs", &module("a"))]);
    let root = project.path();
    run(root, &WRITE);
    let moved = format!("{}{}{}{}", "// x\n".repeat(50), HEAD, free("free", "a"), take("a"));
    write(root, "src/a.rs", &moved);
    assert_eq!(run(root, &USE), shown(&[], 1, 0));
    // A copy beside it is new.
    write(root, "src/b.rs", &moved);
    assert_eq!(run(root, &USE), shown(&["unconditional-del src/b.rs:55"], 1, 1));
    // When the first is gone, it has gone there.
    std::fs::remove_file(root.join("src/a.rs")).unwrap();
    assert_eq!(run(root, &USE), shown(&[], 1, 0));
    // But only one.
    write(root, "src/c.rs", &moved);
    assert_eq!(run(root, &USE), shown(&["unconditional-del src/c.rs:55"], 1, 1));
    std::fs::remove_file(root.join("src/c.rs")).unwrap();
    // Pruning writes the new name down.
    run(root, &PRUNE);
    assert!(read(root, "known.jsonl").contains("\"path\":\"src/b.rs\""));
    assert_eq!(run(root, &USE), shown(&[], 1, 0));
}

#[test]
fn what_is_mended_is_told_until_it_is_pruned() {
    let project = folder(&[("src/a.rs", &module("a")), ("src/b.rs", &module("b"))]);
    let root = project.path();
    run(root, &WRITE);
    let before = read(root, "known.jsonl");
    write(root, "src/a.rs", &format!("{HEAD}{}", take("a")));
    assert_eq!(run(root, &USE), shown(&["stale-baseline known.jsonl:2"], 1, 1));
    let human = leaselint(root, &["check", "--baseline", "known.jsonl"]);
    let words = "the baseline knows `unconditional-del` in `free` of src/a.rs, and it is gone";
    assert!(human.out.contains(words), "{}", human.out);
    assert!(human.out.contains("known.jsonl:2:1"), "{}", human.out);
    // It is a rule like others.
    let note = [&USE[..], &["--severity", "stale-baseline=note"]].concat();
    assert_eq!(run(root, &note).2, 0);
    let off = [&USE[..], &["--ignore", "stale-baseline"]].concat();
    assert_eq!(run(root, &off), shown(&[], 1, 0));
    // Nothing is written but by pruning.
    assert_eq!(read(root, "known.jsonl"), before);
    assert_eq!(run(root, &PRUNE), shown(&[], 1, 0));
    assert_eq!(read(root, "known.jsonl").lines().count(), 2);
    assert_eq!(run(root, &USE), shown(&[], 1, 0));
}

#[test]
fn what_a_run_does_not_look_at_is_not_stale() {
    let project = folder(&[("src/a.rs", &module("a")), ("old/b.rs", &module("b"))]);
    let root = project.path();
    run(root, &WRITE);
    for more in [
        &["src"][..],
        &["src/a.rs"],
        &["--ignore", "unconditional-del"],
        &["--select", "pii-in-key,stale-baseline"],
        &["--severity", "unconditional-del=note", "--min-severity", "warning"],
    ] {
        let (places, _, code) = run(root, &[&USE[..], more].concat());
        assert_eq!((places.len(), code), (0, 0), "{more:?}: {places:?}");
    }
    std::fs::remove_dir_all(root.join("old")).unwrap();
    assert_eq!(run(root, &[&USE[..], &["src"]].concat()).2, 0);
    assert_eq!(run(root, &USE), shown(&["stale-baseline known.jsonl:2"], 1, 1));
}

#[test]
fn paths_count_from_the_baseline_wherever_the_run_starts() {
    let files = [("sub/src/a.rs", module("a")), ("sub/src/b.rs", module("b"))];
    let project = folder(&[(files[0].0, &files[0].1), (files[1].0, &files[1].1), ("ci/x.md", "x")]);
    let root = project.path();
    run(root, &["--write-baseline", "ci/known.jsonl"]);
    assert!(read(root, "ci/known.jsonl").contains("\"path\":\"../sub/src/a.rs\""));
    assert_eq!(run(root, &["--baseline", "ci/known.jsonl"]), shown(&[], 2, 0));
    let sub = root.join("sub");
    assert_eq!(run(&sub, &["--baseline", "../ci/known.jsonl"]), shown(&[], 2, 0));
    assert_eq!(run(&sub.join("src"), &["--baseline", "../../ci/known.jsonl"]), shown(&[], 2, 0));
    assert_eq!(run(&sub, &["--baseline", "../ci/known.jsonl", "src/b.rs"]), shown(&[], 1, 0));
    // A stale entry of a baseline that lies outside of the root is told all the same.
    write(root, "sub/src/a.rs", HEAD);
    let (places, known, code) = run(&sub, &["--baseline", "../ci/known.jsonl"]);
    assert_eq!((places.len(), known, code), (1, 1, 1));
    assert!(places[0].starts_with("stale-baseline ") && places[0].ends_with("ci/known.jsonl:2"));
}

#[test]
fn two_branches_merge_line_by_line() {
    let project = folder(&[("src/a.rs", &module("a")), ("src/b.rs", &module("b"))]);
    let root = project.path();
    run(root, &WRITE);
    let text = read(root, "known.jsonl");
    // What a union merge leaves: lines twice, out of order, a blank one, line ends of Windows.
    let mut lines: Vec<_> = text.lines().collect();
    lines.reverse();
    let merged = format!("{}\r\n\r\n{}", lines.join("\r\n"), text);
    write(root, "known.jsonl", &merged);
    assert_eq!(run(root, &USE), shown(&[], 2, 0));
    run(root, &PRUNE);
    assert_eq!(read(root, "known.jsonl"), merged, "nothing was stale");
    write(root, "src/a.rs", HEAD);
    run(root, &PRUNE);
    assert_eq!(read(root, "known.jsonl").lines().count(), 2);
}

#[test]
fn what_is_no_baseline_is_told_with_its_line() {
    let project = folder(&[("src/a.rs", &module("a"))]);
    let root = project.path();
    run(root, &WRITE);
    let good = read(root, "known.jsonl");
    let long = ["check", "--baseline"];
    for (text, words) in [
        (format!("{good}nonsense\n"), "x.jsonl:3: no entry: expected ident"),
        (format!("{good}<<<<<<< ours\n"), "x.jsonl:3: a conflict is left from a merge"),
        ("{\"leaselint-baseline\":2}\n".to_owned(), "x.jsonl:1: made by another version"),
        (String::new(), "x.jsonl:1: no baseline: the line"),
        (
            "{\"leaselint-baseline\":1}\n{\"path\":\"a\"}\n".to_owned(),
            "x.jsonl:2: no entry: missing field",
        ),
    ] {
        write(root, "x.jsonl", &text);
        let run = leaselint(root, &[&long[..], &["x.jsonl"]].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{words}");
        assert!(run.err.contains(words), "{words}: {}", run.err);
    }
    for (arguments, words) in [
        (&["--baseline", "none.jsonl"][..], "can't read none.jsonl"),
        (&["--write-baseline", "known.jsonl/x"], "can't read known.jsonl/x"),
        (&["--prune-baseline"], "--baseline <FILE>"),
        (&["--baseline", "known.jsonl", "--write-baseline", "x"], "cannot be used with"),
    ] {
        let run = leaselint(root, &[&["check"], arguments].concat());
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_change_against_a_baseline_shows_neither_what_is_known_nor_what_is_old() {
    let repository =
        crate::changed::Repository::new(&[("src/a.rs", &module("a")), ("src/b.rs", &module("b"))]);
    let root = repository.path();
    run(root, &["src/a.rs", "--write-baseline", "known.jsonl"]);
    repository.commit();
    write(
        root,
        "src/a.rs",
        &module("a")
            .replace("async fn free", "async fn  free")
            .replace("(con).await\n}\n", "( con ).await\n}\n"),
    );
    write(root, "src/c.rs", &module("c"));
    let diff = [&USE[..], &["--diff", "HEAD"]].concat();
    assert_eq!(run(root, &diff), shown(&["unconditional-del src/c.rs:8"], 1, 1));
    // A stale entry is told there, too: it would fail the branch that this goes to.
    write(root, "src/a.rs", HEAD);
    let expected = ["unconditional-del src/c.rs:8", "stale-baseline known.jsonl:2"];
    assert_eq!(run(root, &diff), shown(&expected, 0, 1));
}
