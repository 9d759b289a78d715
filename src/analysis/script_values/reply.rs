//! What the calls of a script give: replies of commands by the command table, and Lua's library.

use super::kinds::Kinds;
use crate::catalog::redis::{self as table, Elements, Reply, ReplyForm};
use crate::ir::body::{Body, Call, Callee, OpId};
use crate::ir::effect::RedisCommand;
use crate::ir::value::{Literal, ValueId, ValueKind};

/// What the server makes of missing replies and numbers with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A missing reply is `false`.
    Two,
    /// `redis.setresp(3)` may have run: a missing reply may be `nil`.
    MaybeThree,
}

/// The reply that a command of a script is documented to have; `None` for one that is not in the
/// table or whose words are not all known.
#[must_use]
pub fn form(body: &Body, command: &RedisCommand) -> Option<ReplyForm> {
    let row = table::command(&command.name)?;
    let spread = command.words.iter().any(|word| is_spread(body, word.value) || word.optional);
    if spread && (!row.with.is_empty() || row.counted.is_some()) {
        return None;
    }
    let text = |index: usize| command.words.get(index - 1).and_then(|word| word.text.as_deref());
    Some(row.reply_to(command.words.len() + 1, text))
}

/// Whether a word may stand for any number of them: `unpack(t)`.
#[must_use]
pub fn is_spread(body: &Body, value: Option<ValueId>) -> bool {
    value.is_some_and(|value| matches!(body.kind(value), ValueKind::Element { index: None, .. }))
}

/// What a command's reply may be in Lua.
pub(super) fn of_command(body: &Body, command: &RedisCommand, protocol: Protocol) -> Kinds {
    let Some(form) = form(body, command) else { return Kinds::OTHER };
    let kinds = match form.reply {
        Reply::Integer => Kinds::NUMBER,
        Reply::Number if protocol == Protocol::MaybeThree => Kinds::TEXT.or(Kinds::TABLE),
        Reply::Number | Reply::Text => Kinds::TEXT,
        Reply::Status => Kinds::STATUS,
        Reply::Array | Reply::ArrayOfMissing => Kinds::TABLE,
        Reply::Any => Kinds::OTHER,
    };
    let missing = form.may_be_missing && may_refuse(command);
    match protocol {
        Protocol::Two if missing => kinds.or(Kinds::FALSE),
        Protocol::MaybeThree if missing => kinds.or(Kinds::FALSE).or(Kinds::NIL),
        _ => kinds,
    }
}

/// Whether a command that may be refused says under which condition: a plain SET never is.
fn may_refuse(command: &RedisCommand) -> bool {
    let has = |wanted: &str| {
        let mut texts = command.words.iter().filter_map(|word| word.text.as_deref());
        texts.any(|text| text.eq_ignore_ascii_case(wanted))
    };
    !command.is(&["SET"])
        || ["NX", "XX", "GET", "IFEQ", "IFNE"].iter().any(|option| has(option))
        || command.words.get(2..).is_some_and(|rest| rest.iter().any(|word| word.text.is_none()))
            && !["EX", "PX", "EXAT", "PXAT"].iter().any(|option| has(option))
}

/// What an element of a command's array may be; `index` counts from 0, and is `None` for "some".
pub(super) fn element(body: &Body, command: &RedisCommand, index: Option<i128>) -> Kinds {
    let Some(row) = table::command(&command.name) else { return Kinds::OTHER };
    let (Some(form), Some(elements)) = (form(body, command), row.elements) else {
        return Kinds::OTHER;
    };
    let beyond = if index.is_some() { Kinds::ABSENT } else { Kinds::EMPTY };
    let held = match elements {
        Elements::Text | Elements::Number => Kinds::TEXT,
        Elements::Integer => Kinds::NUMBER,
        Elements::Page => match index {
            Some(0) => return Kinds::TEXT,
            Some(1) => return Kinds::TABLE,
            _ => return Kinds::OTHER,
        },
    };
    match form.reply {
        Reply::ArrayOfMissing => {
            let fixed = fixed_length(body, command).zip(index);
            let inside = fixed.is_some_and(|(length, index)| (0..length).contains(&index));
            let beyond = if inside { Kinds::EMPTY } else { beyond };
            held.or(Kinds::FALSE).or(beyond)
        }
        Reply::Array if command.is(&["TIME"]) && index.is_none_or(|index| index < 2) => held,
        Reply::Array => held.or(beyond),
        _ => Kinds::OTHER,
    }
}

/// How many elements the reply has, when the words say it.
fn fixed_length(body: &Body, command: &RedisCommand) -> Option<i128> {
    let spread = command.words.iter().any(|word| is_spread(body, word.value) || word.optional);
    let count = i128::try_from(command.words.len()).ok().filter(|_| !spread)?;
    match command.name.as_str() {
        "MGET" => Some(count),
        "HMGET" | "ZMSCORE" => Some(count - 1),
        _ => None,
    }
}

/// What a function of Lua's library, or of the server's, gives.
pub(super) fn of_function(call: &Call) -> Kinds {
    let Callee::Path(path) = &call.callee else { return Kinds::OTHER };
    let parts: Vec<&str> = path.0.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["#"] | ["string", "len"] | ["math" | "bit", _] | ["table", "getn" | "maxn"] => {
            Kinds::NUMBER
        }
        ["os", "clock"] => Kinds::NUMBER,
        ["string", "find" | "byte"] => Kinds::NUMBER.or(Kinds::ABSENT),
        ["string", "match"] => Kinds::TEXT.or(Kinds::ABSENT),
        ["string", "format" | "gsub" | "rep" | "reverse" | "char"]
        | ["table", "concat"]
        | ["type"]
        | ["redis" | "server", "sha1hex"]
        | ["cjson", "encode"]
        | ["cmsgpack", "pack"] => Kinds::TEXT,
        ["redis" | "server", "status_reply"] => Kinds::STATUS,
        ["redis" | "server", "error_reply"] => Kinds::ERROR,
        _ => Kinds::OTHER,
    }
}

/// The operations where `redis.setresp` is called with something else than 2.
pub(super) fn switches(body: &Body) -> Vec<OpId> {
    let switches = body.calls().filter(|(_, _, call)| {
        let Callee::Path(path) = &call.callee else { return false };
        let two = call.arguments.first().is_some_and(|argument| {
            matches!(body.kind(argument.value), ValueKind::Literal(Literal::Integer(2)))
        });
        path.last() == Some("setresp") && !two
    });
    switches.map(|(_, op, _)| op).collect()
}
