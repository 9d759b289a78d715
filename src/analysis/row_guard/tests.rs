//! What guards a row write, judged on statements by hand.

use super::*;
use crate::analysis::schema::Schemas;
use crate::ir::sql::TableName;
use crate::ir::value::Text;
use crate::lang::sql::{Dialect, parse};
use crate::link::sql_files::SqlFiles;
use crate::source::{FileId, Language, Tree};

/// The guard of the last statement of a text; the others make the schema.
fn guard(sql: &str) -> Guard {
    let files = vec![("m/1.sql".to_owned(), Language::Sql, sql.to_owned())];
    let tree = Tree::from_texts(files);
    let files = SqlFiles::read(&tree, Some(Dialect::Postgres));
    let schemas = Schemas::new(files, &tree, std::iter::empty());
    let length = u32::try_from(sql.len()).unwrap();
    let parsed = parse(&Text::verbatim(sql, Span::new(FileId(0), 0, length)), Dialect::Postgres);
    let last = parsed.statements.last().unwrap();
    let name: &TableName = match &last.kind {
        StatementKind::Update(update) => &update.table,
        StatementKind::Delete(delete) => &delete.table,
        StatementKind::Insert(insert) => &insert.table,
        other => panic!("no write: {other:?}"),
    };
    row_guard(last, schemas.table(name, "src/a.rs"), Words::built_in()).unwrap().guard
}

const AT_STAKE: Guard = Guard::Status { money_or_lease_table: true };
const STATUS: Guard = Guard::Status { money_or_lease_table: false };

#[track_caller]
fn all(wanted: Guard, statements: &[&str]) {
    for sql in statements {
        assert_eq!(guard(sql), wanted, "{sql}");
    }
}

#[test]
fn keys_alone_guard_nothing() {
    all(
        Guard::IdentityOnly,
        &[
            "UPDATE orders SET note = $1 WHERE id = $2",
            "DELETE FROM kv WHERE namespace = $1 AND key = $2",
            "CREATE TABLE settlement (block bigint, log_index bigint, PRIMARY KEY (block, log_index)); UPDATE settlement SET solver = $1 WHERE block = $2 AND log_index = $3",
            "DELETE FROM queue WHERE name = $1 AND version = $2",
            "CREATE TABLE q (id int PRIMARY KEY, name text, version text, UNIQUE (name, version)); UPDATE q SET prio = 1 WHERE name = $1 AND version = $2",
            "UPDATE payout_schedule SET weekday = $3 WHERE breeder_id = $1 AND currency = $2",
        ],
    );
}

#[test]
fn sweeps_have_no_guard() {
    all(
        Guard::None,
        &[
            "DELETE FROM store",
            "DELETE FROM markets WHERE game_tick < $1",
            "DELETE FROM queue_leader WHERE expires_at < now()",
            "UPDATE jobs SET status = 'failed' WHERE status = 'running' AND started_at < now() - $1",
            "CREATE TABLE job (id int PRIMARY KEY, project_id int, state text); UPDATE job SET state = 'stale' WHERE project_id = $1 AND state = 'new'",
            "UPDATE workers SET shutdown_at = $1 WHERE shutdown_at IS NULL AND last_seen_at < $2",
        ],
    );
}

#[test]
fn versions_and_fences() {
    all(
        Guard::Version,
        &[
            "UPDATE tariffs SET cents = $1, version = version + 1 WHERE id = $2 AND version = $3",
            "UPDATE refund SET status = 'DONE' WHERE id = $1 AND status = 'APPROVED' AND revision = $2",
            "UPDATE router SET node_id = NULL WHERE uaid = $1 AND node_id = $2 AND connected_at = $3 AND version = $4",
        ],
    );
    all(
        Guard::Fence,
        &[
            "UPDATE inventory SET stock = $1, fence = $2 WHERE sku = $3 AND fence < $2",
            "UPDATE task SET last_heartbeat_at = now() WHERE task_id = $1 AND attempt = $2",
            "INSERT INTO t (id, fence) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET fence = excluded.fence WHERE t.fence < excluded.fence",
            "UPDATE a SET fence = $1 WHERE id = $2 AND (fence IS NULL OR fence < $1)",
        ],
    );
}

