//! Effects: what a call does to the world outside the process.
//!
//! `link` makes effects out of calls, with the catalog and the types of the program. An effect
//! belongs to one operation of one body; its values are values of that body, its templates are seen
//! from that body's own frame (holes name its parameters).

use std::fmt;

use super::body::OpId;
use super::index::TypeRef;
use super::key::KeyTemplate;
use super::sql::Statement;
use super::value::ValueId;
use crate::source::Span;

/// A body of the whole program, numbered by `link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(pub u32);

/// An operation of the whole program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The body.
    pub body: BodyId,
    /// The operation in it. For a future or a queued command: where it runs, not where it is made.
    pub op: OpId,
}

/// One effect.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Where it happens.
    pub site: Site,
    /// Where it is written: the command's or call's name, or the statement's first word.
    pub span: Span,
    /// The client it goes through, by library id of the catalog (`redis`, `fred`, `sqlx`, `lua`).
    pub client: String,
    /// The catalog row it was recognised by.
    pub api: String,
    /// What happens.
    pub kind: EffectKind,
    /// What comes back; `None` when the call form throws it away.
    pub reply: Option<ValueId>,
    /// The type the caller asked the reply to be read as.
    pub reply_type: Option<TypeRef>,
}

/// What happens.
#[derive(Clone, Debug)]
pub enum EffectKind {
    /// A Redis command is sent, or queued and sent at the site.
    Redis(RedisCommand),
    /// A Lua script or Redis Function runs on the server.
    Script(ScriptCall),
    /// A lock library takes, gives back or prolongs a lease.
    Lease(LeaseCall),
    /// A database statement runs.
    Sql(SqlCall),
    /// A database transaction begins or ends.
    Transaction(TransactionCall),
    /// The process talks to another service: HTTP, gRPC, mail, cloud or payment API.
    External(ExternalCall),
    /// A message goes to a broker.
    Publish {
        /// Its topic or queue, as far as known.
        topic: Option<KeyTemplate>,
    },
    /// The task waits for a time.
    Sleep {
        /// How long, when constant.
        milliseconds: Option<u64>,
    },
    /// A future is given a time to end in, and dropped when it has not (`timeout(d, future)`).
    TimeLimit {
        /// How long, when constant.
        milliseconds: Option<u64>,
        /// The time.
        amount: Option<ValueId>,
    },
    /// A log or trace line.
    Log {
        /// What it prints.
        values: Vec<ValueId>,
    },
    /// A future or closure goes to another task or thread.
    Spawn {
        /// Its body, when known.
        body: Option<BodyId>,
    },
}

/// Which server or database an effect speaks to, as far as the program tells two apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Store {
    /// How the client value is reached: `field Shop.redis`, `parameter conn`; empty when unknown.
    pub handle: String,
    /// Whether it is a cluster.
    pub cluster: Cluster,
    /// The folder of the package or service the code lives in.
    pub package: String,
}

/// Whether a Redis client speaks to a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cluster {
    /// Its type does not say.
    #[default]
    Unknown,
    /// A cluster client.
    Yes,
    /// Plainly a single-server client.
    No,
}

/// A Redis command.
#[derive(Clone, Debug)]
pub struct RedisCommand {
    /// Upper case: `SET`, `DEL`.
    pub name: String,
    /// All words after the name, in wire order.
    pub words: Vec<Word>,
    /// The keys it touches.
    pub keys: Vec<Key>,
    /// The value it stores (SET, SETNX, GETSET, HSET of one field).
    pub value: Option<ValueId>,
    /// NX, XX, IFEQ and kin.
    pub condition: Condition,
    /// The expiry it sets.
    pub expiry: Expiry,
    /// Where it goes.
    pub store: Store,
    /// The pipeline, MULTI block or script run it is part of: equal numbers in one body are one
    /// batch; `None` when sent alone.
    pub batch: Option<Batch>,
}

/// Commands that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Batch {
    /// Tells batches of one body apart.
    pub number: u32,
    /// Whether the server runs it as one (MULTI/EXEC, atomic pipeline, script).
    pub atomic: bool,
}

