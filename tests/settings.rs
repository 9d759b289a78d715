//! Configuration: what is refused and how, what the schema says, which folder the globs are of, and
//! the options of the command line that choose what is shown.

use leaselint::cli::settings;
use leaselint::config::keys::KEYS;
use serde_json::Value;

use crate::cli::{UNUSED, folder, leaselint};
use crate::{package, readme, text, updating};

#[test]
fn the_schema_is_what_the_program_reads() {
    let path = package().join("leaselint.schema.json");
    let schema = format!("{:#}\n", settings::schema());
    if updating() {
        std::fs::write(&path, &schema).unwrap();
    }
    assert!(text(&path) == schema, "`UPDATE=1 cargo test` writes leaselint.schema.json anew");
}

#[test]
fn every_key_is_in_the_readme() {
    let mut table =
        String::from("\n| key | default | what it does | example |\n| --- | --- | --- | --- |\n");
    for key in KEYS {
        let default = match key.default.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true if !["false", "true"].contains(&key.default) => key.default.to_owned(),
            _ => format!("`{}`", key.default),
        };
        let cell = |text: &str| text.replace('|', "\\|");
        table += &format!(
            "| `{}` | {default} | {} | `{}` |\n",
            key.name,
            cell(key.summary),
            cell(key.example)
        );
    }
    table.push('\n');
    readme::part_of("README.md", "keys", &table);
}

/// A configuration, and what a run with it says first on the error stream.
fn complaint(file: &str, text: &str) -> String {
    let wrong = folder(&[(file, text.as_bytes()), ("a.rs", b"")]);
    let run = leaselint(wrong.path(), &["check"]);
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{text}: {}", run.err);
    run.err
}

#[test]
fn a_wrong_configuration_is_told_with_place_and_what_was_meant() {
    for (text, expected) in [
        ("exclud = []", "leaselint.toml:1:1: there is no key `exclud`: did you mean `exclude`?"),
        (
            "\nselect = [\"pii-in-keys\"]",
            "leaselint.toml:2:11: there is no rule `pii-in-keys`: did you mean `pii-in-key`?",
        ),
        (
            "[severity]\nuse-after-free = \"note\"",
            "leaselint.toml:2:1: there is no rule `use-after-free`",
        ),
        (
            "fail-on = \"never\"",
            "leaselint.toml:1:11: expected one of note, warning, error, not `never`",
        ),
        (
            "[words]\npersonel = []",
            "leaselint.toml:2:1: there is no word list `personel`: did you mean `personal`?",
        ),
        ("[[api]]\nid = \"x\"", "leaselint.toml:1:1: api: row `x`: missing field `library`"),
        ("x = ", "leaselint.toml:1:5: "),
    ] {
        let told = complaint("leaselint.toml", text);
        assert!(told.starts_with(&format!("leaselint: {expected}")), "{text}: {told}");
    }
    let row = "[[workspace.metadata.leaselint.api]]\nid = \"x\"\nlibrary = \"redes\"\nreceiver = [\"any\"]\nmethod = \"m\"\neffect = \"Sleep\"\n";
    let told = complaint("Cargo.toml", row);
    assert_eq!(told, "leaselint: Cargo.toml:1:1: api: row `x`: there is no library `redes`\n");
    let told = complaint("Cargo.toml", "[package.metadata.leaselint]\nselekt = []\n");
    assert_eq!(
        told,
        "leaselint: Cargo.toml:2:1: there is no key `selekt`: did you mean `select`?\n"
    );
}

#[test]
fn globs_are_relative_to_the_folder_of_the_configuration() {
    let program = folder(&[
        (".git/HEAD", b""),
        ("leaselint.toml", b"exclude = [\"sub/generated\"]\n"),
        ("sub/generated/a.rs", UNUSED),
        ("generated/a.rs", UNUSED),
    ]);
    assert_eq!(leaselint(&program.path().join("sub"), &["check"]).code, 0);
    assert_eq!(leaselint(program.path(), &["check", "sub"]).code, 0);
    assert_eq!(leaselint(program.path(), &["check", "generated"]).code, 1);
}

