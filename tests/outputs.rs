//! Several formats in one run, and what a CI system is given unasked.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::cli::{CI, Run, folder};

/// A file with one finding that needs no analysis.
const UNUSED: &[u8] = b"// leaselint: allow(unconditional-del) -- none here\nfn main() {}\n";

/// Runs `leaselint check` with these arguments and variables of a CI system.
fn check(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaselint"));
    for name in CI {
        command.env_remove(name);
    }
    let output = command
        .arg("check")
        .args(arguments)
        .current_dir(folder)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap_or(-1);
    Run { code, out: text(output.stdout), err: text(output.stderr) }
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn read(folder: &Path, path: &str) -> String {
    std::fs::read_to_string(folder.join(path)).unwrap()
}

#[test]
fn one_run_writes_several_formats() {
    let found = folder(&[("a.rs", UNUSED)]);
    let outputs = ["--output", "sarif=out/a.sarif", "--output", "json=out/a.json"];
    let run = check(found.path(), &outputs, &[]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert!(run.out.contains("1 warning in 1 file"), "people are told, too: {}", run.out);
    assert_eq!(json(&read(found.path(), "out/a.sarif"))["version"], "2.1.0");
    assert_eq!(json(&read(found.path(), "out/a.json"))["version"], 1);
    let printed = check(found.path(), &["--output", "sarif=-", "--output", "json=out/a.json"], &[]);
    assert_eq!(json(&printed.out)["version"], "2.1.0");
    let alone = check(found.path(), &["--format", "json", "--output", "short=b"], &[]);
    assert_eq!(json(&alone.out)["version"], 1);
    assert!(read(found.path(), "b").starts_with("a.rs:1:21: warning: "));
}

#[test]
fn outputs_that_can_not_be_are_said_in_one_sentence() {
    let found = folder(&[("a.rs", UNUSED)]);
    for (arguments, words) in [
        (&["--output", "xml"][..], "there is no format `xml`: expected one of human, short"),
        (&["--output", "json="], "the path is empty"),
        (&["--output", "json", "--output", "sarif"], "can't print json and sarif in one run"),
        (&["--output", "json=x", "--output", "sarif=x"], "two outputs go to x"),
        (&["--output", "json=a.rs/x"], "can't write a.rs/x: "),
        (&["--output", "json=."], "can't write .: "),
    ] {
        let run = check(found.path(), arguments, &[]);
        assert_eq!((run.code, run.out.as_str()), (2, ""), "{arguments:?}");
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn in_github_actions_lines_are_annotated_and_the_summary_grows() {
    let found = folder(&[("sub/a.rs", UNUSED), (".git/HEAD", b""), ("s", b"before\n")]);
    let summary = found.path().join("s");
    let actions = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
        ("GITHUB_SERVER_URL", "https://forge.example"),
        ("GITHUB_REPOSITORY", "o/r"),
        ("GITHUB_SHA", "0f1e"),
    ];
    let sub = found.path().join("sub");
    let run = check(&sub, &[], &actions);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    let command = run.out.lines().find(|line| line.starts_with("::")).unwrap();
    assert!(command.starts_with("::warning title=leaselint%3A unused-allow,file=sub/a.rs,line=1,"));
    assert!(command.contains("::a.rs:1:21: `unconditional-del`"), "{command}");
    let told = read(found.path(), "s");
    assert!(told.starts_with("before\n### leaselint: 1 warning"), "{told}");
    assert!(told.contains("forge&#46;example/o/r/blob/0f1e/sub/a&#46;rs"), "{told}");

    let quiet = check(&sub, &["--no-ci"], &actions);
    assert!(!quiet.out.lines().any(|line| line.starts_with("::")), "{}", quiet.out);
    let document = check(&sub, &["--format", "json"], &actions);
    assert_eq!(json(&document.out)["version"], 1);
    assert_eq!(read(found.path(), "s"), told, "who asks for a document gets that alone");
    let lost = check(&sub, &[], &[("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "no/such")]);
    assert_eq!(lost.code, 1, "what nobody asked for fails no run");
    assert!(lost.err.contains("can't write no/such"), "{}", lost.err);
}

#[test]
fn gitlab_gets_a_report_and_others_get_their_lines() {
    let found = folder(&[("a.rs", UNUSED)]);
    let run = check(found.path(), &[], &[("GITLAB_CI", "true")]);
    assert!(run.err.contains("wrote gl-code-quality-report.json"), "{}", run.err);
    let issues = json(&read(found.path(), "gl-code-quality-report.json"));
    assert_eq!(issues[0]["location"]["lines"]["begin"], 1);
    let run = check(found.path(), &["--output", "gitlab=own.json"], &[("GITLAB_CI", "true")]);
    assert_eq!(run.err, "");
    assert_eq!(json(&read(found.path(), "own.json")), issues);
    for (name, value, begins) in [
        ("TF_BUILD", "True", "##vso[task.logissue type=warning;sourcepath=a.rs;"),
        ("TEAMCITY_VERSION", "2026.1", "##teamcity[inspectionType id='unused-allow'"),
    ] {
        let run = check(found.path(), &[], &[(name, value)]);
        assert!(run.out.lines().any(|line| line.starts_with(begins)), "{name}: {}", run.out);
    }
}

#[test]
fn what_a_format_has_no_place_for_is_told_on_the_error_stream() {
    let found = folder(&[("a.lua", b"x = '\xff'\n")]);
    for format in ["gitlab", "rdjson", "rdjsonl", "checkstyle", "github", "azure", "teamcity"] {
        let run = check(found.path(), &["--format", format], &[]);
        assert!(run.err.contains("not linted in full: a.lua: not UTF-8"), "{format}: {}", run.err);
    }
    for format in ["human", "short", "json", "sarif", "github-summary", "junit"] {
        let run = check(found.path(), &["--format", format], &[]);
        assert!(run.err.is_empty() && run.out.contains("not UTF"), "{format}: {}", run.out);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault_in_any_format() {
    let found = folder(&[("a.rs", UNUSED)]);
    for format in leaselint::report::Format::ALL {
        let mut child = Command::new(env!("CARGO_BIN_EXE_leaselint"))
            .args(["check", "--no-ci", "--format", format.name()])
            .current_dir(found.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{format:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{format:?}");
    }
}

#[test]
fn github_shows_ten_of_each_level_and_the_rest_is_counted() {
    let lines = "// leaselint: allow(unconditional-del) -- none here\nfn f() {}\n".repeat(13);
    let found = folder(&[("a.rs", lines.as_bytes())]);
    let run = check(found.path(), &["--format", "github"], &[]);
    assert_eq!(run.out.lines().filter(|line| line.starts_with("::warning ")).count(), 10);
    let listed = run.out.lines().filter(|line| line.starts_with("a.rs:")).count();
    assert_eq!(listed, 3, "{}", run.out);
    assert!(
        run.out.ends_with("3 more without an annotation: GitHub shows 10 of each level a step\n")
    );
    let run = check(found.path(), &["--output", "short", "--output", "github"], &[]);
    assert_eq!(run.out.lines().filter(|line| line.starts_with("a.rs:")).count(), 13);
}
