//! Broken input never panics, and always ends: fixtures cut off at every seventh line, and texts
//! made to hurt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leaselint::cli::check::lint;
use leaselint::config::Settings;
use leaselint::source::{Language, Tree};

use crate::{fixtures, on_large_stack};

/// Every how many lines a fixture is cut off.
const STEP: usize = 7;

fn lint_text(path: &str, language: Language, text: String) {
    let tree = Tree::from_texts(vec![(path.to_owned(), language, text)]);
    let _ = lint(Arc::new(tree), Settings::default());
}

#[test]
fn fixtures_cut_short_never_panic() {
    on_large_stack(|| {
        for case in fixtures::cases().into_values().flatten() {
            let (tree, _) = fixtures::read(&case);
            for file in tree.files().iter().filter(|file| file.language != Language::Other) {
                let lines: Vec<_> = file.text.split_inclusive('\n').collect();
                for end in (1..lines.len()).step_by(STEP) {
                    lint_text(&file.path, file.language, lines[..end].concat());
                }
            }
        }
    });
}

/// The longest that a text of a few kilobytes may take, in a build without optimisation.
const LONGEST: Duration = Duration::from_secs(20);

/// Texts whose values, calls or keys multiply if each is looked at once for every way to it.
fn texts_that_multiply() -> Vec<(&'static str, Language, String)> {
    let step = |index: usize| format!("if ARGV[i] == 'w{index}' then n = n + {index}\n  else");
    let counted = |end: &str| {
        let steps: String = (0..12).map(step).collect();
        format!("local n = 0\nfor i = 1, #ARGV do\n  {steps} n = n + 99 end\nend\n{end}")
    };
    let compared = "if redis.call('GET', KEYS[1]) == n then redis.call('DEL', KEYS[1]) end";
    let truth: String = (0..12)
        .map(|index| format!("if ARGV[i] == 'w{index}' then n = not n or n == ARGV[{index}] end\n"))
        .collect();
    let cached = |index: usize| {
        format!(
            "pub fn f{index}(con: &mut redis::Connection, id: u64) -> redis::RedisResult<()> \
             {{ con.set(format!(\"cache:k{index}:{{id}}\"), 1) }}\n"
        )
    };
    let layer = |level: usize| {
        let below = level.checked_sub(1).map_or("Cache".to_owned(), |below| format!("L{below}"));
        let calls = |own: usize| {
            let all = (0..10).map(|call| match level {
                0 => "self.c.get(key)?;".to_owned(),
                _ => format!("self.c.g{call}(key)?;"),
            });
            let body: String = all.collect();
            format!(
                "pub fn g{own}(&mut self, key: &str) -> redis::RedisResult<()> {{ {body} Ok(()) }}\n"
            )
        };
        let methods: String = (0..10).map(calls).collect();
        format!("pub struct L{level} {{ c: {below} }}\nimpl L{level} {{\n{methods}}}\n")
    };
    let layers: String = (0..5).map(layer).collect();
    let keys: String = (0..600).map(cached).collect();
    vec![
        ("a.lua", Language::Lua, counted(compared)),
        ("b.lua", Language::Lua, counted("if n then redis.call('DEL', KEYS[1]) end")),
        (
            "c.lua",
            Language::Lua,
            format!(
                "local n = redis.call('GET', KEYS[1])\nfor i = 1, #ARGV do\n{truth}end\n\
                 if n then redis.call('DEL', KEYS[1]) end"
            ),
        ),
        ("a.rs", Language::Rust, format!("use redis::Commands;\n{keys}")),
        (
            "b.rs",
            Language::Rust,
            format!(
                "use redis::Commands;\npub struct Cache {{ con: redis::Connection, prefix: String }}\n\
                 impl Cache {{ pub fn get(&mut self, key: &str) -> redis::RedisResult<String> \
                 {{ self.con.get(format!(\"{{}}{{}}\", self.prefix, key)) }} }}\n{layers}"
            ),
        ),
    ]
}

#[test]
fn what_leads_back_to_itself_is_looked_at_once() {
    on_large_stack(|| {
        for (path, language, text) in texts_that_multiply() {
            let start = Instant::now();
            lint_text(path, language, text);
            assert!(start.elapsed() < LONGEST, "{path} took {:?}", start.elapsed());
        }
    });
}

#[test]
fn texts_made_to_hurt_never_panic() {
    let deep = |open: &str, close: &str| open.repeat(20_000) + &close.repeat(20_000);
    let texts = [
        String::new(),
        "\0".to_owned(),
        "\r\r\n\r".to_owned(),
        "\u{feff}#!/usr/bin/env x\n".to_owned(),
        "🔒".repeat(1000),
        "\"".to_owned(),
        "[[[[".to_owned(),
        "$$ $a$ ; ; ;".to_owned(),
        "-- leaselint: allow(".to_owned(),
        "// leaselint: allow(a) -- b // leaselint: allow(c)".to_owned(),
        deep("(", ")"),
        format!("fn f() {{ {} }}", deep("(", ")")),
        format!("fn f() {}", deep("{", "}")),
        format!("return {}", deep("{", "}")),
        format!("SELECT {}", deep("(", ")")),
        format!("fn f() {{ {}1 }}", "-".repeat(20_000)),
        format!("return {}1", "not ".repeat(20_000)),
        format!("fn f() {{ x{} }}", ".y()".repeat(20_000)),
        format!("fn f() {{ {} {{}} }}", "if a {} else ".repeat(20_000)),
        format!("fn f() {{ 1{} }}", "+1".repeat(20_000)),
    ];
    on_large_stack(move || {
        for text in texts {
            for (path, language) in
                [("a.rs", Language::Rust), ("a.lua", Language::Lua), ("a.sql", Language::Sql)]
            {
                lint_text(path, language, text.clone());
            }
        }
    });
}

#[test]
fn what_is_met_again_and_again_in_a_file_is_told_once() {
    let text = (1..=3).fold(String::new(), |text, number| {
        text + &format!("pub const S{number}: &str = include_str!(\"made/{number}.lua\");\n")
    });
    let user = "pub async fn run(c: &mut redis::aio::MultiplexedConnection) {\n".to_owned()
        + &(1..=3).fold(String::new(), |text, number| {
            text + &format!("    let _: i64 = redis::Script::new(S{number}).key(\"k\").invoke_async(c).await.unwrap();\n")
        })
        + "}\n";
    let tree = Tree::from_texts(vec![("src/lib.rs".to_owned(), Language::Rust, text + &user)]);
    let told: Vec<String> = lint(Arc::new(tree), Settings::default())
        .filtered
        .shown
        .into_iter()
        .filter(|finding| finding.rule == "analysis-limit")
        .map(|finding| finding.message)
        .collect();
    assert_eq!(
        told,
        ["the file included here is not among the files read, and 2 more times in this file"]
    );
}

#[test]
fn a_file_of_nothing_but_allow_comments_takes_no_longer_than_its_length() {
    on_large_stack(|| {
        let begin = Instant::now();
        for line in ["//leaselint:allow(pii-in-key)--x\n", "// leaselint:\n", "/*leaselint:allow*/"]
        {
            lint_text("a.rs", Language::Rust, line.repeat(30_000));
        }
        lint_text("a.lua", Language::Lua, "--[[ leaselint:allow\n".repeat(30_000));
        lint_text("a.sql", Language::Sql, "-- leaselint: allow(pii-in-key) -- x\n".repeat(30_000));
        let took = begin.elapsed();
        assert!(took < LONGEST, "{took:?}");
    });
}