#[test]
fn what_is_excluded_is_read_when_it_is_named_unless_force_says_no() {
    let program = folder(&[
        ("leaselint.toml", b"exclude = [\"old\"]\n"),
        ("old/a.rs", UNUSED),
        ("b.rs", b""),
    ]);
    let code =
        |arguments: &[&str]| leaselint(program.path(), &[&["check"], arguments].concat()).code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["old/a.rs"]), 1);
    assert_eq!(code(&["old"]), 1);
    assert_eq!(code(&["--force-exclude", "old/a.rs"]), 0);
    assert_eq!(code(&["--force-exclude", "old/a.rs", "b.rs"]), 0);
}

/// A lease taken in one file and deleted in another.
const TAKE: &str = "pub fn take(con: &mut redis::Connection, token: &str) -> redis::RedisResult<bool> {\n\
    redis::cmd(\"SET\").arg(\"lock:a\").arg(token).arg(\"NX\").arg(\"PX\").arg(1000).query(con)\n}\n";
const FREE: &str = "pub fn free(con: &mut redis::Connection) -> redis::RedisResult<()> {\n\
    redis::cmd(\"DEL\").arg(\"lock:a\").query(con)\n}\n";

#[test]
fn with_the_workspace_around_them_what_touches_the_given_files_is_shown() {
    let program = folder(&[
        (".git/HEAD", b""),
        ("leaselint.toml", b"exclude = [\"old\"]\n"),
        ("src/take.rs", TAKE.as_bytes()),
        ("src/free.rs", FREE.as_bytes()),
        ("src/other.rs", UNUSED),
        ("old/other.rs", UNUSED),
    ]);
    let found = |folder: &str, arguments: &[&str]| {
        let base = ["check", "--workspace", "--format", "json"];
        let run = leaselint(&program.path().join(folder), &[&base, arguments].concat());
        let json: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
        let findings = json["findings"].as_array().unwrap().iter();
        let rules: Vec<_> = findings
            .map(|one| {
                format!("{}: {}", one["path"].as_str().unwrap(), one["rule"].as_str().unwrap())
            })
            .collect();
        rules.join(", ")
    };
    let deleted = "src/free.rs: unconditional-del";
    assert_eq!(found("", &["src/free.rs"]), deleted);
    // The acquire is a step of the same finding.
    assert_eq!(found("", &["src/take.rs"]), deleted);
    assert_eq!(found("src", &["free.rs"]), deleted);
    assert_eq!(found("", &["src/other.rs"]), "src/other.rs: unused-allow");
    assert_eq!(found("", &["old/other.rs"]), "old/other.rs: unused-allow");
    assert_eq!(found("", &["--force-exclude", "old/other.rs"]), "");
    assert_eq!(found("", &[]).matches(", ").count(), 1);
    // Without the workspace nobody knows that it is a lease.
    assert_eq!(leaselint(program.path(), &["check", "src/free.rs"]).code, 0);
}

#[test]
fn exit_zero_shows_and_does_not_fail() {
    let found = folder(&[("a.rs", UNUSED)]);
    let run = leaselint(found.path(), &["check", "--exit-zero"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("unused-allow"));
    assert_eq!(leaselint(found.path(), &["check", "--exit-zero", "nowhere"]).code, 2);
}

#[test]
fn statistics_count_the_findings_of_each_rule() {
    let found = folder(&[("a.rs", UNUSED), ("b.rs", UNUSED), ("c.rs", b"// leaselint: allow\n")]);
    let run = leaselint(found.path(), &["check", "--statistics"]);
    let expected = "2  warning  unused-allow\n1  warning  malformed-allow\n3 in all: 0 errors, 3 warnings, 0 notes\n";
    assert_eq!((run.code, run.out.as_str()), (1, expected));
    let run = leaselint(found.path(), &["check", "--statistics", "--format", "json"]);
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["statistics"][0]["rule"], "unused-allow");
    assert_eq!(json["statistics"][0]["findings"], 2);
}

