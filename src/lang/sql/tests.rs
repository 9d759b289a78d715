//! Statements and what they are read as.

use super::*;
use crate::ir::sql::{
    Comparison, ConstraintKind, Delete, Expression, Insert, OnConflict, PredicateKind,
    SchemaChange, StatementKind, Update,
};
use crate::ir::value::HOLE;
use crate::source::{FileId, Span};

fn read(sql: &str, dialect: Dialect) -> Parsed {
    let length = u32::try_from(sql.len()).unwrap();
    parse(&Text::verbatim(sql, Span::new(FileId(0), 0, length)), dialect)
}

fn one(sql: &str) -> StatementKind {
    let mut parsed = read(sql, Dialect::Postgres);
    assert_eq!(parsed.problems, []);
    assert_eq!(parsed.statements.len(), 1);
    parsed.statements.remove(0).kind
}

fn update(sql: &str) -> Update {
    match one(sql) {
        StatementKind::Update(update) => update,
        other => panic!("no update: {other:?}"),
    }
}

fn delete(sql: &str) -> Delete {
    match one(sql) {
        StatementKind::Delete(delete) => delete,
        other => panic!("no delete: {other:?}"),
    }
}

fn insert(sql: &str) -> Insert {
    match one(sql) {
        StatementKind::Insert(insert) => insert,
        other => panic!("no insert: {other:?}"),
    }
}

fn changes(sql: &str, dialect: Dialect) -> Vec<SchemaChange> {
    let statements = read(sql, dialect).statements;
    let of = |statement: Statement| match statement.kind {
        StatementKind::Schema(changes) => changes,
        other => panic!("no change: {other:?}"),
    };
    statements.into_iter().flat_map(of).collect()
}

fn compare(kind: &PredicateKind) -> (&str, Comparison, &Expression) {
    match kind {
        PredicateKind::Compare { column, comparison, value } => (column, *comparison, value),
        other => panic!("no comparison: {other:?}"),
    }
}

#[test]
fn a_guarded_update_is_read_with_its_conjuncts() {
    let sql = "UPDATE inventory SET stock = stock - $1 WHERE sku = $2 AND $1 <= stock";
    let update = update(sql);
    assert_eq!(update.table.name, "inventory");
    assert!(
        matches!(&update.sets[0].value, Expression::Binary { operator, .. } if operator == "-")
    );
    assert_eq!(
        compare(&update.predicates[0].kind),
        ("sku", Comparison::Equal, &Expression::Placeholder(1))
    );
    assert_eq!(
        compare(&update.predicates[1].kind),
        ("stock", Comparison::GreaterOrEqual, &Expression::Placeholder(0))
    );
    let span = update.predicates[1].span;
    assert_eq!(sql.get(span.start as usize..span.end as usize), Some("$1 <= stock"));
}

#[test]
fn a_difference_is_a_floor() {
    let update =
        update("UPDATE a SET n = n - 3 WHERE id = 1 AND n - 3 >= 0 AND COALESCE(fence, 0) < 7");
    assert_eq!(compare(&update.predicates[1].kind).0, "n");
    assert_eq!(compare(&update.predicates[1].kind).2, &Expression::Number("3".into()));
    assert_eq!(compare(&update.predicates[2].kind).0, "fence");
}

#[test]
fn rows_and_null_safe_comparisons() {
    let delete = delete(
        "DELETE FROM a WHERE (x, y) = ($1, $2) AND z IS NOT DISTINCT FROM $3 AND w IS NULL RETURNING 1",
    );
    assert_eq!(compare(&delete.predicates[0].kind).0, "x");
    assert_eq!(compare(&delete.predicates[1].kind).0, "y");
    assert_eq!(compare(&delete.predicates[2].kind).1, Comparison::Equal);
    assert!(matches!(&delete.predicates[3].kind, PredicateKind::Null { negated: false, .. }));
    assert_eq!(delete.returning.len(), 1);
}

#[test]
fn a_claim_locks_rows_in_its_sub_select() {
    let sql = "UPDATE jobs SET locked_by = $1 WHERE id = (SELECT id FROM jobs WHERE state = 'new' ORDER BY id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) RETURNING id";
    assert!(update(sql).claims.is_some_and(|lock| lock.skip_locked && lock.exclusive));
    let sql = "WITH next AS (SELECT id FROM jobs LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE jobs SET a = 1 FROM next WHERE jobs.id = next.id";
    let update = update(sql);
    assert!(update.claims.is_some());
    assert_eq!(update.others[0].name, "next");
}

