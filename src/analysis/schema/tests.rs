//! The schema that small migrations leave.

use super::*;
use crate::ir::sql::StatementKind;
use crate::link::sql_files::{Dialect, SqlFiles};
use crate::source::Language;

fn schemas(files: &[(&str, &str)]) -> Schemas {
    let texts =
        files.iter().map(|(path, text)| ((*path).to_owned(), Language::Sql, (*text).to_owned()));
    let tree = Tree::from_texts(texts.collect());
    Schemas::new(SqlFiles::read(&tree, Some(Dialect::Postgres)), &tree, std::iter::empty())
}

fn name(name: &str) -> TableName {
    TableName { schema: None, name: name.to_owned() }
}

#[test]
fn history_is_folded_in_order() {
    let all = schemas(&[
        (
            "m/1_a.sql",
            "CREATE TABLE dock (id bigint PRIMARY KEY, bikes int NOT NULL, old text); CREATE TABLE gone (id int);",
        ),
        (
            "m/2_b.sql",
            "ALTER TABLE dock ADD COLUMN fence bigint; DROP TABLE gone; ALTER TABLE dock DROP COLUMN old;",
        ),
        (
            "m/3_c.sql",
            "ALTER TABLE dock ADD CONSTRAINT room CHECK (bikes >= 0) NOT VALID; CREATE UNIQUE INDEX CONCURRENTLY i ON dock (fence) WHERE fence > 0;",
        ),
        (
            "m/4_d.sql",
            "ALTER TABLE dock VALIDATE CONSTRAINT room; ALTER TABLE dock ALTER COLUMN fence SET DEFAULT 0, ALTER COLUMN fence SET NOT NULL; ALTER TABLE dock RENAME COLUMN bikes TO bikes_available;",
        ),
    ]);
    let dock = all.table(&name("dock"), "src/a.rs").unwrap();
    let columns: Vec<&str> = dock.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(columns, ["id", "bikes_available", "fence"]);
    assert_eq!(dock.checks[0].text, "bikes_available >= 0");
    assert!(dock.checks[0].valid);
    assert!(dock.column("fence").is_some_and(|column| column.not_null && column.default));
    assert!(dock.uniques[0].partial && dock.keys().eq([["id".to_owned()].as_slice()]));
    assert!(all.table(&name("gone"), "src/a.rs").is_none());
}

#[test]
fn constraints_in_do_blocks_count_and_sqlite_rebuilds_tables() {
    let all = schemas(&[
        (
            "m/1_a.sql",
            "CREATE TABLE a (id int, n int); DO $$ BEGIN IF NOT EXISTS (SELECT 1) THEN ALTER TABLE a ADD CONSTRAINT c UNIQUE (id); END IF; END $$;",
        ),
        (
            "m/2_b.sql",
            "CREATE TABLE a_new (id int PRIMARY KEY, n int, UNIQUE (n)); DROP TABLE a; ALTER TABLE a_new RENAME TO a;",
        ),
    ]);
    let table = all.table(&name("a"), "x.rs").unwrap();
    assert_eq!(table.primary_key, ["id"]);
    assert_eq!(table.uniques.len(), 1);
    let first = schemas(&[(
        "m/1_a.sql",
        "CREATE TABLE public.a (id int); DO $$ BEGIN ALTER TABLE a ADD CONSTRAINT c UNIQUE (id); END $$;",
    )]);
    assert!(first.table(&name("a"), "x.rs").unwrap().keys().eq([["id".to_owned()].as_slice()]));
}

#[test]
fn the_nearest_set_has_the_word() {
    let all = schemas(&[
        ("shop/migrations/1_a.sql", "CREATE TABLE users (id int PRIMARY KEY);"),
        ("bank/migrations/1_a.sql", "CREATE TABLE users (iban text PRIMARY KEY);"),
        ("bank/tests/fixtures/schema.sql", "CREATE TABLE users (fake text PRIMARY KEY);"),
    ]);
    let key = |from| all.table(&name("users"), from).unwrap().primary_key[0].clone();
    assert_eq!(key("shop/src/db/users.rs"), "id");
    assert_eq!(key("bank/src/users.rs"), "iban");
    assert_eq!(all.coverage(), (3, 0));
}

#[test]
fn the_last_definition_of_a_routine_counts() {
    let body = |table: &str| {
        format!(
            "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN UPDATE {table} SET a = 1; END $$;"
        )
    };
    let all = schemas(&[
        ("m/1_a.sql", &format!("CREATE TABLE x (id int); {}", body("x"))),
        ("m/2_b.sql", &format!("CREATE TABLE y (id int); {}", body("y"))),
    ]);
    let routine = &all.sets[0].routines["f"];
    assert!(
        matches!(&routine.body[0].kind, StatementKind::Update(update) if update.table.name == "y")
    );
}

#[test]
fn checked_queries_are_read_and_counted() {
    let query = |text: &str| format!("{{\"db_name\":\"PostgreSQL\",\"query\":\"{text}\"}}");
    let texts = vec![
        (".sqlx/query-1.json", query("UPDATE a\\nSET n = 1 WHERE id = $1")),
        (".sqlx/query-2.json", query("UPDATE a SET SET WHERE")),
        (".sqlx/query-3.json", "{}".to_owned()),
    ];
    let texts = texts.into_iter().map(|(path, text)| (path.to_owned(), Language::Other, text));
    let tree = Tree::from_texts(texts.collect());
    let all = Schemas::new(SqlFiles::read(&tree, None), &tree, std::iter::empty());
    assert_eq!(all.coverage(), (2, 1));
    let file = tree.at(".sqlx/query-1.json").unwrap();
    let [update] = all.files[&file.id].parsed.statements.as_slice() else {
        panic!("one statement")
    };
    assert_eq!(file.slice(update.span), "UPDATE a\\nSET n = 1 WHERE id = $1");
    let problems = all.files.values().map(|file| file.parsed.problems.len());
    assert_eq!(problems.collect::<Vec<_>>(), [0, 1, 1]);
}

#[test]
fn a_floor_is_a_check_that_keeps_a_column_up() {
    let all = schemas(&[(
        "m/1_a.sql",
        "CREATE TABLE a (
            id bigint PRIMARY KEY,
            plain int CHECK (plain >= 0),
            turned int, CHECK (0 <= turned),
            between_two int, CHECK (between_two BETWEEN 0 AND 9),
            room int, used int, CHECK (used <= room),
            maybe numeric(9, 2), CONSTRAINT m CHECK (((maybe IS NULL) OR (maybe >= (0)::numeric))),
            summed int, spare int, CHECK (summed + spare >= 0),
            late int,
            capped int, CHECK (capped <= 100),
            debt int, CHECK (debt >= -100),
            free int, label text
        );
        ALTER TABLE a ADD CONSTRAINT late_up CHECK (late > 0) NOT VALID;",
    )]);
    let table = all.table(&name("a"), "src/a.rs").unwrap();
    let kept: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|column| table.floor(column).is_some())
        .collect();
    assert_eq!(
        kept,
        ["plain", "turned", "between_two", "room", "maybe", "summed", "spare", "late"]
    );
    assert!(table.is_number("maybe") && table.is_number("free") && table.is_number("id"));
    assert!(!table.is_number("label") && !table.is_number("absent"));
}
