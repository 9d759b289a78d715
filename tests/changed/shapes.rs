//! Shapes of changes: renames, new files, what only went away, line ends, names, submodules, shallow
//! clones, and what can't be told.

use std::process::{Command, Stdio};

use super::{HEAD, Repository, file_in, git, places, release, take};
use crate::cli::leaselint;

/// A module that takes a lease and deletes it whoever holds it.
fn module(name: &str) -> String {
    format!("{HEAD}{}\n{}", take("take", name), release("free", name))
}

/// The same without the release.
fn mended(name: &str) -> String {
    format!("{HEAD}{}", take("take", name))
}

/// What `git diff` says of the files as they are, through a file.
fn by_file(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let diff = repository.git(&[&["diff"], arguments].concat());
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(&folder, "x.diff", diff.as_bytes());
    repository.shows(&["--diff-file", file.to_str().unwrap()])
}

const NONE: [&str; 0] = [];

#[test]
fn a_renamed_file_is_not_new_and_a_new_one_is_all_new() {
    let repository = Repository::new(&[("src/a.rs", &module("a")), ("src/c.rs", &mended("c"))]);
    repository.git(&["mv", "src/a.rs", "src/b.rs"]);
    for arguments in [&["--staged"][..], &["--diff", "HEAD"]] {
        assert_eq!(repository.shows(arguments), NONE, "{arguments:?}");
    }
    assert_eq!(by_file(&repository, &["HEAD"]), NONE);
    // A diff that knows no renames says the same: what stands in the new file went there.
    assert_eq!(by_file(&repository, &["--no-renames", "HEAD"]), NONE);
    // Renamed and changed on another line, then on the finding's own.
    let with = repository.path().join("src/b.rs");
    std::fs::write(&with, format!("// Of a.\n{}", module("a"))).unwrap();
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
    std::fs::write(
        &with,
        module("a").replace("query_async(con).await\n}\n", "query_async( con ).await\n}\n"),
    )
    .unwrap();
    assert_eq!(repository.shows(&["--diff", "HEAD"]), ["unconditional-del src/b.rs:9"]);
    std::fs::write(&with, module("a")).unwrap();
    // A copy is new, whether git knows the file or not.
    repository.write("src/d.rs", &module("d"));
    let copied = ["unconditional-del src/d.rs:9"];
    assert_eq!(repository.shows(&["--diff", "HEAD"]), copied);
    repository.git(&["add", "--all"]);
    assert_eq!(repository.shows(&["--diff", "HEAD"]), copied);
    assert_eq!(repository.shows(&["--staged"]), copied);
    assert_eq!(by_file(&repository, &["HEAD"]), copied);
}

#[test]
fn a_copied_function_is_new() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    repository.write("src/b.rs", &module("a"));
    assert_eq!(repository.shows(&["--diff", "HEAD"]), ["unconditional-del src/b.rs:9"]);
    repository.git(&["add", "--all"]);
    assert_eq!(
        by_file(&repository, &["--find-copies-harder", "HEAD"]),
        ["unconditional-del src/b.rs:9"]
    );
}

/// A lease that is taken, and gets its expiry by a command of its own, which may be missing.
fn two_steps(expiry: bool, note: &str) -> String {
    let expire = "    let _: () = redis::cmd(\"PEXPIRE\").arg(\"lock:x\").arg(9000).query_async(con).await?;\n";
    format!(
        "{HEAD}pub async fn take(con: &mut MultiplexedConnection, token: &str) -> RedisResult<bool> {{\n    \
         let won: bool = redis::cmd(\"SET\").arg(\"lock:x\").arg(token).arg(\"NX\"){}.query_async(con).await?;\n    \
         if !won {{\n        return Ok(false);\n    }}\n{note}{}    Ok(won)\n}}\n\n{}",
        "",
        if expiry { expire } else { "" },
        release("free", "x"),
    )
}