fn parts(sql: &str) -> Vec<Statement> {
    match one(sql) {
        StatementKind::Several(parts) => parts,
        other => panic!("one part: {other:?}"),
    }
}

#[test]
fn writes_in_ctes_are_parts_of_the_statement() {
    let sql = "WITH gone AS (DELETE FROM a WHERE id = $1 RETURNING id) SELECT count(*) FROM gone";
    let read = parts(sql);
    assert!(matches!(&read[0].kind, StatementKind::Delete(delete) if delete.table.name == "a"));
    assert!(matches!(&read[1].kind, StatementKind::Select(_)));
    let span = read[0].span;
    let cte = "DELETE FROM a WHERE id = $1 RETURNING id";
    assert_eq!(sql.get(span.start as usize..span.end as usize), Some(cte));
    let read = parts(
        "WITH gone AS (DELETE FROM a WHERE id = $1 RETURNING id) INSERT INTO b SELECT id FROM gone",
    );
    assert!(matches!(&read[1].kind, StatementKind::Insert(_)));
    let read = one("WITH new AS (SELECT 1) SELECT * FROM new");
    assert!(matches!(read, StatementKind::Select(_)));
}

#[test]
fn merge_is_what_it_does_in_each_case() {
    let read = parts(
        "MERGE INTO stock t USING delivery s ON t.sku = s.sku WHEN MATCHED AND t.version < s.version THEN UPDATE SET count = t.count + s.count WHEN NOT MATCHED THEN INSERT (sku, count) VALUES (s.sku, s.count)",
    );
    let [first, second] = read.as_slice() else { panic!("two: {read:?}") };
    let StatementKind::Update(update) = &first.kind else { panic!("{first:?}") };
    assert_eq!((update.table.name.as_str(), update.others[0].name.as_str()), ("stock", "delivery"));
    assert_eq!(update.sets[0].column, "count");
    assert_eq!(compare(&update.predicates[0].kind).0, "sku");
    assert_eq!(compare(&update.predicates[1].kind).1, Comparison::Less);
    let StatementKind::Insert(insert) = &second.kind else { panic!("{second:?}") };
    assert_eq!((insert.table.name.as_str(), insert.columns.len()), ("stock", 2));
    assert!(insert.on_conflict.is_none());
    let read = parts(
        "MERGE INTO seen t USING (SELECT $1 AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    );
    let StatementKind::Insert(insert) = &read[0].kind else { panic!("{read:?}") };
    assert!(matches!(insert.on_conflict, Some(OnConflict::Nothing)));
}

#[test]
fn conflicts() {
    let sql = "INSERT INTO t (id, fence) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET fence = excluded.fence WHERE t.fence < excluded.fence";
    let insert = insert(sql);
    let Some(OnConflict::Update { sets, predicates }) = insert.on_conflict else {
        panic!("no update")
    };
    assert!(matches!(&sets[0].value, Expression::Call { name, .. } if name == "excluded"));
    assert_eq!(compare(&predicates[0].kind).1, Comparison::Less);
    for sql in [
        "INSERT IGNORE INTO t VALUES (1)",
        "INSERT OR IGNORE INTO t VALUES (1)",
        "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
    ] {
        let parsed = read(sql, if sql.contains("OR") { Dialect::Sqlite } else { Dialect::MySql });
        let StatementKind::Insert(insert) = &parsed.statements[0].kind else { panic!("no insert") };
        assert!(matches!(insert.on_conflict, Some(OnConflict::Nothing)), "{sql}");
    }
}

#[test]
fn holes_stand_for_names_values_and_clauses() {
    let update =
        update(&format!("UPDATE {HOLE} SET a = {HOLE} WHERE id = ? AND v = '{HOLE}' {HOLE}"));
    assert_eq!(update.table.name, "");
    assert_eq!(update.sets[0].value, Expression::Hole);
    assert_eq!(compare(&update.predicates[0].kind).2, &Expression::Placeholder(0));
    assert_eq!(compare(&update.predicates[1].kind).2, &Expression::Hole);
}

#[test]
fn fragments_of_query_builders_are_read() {
    let parsed = read("INSERT INTO a (b, c) VALUES", Dialect::Postgres);
    let StatementKind::Insert(insert) = &parsed.statements[0].kind else { panic!() };
    assert_eq!((insert.columns.len(), parsed.problems.len()), (2, 0));
    let sql = format!("UPDATE a t {HOLE} FROM b WHERE t.id = b.id");
    assert_eq!(update(&sql).others.len(), 1);
}

#[test]
fn mysql_updates() {
    let sql = "UPDATE `a` JOIN b ON a.id = b.id SET a.x = 1 WHERE a.id = ? LIMIT 1";
    let StatementKind::Update(update) = &read(sql, Dialect::MySql).statements[0].kind else {
        panic!("no update")
    };
    assert_eq!(
        (update.table.name.as_str(), update.others[0].name.as_str(), update.limited),
        ("a", "b", true)
    );
    let PredicateKind::Compare { value, .. } = &update.predicates[0].kind else { panic!() };
    assert_eq!(*value, Expression::Placeholder(0));
}

#[test]
fn tables_and_their_constraints() {
    let sql = "CREATE TABLE IF NOT EXISTS s.a (id bigserial PRIMARY KEY, n int NOT NULL DEFAULT 0 CHECK (n >= 0), m text UNIQUE, UNIQUE (n, m), CONSTRAINT c CHECK (n < 9))";
    let changes = changes(sql, Dialect::Postgres);
    let SchemaChange::CreateTable { table, columns, constraints, if_not_exists, .. } = &changes[0]
    else {
        panic!()
    };
    assert_eq!(
        (table.schema.as_deref(), table.name.as_str(), *if_not_exists),
        (Some("s"), "a", true)
    );
    assert!(columns[0].primary_key && columns[0].not_null && columns[0].default);
    assert_eq!(columns[1].check.as_deref(), Some("n >= 0"));
    assert!(columns[2].unique);
    assert_eq!(constraints[0].kind, ConstraintKind::Unique(vec!["n".into(), "m".into()]));
    assert_eq!(constraints[1].name.as_deref(), Some("c"));
}

#[test]
fn a_clause_that_nothing_parses_costs_itself_alone() {
    let sql = "ALTER TABLE a ADD COLUMN b int NOT NULL, ALTER CONSTRAINT x NOT DEFERRABLE, ADD CONSTRAINT u UNIQUE (b)";
    let changes = changes(sql, Dialect::Postgres);
    assert_eq!(changes.len(), 2);
}

#[test]
fn what_drop_names() {
    let all = changes(
        "DROP TABLE IF EXISTS s.a, b CASCADE; DROP INDEX CONCURRENTLY IF EXISTS s.i; DROP INDEX t@j",
        Dialect::Postgres,
    );
    let names: Vec<&str> = all
        .iter()
        .map(|change| match change {
            SchemaChange::DropTable { table } => table.name.as_str(),
            SchemaChange::DropIndex { name } => name,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["a", "b", "i", "j"]);
}

#[test]
fn a_partial_tree_is_better_than_words() {
    let parsed =
        read("DELETE FROM a WHERE id = $1 AND x SOUNDS FUNNY y AND v < 3", Dialect::Postgres);
    assert_eq!(parsed.statements[0].fidelity, Fidelity::Recovered);
    let StatementKind::Delete(delete) = &parsed.statements[0].kind else { panic!() };
    assert_eq!(compare(&delete.predicates[0].kind).0, "id");
    assert_eq!(delete.table.name, "a");
}

#[test]
fn bodies_are_opened() {
    let sql = "CREATE OR REPLACE FUNCTION f(p int) RETURNS boolean LANGUAGE plpgsql AS $$\nDECLARE v int;\nBEGIN\n SELECT fence INTO v FROM t WHERE id = p FOR UPDATE;\n IF v > p THEN RETURN false; END IF;\n PERFORM pg_notify('x', 'y');\n UPDATE t SET fence = p WHERE id = p;\n RETURN FOUND;\nEND;\n$$";
    let changes = changes(sql, Dialect::Postgres);
    let SchemaChange::CreateFunction { name, body } = &changes[0] else { panic!() };
    assert_eq!(name, "f");
    assert_eq!(body.len(), 5);
    let StatementKind::Select(select) = &body[0].kind else { panic!() };
    assert_eq!(select.into, ["v"]);
    assert!(select.lock.is_some());
    assert!(
        matches!(&body[1].kind, StatementKind::Test(parts) if compare(&parts[0].kind).0 == "v")
    );
    assert!(
        matches!(&body[2].kind, StatementKind::Select(select) if select.functions == ["pg_notify"])
    );
    let span = body[3].span;
    assert_eq!(
        sql.get(span.start as usize..span.end as usize),
        Some("UPDATE t SET fence = p WHERE id = p")
    );
    assert!(matches!(body[4].kind, StatementKind::RowCount), "RETURN FOUND");
}

#[test]
fn a_table_or_index_may_bear_the_name_of_a_routine() {
    let sql = "CREATE TABLE event (id int); CREATE TABLE IF NOT EXISTS function (id int); CREATE UNIQUE INDEX u ON trigger (a); CREATE TEMPORARY TABLE procedure (id int);";
    let all = changes(sql, Dialect::Postgres);
    let names: Vec<&str> =
        all.iter()
            .map(|change| match change {
                SchemaChange::CreateTable { table, .. }
                | SchemaChange::CreateIndex { table, .. } => table.name.as_str(),
                other => panic!("{other:?}"),
            })
            .collect();
    assert_eq!(names, ["event", "function", "trigger", "procedure"]);
}

#[test]
fn a_routine_is_known_behind_what_stands_before_its_word() {
    for head in [
        "CREATE OR REPLACE FUNCTION s.f(a b.c)",
        "CREATE DEFINER=`app`@`%` PROCEDURE f()",
        "CREATE DEFINER = 'app'@'localhost' SQL SECURITY INVOKER FUNCTION IF NOT EXISTS f()",
        "CREATE DEFINER = CURRENT_USER() EVENT f ON SCHEDULE EVERY 1 DAY DO",
        "CREATE CONSTRAINT TRIGGER f",
    ] {
        let sql = format!("{head} BEGIN UPDATE t SET n = 1 WHERE id = 2; DELETE FROM t; END");
        for dialect in [Dialect::MySql, Dialect::Generic] {
            let all = changes(&sql, dialect);
            let [SchemaChange::CreateFunction { name, body }] = all.as_slice() else {
                panic!("{sql}: {all:?}")
            };
            assert_eq!((name.as_str(), body.len()), ("f", 2), "{sql}");
        }
    }
}

#[test]
fn do_blocks_change_the_schema() {
    let sql = "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = 'c') THEN ALTER TABLE a ADD CONSTRAINT c CHECK (n >= 0); END IF; END $$;";
    let StatementKind::Compound(parts) = one(sql) else { panic!() };
    assert!(
        parts
            .iter()
            .any(|part| matches!(&part.kind, StatementKind::Schema(changes) if changes.len() == 1))
    );
}

#[test]
fn mysql_procedures_are_opened() {
    let sql = "DELIMITER //\nCREATE PROCEDURE p(IN a INT)\nBEGIN\n DECLARE v INT DEFAULT 0;\n START TRANSACTION;\n UPDATE t SET n = n - a WHERE id = 1;\n COMMIT;\nEND//\nDELIMITER ;\n";
    let changes = changes(sql, Dialect::MySql);
    let SchemaChange::CreateFunction { body, .. } = &changes[0] else { panic!() };
    assert_eq!(body.len(), 3);
}

#[test]
fn a_bad_statement_is_said_and_the_rest_is_read() {
    let parsed =
        read("UPDATE a SET WHERE WHERE id = 1;\nDELETE FROM b WHERE id = 2;", Dialect::Postgres);
    assert_eq!(parsed.total, 2);
    assert_eq!(parsed.problems.len(), 1);
    assert_eq!(parsed.scanned(), 1);
    assert!(
        matches!(&parsed.statements[0].kind, StatementKind::Update(update) if update.table.name == "a")
    );
    assert!(matches!(&parsed.statements[1].kind, StatementKind::Delete(_)));
}

#[test]
fn hostile_text_ends_in_time_without_harm() {
    let deep = format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let chain = format!("DELETE FROM a WHERE {}", vec!["a = 1"; 50_000].join(" OR "));
    let union = vec!["SELECT 1, 2"; 20_000].join(" UNION ");
    let tags = "$a$b".repeat(20_000);
    let quotes = "'\n\"\n`\n".repeat(20_000);
    let begins = format!("CREATE FUNCTION f() {}", "BEGIN ".repeat(20_000));
    let dump =
        format!("INSERT INTO a (b) VALUES {}(1) ON CONFLICT DO NOTHING", "('x'), ".repeat(50_000));
    let from = format!("SELECT * FROM {}a{}", "(".repeat(38), ")".repeat(38));
    let nots = format!("SELECT {} a", "NOT ".repeat(1_000));
    for text in [&deep, &chain, &union, &tags, &quotes, &begins, &from, &nots] {
        for dialect in [Dialect::Postgres, Dialect::MySql] {
            read(text, dialect);
        }
    }
    let parsed = read(&dump, Dialect::Postgres);
    assert!(
        matches!(&parsed.statements[0].kind, StatementKind::Insert(insert) if insert.on_conflict.is_some())
    );
}
