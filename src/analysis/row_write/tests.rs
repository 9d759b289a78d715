//! Writes of small programs, and whether their rows are locked.

use std::sync::Arc;

use crate::analysis::Analysis;
use crate::config::Settings;
use crate::link::Program;
use crate::source::{Language, Tree};

/// `function: table locked`, one line each write.
fn writes(files: &[(&str, &str)]) -> Vec<String> {
    let texts = files.iter().map(|(path, text)| {
        let language = if path.ends_with(".sql") { Language::Sql } else { Language::Rust };
        ((*path).to_owned(), language, (*text).to_owned())
    });
    let tree = Tree::from_texts(texts.collect());
    let program = Program::build(Arc::new(tree), Settings::default());
    let analysis = Analysis::new(&program);
    let line = |write: &super::RowWrite<'_>| {
        let function = analysis.function_around(write).unwrap_or_default();
        let locked = if analysis.row_is_locked(write) { " locked" } else { "" };
        format!("{function}: {}{locked}", write.name().name)
    };
    analysis.row_writes().iter().map(line).collect()
}

#[test]
fn writes_of_code_functions_and_query_files_are_found() {
    let found = writes(&[
        (
            "src/lib.rs",
            "pub async fn a(pool: &sqlx::PgPool) -> sqlx::Result<()> {
                sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(pool).await?; Ok(())
            }",
        ),
        (
            "migrations/1_x.sql",
            "CREATE TABLE x (id int, n int); UPDATE x SET n = 0;
            CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
              DELETE FROM x WHERE id = 1; END; $$;",
        ),
        (
            "queries/q.sql",
            "-- name: Take :exec\nUPDATE x SET n = n - 1 WHERE id = $1;\nUPDATE y SET n = 1;",
        ),
    ]);
    assert_eq!(found, ["a: x", "f: x", "Take: x"]);
}

#[test]
fn locks_are_seen_in_the_transaction_and_not_on_a_pool() {
    let found = writes(&[(
        "src/lib.rs",
        "use sqlx::{PgPool, PgConnection, Postgres, Transaction};
        const LOCK: &str = \"SELECT n FROM x WHERE id = $1 FOR UPDATE\";
        async fn lock(tx: &mut Transaction<'_, Postgres>) -> sqlx::Result<i32> {
            sqlx::query_scalar(LOCK).bind(1).fetch_one(&mut **tx).await
        }
        async fn write(tx: &mut Transaction<'_, Postgres>) -> sqlx::Result<()> {
            sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(&mut **tx).await?; Ok(())
        }
        pub async fn same(pool: &PgPool) -> sqlx::Result<()> {
            let mut tx = pool.begin().await?;
            sqlx::query(LOCK).bind(1).fetch_one(&mut *tx).await?;
            sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(&mut *tx).await?;
            tx.commit().await
        }
        pub async fn called(pool: &PgPool) -> sqlx::Result<()> {
            let mut tx = pool.begin().await?;
            lock(&mut tx).await?;
            sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(&mut *tx).await?;
            tx.commit().await
        }
        pub async fn caller(pool: &PgPool) -> sqlx::Result<()> {
            let mut tx = pool.begin().await?;
            sqlx::query(LOCK).bind(1).fetch_one(&mut *tx).await?;
            write(&mut tx).await?;
            tx.commit().await
        }
        pub async fn pool(pool: &PgPool) -> sqlx::Result<()> {
            sqlx::query(LOCK).bind(1).fetch_one(pool).await?;
            sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(pool).await?; Ok(())
        }
        pub async fn alone(db: &mut PgConnection) -> sqlx::Result<()> {
            sqlx::query(\"SELECT pg_advisory_xact_lock(1)\").execute(&mut *db).await?;
            sqlx::query(\"UPDATE x SET n = 1 WHERE id = 1\").execute(&mut *db).await?; Ok(())
        }",
    )]);
    assert_eq!(
        found,
        ["write: x locked", "same: x locked", "called: x locked", "pool: x", "alone: x locked"]
    );
}
