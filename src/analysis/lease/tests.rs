//! What keys of small programs are.

use std::sync::Arc;

use super::{Action, KeyKind};
use crate::analysis::Analysis;
use crate::analysis::outcome::Abstract;
use crate::config::Settings;
use crate::link::Program;
use crate::source::{Language, Tree};

/// The kind of the key of every use of an action, in order.
fn kinds(text: &str, settings: Settings, action: Action) -> Vec<KeyKind> {
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
    let program = Program::build(Arc::new(tree), settings);
    let analysis = Analysis::new(&program);
    let uses = analysis.leases.iter().filter(|(_, key_use)| key_use.action == action);
    uses.map(|(_, key_use)| analysis.leases.class(key_use).kind).collect()
}

const DELETES: &str = r#"
    use redis::AsyncCommands;
    pub async fn finish(conn: &mut redis::aio::ConnectionManager, job: u64) -> redis::RedisResult<()> {
        conn.del(format!("job:{job}:busy")).await
    }
"#;

#[test]
fn a_key_that_is_never_taken_is_plain_unless_the_settings_say_lease() {
    assert_eq!(kinds(DELETES, Settings::default(), Action::Release), [KeyKind::Plain]);
    let told = Settings { lock_keys: vec!["job:*:busy".into()], ..Settings::default() };
    assert_eq!(kinds(DELETES, told, Action::Release), [KeyKind::Lease]);
}

#[test]
fn a_key_rolled_back_on_failure_only_is_a_marker() {
    let text = r#"
        use redis::AsyncCommands;
        pub async fn once(conn: &mut redis::aio::ConnectionManager, event: u64) -> redis::RedisResult<bool> {
            let key = format!("seen:{event}");
            let first: Option<String> = redis::cmd("SET").arg(&key).arg(1).arg("NX").arg("EX").arg(60)
                .query_async(conn).await?;
            if first.is_none() {
                return Ok(false);
            }
            if let Err(error) = handle(event).await {
                let _: () = conn.del(&key).await?;
                return Err(error);
            }
            Ok(true)
        }
        async fn handle(event: u64) -> redis::RedisResult<()> { let _ = event; Ok(()) }
    "#;
    assert_eq!(kinds(text, Settings::default(), Action::Acquire), [KeyKind::Marker]);
}

/// A program of `work`, `busy` and functions of an INCR.
fn counting(functions: &str) -> String {
    format!(
        r#"
        use redis::AsyncCommands;
        use redis::RedisResult as Result;
        type Conn = redis::aio::ConnectionManager;
        async fn work(shop: u64) -> Result<()> {{ let _ = shop; Ok(()) }}
        {functions}
        "#
    )
}

#[test]
fn a_count_is_a_lease_where_the_first_alone_goes_on_and_gives_it_back() {
    let text = counting(
        r#"
        pub async fn import(conn: &mut Conn, shop: u64) -> Result<bool> {
            let key = format!("import:{shop}");
            let count: i64 = conn.incr(&key, 1).await?;
            if count > 1 { return Ok(false); }
            work(shop).await?;
            let _: () = conn.del(&key).await?;
            Ok(true)
        }
        pub async fn limit(conn: &mut Conn, shop: u64) -> Result<bool> {
            let key = format!("requests:{shop}");
            let count: i64 = conn.incr(&key, 1).await?;
            if count > 20 { return Ok(false); }
            work(shop).await?;
            let _: () = conn.del(&key).await?;
            Ok(true)
        }
        "#,
    );
    assert_eq!(kinds(&text, Settings::default(), Action::Acquire), [KeyKind::Lease]);
    assert_eq!(
        kinds(&text, Settings::default(), Action::Release),
        [KeyKind::Lease, KeyKind::Plain]
    );
}

