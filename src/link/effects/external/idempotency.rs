//! Whether a request carries an idempotency key.

use super::Request;
use crate::config::words::{WordList, Words};
use crate::ir::body::Callee;
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::link::effects::follow::At;

/// How deep values are looked at for such a word.
const MOST_DEPTH: usize = 6;

/// Whether a call that builds the request, or a value given to one, is named as such a key.
pub(super) fn carries_key(request: &Request<'_, '_>) -> bool {
    let program = request.context.program;
    let names = |at: &At| names_key(program, at, 0);
    let (at, head) = request.head();
    let head_names = head.arguments.iter().any(|argument| names(&at.with(argument.value)));
    let mut own = request.call.arguments.iter();
    let own = own.any(|argument| names(&request.context.at(argument.value)));
    let linked = request.links().any(|link| {
        let by_name = link.name(program).is_some_and(|name| is_key_word(&program.words, name));
        let arguments = link.call(program).map_or(0, |call| call.arguments.len());
        let mut given = (0..arguments).filter_map(|index| link.argument(program, index));
        by_name || given.any(|argument| names(&argument))
    });
    head_names || own || linked
}

/// Whether a value, or something it is built of, is named as an idempotency key.
fn names_key(program: &Program, at: &At, depth: usize) -> bool {
    if depth > MOST_DEPTH {
        return false;
    }
    let Some(body) = at.code(program) else { return false };
    let is_key = |name: &str| is_key_word(&program.words, name);
    let inner = |value: ValueId| names_key(program, &at.with(value), depth + 1);
    match body.kind(at.value) {
        ValueKind::Literal(Literal::Text(text)) => is_key(&text.content),
        ValueKind::Path(path) => path.last().is_some_and(is_key),
        ValueKind::Aggregate { fields, base, path } => {
            path.last().is_some_and(is_key)
                || fields.iter().any(|(name, value)| is_key(name) || inner(*value))
                || base.is_some_and(inner)
        }
        ValueKind::List(values) | ValueKind::Join(values) => {
            values.iter().any(|value| inner(*value))
        }
        ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => inner(*value),
        ValueKind::Adapted { value, .. } => inner(*value),
        ValueKind::Payload { of, .. } => inner(*of),
        ValueKind::Result(op) => body.call(*op).is_some_and(|call| {
            let named = match &call.callee {
                // `RequestStrategy::Idempotent(key)` of a library is a call like any other.
                Callee::Method(name) => is_key(name),
                Callee::Path(path) => path.last().is_some_and(is_key),
                Callee::Macro(_) | Callee::Value(_) => false,
            };
            let given = call.arguments.iter().any(|argument| {
                argument.name.as_deref().is_some_and(is_key) || inner(argument.value)
            });
            named || given || call.receiver.is_some_and(inner)
        }),
        _ => false,
    }
}

/// Whether a name says idempotency key or request id, in any spelling.
fn is_key_word(words: &Words, name: &str) -> bool {
    [WordList::Idempotency, WordList::Request].into_iter().any(|list| words.has(list, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_words_in_every_spelling() {
        let words = Words::built_in();
        for name in [
            "Idempotency-Key",
            "IDEMPOTENCY_KEY",
            "idempotencyKey",
            "Idempotent",
            "X-Request-Id",
            "client_token",
            "clientRequestToken",
        ] {
            assert!(is_key_word(words, name), "{name}");
        }
        for name in ["order_id", "request", "token"] {
            assert!(!is_key_word(words, name), "{name}");
        }
    }
}
