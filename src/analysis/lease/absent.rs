//! Keys that a script takes by writing them where a read found nothing: one step with the read, so
//! the same as a conditional write.

use crate::analysis::expiry::{block_of, comes_after};
use crate::analysis::guard::{OwnerCheck, Seen, owner_of_key_checked};
use crate::analysis::outcome::{Abstract, Assumption};
use crate::ir::body::Body;
use crate::ir::effect::{Effect, EffectKind, Key, RedisCommand};
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;

/// Whether a script writes the key where it was not there, and elsewhere at most where the holder
/// is the caller (a lease that may be taken again by who has it).
pub(super) fn taken(program: &Program, effect: &Effect, key: &Key) -> bool {
    if effect.client != "lua" {
        return false;
    }
    let Some(own) = program.body(effect.site.body) else { return false };
    let Some(written) = block_of(&own.body, effect.site.op) else { return false };
    let effects = program.effects(effect.site.body);
    effects.iter().any(|read| {
        let reads = matches!(&read.kind, EffectKind::Redis(command)
            if command.is(&["GET", "EXISTS"]) && command.keys.iter().any(|it| it.template.same_text(&key.template)));
        let Some(asked) = block_of(&own.body, read.site.op).filter(|_| reads) else { return false };
        let reaches = |there: bool| {
            Assumption::new(program, read.site.body, read.site.op, Abstract::Reply(there))
                .reachable(&own.body, asked)
                .contains(&written)
        };
        let checked = || {
            let seen = Seen::of(program, effect.site.body, effects);
            let check = seen.map(|seen| owner_of_key_checked(seen, effect.site.op, key));
            matches!(check, Some(OwnerCheck::Checked { .. }))
        };
        asked != written
            && comes_after(program, read.site, effect.site)
            && reaches(false)
            && (!reaches(true) || checked())
    })
}

/// Whether a hash command counts a holder that an argument names: `HSET KEYS[1] ARGV[1] 1`.
pub(super) fn names_holder(program: &Program, effect: &Effect, command: &RedisCommand) -> bool {
    let Some(own) = program.body(effect.site.body).filter(|_| effect.client == "lua") else {
        return false;
    };
    let word = |index: usize| command.words.get(index).and_then(|word| word.value);
    let (Some(field), Some(count)) = (word(1), word(2)) else { return false };
    command.is(&["HSET", "HINCRBY", "HSETNX"])
        && command.words.len() == 3
        && is_argument(&own.body, field)
        && is_one(&own.body, count)
}

fn is_argument(body: &Body, value: ValueId) -> bool {
    matches!(body.kind(body.peel(value)), ValueKind::ScriptArgument(_))
}

fn is_one(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Literal(Literal::Integer(number)) => *number == 1,
        ValueKind::Literal(Literal::Text(text)) => text.content == "1",
        _ => false,
    }
}
