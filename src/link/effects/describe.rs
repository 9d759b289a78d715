//! An effect in one line, for `leaselint ir` and for tests.

use std::fmt::Write;

use crate::ir::effect::{
    Boundary, Condition, Effect, EffectKind, Expiry, ExpiryUnit, ExternalCall, Key, LeaseAction,
    LeaseCall, RedisCommand, ScriptCall, ScriptForm, SqlCall, Timeout, ZeroRows,
};

/// The effect in one line: what happens, on which keys, under which condition.
#[must_use]
pub fn describe(effect: &Effect) -> String {
    let mut line = match &effect.kind {
        EffectKind::Redis(command) => redis(command),
        EffectKind::Script(call) => script(call),
        EffectKind::Lease(call) => lease(call),
        EffectKind::Sql(call) => sql(call),
        EffectKind::Transaction(call) => {
            let word = match call.boundary {
                Boundary::Begin => "BEGIN",
                Boundary::Commit => "COMMIT",
                Boundary::Rollback => "ROLLBACK",
            };
            let runs = if call.runs.is_some() { " around a closure" } else { "" };
            format!("transaction {word}{runs}")
        }
        EffectKind::External(call) => external(call),
        EffectKind::Publish { topic } => topic
            .as_ref()
            .map_or_else(|| "publish".to_owned(), |topic| format!("publish to `{topic}`")),
        EffectKind::Sleep { milliseconds } => match milliseconds {
            Some(milliseconds) => format!("sleep {milliseconds} ms"),
            None => "sleep".to_owned(),
        },
        EffectKind::TimeLimit { milliseconds, .. } => match milliseconds {
            Some(milliseconds) => format!("time limit {milliseconds} ms"),
            None => "time limit".to_owned(),
        },
        EffectKind::Log { values } => format!("log of {} values", values.len()),
        EffectKind::Spawn { body } => match body {
            Some(body) => format!("spawn body {}", body.0),
            None => "spawn".to_owned(),
        },
    };
    match effect.reply {
        Some(reply) => {
            let _ = write!(line, " -> v{}", reply.0);
        }
        None => line.push_str(" -> nothing"),
    }
    line
}

fn redis(command: &RedisCommand) -> String {
    let mut line = format!("redis {}{}", command.name, keys(&command.keys));
    if let Some(value) = command.value {
        let _ = write!(line, " value v{}", value.0);
    }
    match &command.condition {
        Condition::None => {}
        Condition::IfAbsent => line.push_str(" if absent"),
        Condition::MaybeIfAbsent => line.push_str(" maybe if absent"),
        Condition::IfPresent => line.push_str(" if present"),
        Condition::IfEqual(Some(value)) => {
            let _ = write!(line, " if equal to v{}", value.0);
        }
        Condition::IfEqual(None) => line.push_str(" if equal"),
        Condition::IfPersistent => line.push_str(" if without expiry"),
        Condition::IfExpiring => line.push_str(" if with expiry"),
        Condition::IfLater => line.push_str(" if later"),
        Condition::IfSooner => line.push_str(" if sooner"),
    }
    line.push_str(&expiry(&command.expiry));
    if let Some(batch) = command.batch {
        let atomic = if batch.atomic { "atomic " } else { "" };
        let _ = write!(line, " in {atomic}batch {}", batch.number);
    }
    line
}

fn expiry(expiry: &Expiry) -> String {
    let unit = |unit: ExpiryUnit| match unit {
        ExpiryUnit::Seconds => "seconds",
        ExpiryUnit::Milliseconds => "milliseconds",
        ExpiryUnit::UnixSeconds => "unix seconds",
        ExpiryUnit::UnixMilliseconds => "unix milliseconds",
    };
    match expiry {
        Expiry::None => String::new(),
        Expiry::Keep => " keeping its expiry".to_owned(),
        Expiry::Set { milliseconds: Some(milliseconds), .. } => format!(" for {milliseconds} ms"),
        Expiry::Set { amount: Some(amount), unit: of, .. } => {
            format!(" for v{} {}", amount.0, unit(*of))
        }
        Expiry::Set { unit: of, .. } => format!(" for some {}", unit(*of)),
        Expiry::WhenPresent { decides } => format!(" with an expiry when v{} is there", decides.0),
        Expiry::Maybe => " maybe with an expiry".to_owned(),
    }
}

fn keys(keys: &[Key]) -> String {
    let mut line = String::new();
    for key in keys {
        let many = if key.many { "*" } else { "" };
        let _ = write!(line, " `{}`{many}", key.template);
    }
    line
}

fn script(call: &ScriptCall) -> String {
    let form = match call.form {
        ScriptForm::Eval => "EVAL",
        ScriptForm::EvalSha => "EVALSHA",
        ScriptForm::EvalShaThenEval => "EVALSHA, then EVAL",
        ScriptForm::Function => "FCALL",
    };
    let bodies: Vec<String> = call.scripts.iter().map(|body| body.0.to_string()).collect();
    let runs = if bodies.is_empty() { "unknown".to_owned() } else { bodies.join(", ") };
    let passed =
        call.keys.as_ref().map_or_else(|| " keys unknown".to_owned(), |passed| keys(passed));
    let arguments = match &call.arguments {
        Some(arguments) => {
            arguments.iter().map(|value| format!("v{}", value.0)).collect::<Vec<_>>().join(", ")
        }
        None => "unknown".to_owned(),
    };
    format!("script {form} of body {runs};{passed}; arguments [{arguments}]")
}

fn lease(call: &LeaseCall) -> String {
    let word = match call.action {
        LeaseAction::Acquire => "acquire",
        LeaseAction::Release => "release",
        LeaseAction::Renew => "renew",
    };
    let key = call.key.as_ref().map(|key| keys(std::slice::from_ref(key))).unwrap_or_default();
    let time = match (call.lease_given, call.lease_milliseconds) {
        (_, Some(milliseconds)) => format!(" for {milliseconds} ms"),
        (true, None) => " for a given time".to_owned(),
        (false, None) => String::new(),
    };
    format!("lease {word}{key}{time}")
}

fn sql(call: &SqlCall) -> String {
    let texts: Vec<String> = call
        .statements
        .iter()
        .map(|statement| statement.text.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let text = if texts.is_empty() { "unknown".to_owned() } else { texts.join("; ") };
    let zero = match &call.zero_rows {
        ZeroRows::Count => "count".to_owned(),
        ZeroRows::CountIn(name) => format!("count in {name}"),
        ZeroRows::Error => "error".to_owned(),
        ZeroRows::Rows => "rows".to_owned(),
        ZeroRows::Lost => "lost".to_owned(),
    };
    let bound: Vec<String> = call.parameters.iter().map(|value| format!("v{}", value.0)).collect();
    format!("sql {text}; bound [{}]; on {:?}; zero rows: {zero}", bound.join(", "), call.executor)
}

fn external(call: &ExternalCall) -> String {
    let method = call.method.as_ref().map(|method| format!(" {method}")).unwrap_or_default();
    let url = call.url.as_ref().map(|url| format!(" `{url}`")).unwrap_or_default();
    let timeout = match call.timeout {
        Timeout::None => "no timeout".to_owned(),
        Timeout::Milliseconds(limit) => format!("timeout {limit} ms"),
        Timeout::Some => "some timeout".to_owned(),
        Timeout::Unknown => "timeout unknown".to_owned(),
    };
    let key = if call.idempotency_key { ", idempotency key" } else { "" };
    format!("external {}{method}{url}; {timeout}{key}", call.protocol)
}