#[test]
fn owners_and_their_releases() {
    all(
        Guard::Owner,
        &[
            "UPDATE jobs SET locked_until = now() + $1 WHERE id = $2 AND locked_by = $3",
            "UPDATE jobs SET locked_until = now() + $1 WHERE name = $2 AND locked_by = $3",
            "UPDATE melt_quote SET used_by_operation = $1 WHERE id = $2 AND used_by_operation IS NULL",
            "UPDATE jobs SET status = 'done', locked_by = NULL WHERE id = $1 AND locked_by = $2",
        ],
    );
    all(
        Guard::OwnRelease,
        &[
            "DELETE FROM leader_lease WHERE name = $1 AND lease_owner = $2",
            "DELETE FROM locks WHERE name = $1 AND owner = $2 AND expires_at < now()",
            "DELETE FROM locks WHERE name = $1 AND expires_at > now()",
            "DELETE FROM leases WHERE name = $1 AND holder = $2",
            "UPDATE jobs SET locked_by = NULL, locked_until = NULL WHERE id = $1 AND locked_by = $2",
        ],
    );
    all(
        Guard::OwnRows,
        &[
            "DELETE FROM leases WHERE holder = $1",
            "UPDATE proof SET state = 'UNSPENT', used_by_operation = NULL WHERE used_by_operation = $1 AND state = 'RESERVED'",
        ],
    );
}

#[test]
fn what_is_deleted_once_it_ran_out_is_no_loss() {
    all(
        Guard::IdentityOnly,
        &[
            "DELETE FROM locks WHERE name = $1 AND expires_at < now()",
            "DELETE FROM cart WHERE id = $1 AND items = 0",
            "DELETE FROM sessions WHERE id = $1 AND expires_at > now()",
        ],
    );
    all(Guard::None, &["DELETE FROM locks WHERE expires_at < now()"]);
    all(
        Guard::Expiry,
        &[
            "CREATE TABLE seat_hold (id int PRIMARY KEY, expires_at timestamptz); DELETE FROM seat_hold WHERE id = $1 AND expires_at > now()",
        ],
    );
}

#[test]
fn secrets_are_spent_once() {
    all(
        Guard::Secret,
        &[
            "CREATE TABLE token (token__id uuid PRIMARY KEY, expired_at timestamptz, type text); UPDATE token SET expired_at = statement_timestamp() WHERE token__id = $1 AND type = 'refresh' AND expired_at > statement_timestamp()",
            "UPDATE users SET confirmed_at = now() WHERE confirmation_token = $1 AND confirmed_at IS NULL",
            "DELETE FROM backup_code WHERE user_id = $1 AND code = $2",
        ],
    );
    all(
        Guard::SetOnce,
        &[
            "UPDATE api_keys SET active = false, revoked_at = now() WHERE id = $1 AND revoked_at IS NULL",
        ],
    );
    all(Guard::IdentityOnly, &["DELETE FROM sessions WHERE token = $1"]);
}

#[test]
fn quantities_and_old_values() {
    all(
        Guard::Quantity { scarce: true },
        &[
            "UPDATE vouchers SET balance_cents = balance_cents - $1 WHERE id = $2 AND balance_cents >= $1",
            "UPDATE wallet SET points = points - $1 WHERE user_id = $2 AND points - $1 >= 0",
            "UPDATE quota SET used = used + 1 WHERE id = $1 AND used < 10",
        ],
    );
    all(
        Guard::Quantity { scarce: false },
        &[
            "UPDATE runs SET steps_done = steps_done + 1 WHERE id = $1 AND steps_done < step_count",
            "UPDATE channel SET posts = posts - 1 WHERE id = $1 AND posts > 0",
        ],
    );
    all(
        Guard::OldValue,
        &[
            "UPDATE kv SET value = $1 WHERE key = $2 AND value = $3",
            "UPDATE u SET sent_at = $2 WHERE id = $1 AND sent_at = $5",
        ],
    );
}

#[test]
fn states_count_where_something_is_at_stake() {
    all(
        AT_STAKE,
        &[
            "UPDATE escrow_records SET status = 'released' WHERE order_id = $1 AND status = 'locked'",
            "DELETE FROM saldos WHERE saldo_id = $1 AND deleted_at IS NOT NULL",
            "UPDATE job SET status = 'running' WHERE id = $1 AND status = 'pending'",
            "UPDATE swap SET state = 'redeemed' WHERE id = $1 AND state = 'funded'",
            "DELETE FROM idempotency_keys WHERE scope_hash = $1 AND in_flight = TRUE",
        ],
    );
    all(STATUS, &["UPDATE article SET status = 'published' WHERE id = $1 AND status = 'draft'"]);
}

