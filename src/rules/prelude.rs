//! What nearly every rule file names. Rules see the analysis, `ir` and findings, nothing else.

pub use crate::analysis::Analysis;
pub use crate::analysis::check_act::Act;
pub use crate::analysis::duration::CallLimit;
pub use crate::analysis::expiry::Omission;
pub use crate::analysis::fence::{FenceFinding, Unfenced};
pub use crate::analysis::lease::{
    Action, Claim, KeyKind, KeyUse, OwnerProof, UseId, stores_nothing,
};
pub use crate::analysis::level::Movement;
pub use crate::analysis::lock_words::{has_force_word, has_lock_word};
pub use crate::analysis::outcome_use::DroppedOutcome;
pub use crate::analysis::outcome_use::failure::{FailureAsWin, Mistake};
pub use crate::analysis::owner_value::{SameValue, Sameness};
pub use crate::analysis::personal::PersonalKey;
pub use crate::analysis::reach::Reached;
pub use crate::analysis::region::Region;
pub use crate::analysis::region::exits::{LeaseExit, Leaving};
pub use crate::analysis::row_lease::LeaseWrite;
pub use crate::analysis::schema::Dialect;
pub use crate::analysis::schema_faults::FenceFault;
pub use crate::analysis::script_commands::CommandFault;
pub use crate::analysis::script_faults::{NumberFault, ReplyFault};
pub use crate::analysis::script_globals::GlobalUse;
pub use crate::analysis::script_keys::{KeySource, UndeclaredUse};
pub use crate::analysis::script_loops::Unbounded;
pub use crate::analysis::script_precision::DigitLoss;
pub use crate::analysis::slots::{ClusterUse, Conflict, Unit};
pub use crate::analysis::time_unit::{TimeFault, TimeUnit, WrongTime};
pub use crate::analysis::waiting::Wait;
pub use crate::analysis::writes::{AnnotatedWrite, GuardedWrite, RoutineWrite};
pub use crate::config::words::WordList;
pub use crate::config::{Confidence, Severity};
pub use crate::finding::{Finding, Findings, MOST_STEPS};
pub use crate::ir::effect::{
    Condition, Effect, EffectKind, Expiry, ExpiryUnit, ExternalCall, Protocol, RedisCommand, Site,
};
pub use crate::ir::key::KeyTemplate;
pub use crate::ir::sql::Statement;

/// How a message names the key of a use.
pub fn key_name(analysis: &Analysis<'_>, key_use: &KeyUse) -> String {
    analysis.key_text(key_use).map_or_else(|| "the key".to_owned(), |text| format!("`{text}`"))
}

/// What a release does to its key, in words.
pub struct Removal {
    /// `deletes`.
    pub does: &'static str,
    /// `deleted`.
    pub done: &'static str,
}

/// The words for a release: most delete the key, some leave it empty.
pub fn removal(analysis: &Analysis<'_>, release: &KeyUse) -> Removal {
    match analysis.empties(release) {
        true => Removal { does: "empties", done: "emptied" },
        false => Removal { does: "deletes", done: "deleted" },
    }
}

/// A column as `sea-orm` names it: `OnHand` for `on_hand`.
pub fn variant(column: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
    };
    column.split('_').map(capital).collect()
}

/// How to release only one's own lease, for the client that was called.
pub fn release_help(client: &str) -> &'static str {
    match client {
        "fred" => {
            "delete only your own lease, in one script: `client.eval(\"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0\", vec![key], vec![token])`"
        }
        "lua" => {
            "delete only the caller's own lease: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`"
        }
        _ => {
            "delete only your own lease, in one script: `Script::new(\"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0\").key(key).arg(token).invoke_async(&mut con)`; on Redis 8.4 `con.del_ex(key, ValueComparison::ifeq(token))`"
        }
    }
}

/// How to renew only one's own lease, for the client that was called.
pub fn renew_help(client: &str) -> &'static str {
    match client {
        "fred" => {
            "renew only your own lease, in one script: `client.eval(\"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0\", vec![key], vec![token, ttl_ms])`"
        }
        "lua" => {
            "renew only the caller's own lease: `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0`"
        }
        _ => {
            "renew only your own lease, in one script: `Script::new(\"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0\").key(key).arg(token).arg(ttl_ms).invoke_async(&mut con)`"
        }
    }
}

/// A variable as a hint names it.
pub fn variable(subject: &str) -> &str {
    let name = subject.chars().all(|c| c.is_alphanumeric() || "_[].".contains(c));
    let command = !subject.is_empty() && subject.chars().all(|c| c.is_ascii_uppercase());
    if name && !command && !subject.is_empty() { subject } else { "reply" }
}

/// A finding about a reply that a script uses.
pub fn reply_finding<T>(
    rule: &super::Rule,
    analysis: &Analysis<'_>,
    found: &ReplyFault<T>,
    message: String,
    help: String,
) -> Finding {
    rule.finding(found.span, message)
        .help(help)
        .steps(found.steps())
        .steps(analysis.script_step(found.body))
        .subject(found.subject.clone())
        .function(analysis.function_name(found.body))
}
