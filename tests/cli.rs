//! The command line: exit codes, help, formats, configuration, bad input.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the program gave.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the program in a folder.
pub fn leaselint(folder: &Path, arguments: &[&str]) -> Run {
    run(env!("CARGO_BIN_EXE_leaselint"), folder, arguments)
}

/// Variables by which a CI system makes itself known.
pub const CI: [&str; 5] =
    ["GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION"];

fn run(program: &str, folder: &Path, arguments: &[&str]) -> Run {
    let mut command = Command::new(program);
    for name in CI {
        command.env_remove(name);
    }
    let output = command
        .args(arguments)
        .current_dir(folder)
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("only UTF-8 is printed");
    Run {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

/// A folder with these files.
pub fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    folder
}

/// A file with one finding that needs no analysis.
pub const UNUSED: &[u8] = b"// leaselint: allow(unconditional-del) -- none here\nfn main() {}\n";

#[test]
fn exit_codes_are_0_1_and_2() {
    let clean = folder(&[("a.rs", b"fn main() {}\n")]);
    assert_eq!(leaselint(clean.path(), &["check"]).code, 0);
    let found = folder(&[("a.rs", UNUSED)]);
    assert_eq!(leaselint(found.path(), &["check"]).code, 1);
    assert_eq!(leaselint(found.path(), &["check", "--fail-on", "error"]).code, 0);
    let note = ["check", "--severity", "unused-allow=note"];
    assert_eq!(leaselint(found.path(), &note).code, 0);
    assert_eq!(leaselint(found.path(), &["check", "--ignore", "unused-allow"]).code, 0);
    let missing = leaselint(found.path(), &["check", "nowhere"]);
    assert_eq!((missing.code, missing.out.as_str()), (2, ""));
    assert!(missing.err.starts_with("leaselint: can't read nowhere: "), "{}", missing.err);
}

#[test]
fn what_can_not_be_run_is_said_in_one_sentence() {
    let empty = folder(&[("a.rs", b""), ("x.toml", b"select = []\nclustr = true\n")]);
    for (arguments, words) in [
        (&["check", "--select", "unconditional-dell"][..], "did you mean `unconditional-del`?"),
        (&["explain", "nothing"], "there is no rule `nothing`"),
        (&["check", "--config", "none.toml"], "can't read none.toml"),
        (
            &["check", "--config", "x.toml"],
            "x.toml:2:1: there is no key `clustr`: did you mean `cluster`?",
        ),
        (&["check", "--severity", "unused-allow=loud"], "expected note, warning or error"),
        (&["check", "--format", "xml"], "invalid value 'xml'"),
        (&["check", "--no-such"], "unexpected argument"),
        (&["frobnicate"], "unrecognized subcommand"),
        (&["ir", "x.toml"], "not a language leaselint reads"),
    ] {
        let run = leaselint(empty.path(), arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        assert_eq!(run.out, "", "{arguments:?}");
    }
}

#[test]
fn help_says_the_exit_codes_and_shows_examples() {
    let here = Path::new(".");
    for arguments in [&["--help"][..], &["check", "--help"]] {
        let run = leaselint(here, arguments);
        assert_eq!(run.code, 0);
        for words in ["0  nothing that fails", "1  findings of warning", "2  the run itself"] {
            assert!(run.out.contains(words), "{arguments:?}: {words}");
        }
    }
    assert!(leaselint(here, &["--help"]).out.contains("leaselint explain unconditional-del"));
    assert_eq!(leaselint(here, &["--version"]).code, 0);
    assert_eq!(leaselint(here, &[]).code, 2);
}

#[test]
fn pages_and_rules_are_printed() {
    let here = Path::new(".");
    let page = leaselint(here, &["explain", "unconditional-del"]);
    assert_eq!(page.code, 0);
    assert!(page.out.starts_with("# unconditional-del\n"), "{}", page.out);
    assert!(page.out.contains("severity error, confidence high"), "{}", page.out);
    let list = leaselint(here, &["rules"]);
    for rule in leaselint::rules::RULES {
        assert!(list.out.contains(rule.id), "{}", rule.id);
    }
}

#[test]
fn json_has_the_promised_shape() {
    let found = folder(&[("src/a.rs", UNUSED), ("b.lua", b"x = '\xff'\n")]);
    let run = leaselint(found.path(), &["check", "--format", "json", "."]);
    assert_eq!(run.code, 1, "{}", run.err);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["version"], 1);
    let finding = json["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "unused-allow");
    let finding = finding.unwrap();
    assert_eq!(finding["path"], "src/a.rs");
    let place = ["line", "column", "end_line", "end_column"].map(|key| finding[key].as_u64());
    assert_eq!(place, [Some(1), Some(21), Some(1), Some(38)]);
    assert_eq!(finding["severity"], "warning");
    assert_eq!(finding["confidence"], "high");
    assert!(finding["fingerprint"].as_str().unwrap().contains(':'));
    assert!(finding["function"].is_null());
    assert!(finding["url"].as_str().unwrap().ends_with("unused-allow.md"));
    assert_eq!(json["summary"]["warnings"], 1);
    assert_eq!(json["summary"]["files"], 2);
    let skipped = &json["skipped"][0];
    assert_eq!((&skipped["path"], &skipped["line"]), (&"b.lua".into(), &1.into()));
}

#[test]
fn settings_come_from_the_nearest_file_and_the_command_line_wins() {
    let found = folder(&[
        ("leaselint.toml", b"ignore = [\"unused-allow\"]\n"),
        ("a.rs", UNUSED),
        ("sub/Cargo.toml", b"[workspace.metadata.leaselint]\nfail-on = \"error\"\n"),
        ("sub/a.rs", UNUSED),
    ]);
    assert_eq!(leaselint(found.path(), &["check"]).code, 0);
    let sub = leaselint(found.path(), &["check", "sub"]);
    assert_eq!(sub.code, 0, "{}", sub.out);
    assert!(sub.out.contains("sub/a.rs:1:21"), "{}", sub.out);
    assert_eq!(leaselint(found.path(), &["check", "sub", "--fail-on", "note"]).code, 1);
}

#[test]
fn allow_comments_silence_and_are_counted() {
    let run = leaselint(releases(true).path(), &["check", "--format", "json"]);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["summary"]["allowed"], 1);
    let lines: Vec<_> =
        json["findings"].as_array().unwrap().iter().map(|f| f["line"].as_u64()).collect();
    assert_eq!(lines, [Some(9)], "the release that no comment allows");
    assert!(leaselint(releases(true).path(), &["check"]).out.contains("1 allowed"));
    // An allow of a rule that finds nothing is itself unused.
    let unused = b"// leaselint: allow-file(unused-allow) -- shown\nfn main() {}\n";
    assert_eq!(leaselint(folder(&[("a.rs", unused)]).path(), &["check"]).code, 1);
}

#[test]
fn cargo_leaselint_drops_its_own_name_only() {
    let clean = folder(&[("a.rs", b"fn main() {}\n")]);
    let cargo = env!("CARGO_BIN_EXE_cargo-leaselint");
    assert_eq!(run(cargo, clean.path(), &["leaselint", "check"]).code, 0);
    assert_eq!(run(cargo, clean.path(), &["check"]).code, 0);
    assert_eq!(leaselint(clean.path(), &["leaselint", "check"]).code, 2);
}

#[test]
fn bad_files_are_told_and_the_rest_is_linted() {
    let deep = [b"fn f() { ".as_slice(), &b"(".repeat(100_000), &b")".repeat(100_000), b" }"];
    let found = folder(&[
        ("deep.rs", &deep.concat()),
        ("deep.lua", &[b"return redis.call('GET', ".as_slice(), &b"(".repeat(100_000)].concat()),
        ("deep.sql", &[b"SELECT ".as_slice(), &b"(".repeat(100_000)].concat()),
        ("bytes.rs", b"\xff\xfe\x00\x01"),
        ("lossy.lua", b"return '\xc3\x28'\n"),
        ("broken.rs", b"fn broken( {\n"),
        ("z.rs", UNUSED),
    ]);
    let run = leaselint(found.path(), &["check", "--format", "json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    let rules: Vec<_> = json["findings"].as_array().unwrap().iter().map(|f| &f["rule"]).collect();
    assert!(rules.contains(&&Value::from("unused-allow")), "{rules:?}");
    let skipped: Vec<_> =
        json["skipped"].as_array().unwrap().iter().map(|skip| &skip["path"]).collect();
    for path in ["bytes.rs", "lossy.lua"] {
        assert!(skipped.contains(&&Value::from(path)), "{path}: {skipped:?}");
    }
    let told = |path: &str| {
        let all = json["findings"].as_array().unwrap().iter();
        all.filter(|finding| finding["path"] == path)
            .any(|finding| finding["rule"] == "syntax-error" || finding["rule"] == "analysis-limit")
            || skipped.contains(&&Value::from(path))
    };
    for path in ["deep.rs", "deep.lua", "deep.sql", "broken.rs"] {
        assert!(told(path), "{path}: {}", run.out);
    }
}

/// Two releases in one function that are named alike, one of them perhaps allowed.
fn releases(allowed: bool) -> tempfile::TempDir {
    let allow = "// leaselint: allow(unconditional-del) -- for operators\n";
    let text = format!(
        "pub fn take(con: &mut redis::Connection, token: &str) -> redis::RedisResult<bool> {{\n\
         redis::cmd(\"SET\").arg(\"lock:a\").arg(token).arg(\"NX\").arg(\"PX\").arg(1000).query(con)\n}}\n\
         pub fn free(con: &mut redis::Connection, quick: bool) -> redis::RedisResult<()> {{\n\
         if quick {{\n{}return redis::cmd(\"DEL\").arg(\"lock:a\").query(con);\n}}\n\
         redis::cmd(\"DEL\").arg(\"lock:a\").query(con)\n}}\n",
        if allowed { allow } else { "" }
    );
    folder(&[("a.rs", text.as_bytes())])
}

#[test]
fn a_fingerprint_hangs_on_nothing_that_is_not_shown() {
    let prints = |allowed: bool| {
        let run = leaselint(releases(allowed).path(), &["check", "--format", "json"]);
        let json: Value = serde_json::from_str(&run.out).unwrap();
        let findings = json["findings"].as_array().unwrap();
        findings.iter().map(|finding| finding["fingerprint"].clone()).collect::<Vec<_>>()
    };
    let (both, one) = (prints(false), prints(true));
    assert_eq!((both.len(), one.len()), (2, 1));
    assert_ne!(both[0], both[1]);
    assert_eq!(both[1], one[0]);
}

#[test]
fn nothing_printed_steers_a_terminal() {
    let text = "// leaselint: allow(\u{1b}[31mred\u{202e}) -- \u{7}x\n";
    let found = folder(&[("a\u{1b}[31m.rs", text.as_bytes())]);
    let run = leaselint(found.path(), &["check", "--color", "never"]);
    assert_eq!(run.code, 1);
    let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
    assert!(!run.out.chars().any(steers), "{:?}", run.out);
    let run = leaselint(found.path(), &["check", "no\u{1b}[31msuch"]);
    assert!(!run.err.chars().any(steers), "{:?}", run.err);
}

#[test]
fn colours_are_there_when_asked_for_and_only_then() {
    let found = folder(&[("a.rs", UNUSED)]);
    assert!(!leaselint(found.path(), &["check"]).out.contains('\u{1b}'));
    assert!(leaselint(found.path(), &["check", "--color", "always"]).out.contains('\u{1b}'));
}

#[test]
fn the_same_input_gives_the_same_bytes_on_any_number_of_threads() {
    let fixtures = crate::package().join("fixtures");
    let on = |threads: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_leaselint"))
            .args(["check", "--format", "json", "--min-confidence", "low"])
            .current_dir(&fixtures)
            .env("RAYON_NUM_THREADS", threads)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        output.stdout
    };
    let one = on("1");
    let json: Value = serde_json::from_slice(&one).unwrap();
    assert!(json["findings"].as_array().unwrap().len() > 100, "the fixtures are linted");
    assert!(one == on("8"), "one thread and eight give different bytes");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let found = folder(&[("a.rs", UNUSED)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_leaselint"))
        .args(["check", "--no-ci", "."])
        .current_dir(found.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_named_file_of_no_language_is_told_and_alone_it_fails() {
    let found = folder(&[("README.md", b"# x\n"), ("Cargo.toml", b""), ("a.rs", b"")]);
    for name in ["README.md", "Cargo.toml"] {
        let run = leaselint(found.path(), &["check", name]);
        let words = format!("leaselint: nothing to lint: {name}: not a language leaselint reads\n");
        assert_eq!((run.code, run.out.as_str(), run.err), (2, "", words));
    }
    let run = leaselint(found.path(), &["check", "README.md", "a.rs"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("README.md: not a language leaselint reads"), "{}", run.out);
    let run = leaselint(found.path(), &["check", "."]);
    assert!(!run.out.contains("not a language"), "{}", run.out);
}

#[test]
fn one_very_long_line_is_linted_and_shown() {
    let gap = " ".repeat(66_000);
    let text = format!(
        "pub fn f(con:&mut redis::Connection)->redis::RedisResult<()>{{ let _:()=redis::cmd(\"SETNX\")\
         .arg(\"lock:a\").arg(\"1\").query(con)?; {gap} let _:()=redis::cmd(\"DEL\").arg(\"lock:a\")\
         .query(con)?; Ok(()) }}"
    );
    let found = folder(&[("a.rs", text.as_bytes())]);
    let run = leaselint(found.path(), &["check"]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    assert!(run.out.contains("unconditional-del"), "{}", run.out);
}

#[test]
fn no_name_or_key_forges_a_line() {
    let text = "pub fn f(con: &mut redis::Connection) -> redis::RedisResult<()> {\n    \
                redis::cmd(\"DEL\").arg(\"lock:\\nforged \\u{1b}[31m\").query(con)\n}\n";
    let found = folder(&[("a.rs", text.as_bytes()), ("b\nforged.rs", UNUSED)]);
    let forged =
        |text: &str| text.lines().any(|line| line.starts_with("forged")) || text.contains('\u{1b}');
    for arguments in [
        &["check"][..],
        &["check", "no\nforged"],
        &["check", "--format", "no\nforged\u{1b}"],
        &["explain", "no\nforged"],
        &["ir", "a.rs"],
    ] {
        let run = leaselint(found.path(), arguments);
        assert!(!forged(&run.out) && !forged(&run.err), "{arguments:?}: {}{}", run.out, run.err);
    }
}