#[test]
fn a_line_that_went_is_told_where_it_is_missed_and_nowhere_else() {
    let note = "    // Nobody else is in here.\n    tracing::info!(\"won\");\n";
    let repository = Repository::new(&[("src/a.rs", &two_steps(true, note))]);
    let whole = repository.shows(&[]);
    assert!(whole.iter().any(|place| place.starts_with("expiry-not-atomic")), "{whole:?}");
    // The expiry goes: the acquire four lines above is a lease without one.
    repository.write("src/a.rs", &two_steps(false, note));
    let expected = ["setnx-without-expiry src/a.rs:5"];
    assert_eq!(repository.shows(&["--diff", "HEAD"]), expected);
    assert_eq!(by_file(&repository, &["HEAD"]), expected);
    assert_eq!(by_file(&repository, &["-U0", "HEAD"]), expected);
    // Lines beside a finding that is as old as the file go: nothing is new.
    repository.write("src/a.rs", &two_steps(true, ""));
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
    // All is there; then the whole function goes.
    repository.write("src/a.rs", &two_steps(true, note));
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
    repository.write("src/a.rs", HEAD);
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
}

#[test]
fn line_ends_are_no_change() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    let crlf = |text: &str| text.replace('\n', "\r\n");
    // All line ends change, and nothing else.
    repository.write("src/a.rs", &crlf(&module("a")));
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
    assert_eq!(by_file(&repository, &["HEAD"]), NONE);
    repository.commit();
    // A file of such lines gets more.
    repository.write("src/a.rs", &crlf(&format!("{}\n{}", module("a"), release("more", "a"))));
    let expected = ["unconditional-del src/a.rs:13"];
    assert_eq!(repository.shows(&["--diff", "HEAD"]), expected);
    assert_eq!(by_file(&repository, &["HEAD"]), expected);
    repository.git(&["add", "--all"]);
    assert_eq!(repository.shows(&["--staged"]), expected);
    // A checkout that writes them, of a repository that has none.
    repository.write("src/a.rs", &module("a"));
    repository.commit();
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.write("src/a.rs", &crlf(&format!("// One more.\n{}", module("a"))));
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
    assert_eq!(by_file(&repository, &["HEAD"]), NONE);
}

#[test]
fn indented_functions_are_moved_ones() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    let indented: String =
        release("free", "a").lines().map(|line| format!("    {line}\n")).collect();
    let text =
        format!("{HEAD}{}\npub mod inner {{\n    use super::*;\n{indented}}}\n", take("take", "a"));
    repository.write("src/a.rs", &text);
    assert_eq!(repository.shows(&[]).len(), 1);
    assert_eq!(repository.shows(&["--diff", "HEAD"]), NONE);
}

#[test]
fn names_of_every_kind_are_found() {
    let mut names = vec![
        "a b.rs",
        "ä/ö.rs",
        "b/b.rs",
        "a/a.rs",
        "-x.rs",
        "x\\y.rs",
        "q\"q.rs",
        "c,d:e%20f.rs",
        " lead.rs",
    ];
    if cfg!(unix) {
        names.extend(["t\ta.rs", "n\nl.rs", "e\u{1b}[31m.rs", "a\\x62.rs"]);
    }
    let repository = Repository::new(&[("readme.txt", "x")]);
    names.iter().for_each(|name| repository.write(name, &mended("x")));
    repository.commit();
    names.iter().for_each(|name| repository.write(name, &module("x")));
    let found = |arguments: &[&str]| repository.shows(arguments).len();
    assert_eq!(found(&["--diff", "HEAD"]), names.len());
    assert_eq!(by_file(&repository, &["HEAD"]).len(), names.len());
    assert_eq!(by_file(&repository, &["--no-prefix", "HEAD"]).len(), names.len());
    repository.git(&["add", "--all"]);
    assert_eq!(found(&["--staged"]), names.len());
    // As new files that git does not know.
    repository.git(&["rm", "--quiet", "--cached", "-r", "."]);
    repository.git(&["commit", "--quiet", "--message", "none"]);
    assert_eq!(found(&["--diff", "HEAD"]), names.len());
}

