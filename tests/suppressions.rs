//! Allow comments: what they silence, what they never do, and how they are listed.

use serde_json::Value;

use crate::cli::{folder, leaselint};

/// A program with one finding, and a comment on the line above it.
fn release(comment: &str) -> tempfile::TempDir {
    let text = format!(
        "pub fn take(con: &mut redis::Connection, token: &str) -> redis::RedisResult<bool> {{\n\
         redis::cmd(\"SET\").arg(\"lock:a\").arg(token).arg(\"NX\").arg(\"PX\").arg(1000).query(con)\n}}\n\
         pub fn free(con: &mut redis::Connection) -> redis::RedisResult<()> {{\n\
         {comment}\n\
         redis::cmd(\"DEL\").arg(\"lock:a\").query(con)\n}}\n"
    );
    folder(&[("a.rs", text.as_bytes())])
}

/// The line of [`release`] on which the comment begins.
const LINE: u64 = 5;

/// The rules that are found with a comment, each with its line.
fn found(comment: &str, more: &[&str]) -> Vec<(String, u64)> {
    let arguments = [&["check", "--format", "json", "--today", "2026-06-15"], more].concat();
    let run = leaselint(release(comment).path(), &arguments);
    let json: Value = serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{}", run.err));
    let place =
        |one: &Value| (one["rule"].as_str().unwrap().to_owned(), one["line"].as_u64().unwrap());
    json["findings"].as_array().unwrap().iter().map(place).collect()
}

/// Comments that look as if they allowed `unconditional-del`, and do not.
const MISTAKES: &[&str] = &[
    "// leaselint: allow(unconditional-del)",
    "// leaselint: allow(unconditional-del) --",
    "// leaselint: allow(unconditional-del) -- ...",
    "// leaselint: allow(unconditional-del) - on purpose",
    "// leaselint: allow(unconditional-del) — on purpose",
    "// leaselint: allow(unconditional-del): on purpose",
    "// leaselint: allow(unconditional-del) on purpose",
    "// leaselint: allow(unconditional-del -- on purpose",
    "// leaselint: allow unconditional-del -- on purpose",
    "// leaselint: allow[unconditional-del] -- on purpose",
    "// leaselint: allow() -- on purpose",
    "// leaselint: allow -- on purpose",
    "// leaselint: allow(*) -- on purpose",
    "// leaselint: allow(all) -- on purpose",
    "// leaselint: allow(unconditional-dell) -- on purpose",
    "// leaselint: allow(unconditional_del) -- on purpose",
    "// leaselint: allow(Unconditional-Del) -- on purpose",
    "// leaselint: allow(\"unconditional-del\") -- on purpose",
    "// leaselint: allow(unconditional-del pii-in-key) -- on purpose",
    "// leaselint: allow(unconditional-del, until=2026-02-30) -- on purpose",
    "// leaselint: allow(unconditional-del, until=soon) -- on purpose",
    "// leaselint: allow(unconditional-del, until=2026-06-14) -- on purpose",
    "// leaselint: allow(until=2030-01-01) -- on purpose",
    "// leaselint: ALLOW(unconditional-del) -- on purpose",
    "// leaselint: ignore(unconditional-del) -- on purpose",
    "// leaselint: disable-next-line unconditional-del -- on purpose",
    "// leaselint: allow_file(unconditional-del) -- on purpose",
    "// leaselint:off",
    "// leaselint : allow(unconditional-del) -- on purpose",
    "// leaselint allow(unconditional-del) -- on purpose",
    "// leaselint-allow(unconditional-del) -- on purpose",
    "// LeaseLint: allow(unconditional-del) -- on purpose",
    "// lease-lint: allow(unconditional-del) -- on purpose",
    "// leaslint: allow(unconditional-del) -- on purpose",
    "// TODO leaselint: allow(unconditional-del) -- on purpose",
    "/* leaselint: allow(unconditional-del) -- on purpose */",
    "/// leaselint: allow(unconditional-del) -- on purpose",
];

#[test]
fn a_comment_with_a_mistake_never_silences_and_is_told() {
    assert!(MISTAKES.len() >= 20);
    for comment in MISTAKES {
        let found = found(comment, &[]);
        let shown = found.iter().any(|(rule, line)| rule == "unconditional-del" && *line > LINE);
        assert!(shown, "{comment} silences: {found:?}");
        let told = found.iter().any(|(rule, line)| {
            *line == LINE
                && ["malformed-allow", "unknown-rule", "expired-allow"].contains(&rule.as_str())
        });
        assert!(told, "{comment} is not told: {found:?}");
    }
}

