//! The changes that findings come with: made, they leave the finding gone and nothing else changed, and
//! every format that has them says the same.

use std::path::Path;

use leaselint::rules;
use serde_json::Value;

use crate::cli::{folder, leaselint};
use crate::package;

/// What a run finds in a folder.
fn findings(folder: &Path, format: &str) -> Value {
    let run = leaselint(folder, &["check", "--format", format, "--include-tests"]);
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}{}", run.out, run.err))
}

/// A text after the edits of a fix, by the byte offsets of the JSON report.
fn edited(text: &[u8], fix: &Value) -> Vec<u8> {
    let offset = |edit: &Value, key: &str| usize::try_from(edit[key].as_u64().unwrap()).unwrap();
    let mut edits: Vec<_> = fix["edits"].as_array().unwrap().iter().collect();
    edits.sort_by_key(|edit| std::cmp::Reverse(offset(edit, "start")));
    let mut text = text.to_vec();
    for edit in edits {
        let new = edit["text"].as_str().unwrap().bytes();
        text.splice(offset(edit, "start")..offset(edit, "end"), new);
    }
    text
}

/// A text after the suggestion of a diagnostic, by the lines and byte columns of the rdjson report.
fn suggested(text: &[u8], diagnostic: &Value) -> Vec<u8> {
    let suggestion = &diagnostic["suggestions"][0];
    let offset = |end: &str| {
        let number = |key: &str| {
            usize::try_from(suggestion["range"][end][key].as_u64().unwrap()).unwrap() - 1
        };
        let lines = text.split_inclusive(|byte| *byte == b'\n').take(number("line"));
        lines.map(<[u8]>::len).sum::<usize>() + number("column")
    };
    let mut text = text.to_vec();
    text.splice(offset("start")..offset("end"), suggestion["text"].as_str().unwrap().bytes());
    text
}

#[test]
fn a_comment_loses_what_silences_nothing_and_goes_with_the_last_of_it() {
    let del = "pub fn free(c: &mut redis::Connection) -> redis::RedisResult<()> {\n    \
               redis::cmd(\"DEL\").arg(\"lock:a\").query(c)\n}\n\
               pub fn take(c: &mut redis::Connection, token: &str) -> redis::RedisResult<bool> {\n    \
               redis::cmd(\"SET\").arg(\"lock:a\").arg(token).arg(\"NX\").arg(\"PX\").arg(1000).query(c)\n}\n";
    let allow = "// leaselint: allow";
    for (before, after) in [
        (format!("{allow}(pii-in-key) -- x\nfn f() {{}}\n"), "fn f() {}\n".to_owned()),
        (
            format!("\u{feff}fn f() {{}} {allow}(pii-in-key) -- ü \r\n"),
            "\u{feff}fn f() {} \r\n".into(),
        ),
        (
            format!("mod m {{\r\n\t{allow}(pii-in-key) -- x\r\n}}\r\n"),
            "mod m {\r\n}\r\n".to_owned(),
        ),
        (format!("fn f() {{}}\n{allow}(pii-in-key) -- x"), "fn f() {}\n".to_owned()),
        (format!("{allow}(pii-in-key, get-then-del) -- x\n"), String::new()),
        (
            format!("{allow}( pii-in-key , unconditional-del, until=2999-01-31 ) -- x\n{del}"),
            format!("{allow}(unconditional-del, until=2999-01-31) -- x\n{del}"),
        ),
        (
            format!("{allow}-file(unconditional-del, pii-in-key, get-then-del) -- x\n{del}"),
            format!("{allow}-file(unconditional-del) -- x\n{del}"),
        ),
    ] {
        let found = folder(&[("a.rs", before.as_bytes())]);
        let json = findings(found.path(), "json");
        let rdjson = findings(found.path(), "rdjson");
        let all = json["findings"].as_array().unwrap();
        assert!(!all.is_empty(), "{before}");
        for (finding, diagnostic) in all.iter().zip(rdjson["diagnostics"].as_array().unwrap()) {
            assert_eq!(finding["rule"], "unused-allow", "{before}");
            let fix = &finding["fixes"][0];
            assert_eq!(fix["applicability"], "safe");
            for text in [edited(before.as_bytes(), fix), suggested(before.as_bytes(), diagnostic)] {
                assert_eq!(String::from_utf8(text).unwrap(), after, "{before}");
            }
        }
        let mended = folder(&[("a.rs", after.as_bytes())]);
        assert_eq!(
            findings(mended.path(), "json")["findings"],
            Value::Array(Vec::new()),
            "{after}"
        );
    }
}

#[test]
fn a_name_that_is_none_becomes_the_nearest_and_that_is_a_guess() {
    let text = "-- leaselint: allow(pii-in-kee) -- x\n";
    let found = folder(&[("a.lua", text.as_bytes())]);
    let json = findings(found.path(), "json");
    let fix = &json["findings"][0]["fixes"][0];
    assert_eq!(fix["applicability"], "unsafe");
    assert_eq!(edited(text.as_bytes(), fix), b"-- leaselint: allow(pii-in-key) -- x\n");
    let odd = folder(&[("a.lua", b"-- leaselint: allow(pii-in-key) -- \xff\n")]);
    let odd = findings(odd.path(), "json");
    assert_eq!(odd["findings"][0]["fixes"], Value::Array(Vec::new()), "offsets are not the file's");
}

#[test]
fn every_change_that_a_fixture_comes_with_is_one_its_page_speaks_of_and_mends_it() {
    let fixtures = package().join("fixtures");
    let all = findings(&fixtures, "json");
    let mut mended = 0;
    for finding in all["findings"].as_array().unwrap() {
        let info = rules::find(finding["rule"].as_str().unwrap()).unwrap().info();
        for fix in finding["fixes"].as_array().unwrap() {
            assert_eq!(fix["applicability"].as_str(), info.fixes.map(|fixes| fixes.word()));
            let path = finding["path"].as_str().unwrap();
            let text = edited(&std::fs::read(fixtures.join(path)).unwrap(), fix);
            let name = path.rsplit('/').next().unwrap();
            let changed = folder(&[(name, &text)]);
            let left = findings(changed.path(), "json");
            let same = |one: &&Value| {
                one["rule"] == finding["rule"] && one["message"] == finding["message"]
            };
            let found = left["findings"].as_array().unwrap();
            assert_eq!(found.iter().filter(same).count(), 0, "{path}: {fix}");
            mended += 1;
        }
    }
    assert!(mended > 0, "no fixture shows a change");
    for rule in rules::RULES.iter().filter(|rule| rule.info().fixes.is_some()) {
        let shown = |finding: &&Value| finding["rule"] == rule.id;
        let found = all["findings"].as_array().unwrap().iter().find(shown);
        let fixable = found.is_none_or(|one| !one["fixes"].as_array().unwrap().is_empty());
        assert!(fixable, "{}: its page speaks of changes, and its fixture has none", rule.id);
    }
}