#[test]
#[cfg(unix)]
fn a_name_that_is_no_text_is_found() {
    use std::os::unix::ffi::OsStrExt;
    let repository = Repository::new(&[("readme.txt", "x")]);
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.rs");
    if std::fs::write(repository.path().join(name), module("x")).is_err() {
        return; // A file system that only has names of text.
    }
    assert_eq!(repository.shows(&["--diff", "HEAD"]), ["unconditional-del caf\\xe9.rs:9"]);
    repository.git(&["add", "--all"]);
    assert_eq!(repository.shows(&["--staged"]), ["unconditional-del caf\\xe9.rs:9"]);
}

#[test]
fn the_settings_of_git_change_nothing() {
    let repository = Repository::new(&[("src/a.rs", &mended("a"))]);
    repository.write("src/a.rs", &module("a"));
    for (key, value) in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("diff.external", "false"),
        ("diff.context", "40"),
        ("diff.relative", "true"),
        ("diff.colorMoved", "zebra"),
        ("diff.wsErrorHighlight", "all"),
        ("diff.suppressBlankEmpty", "true"),
        ("core.quotePath", "false"),
        ("core.fsmonitor", "/bin/false"),
        ("core.pager", "false"),
        ("diff.renames", "copies"),
        ("diff.submodule", "short"),
    ] {
        repository.git(&["config", key, value]);
        let expected = ["unconditional-del src/a.rs:9"];
        assert_eq!(repository.shows(&["--diff", "HEAD"]), expected, "{key} = {value}");
    }
    // A driver that the repository's own files ask for is not run.
    repository.write(".gitattributes", "*.rs diff=mine filter=none\n");
    repository.git(&["config", "diff.mine.textconv", "touch ran; cat"]);
    repository.git(&["config", "diff.mine.command", "touch ran"]);
    assert_eq!(repository.shows(&["--diff", "HEAD"]), ["unconditional-del src/a.rs:9"]);
    assert!(!repository.path().join("ran").exists());
}

#[test]
fn a_run_from_below_or_above_the_top_finds_the_same_lines() {
    let repository =
        Repository::new(&[("crates/x/src/a.rs", &mended("a")), ("src/a.rs", &module("b"))]);
    repository.write("crates/x/src/a.rs", &module("a"));
    let diff = repository.git(&["diff", "HEAD"]);
    let outside = tempfile::tempdir().unwrap();
    let file = file_in(&outside, "x.diff", diff.as_bytes());
    let file = file.to_str().unwrap();
    let shows = |folder: &std::path::Path, arguments: &[&str]| {
        let all = [&["check", "--format", "json"], arguments].concat();
        let run = leaselint(folder, &all);
        places(&serde_json::from_str(&run.out).expect(&run.err))
    };
    let below = repository.path().join("crates/x");
    let above = repository.path().parent().unwrap();
    let name = repository.path().file_name().unwrap().to_str().unwrap();
    for option in [["--diff", "HEAD"], ["--diff-file", file]] {
        assert_eq!(shows(&below, &option), ["unconditional-del src/a.rs:9"], "{option:?}");
        let all = [&option[..], &["src"]].concat();
        assert_eq!(shows(&below, &all), ["unconditional-del src/a.rs:9"], "{option:?}");
        let all = [&option[..], &[name]].concat();
        let expected = format!("unconditional-del {name}/crates/x/src/a.rs:9");
        assert_eq!(shows(above, &all), [expected], "{option:?}");
    }
}

