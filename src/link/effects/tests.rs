//! Effects of small programs, written down by hand.

use std::sync::Arc;

use super::describe;
use crate::config::Settings;
use crate::ir::effect::{BodyId, EffectKind};
use crate::link::Program;
use crate::source::{Language, Tree};

/// The effects of a program, one line each: function and description, values left out.
fn effects(files: &[(&str, &str)]) -> Vec<String> {
    let texts = files.iter().map(|(path, text)| {
        let language = match path.rsplit('.').next() {
            Some("rs") => Language::Rust,
            Some("lua") => Language::Lua,
            Some("sql") => Language::Sql,
            _ => Language::Other,
        };
        ((*path).to_owned(), language, (*text).to_owned())
    });
    let tree = Tree::from_texts(texts.collect());
    let program = Program::build(Arc::new(tree), Settings::default());
    let mut lines = Vec::new();
    for body in &program.bodies {
        for effect in program.effects(body.id) {
            let name = program.qualified_name(body.id);
            lines.push(format!("{name}: {}", without_values(&describe(effect))));
        }
    }
    lines
}

/// Value numbers say nothing to a reader: `v12` is `v`.
fn without_values(line: &str) -> String {
    let mut text = String::new();
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        text.push(letter);
        if letter == 'v' && !before.is_alphanumeric() {
            while letters.next_if(char::is_ascii_digit).is_some() {}
        }
        before = letter;
    }
    text
}

