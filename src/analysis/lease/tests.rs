//! What keys of small programs are.

use std::sync::Arc;

use super::{Action, KeyKind};
use crate::analysis::Analysis;
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