#[test]
fn a_submodule_that_went_on_is_changed_where_it_changed() {
    let library = Repository::new(&[("src/old.rs", &module("old")), ("src/a.rs", &mended("a"))]);
    let shop = Repository::new(&[("src/main.rs", &mended("main"))]);
    let url = library.path().to_str().unwrap();
    shop.git(&["submodule", "--quiet", "add", url, "libs/locks"]);
    assert_eq!(shop.shows(&["--diff", "HEAD"]).len(), 1, "a new submodule is all new");
    assert_eq!(shop.shows(&["--staged"]).len(), 1);
    shop.commit();
    assert_eq!(shop.shows(&["--diff", "HEAD"]), NONE);
    // It goes on.
    library.write("src/a.rs", &module("a"));
    library.commit();
    let inside = shop.path().join("libs/locks");
    git(&inside, &["pull", "--quiet"]);
    let expected = ["unconditional-del libs/locks/src/a.rs:9"];
    assert_eq!(shop.shows(&["--diff", "HEAD"]), expected);
    shop.git(&["add", "libs/locks"]);
    assert_eq!(shop.shows(&["--staged"]), expected);
    shop.commit();
    assert_eq!(shop.shows(&["--diff", "HEAD~1"]), expected);
    // What is written in it and not committed.
    shop.write("libs/locks/src/b.rs", &module("b"));
    let more =
        ["unconditional-del libs/locks/src/a.rs:9", "unconditional-del libs/locks/src/b.rs:9"];
    assert_eq!(shop.shows(&["--diff", "HEAD~1"]), more);
    std::fs::remove_file(inside.join("src/b.rs")).unwrap();
    // A clone whose submodule lacks the commits says what to fetch.
    let clone = tempfile::tempdir().unwrap();
    let into = clone.path().to_str().unwrap();
    git(shop.path(), &["clone", "--quiet", shop.path().to_str().unwrap(), into]);
    let depth = ["submodule", "--quiet", "update", "--init", "--depth", "1"];
    let library = format!("file://{url}");
    git(clone.path(), &["config", "submodule.libs/locks.url", &library]);
    git(clone.path(), &depth);
    let run = leaselint(clone.path(), &["check", "--diff", "HEAD~1"]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("git -C libs/locks fetch --unshallow"), "{}", run.err);
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let repository = Repository::new(&[("src/a.rs", &mended("a"))]);
    repository.git(&["checkout", "--quiet", "-b", "work"]);
    for number in 0..3 {
        repository.write("src/b.rs", &format!("// {number}\n{}", module("b")));
        repository.commit();
    }
    let clone = tempfile::tempdir().unwrap();
    let url = format!("file://{}", repository.path().display());
    let into = clone.path().to_str().unwrap();
    git(repository.path(), &["clone", "--quiet", "--depth", "1", "--branch", "work", &url, into]);
    let run = leaselint(clone.path(), &["check", "--diff", "origin/main"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    for words in ["no commit `origin/main`", "shallow", "git fetch --unshallow", "fetch-depth: 0"] {
        assert!(run.err.contains(words), "{}", run.err);
    }
    // Both ends are there, and what is between them is not.
    git(
        clone.path(),
        &["fetch", "--quiet", "--depth", "1", "origin", "main:refs/remotes/origin/main"],
    );
    let run = leaselint(clone.path(), &["check", "--diff", "origin/main"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("the clone is shallow") && run.err.contains("GIT_DEPTH"),
        "{}",
        run.err
    );
    let run = leaselint(clone.path(), &["check", "--diff", "main"]);
    assert!(run.err.contains("did you mean `origin/main`?"), "{}", run.err);
    // As told, and it runs.
    git(clone.path(), &["fetch", "--quiet", "--unshallow"]);
    let run = leaselint(clone.path(), &["check", "--diff", "origin/main"]);
    assert_eq!(run.code, 1, "{}", run.err);
}

#[test]
fn what_can_not_be_told_is_an_error_in_one_sentence() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    repository.git(&["checkout", "--quiet", "--orphan", "other"]);
    repository.write("src/b.rs", "");
    repository.commit();
    let nowhere = tempfile::tempdir().unwrap();
    std::fs::write(nowhere.path().join("a.rs"), "").unwrap();
    std::fs::write(nowhere.path().join("cut.diff"), "--- a/a.rs\n+++ b/a.rs\n@@ -1 +1,2 @@\n-a\n")
        .unwrap();
    std::fs::write(nowhere.path().join("no.diff"), "hello\n").unwrap();
    for (folder, arguments, words) in [
        (repository.path(), &["--diff", "nothing"][..], "there is no commit `nothing` here"),
        (repository.path(), &["--diff=--output=x"], "expected a branch, a tag or a commit"),
        (repository.path(), &["--diff", "main..other"], "expected a branch, a tag or a commit"),
        (repository.path(), &["--diff", "main"], "have no commit in common"),
        (repository.path(), &["--diff", "HEAD", "--staged"], "cannot be used with"),
        (nowhere.path(), &["--diff", "main"], "not a git repository"),
        (nowhere.path(), &["--staged"], "not a git repository"),
        (nowhere.path(), &["--diff-file", "none.diff"], "can't read none.diff"),
        (
            nowhere.path(),
            &["--diff-file", "cut.diff"],
            "can't read cut.diff: line 3: the hunk is not whole",
        ),
        (nowhere.path(), &["--diff-file", "no.diff"], "no.diff is not a unified diff"),
    ] {
        let run = leaselint(folder, &[&["check"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_repository_without_a_commit_has_staged_files() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    repository.git(&["update-ref", "-d", "HEAD"]);
    assert_eq!(repository.shows(&["--staged"]), ["unconditional-del src/a.rs:9"]);
}

#[test]
fn a_diff_on_the_standard_input_is_read_and_one_that_does_not_fit_is_told() {
    let repository = Repository::new(&[("src/a.rs", &module("a"))]);
    let run = |diff: &str| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_leaselint"))
            .args(["check", "--format", "json", "--diff-file", "-"])
            .current_dir(repository.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), diff.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let json = serde_json::from_slice(&output.stdout).unwrap();
        (places(&json), String::from_utf8(output.stderr).unwrap())
    };
    let found = vec!["unconditional-del src/a.rs:9".to_owned()];
    let line = module("a").lines().nth(8).unwrap().to_owned();
    let fits = format!("--- a/src/a.rs\n+++ b/src/a.rs\n@@ -9 +9 @@\n-x\n+{line}\n");
    assert_eq!(run(&fits), (found.clone(), String::new()));
    let (shown, told) = run("--- a/src/a.rs\n+++ b/src/a.rs\n@@ -9 +9 @@\n-x\n+y\n");
    assert_eq!(shown, found);
    assert!(told.contains("src/a.rs is not as the diff says"), "{told}");
    assert_eq!(run(""), (Vec::new(), String::new()));
    assert_eq!(run("--- a/gone.rs\n+++ b/gone.rs\n@@ -1 +1 @@\n-x\n+y\n").0, Vec::<String>::new());
}

#[test]
fn an_enormous_diff_is_read_as_it_comes() {
    let repository = Repository::new(&[("src/a.rs", &mended("a"))]);
    let line = format!("+{}\n", "x".repeat(1023));
    let big = format!("--- /dev/null\n+++ b/big.txt\n@@ -0,0 +1,30000 @@\n{}", line.repeat(30_000));
    let long =
        format!("--- /dev/null\n+++ b/long.txt\n@@ -0,0 +1 @@\n+{}\n", "y".repeat(20_000_000));
    repository.write("src/a.rs", &module("a"));
    let diff = format!("{big}{long}{}", repository.git(&["diff"]));
    let folder = tempfile::tempdir().unwrap();
    let file = file_in(&folder, "x.diff", diff.as_bytes());
    let start = std::time::Instant::now();
    let shown = repository.shows(&["--diff-file", file.to_str().unwrap()]);
    assert_eq!(shown, ["unconditional-del src/a.rs:9"]);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