/// One word of a command.
#[derive(Clone, Debug)]
pub struct Word {
    /// Its value; `None` for a word the API itself adds.
    pub value: Option<ValueId>,
    /// Its text, when literal.
    pub text: Option<String>,
    /// Whether it is only sent on some paths (`if let Some(ttl) { cmd.arg("PX") }`).
    pub optional: bool,
    /// Where it is written.
    pub span: Span,
}

/// A key of a command or script call.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its value; `None` when a literal word of the API.
    pub value: Option<ValueId>,
    /// Its template in the body's own frame.
    pub template: KeyTemplate,
    /// Whether it stands for any number of keys (a list built elsewhere): then the template is that
    /// of an element.
    pub many: bool,
    /// Where it is written.
    pub span: Span,
}

/// The condition of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    None,
    /// Only if absent: SETNX, NX.
    IfAbsent,
    /// Only if absent on some paths: NX behind an `if`.
    MaybeIfAbsent,
    /// Only if present: XX.
    IfPresent,
    /// Only if the stored value equals this one: IFEQ (Redis 8.4), DELIFEQ (Valkey 9).
    IfEqual(Option<ValueId>),
    /// Only if the key has no expiry: NX of EXPIRE and its kin.
    IfPersistent,
    /// Only if the key has an expiry: XX of EXPIRE and its kin.
    IfExpiring,
    /// Only if the new expiry is later: GT, which counts no expiry as the latest.
    IfLater,
    /// Only if the new expiry is sooner: LT.
    IfSooner,
}

/// The expiry a command sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Expiry {
    /// None.
    None,
    /// Keeps the one there is (KEEPTTL).
    Keep,
    /// Always one.
    Set {
        /// The amount, in the unit the command wants.
        amount: Option<ValueId>,
        /// The unit.
        unit: ExpiryUnit,
        /// Milliseconds, when constant and relative.
        milliseconds: Option<u64>,
    },
    /// Only when this optional value is there (`Option<Duration>` behind `if let`, fred's `None`).
    /// Callers decide: see `Program::callers`.
    WhenPresent {
        /// The optional value that decides.
        decides: ValueId,
    },
    /// On some paths, decided by something else.
    Maybe,
}

/// What the number of an expiry counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExpiryUnit {
    /// EX
    Seconds,
    /// PX
    Milliseconds,
    /// EXAT
    UnixSeconds,
    /// PXAT
    UnixMilliseconds,
}

/// A script invocation.
#[derive(Clone, Debug)]
pub struct ScriptCall {
    /// The script bodies it can run; empty when the text is not known.
    pub scripts: Vec<BodyId>,
    /// KEYS, in order. `None` when their number is not known.
    pub keys: Option<Vec<Key>>,
    /// ARGV, in order. `None` when their number is not known.
    pub arguments: Option<Vec<ValueId>>,
    /// How it is sent.
    pub form: ScriptForm,
    /// Where it goes.
    pub store: Store,
    /// The pipeline it is part of.
    pub batch: Option<Batch>,
}

/// How a script is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptForm {
    /// EVAL.
    Eval,
    /// EVALSHA alone.
    EvalSha,
    /// EVALSHA with a fallback by the client.
    EvalShaThenEval,
    /// FCALL.
    Function,
}

/// A lock library's call.
#[derive(Clone, Debug)]
pub struct LeaseCall {
    /// What it does.
    pub action: LeaseAction,
    /// The lease key, when the call names it.
    pub key: Option<Key>,
    /// The lock object or guard it works on.
    pub handle: Option<ValueId>,
    /// The lease time in milliseconds, when constant; `None` when unknown.
    pub lease_milliseconds: Option<u64>,
    /// Whether a lease time was given at all.
    pub lease_given: bool,
    /// Whether release and renewal compare the owner.
    pub checks_owner: bool,
    /// What dropping the guard does: `release`, `nothing`.
    pub releases_on_drop: bool,
    /// The closure or future that runs while the lease is held (`using`).
    pub runs: Option<ValueId>,
    /// Where it goes.
    pub store: Store,
}

