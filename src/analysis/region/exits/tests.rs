//! The ways out of small sections.

use std::sync::Arc;

use super::Leaving;
use crate::analysis::Analysis;
use crate::config::Settings;
use crate::link::Program;
use crate::source::{Language, Tree};

const FUNCTIONS: &str = r#"
    use redis::AsyncCommands;
    const RELEASE: &str =
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
    async fn take(conn: &mut redis::aio::ConnectionManager, token: &str) -> redis::RedisResult<bool> {
        redis::cmd("SET").arg("lock:mill").arg(token).arg("NX").arg("PX").arg(9_000).query_async(conn).await
    }
    async fn free(conn: &mut redis::aio::ConnectionManager, token: &str) -> redis::RedisResult<i64> {
        redis::Script::new(RELEASE).key("lock:mill").arg(token).invoke_async(conn).await
    }
    async fn turn(conn: &mut redis::aio::ConnectionManager) -> redis::RedisResult<i64> {
        conn.incr("mill:turns", 1).await
    }
"#;

/// What leaves a section with the lease held: the source of each way out, and how.
fn exits(section: &str) -> Vec<(String, Leaving)> {
    let text = format!(
        "{FUNCTIONS}
        async fn grind(conn: &mut redis::aio::ConnectionManager, token: &str) -> redis::RedisResult<i64> {{
            {section}
        }}"
    );
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.clone())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let analysis = Analysis::new(&program);
    let all = analysis.regions.iter().flat_map(|region| analysis.lease_exits(region));
    let source = |start: u32, end: u32| text[start as usize..end as usize].to_owned();
    all.map(|exit| (source(exit.span.start, exit.span.end), exit.how)).collect()
}

#[test]
fn every_way_out_before_the_release_counts() {
    let found = exits(
        "if !take(conn, token).await? { return Ok(0); }
        let turns = turn(conn).await?;
        if turns > 9 { return Ok(turns); }
        free(conn, token).await?;
        Ok(turns)",
    );
    let expected = [("turn", Leaving::Propagated), ("return Ok(turns)", Leaving::Returned)];
    assert_eq!(found, expected.map(|(text, how)| (text.to_owned(), how)));
}

#[test]
fn a_return_is_meant_where_the_lease_is_only_given_back_on_failure() {
    let found = exits(
        "if !take(conn, token).await? { return Ok(0); }
        match turn(conn).await {
            Ok(turns) => return Ok(turns),
            Err(error) => { free(conn, token).await?; return Err(error); }
        }",
    );
    assert_eq!(found, []);
}

#[test]
fn a_way_out_that_runs_without_the_lease_take_too_does_not_count() {
    let found = exits(
        "let mut held = false;
        if turn(conn).await? > 3 { held = take(conn, token).await?; }
        if held { free(conn, token).await?; }
        let turns = turn(conn).await?;
        Ok(turns)",
    );
    assert_eq!(found, []);
}

#[test]
fn nobody_releases_a_lease_that_is_lost() {
    let found = exits(
        "if !take(conn, token).await? { return Ok(0); }
        let holder: Option<String> = conn.get(\"lock:mill\").await?;
        if holder.as_deref() != Some(token) { return Ok(1); }
        free(conn, token).await",
    );
    assert_eq!(found, []);
}

#[test]
fn a_function_that_never_fails_is_no_way_out() {
    let found = exits(
        "async fn rest(turns: i64) -> redis::RedisResult<i64> { if turns > 3 { return Ok(3); } Ok(turns) }
        if !take(conn, token).await? { return Ok(0); }
        let turns = rest(4).await?;
        free(conn, token).await?;
        Ok(turns)",
    );
    assert_eq!(found, []);
}

#[test]
fn an_undecided_acquire_is_no_claim() {
    // What `take` said is read out of sight.
    let found = exits(
        "let won = take(conn, token).await;
        if refused(&won) { return Ok(0); }
        let turns = turn(conn).await?;
        free(conn, token).await?;
        Ok(turns)",
    );
    assert_eq!(found, []);
}