#[test]
fn silent_forms() {
    all(
        Guard::SetOnce,
        &[
            "UPDATE orders SET cancellation_timestamp = $1 WHERE uid = $2 AND cancellation_timestamp IS NULL",
            "UPDATE users SET email_verified_at = now() WHERE id = $1 AND email_verified_at IS NULL",
        ],
    );
    all(Guard::Monotonic, &["UPDATE chain SET head = $1 WHERE id = $2 AND head < $1"]);
    all(
        Guard::AlreadyInState,
        &[
            "UPDATE notice SET seen = TRUE WHERE id = $1 AND seen = FALSE",
            "UPDATE a SET mode = 'x' WHERE id = $1 AND mode <> 'x'",
            "CREATE TABLE user_wallets (id int PRIMARY KEY, user_id int, is_primary bool); UPDATE user_wallets SET is_primary = false WHERE user_id = $1 AND is_primary = true",
        ],
    );
    all(
        Guard::TenantScope,
        &["UPDATE notifications SET read = TRUE WHERE id = $1 AND creator_username = $2"],
    );
    all(Guard::Touch, &["UPDATE member SET updated_at = now() WHERE id = $1 AND user_id = $2"]);
}

#[test]
fn names_are_no_secrets_and_belongings_no_leases() {
    all(
        Guard::IdentityOnly,
        &[
            "CREATE TABLE secret (secret_id uuid PRIMARY KEY); DELETE FROM secret WHERE secret_id = $1",
            "CREATE TABLE visits (visit_id uuid PRIMARY KEY, owner_client_id uuid); DELETE FROM visits WHERE owner_client_id = $1",
        ],
    );
    all(Guard::TenantScope, &["DELETE FROM org_ingestion_tokens WHERE org_id = $1 AND token = $2"]);
    all(
        Guard::None,
        &[
            "CREATE TABLE logs (id int PRIMARY KEY, build_id int); DELETE FROM logs l USING builds b JOIN releases r ON b.rid = r.id WHERE l.build_id = b.id AND r.crate_id = $1 AND r.version = $2",
        ],
    );
}

#[test]
fn keys_may_be_looked_up() {
    all(
        Guard::Lookup,
        &[
            "UPDATE member SET role_id = $1 WHERE workspace_id = $2 AND uid = (SELECT uid FROM person WHERE email = $3)",
        ],
    );
    all(
        Guard::None,
        &[
            "UPDATE wallets SET main = TRUE WHERE user_id = $1 AND id = (SELECT id FROM wallets WHERE user_id = $1 ORDER BY created_at LIMIT 1)",
        ],
    );
    all(
        Guard::IdentityOnly,
        &["DELETE FROM member WHERE uid = (SELECT uid FROM person WHERE email = $1)"],
    );
}

#[test]
fn what_came_later_is_swept() {
    all(
        Guard::None,
        &[
            "CREATE TABLE pending (sink_id int, epoch bigint, state text, PRIMARY KEY (sink_id, epoch)); UPDATE pending SET state = 'ABORTED' WHERE sink_id = $1 AND epoch > $2",
        ],
    );
}

#[test]
fn what_is_observed_is_no_step() {
    all(
        Guard::AlreadyInState,
        &[
            "UPDATE deployment SET health = $1 WHERE subgraph = $2 AND health = $3",
            "UPDATE deployment SET failed = FALSE, health = 'healthy' WHERE subgraph = $1 AND failed = TRUE AND health = 'failed'",
        ],
    );
}

#[test]
fn leases_run_out() {
    all(
        Guard::Expiry,
        &[
            "UPDATE lease SET expires_at = now() + $1 WHERE name = $2 AND expires_at > now()",
            "UPDATE offer SET accepted = TRUE WHERE id = $1 AND valid_until > now()",
            "UPDATE idempotency_keys SET in_flight = TRUE, created_at = now() WHERE scope_hash = $1 AND in_flight = TRUE AND created_at < now() - $2",
        ],
    );
}

#[test]
fn inserts() {
    all(Guard::InsertOnce, &["INSERT INTO e (id) VALUES ($1) ON CONFLICT (id) DO NOTHING"]);
    all(
        Guard::IdentityOnly,
        &["INSERT INTO e (id, a) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET a = excluded.a"],
    );
}

#[test]
fn the_condition_is_shown() {
    let sql = "UPDATE t SET a = 1 WHERE id = $1 AND version = $2";
    let length = u32::try_from(sql.len()).unwrap();
    let parsed = parse(&Text::verbatim(sql, Span::new(FileId(0), 0, length)), Dialect::Postgres);
    let found = row_guard(&parsed.statements[0], None, Words::built_in()).unwrap();
    assert_eq!(found.column.as_deref(), Some("version"));
    let span = found.span.unwrap();
    assert_eq!(sql.get(span.start as usize..span.end as usize), Some("version = $2"));
}
