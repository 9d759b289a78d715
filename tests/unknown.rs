//! `check --show-unknown`: each reason for which something is not followed, and how it is told.

use std::collections::BTreeSet;
use std::sync::Arc;

use leaselint::cli::check::lint_and_tell;
use leaselint::config::Settings;
use leaselint::finding::unfollowed::{Followed, Reason};
use leaselint::source::{Language, Tree};
use serde_json::Value;

use crate::cli::leaselint;

/// One program a reason: the text, and the line, the kind and the name that are told.
const PROGRAMS: &[(Reason, u32, Followed, &str, &str)] = &[
    (
        Reason::KeyNotIdentified,
        4,
        Followed::Release,
        "DEL",
        r#"use redis::AsyncCommands;
pub async fn forget(conn: &mut redis::aio::ConnectionManager, jobs: &Jobs) -> redis::RedisResult<()> {
    let key = jobs.find(3, "x");
    conn.del(key).await
}
"#,
    ),
    (
        Reason::ReplyLeavesSight,
        3,
        Followed::Acquire,
        "SETNX",
        r#"use redis::AsyncCommands;
pub async fn take(conn: &mut redis::aio::ConnectionManager, board: &Board) -> redis::RedisResult<()> {
    let won: bool = conn.set_nx("lock:board", "x").await?;
    board.show(won);
    Ok(())
}
"#,
    ),
    (
        Reason::ReplyLeavesSight,
        2,
        Followed::RowCount,
        "execute",
        r#"pub async fn sell(pool: &sqlx::PgPool, board: &Board, item: i64) -> sqlx::Result<()> {
    let done = sqlx::query("UPDATE items SET state = 'sold' WHERE id = $1 AND version = $2").bind(item).bind(7)
        .execute(pool).await?;
    board.show(done.rows_affected());
    Ok(())
}
"#,
    ),
    (
        Reason::LeaseEscapes,
        9,
        Followed::Release,
        "keep",
        r#"use redis::AsyncCommands;
pub struct Guard { conn: redis::aio::ConnectionManager }
impl Guard {
    pub async fn take(mut conn: redis::aio::ConnectionManager) -> redis::RedisResult<Option<Self>> {
        let won: bool = conn.set_nx("lock:till", "x").await?;
        Ok(won.then_some(Self { conn }))
    }
    pub async fn give_back(mut self) -> redis::RedisResult<()> { self.conn.del("lock:till").await }
    pub async fn run(conn: redis::aio::ConnectionManager, shelf: &Shelf) -> redis::RedisResult<()> { if let Some(guard) = Self::take(conn).await? { shelf.keep(guard); } Ok(()) }
}
"#,
    ),
    (
        Reason::ClientTypeUnknown,
        3,
        Followed::Release,
        "del",
        r#"use redis::AsyncCommands;
pub async fn forget(shop: &Shop) {
    let _ = shop.client().del("lock:till").await;
}
"#,
    ),
    (
        Reason::ScriptTextUnknown,
        3,
        Followed::Lease,
        "invoke_async",
        r#"use redis::Script;
pub async fn run(conn: &mut redis::aio::ConnectionManager, text: &str) -> redis::RedisResult<i64> {
    Script::new(text).key("lock:till").invoke_async(conn).await
}
"#,
    ),
    (
        Reason::StatementTextUnknown,
        2,
        Followed::RowCount,
        "execute",
        r#"pub async fn run(pool: &sqlx::PgPool, text: &str) -> sqlx::Result<u64> {
    Ok(sqlx::query(text).execute(pool).await?.rows_affected())
}
"#,
    ),
    (
        Reason::NoImplementation,
        4,
        Followed::Lease,
        "try_acquire",
        r#"use redis::AsyncCommands;
pub trait Locks { fn try_acquire(&self, key: &str) -> bool; }
pub async fn run(conn: &mut redis::aio::ConnectionManager, locks: &dyn Locks) -> redis::RedisResult<()> {
    if locks.try_acquire("till") { conn.set("a", 1).await } else { Ok(()) }
}
"#,
    ),
    (
        Reason::MacroNotExpanded,
        3,
        Followed::Lease,
        "acquire_lock",
        r#"use redis::AsyncCommands;
pub async fn run(conn: &mut redis::aio::ConnectionManager) -> redis::RedisResult<()> {
    vendor::acquire_lock!(conn, "till");
    conn.set("a", 1).await
}
"#,
    ),
];