/// What a lock call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseAction {
    /// Takes the lease.
    Acquire,
    /// Gives it back.
    Release,
    /// Prolongs it.
    Renew,
}

/// A database call.
#[derive(Clone, Debug)]
pub struct SqlCall {
    /// The statements of its text, in order; empty when the text is not known.
    pub statements: Vec<std::sync::Arc<Statement>>,
    /// Values bound to the placeholders, in order; empty when not known.
    pub parameters: Vec<ValueId>,
    /// What runs it: pool, connection or transaction.
    pub executor: Executor,
    /// The executor's value.
    pub executor_value: Option<ValueId>,
    /// What zero rows do.
    pub zero_rows: ZeroRows,
    /// Which database.
    pub store: Store,
}

/// What runs a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Executor {
    /// A pool: every statement is its own transaction.
    Pool,
    /// A connection.
    Connection,
    /// An open transaction.
    Transaction,
    /// Not known.
    #[default]
    Unknown,
}

/// How a caller learns that no row was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ZeroRows {
    /// The reply is the count itself (`usize`, `u64`).
    Count,
    /// The reply carries the count in a method or field of this name (`rows_affected`).
    CountIn(String),
    /// The call fails.
    Error,
    /// The reply is an empty option or list of rows: tells only for statements that return rows.
    Rows,
    /// Nothing tells.
    Lost,
}

/// A transaction boundary.
#[derive(Clone, Debug)]
pub struct TransactionCall {
    /// Which.
    pub boundary: Boundary,
    /// The transaction's value (begin: the reply; commit and rollback: what it is called on).
    pub handle: Option<ValueId>,
    /// The closure it runs, for closure forms.
    pub runs: Option<ValueId>,
}

/// Begin or end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// BEGIN
    Begin,
    /// COMMIT
    Commit,
    /// ROLLBACK
    Rollback,
}

/// A call that leaves the process.
#[derive(Clone, Debug)]
pub struct ExternalCall {
    /// How.
    pub protocol: Protocol,
    /// `POST`, `GET`, …, when known.
    pub method: Option<String>,
    /// The address, as far as known.
    pub url: Option<KeyTemplate>,
    /// Its time limit.
    pub timeout: Timeout,
    /// Whether it carries an idempotency key.
    pub idempotency_key: bool,
}

/// The time limit of an external call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeout {
    /// Shown to have none: no option was set and the library's default is none.
    None,
    /// Milliseconds, set at the call, on the client, by a wrapper, or by the library's default.
    Milliseconds(u64),
    /// Set, but the time is not constant.
    Some,
    /// Not known.
    Unknown,
}

/// Protocols of external calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP.
    Http,
    /// gRPC.
    Grpc,
    /// Mail.
    Smtp,
    /// A cloud API (AWS, Google Cloud, GitHub, …).
    Cloud,
    /// A payment API.
    Payment,
    /// A JSON-RPC node or another remote protocol.
    Rpc,
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "HTTP",
            Self::Grpc => "gRPC",
            Self::Smtp => "SMTP",
            Self::Cloud => "a cloud API",
            Self::Payment => "a payment API",
            Self::Rpc => "RPC",
        })
    }
}

/// The client of commands that a script sends.
pub const SCRIPT_CLIENT: &str = "lua";

impl Effect {
    /// Whether a script sends it: then the server runs it in one step with the script's other
    /// commands, and its reply is a Lua value.
    #[must_use]
    pub fn in_script(&self) -> bool {
        self.client == SCRIPT_CLIENT
    }
}

impl RedisCommand {
    /// Whether it answers what the key held before instead of whether it wrote: `SET … GET`.
    #[must_use]
    pub fn gives_old(&self) -> bool {
        let mut options = self.words.iter().skip(2).filter_map(|word| word.text.as_deref());
        self.is(&["SET"]) && options.any(|word| word.eq_ignore_ascii_case("GET"))
    }

    /// Whether it is one of these names (upper case).
    #[must_use]
    pub fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }
}