#[test]
fn completions_and_pages_name_every_command() {
    let here = package();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = leaselint(here, &["completions", shell]);
        assert_eq!(run.code, 0);
        for word in ["suppressions", "extend-select"] {
            assert!(run.out.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(leaselint(here, &["completions", "cmd"]).code, 2);
    let page = leaselint(here, &["man"]);
    assert!(page.out.contains(".TH leaselint 1"), "{}", page.out);
    let pages = folder(&[]);
    assert_eq!(leaselint(pages.path(), &["man", "--folder", "man/man1"]).code, 0);
    let page = text(&pages.path().join("man/man1/leaselint-check.1"));
    assert!(page.contains("force\\-exclude"), "{page}");
}

#[test]
fn init_writes_what_it_found_and_never_over_settings() {
    let program = folder(&[
        (
            "Cargo.toml",
            b"[package]\nname = \"a\"\n[dependencies]\nredis = { version = \"1\", features = [\"cluster\"] }\n",
        ),
        ("migrations/1_a.sql", b"CREATE TABLE a (id bigserial PRIMARY KEY);\n"),
        ("src/main.rs", b"fn main() {}\n"),
    ]);
    let printed = leaselint(program.path(), &["init", "--print"]);
    let run = leaselint(program.path(), &["init"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let expected = "\
wrote ./leaselint.toml
  files: 1 of Rust, 0 of Lua, 1 of SQL
  Redis clients and lock libraries: redis
  scripts for Redis: 0
  Redis Cluster: feature `cluster` of `redis` in Cargo.toml
  SQL dialects: postgres
  migrations: migrations (1 file)
";
    assert_eq!(run.out, expected);
    let written = text(&program.path().join("leaselint.toml"));
    assert_eq!(printed.out, written);
    for line in ["cluster = true", "dialect = \"postgres\""] {
        assert!(written.lines().any(|own| own == line), "{line}: {written}");
    }
    // Every key is there, and what is commented out is an example that can be read.
    let all: String = written
        .lines()
        .filter_map(|line| {
            let line = line.strip_prefix("# ").unwrap_or(line);
            let key = line.split(" = ").next()?;
            KEYS.iter().any(|known| known.name == key).then(|| format!("{line}\n"))
        })
        .collect();
    assert_eq!(all.lines().count(), KEYS.len(), "{all}");
    settings::parse(&written).unwrap();
    settings::parse(&all).unwrap();
    assert_eq!(leaselint(program.path(), &["check"]).code, 0);

    let again = leaselint(program.path(), &["init"]);
    assert_eq!(again.code, 2);
    assert!(again.err.contains("--force writes over it"), "{}", again.err);
    assert_eq!(leaselint(program.path(), &["init", "--force"]).code, 0);
    let manifest: &[u8] = b"[workspace.metadata.leaselint]\ncluster = true\n";
    let settled = folder(&[("Cargo.toml", manifest)]);
    assert_eq!(leaselint(settled.path(), &["init"]).code, 2);
    assert_eq!(leaselint(settled.path(), &["init", "nowhere"]).code, 2);
}

#[test]
fn the_hook_s_command_lints_whatever_its_files_are_called() {
    let hooks = text(&package().join(".pre-commit-hooks.yaml"));
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: leaselint "));
    let args = hooks.lines().find_map(|line| line.trim().strip_prefix("args: ["));
    let args = args.unwrap().trim_end_matches(']').split(", ");
    let command: Vec<&str> = entry.unwrap().split(' ').chain(args).collect();
    let program = folder(&[(".git/HEAD", b""), ("--exit-zero.rs", UNUSED), ("a.rs", b"")]);
    let code = |file: &str| leaselint(program.path(), &[&command[..], &[file]].concat()).code;
    assert_eq!(code("--exit-zero.rs"), 1);
    assert_eq!(code("a.rs"), 0);
}