fn told(text: String) -> Vec<(Reason, u32, Followed, String)> {
    let tree = Tree::from_texts(vec![("src/a.rs".into(), Language::Rust, text)]);
    let tree = Arc::new(tree);
    let linted = lint_and_tell(Arc::clone(&tree), Settings::default(), true);
    let all = linted.unfollowed.unwrap().into_iter();
    all.map(|one| {
        let line = tree.file(one.span.file).unwrap().lines.line(one.span.start);
        (one.reason, line, one.what, one.name)
    })
    .collect()
}

#[test]
fn each_reason_is_told_where_it_holds() {
    crate::on_large_stack(|| {
        for (reason, line, what, name, text) in PROGRAMS {
            let expected = vec![(*reason, *line, *what, (*name).to_owned())];
            assert_eq!(told((*text).to_owned()), expected, "{reason:?}\n{text}");
        }
    });
}

/// A wrapper that hundreds of callers give a key of their own.
#[test]
fn more_keys_than_are_kept_are_told() {
    crate::on_large_stack(|| {
        let mut text = r#"use redis::AsyncCommands;
type Conn = redis::aio::ConnectionManager;
async fn forget(conn: &mut Conn, key: &str) -> redis::RedisResult<()> {
    conn.del(key).await
}
"#
        .to_owned();
        for number in 0..140 {
            text.push_str(&format!(
                "pub async fn f{number}(conn: &mut Conn) {{ let _ = forget(conn, \"k{number}\").await; }}\n"
            ));
        }
        let expected = [(Reason::TooManyKeys, 4, Followed::Release, "DEL".to_owned())];
        assert_eq!(told(text), expected);
    });
}

#[test]
fn every_reason_has_a_program_and_a_name_of_its_own() {
    let tested: BTreeSet<Reason> = PROGRAMS.iter().map(|program| program.0).collect();
    for reason in Reason::ALL.iter().filter(|reason| **reason != Reason::TooManyKeys) {
        assert!(tested.contains(reason), "{reason:?}");
    }
    let ids: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.id()).collect();
    assert_eq!(ids.len(), Reason::ALL.len());
}

/// What is followed to its end is not told; nor is anything unless it is asked for.
#[test]
fn both_formats_tell_it_in_path_order_and_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let source = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let of = |reason: Reason| PROGRAMS.iter().find(|program| program.0 == reason).unwrap().4;
    source("b.rs", of(Reason::ScriptTextUnknown));
    source("a.rs", of(Reason::StatementTextUnknown));
    source(
        "c.rs",
        "use redis::AsyncCommands;\npub async fn run(conn: &mut redis::aio::ConnectionManager) -> redis::RedisResult<()> { conn.del(\"a\").await }\n",
    );
    let human = leaselint(folder.path(), &["check", "--show-unknown"]);
    let lines: Vec<&str> =
        human.out.lines().filter(|line| line.starts_with("not followed")).collect();
    let expected = [
        "not followed: a.rs:2:26: row count `execute`: the text of the statement is not known [statement-text-unknown]",
        "not followed: b.rs:3:40: acquire or release `invoke_async`: the text of the script is not known [script-text-unknown]",
    ];
    assert_eq!((lines, human.code), (expected.to_vec(), 0));
    assert!(!leaselint(folder.path(), &["check"]).out.contains("not followed"));

    let json = leaselint(folder.path(), &["check", "--format", "json", "--show-unknown"]);
    let whole: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, whole["version"].as_u64()), (0, Some(1)));
    let reasons: Vec<_> =
        whole["unknown"].as_array().unwrap().iter().map(|it| &it["reason"]).collect();
    assert_eq!(reasons, ["statement-text-unknown", "script-text-unknown"]);
    let first = &whole["unknown"][0];
    assert_eq!(
        (
            first["path"].as_str(),
            first["line"].as_u64(),
            first["what"].as_str(),
            first["function"].as_str()
        ),
        (Some("a.rs"), Some(2), Some("row count"), Some("run"))
    );
    let plain = leaselint(folder.path(), &["check", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&plain.out).unwrap().get("unknown").is_none());
}