#[test]
fn a_winner_that_leaves_without_giving_back_has_no_lease() {
    let text = counting(
        r#"
        pub async fn once(conn: &mut Conn, shop: u64) -> Result<bool> {
            let count: i64 = conn.incr("once", 1).await?;
            if count != 1 { return Ok(false); }
            if work(shop).await.is_ok() { return Ok(true); }
            let _: () = conn.del("once").await?;
            Ok(false)
        }
        pub async fn expect(conn: &mut Conn) -> Result<()> {
            let count: i64 = conn.incr("expected", 1).await?;
            assert_eq!(count, 1);
            conn.del("expected").await
        }
        "#,
    );
    assert_eq!(kinds(&text, Settings::default(), Action::Acquire), []);
}

#[test]
fn callers_decide_by_what_a_function_tells_them() {
    let text = counting(
        r#"
        async fn begin(conn: &mut Conn, shop: u64) -> Result<Option<i64>> {
            let count: i64 = conn.incr(format!("run:{shop}"), 1).await?;
            match count {
                1 => {
                    let _: bool = conn.expire(format!("run:{shop}"), 60).await?;
                    Ok(Some(count))
                }
                _ => Ok(None),
            }
        }
        async fn end(conn: &mut Conn, shop: u64) -> Result<()> {
            conn.del(format!("run:{shop}")).await
        }
        pub async fn run(conn: &mut Conn, shop: u64) -> Result<()> {
            let Some(_) = begin(conn, shop).await? else { return Ok(()) };
            let done = work(shop).await;
            end(conn, shop).await?;
            done
        }
        "#,
    );
    assert_eq!(kinds(&text, Settings::default(), Action::Acquire), [KeyKind::Lease]);
    // Nobody who runs it gives it back.
    let alone = text.replace("end(conn, shop).await?;", "");
    assert_eq!(kinds(&alone, Settings::default(), Action::Acquire), []);
}

#[test]
fn a_member_is_told_by_key_and_member() {
    let text = counting(
        r#"
        pub async fn index(conn: &mut Conn, shop: u64, other: u64) -> Result<bool> {
            let added: i64 = conn.sadd("indexing", shop).await?;
            if added == 0 { return Ok(false); }
            work(shop).await?;
            let _: i64 = conn.srem("indexing", OTHER).await?;
            Ok(true)
        }
        "#,
    );
    let same = text.replace("OTHER", "shop");
    assert_eq!(kinds(&same, Settings::default(), Action::Acquire), [KeyKind::Lease]);
    let other = text.replace("OTHER", "other");
    assert_eq!(kinds(&other, Settings::default(), Action::Acquire), []);
}

#[test]
fn what_a_call_passes_to_a_wrapper_empties_the_key() {
    let text = counting(
        r#"
        async fn put(conn: &mut Conn, key: &str, value: &str) -> Result<()> { conn.set(key, value).await }
        pub async fn take(conn: &mut Conn) -> Result<bool> { conn.set_nx("lock:shop", "me").await }
        pub async fn leave(conn: &mut Conn) -> Result<()> { put(conn, "lock:shop", "").await }
        pub async fn name(conn: &mut Conn, name: &str) -> Result<()> { put(conn, "name", name).await }
        "#,
    );
    assert_eq!(kinds(&text, Settings::default(), Action::Release), [KeyKind::Lease]);
}

/// What winners and losers give back of a script that writes where it found nothing.
fn script_answer(text: &str) -> Option<(Abstract, Abstract)> {
    let tree = Tree::from_texts(vec![("a.lua".into(), Language::Lua, text.into())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let analysis = Analysis::new(&program);
    let (_, acquire) = analysis.leases.acquires().next()?;
    let answer = super::absent::given_back(&program, acquire)?;
    Some((answer.won, answer.lost))
}

#[test]
fn a_script_that_reads_and_writes_tells_losers_by_what_it_returns_without_the_write() {
    let number = Abstract::Number;
    let exists = "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
        redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) return 1";
    assert_eq!(script_answer(exists), Some((number(1), number(0))));
    let own = "local v = redis.call('GET', KEYS[1])
        if v == false or v == ARGV[1] then redis.call('SETEX', KEYS[1], ARGV[2], ARGV[1]) return 1 end
        return 0";
    assert_eq!(script_answer(own), Some((number(1), number(0))));
    let conditional = "return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])";
    assert_eq!(script_answer(conditional), None);
}