#[test]
fn what_is_no_comment_or_no_allow_is_left_alone() {
    for comment in [
        "// leaselint is told of it elsewhere",
        "// the allow comment is `leaselint: allow(unconditional-del) -- why`",
        "let _ = \"// leaselint: allow(unconditional-del) -- a text\";",
        "let _ = r\"\n// leaselint: allow(unconditional-del) -- a text\n\";",
        "// -- leaselint: allow(unconditional-del) -- commented out with another sign",
    ] {
        let rules: Vec<_> = found(comment, &[]).into_iter().map(|(rule, _)| rule).collect();
        let told = rules.iter().filter(|rule| *rule != "malformed-allow");
        assert_eq!(told.collect::<Vec<_>>(), ["unconditional-del"], "{comment}");
    }
}

#[test]
fn an_allow_holds_until_its_last_day() {
    let comment = "// leaselint: allow(unconditional-del, until=2026-06-15) -- until the release";
    assert_eq!(found(comment, &[]), []);
    let day_after = ["--today", "2026-06-16"];
    let run = leaselint(release(comment).path(), &[&["check"][..], &day_after].concat());
    assert!(run.out.contains("until 2026-06-15, and no longer"), "{}", run.out);
    assert!(run.out.contains("deletes the lease"), "{}", run.out);
    let wrong = leaselint(release(comment).path(), &["check", "--today", "tomorrow"]);
    assert_eq!(wrong.code, 2);
}

#[test]
fn allows_are_not_looked_at_when_that_is_wanted() {
    let comment = "// leaselint: allow(unconditional-del) -- on purpose";
    assert_eq!(found(comment, &[]), []);
    let all = found(comment, &["--ignore-allows"]);
    assert_eq!(all, [("unconditional-del".to_owned(), LINE + 1)]);
    // Nothing was silenced, so nothing can be said of what silences nothing.
    let unused = "// leaselint: allow(pii-in-key) -- on purpose";
    assert_eq!(found(unused, &["--ignore-allows"]), all);
}

#[test]
fn the_list_says_what_each_allow_is_for_and_does() {
    let source = "// leaselint: allow-file(unused-allow) -- never\n\
                  // leaselint: allow(pii-in-key, until=2026-06-14) -- too\u{1b}[31m late\n\
                  // leaselint: allow(nothing) -- x\n// leaselint: allow\nfn main() {}\n\
                  #[cfg(test)]\nmod tests {\nfn f() {\n// leaselint: allow(pii-in-key) -- made up\n}\n}\n";
    let comment = "// leaselint: allow(unconditional-del, until=2030-01-01) -- for operators";
    let program = release(comment);
    std::fs::write(program.path().join("b.rs"), source).unwrap();
    let list = ["suppressions", "--today", "2026-06-15", "--ignore", "unused-allow"];
    let run = leaselint(program.path(), &list);
    let expected = "\
a.rs:5: unconditional-del: silences 1 finding, until 2030-01-01
    for operators
b.rs:1: unused-allow for the file: the rule is off
    never
b.rs:2: pii-in-key: has expired, until 2026-06-14
    too\\u{1b}[31m late
b.rs:3: nothing: there is no such rule
    x
b.rs:4: ?: malformed: expected `allow(rule) -- reason`
b.rs:9: pii-in-key: test code is not linted
    made up

6 allows, 1 of which silence something
";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, expected, ""));
    let run = leaselint(program.path(), &[&list[..], &["--format", "json"]].concat());
    let json: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(json["version"], 1);
    let states: Vec<_> =
        json["suppressions"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
    assert_eq!(states, ["silences", "off", "expired", "unknown-rule", "malformed", "test-code"]);
    assert_eq!(json["suppressions"][0]["until"], "2030-01-01");
    assert_eq!(json["suppressions"][0]["reason"], "for operators");
    let empty = folder(&[("a.rs", b"fn main() {}\n")]);
    assert_eq!(
        leaselint(empty.path(), &["suppressions"]).out,
        "0 allows, 0 of which silence something\n"
    );
}