#[test]
fn a_command_chain_over_several_statements_is_one_command() {
    let found = effects(&[(
        "src/lib.rs",
        "pub async fn set(con: &mut redis::aio::ConnectionManager, key: &str, value: &str, ttl: Option<u64>) -> redis::RedisResult<Option<String>> {
            let mut cmd = redis::cmd(\"SET\");
            cmd.arg(key).arg(value).arg(\"NX\");
            if let Some(ttl) = ttl {
                cmd.arg(\"PX\").arg(ttl);
            }
            cmd.query_async(con).await
        }",
    )]);
    assert_eq!(
        found,
        ["set: redis SET `<key>` value v if absent with an expiry when v is there -> v"]
    );
}

#[test]
fn options_are_read_through_builders_and_functions() {
    let found = effects(&[(
        "src/lib.rs",
        "use redis::{AsyncCommands, ExistenceCheck, SetExpiry, SetOptions};
        fn once() -> SetOptions {
            SetOptions::default().conditional_set(ExistenceCheck::NX).with_expiration(SetExpiry::EX(30))
        }
        pub async fn a(con: &mut redis::aio::ConnectionManager) -> redis::RedisResult<bool> {
            con.set_options(\"a\", 1, once()).await
        }
        pub async fn b(con: &mut redis::aio::ConnectionManager) -> redis::RedisResult<bool> {
            let options = SetOptions::default().conditional_set(ExistenceCheck::NX);
            con.set_options(\"b\", 1, options).await
        }",
    )]);
    assert_eq!(
        found,
        [
            "a: redis SET `a` value v if absent for 30000 ms -> v",
            "b: redis SET `b` value v if absent -> v",
        ]
    );
}

#[test]
fn an_atomic_pipeline_is_one_batch_and_ignored_replies_are_lost() {
    let found = effects(&[(
        "src/lib.rs",
        "pub async fn take(con: &mut redis::aio::ConnectionManager, id: u64) -> redis::RedisResult<bool> {
            let (won,): (bool,) = redis::pipe()
                .atomic()
                .set_nx(format!(\"job:{id}\"), 1)
                .expire(format!(\"job:{id}\"), 30)
                .ignore()
                .query_async(con)
                .await?;
            Ok(won)
        }",
    )]);
    let lines: Vec<&str> = found.iter().map(String::as_str).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let (first, second) = (lines.first().unwrap(), lines.last().unwrap());
    assert!(
        first.starts_with("take: redis SETNX `job:<id>` value v if absent in atomic batch"),
        "{first}"
    );
    assert!(first.ends_with("-> v"), "{first}");
    assert!(
        second.starts_with("take: redis EXPIRE `job:<id>` for 30000 ms in atomic batch"),
        "{second}"
    );
    assert!(second.ends_with("-> nothing"), "{second}");
}

#[test]
fn scripts_are_found_through_statics_and_files() {
    let found = effects(&[
        (
            "src/lib.rs",
            "use std::sync::LazyLock;
            static RELEASE: LazyLock<redis::Script> = LazyLock::new(|| redis::Script::new(include_str!(\"release.lua\")));
            pub async fn release(con: &mut redis::aio::ConnectionManager, token: &str) -> redis::RedisResult<i64> {
                RELEASE.key(\"lock:a\").arg(token).invoke_async(con).await
            }
            pub async fn raw(con: &mut redis::aio::ConnectionManager, token: &str) -> redis::RedisResult<i64> {
                redis::cmd(\"EVAL\").arg(\"return redis.call('DEL', KEYS[1])\").arg(1).arg(\"lock:b\").arg(token).query_async(con).await
            }",
        ),
        ("src/release.lua", "return redis.call('DEL', KEYS[1])"),
    ]);
    assert_eq!(
        found,
        [
            "release: script EVALSHA, then EVAL of body 3; `lock:a`; arguments [v] -> v",
            "raw: script EVAL of body 4; `lock:b`; arguments [v] -> v",
            "release.lua: redis DEL `<KEYS[1]>` in atomic batch 0 -> v",
            ": redis DEL `<KEYS[1]>` in atomic batch 0 -> v",
        ]
    );
}

#[test]
fn builders_become_statements() {
    let found = effects(&[(
        "src/lib.rs",
        "use diesel::prelude::*;
        diesel::table! { lots (id) { id -> Int8, qty -> Int4, revision -> Int8, } }
        pub fn take(conn: &mut diesel::PgConnection, lot: i64, n: i32, seen: i64) -> QueryResult<usize> {
            let target = lots::table.filter(lots::id.eq(lot)).filter(lots::qty.ge(n));
            diesel::update(target)
                .filter(lots::revision.eq(seen))
                .set((lots::qty.eq(lots::qty - n), lots::revision.eq(seen + 1)))
                .execute(conn)
        }",
    )]);
    assert_eq!(
        found,
        [
            "take: sql UPDATE lots SET qty = qty - ?, revision = ? WHERE id, qty, revision; bound [v, v, v, v, v]; on Connection; zero rows: count -> v"
        ]
    );
}

#[test]
fn external_calls_know_their_limit_and_their_key() {
    let found = effects(&[(
        "src/lib.rs",
        "use std::time::Duration;
        pub struct Pay { client: reqwest::Client }
        impl Pay {
            pub fn new() -> Self {
                let client = reqwest::Client::builder().timeout(Duration::from_secs(5)).build().unwrap();
                Self { client }
            }
            pub async fn charge(&self, id: &str) -> reqwest::Result<()> {
                self.client.post(\"https://pay.example/charges\").header(\"Idempotency-Key\", id).send().await?;
                Ok(())
            }
        }
        pub async fn plain(id: u64) -> reqwest::Result<()> {
            let client = reqwest::Client::new();
            client.get(format!(\"https://x.example/{id}\")).send().await?;
            Ok(())
        }",
    )]);
    assert_eq!(
        found,
        [
            "Pay::charge: external HTTP POST `https://pay.example/charges`; timeout 5000 ms, idempotency key -> v",
            "plain: external HTTP GET `https://x.example/<id>`; no timeout -> v",
        ]
    );
}

#[test]
fn every_effect_of_a_script_run_points_at_bodies_that_are_there() {
    let text = "pub async fn f(con: &mut redis::aio::ConnectionManager) -> redis::RedisResult<i64> {
        redis::Script::new(\"return redis.call('INCR', KEYS[1])\").key(\"n\").invoke_async(con).await
    }";
    let tree = Tree::from_texts(vec![("src/lib.rs".to_owned(), Language::Rust, text.to_owned())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let scripts: Vec<BodyId> = program
        .effects(BodyId(0))
        .iter()
        .filter_map(|effect| match &effect.kind {
            EffectKind::Script(call) => Some(call.scripts.clone()),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(scripts.len(), 1);
    assert!(scripts.iter().all(|script| program.body(*script).is_some()));
    assert!(scripts.iter().all(|script| !program.effects(*script).is_empty()));
}

#[test]
fn an_option_that_a_default_leaves_out_sends_no_words() {
    let found = effects(&[(
        "src/lib.rs",
        "#[derive(Default)]
        pub struct Spec { lease: Option<std::time::Duration>, tag: u8 }
        fn claim(key: &str, spec: &Spec) -> redis::Cmd {
            let mut cmd = redis::cmd(\"SET\");
            cmd.arg(key).arg(\"t\").arg(\"NX\");
            if let Some(lease) = spec.lease {
                cmd.arg(\"PX\").arg(lease.as_millis() as u64);
            }
            cmd
        }
        pub fn none(con: &mut redis::Connection) -> redis::RedisResult<bool> {
            let spec = Spec { tag: 1, ..Default::default() };
            claim(\"a\", &spec).query(con)
        }
        pub fn some(con: &mut redis::Connection) -> redis::RedisResult<bool> {
            let spec = Spec { lease: Some(std::time::Duration::from_secs(2)), tag: 1 };
            claim(\"b\", &spec).query(con)
        }",
    )]);
    assert_eq!(
        found,
        [
            "none: redis SET `a` if absent -> v",
            "some: redis SET `b` if absent for some milliseconds -> v",
        ]
    );
}

#[test]
fn transactions_of_clients_are_batches_and_watch_their_keys() {
    let found = effects(&[(
        "src/lib.rs",
        "use fred::prelude::*;
        use redis::Commands;
        pub async fn fred(client: &Client) -> Result<(), Error> {
            let trx = client.multi();
            let _: () = trx.del(\"a\").await?;
            let _: () = trx.exec(true).await?;
            Ok(())
        }
        pub fn own(con: &mut redis::Connection) -> redis::RedisResult<()> {
            let _: (i64,) = redis::transaction(con, &[\"n\"], |con, pipe| {
                let n: i64 = con.get(\"n\")?;
                pipe.set(\"n\", n - 1).ignore().query(con)
            })?;
            Ok(())
        }",
    )]);
    let has = |text: &str| found.iter().any(|line| line.contains(text));
    assert!(has("fred: redis DEL `a` in atomic batch"), "{found:?}");
    assert!(has("own: redis WATCH `n` -> nothing"), "{found:?}");
    assert!(has("own: redis SET `n` value v in atomic batch"), "{found:?}");
}

#[test]
fn active_models_and_queues() {
    let found = effects(&[(
        "src/lib.rs",
        "pub mod job {
            use sea_orm::entity::prelude::*;
            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = \"jobs\")]
            pub struct Model { #[sea_orm(primary_key)] pub id: i64, pub status: String }
        }
        use sea_orm::{ActiveModelTrait, DatabaseConnection, DbErr, Set};
        pub async fn done(db: &DatabaseConnection, id: i64) -> Result<(), DbErr> {
            let model = job::ActiveModel { id: Set(id), status: Set(\"done\".to_owned()) };
            model.update(db).await?;
            Ok(())
        }
        pub async fn tell(client: &aws_sdk_sqs::Client) -> anyhow::Result<()> {
            client.send_message().queue_url(\"jobs\").message_body(\"x\").send().await?;
            Ok(())
        }",
    )]);
    assert_eq!(
        found,
        [
            "done: sql UPDATE jobs SET status = ? WHERE id; bound [v]; on Pool; zero rows: error -> v",
            "tell: publish to `jobs` -> v",
        ]
    );
}

/// Generated code may queue thousands of commands; nothing here may be quadratic in a bad way.
#[test]
fn a_long_pipeline_is_read_in_reasonable_time() {
    let mut text = String::from(
        "pub fn all(con: &mut redis::Connection) -> redis::RedisResult<()> {\n    let mut pipe = redis::pipe();\n",
    );
    for index in 0..800 {
        text.push_str(&format!("    pipe.set(\"k{index}\", {index}).ignore();\n"));
    }
    text.push_str("    pipe.query(con)\n}\n");
    let started = std::time::Instant::now();
    let found = effects(&[("src/lib.rs", &text)]);
    assert_eq!(found.len(), 800);
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn a_condition_on_some_paths_is_none() {
    let found = effects(&[(
        "src/lib.rs",
        "pub fn put(con: &mut redis::Connection, owned: bool, token: &str) -> redis::RedisResult<()> {
            let mut cmd = redis::cmd(\"SET\");
            cmd.arg(\"berth\").arg(token);
            if owned { cmd.arg(\"IFEQ\").arg(token); }
            cmd.query(con)
        }
        pub fn digest(con: &mut redis::Connection, seen: &str) -> redis::RedisResult<()> {
            redis::cmd(\"SET\").arg(\"berth\").arg(1).arg(\"IFDEQ\").arg(seen).query(con)
        }",
    )]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(!found[0].contains(" if "), "{found:?}");
    assert!(found[1].contains(" if equal"), "{found:?}");
}

#[test]
fn a_transaction_that_nobody_awaits_does_not_end() {
    let found = effects(&[(
        "src/lib.rs",
        "pub async fn sell(pool: &sqlx::PgPool) -> sqlx::Result<()> {
            let mut tx = pool.begin().await?;
            sqlx::query(\"UPDATE seats SET sold = true WHERE id = 1\").execute(&mut *tx).await?;
            tx.commit();
            Ok(())
        }",
    )]);
    assert!(found.iter().any(|line| line.contains("BEGIN")), "{found:?}");
    assert!(!found.iter().any(|line| line.contains("COMMIT")), "{found:?}");
}

#[test]
fn no_row_is_an_error_only_where_the_table_says_so() {
    use crate::ir::effect::ZeroRows;
    let text = "pub async fn a(db: &sea_orm::DatabaseConnection, s: sea_orm::Statement) {
            let one = sea_orm::ConnectionTrait::query_one(db, s).await?;
        }
        pub async fn b(pool: &sqlx::PgPool) {
            let row = sqlx::query(\"SELECT id FROM seats\").fetch_one(pool).await?;
            let rows = sqlx::query(\"SELECT id FROM seats\").fetch_all(pool).await?;
        }";
    let tree = Tree::from_texts(vec![("src/lib.rs".into(), Language::Rust, text.into())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let effects = program.bodies.iter().flat_map(|body| program.effects(body.id));
    let counts: Vec<ZeroRows> = effects
        .filter_map(|effect| match &effect.kind {
            EffectKind::Sql(sql) => Some(sql.zero_rows.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [ZeroRows::Rows, ZeroRows::Error, ZeroRows::Rows]);
}

#[test]
fn embedded_scripts_are_linked_like_files() {
    let script = "local seen = redis.sha1hex(KEYS[1]) redis.log(redis.LOG_NOTICE, seen) return redis.call('GET', 'seat:' .. seen)";
    let host = format!(
        "pub fn a(con: &mut redis::Connection) {{ let n: i64 = redis::Script::new(\"{script}\").key(1).invoke(con)?; }}"
    );
    let shown = |files: &[(&str, &str)]| -> Vec<String> {
        effects(files).into_iter().filter(|line| line.starts_with(": ")).collect()
    };
    let embedded = shown(&[("src/lib.rs", &host)]);
    assert_eq!(embedded.len(), 2, "{embedded:?}");
    let linked = |path: &str, text: &str, language: Language| {
        let tree = Tree::from_texts(vec![(path.into(), language, text.into())]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let digests = program.bodies.iter().flat_map(|own| {
            own.body
                .calls()
                .filter(|(_, op, _)| {
                    program.targets(own.id, *op).is_some_and(|it| !it.apis.is_empty())
                        && program.in_script(own.id)
                })
                .map(|(_, _, call)| call.callee.name().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        });
        digests.collect::<Vec<_>>()
    };
    let all = ["sha1hex", "log", "call"];
    assert_eq!(linked("src/lib.rs", &host, Language::Rust), all);
    assert_eq!(linked("seat.lua", script, Language::Lua), all);
}

#[test]
fn a_command_by_another_name_is_that_command() {
    let found = effects(&[(
        "src/lib.rs",
        "use redis::Cmd as Order;
        pub fn put(con: &mut redis::Connection) -> redis::RedisResult<()> {
            Order::set(\"berth\", 1).query(con)
        }",
    )]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("redis SET `berth`"), "{found:?}");
}
