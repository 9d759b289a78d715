//! Keys that are taken by writing them where a read found nothing. In a script that is one step with
//! the read, so the same as a conditional write; from a client it takes a key badly, but it takes it.

use super::KeyUse;
use crate::analysis::expiry::comes_after;
use crate::analysis::guard::{OwnerCheck, Seen, owner_of_key_checked};
use crate::analysis::outcome::{Abstract, Answer, Assumption};
use crate::ir::body::Body;
use crate::ir::effect::{Effect, EffectKind, Key, RedisCommand};
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;

/// Whether a script writes the key where it was not there, and elsewhere at most where the holder
/// is the caller (a lease that may be taken again by who has it).
pub(in crate::analysis) fn taken(program: &Program, effect: &Effect, key: &Key) -> bool {
    effect.in_script() && written_where_absent(program, effect, key, Abstract::Reply)
}

/// Whether a client does so by two commands.
pub(super) fn taken_by_client(program: &Program, key_use: &KeyUse) -> bool {
    let effect = program.effects(key_use.site.body).get(key_use.effect);
    let answer = |there| Abstract::Ok(Box::new(Abstract::Reply(there)));
    effect.zip(key_use.key.as_ref()).is_some_and(|(effect, key)| {
        !effect.in_script() && written_where_absent(program, effect, key, answer)
    })
}

/// What a script gives back that writes a key where it was not there: with the write, and without it
/// where the key is another's.
pub(super) fn given_back(program: &Program, acquire: &KeyUse) -> Option<Answer> {
    let effect = program.effects(acquire.site.body).get(acquire.effect)?;
    let key = acquire.key.as_ref().filter(|key| taken(program, effect, key))?;
    let read = absence_read(program, effect, key, Abstract::Reply)?;
    let body = &program.body(effect.site.body)?.body;
    let (written, _) = body.position(effect.site.op)?;
    let (asked, _) = body.position(read.site.op)?;
    let assuming =
        |op, there| Assumption::new(program, effect.site.body, op, Abstract::Reply(there));
    Some(Answer {
        won: assuming(read.site.op, false).returned(written)?,
        lost: assuming(read.site.op, true).returned_without(asked, written)?,
    })
}

fn written_where_absent(
    program: &Program,
    effect: &Effect,
    key: &Key,
    answer: impl Fn(bool) -> Abstract,
) -> bool {
    absence_read(program, effect, key, answer).is_some()
}

/// The read that found nothing where a key is written.
fn absence_read<'p>(
    program: &'p Program,
    effect: &Effect,
    key: &Key,
    answer: impl Fn(bool) -> Abstract,
) -> Option<&'p Effect> {
    let own = program.body(effect.site.body)?;
    let (written, _) = own.body.position(effect.site.op)?;
    let effects = program.effects(effect.site.body);
    effects.iter().find(|read| {
        let reads = matches!(&read.kind, EffectKind::Redis(command)
            if command.is(&["GET", "EXISTS"]) && command.keys.iter().any(|it| it.template.same_text(&key.template)));
        let Some((asked, _)) = own.body.position(read.site.op).filter(|_| reads) else { return false };
        let reaches = |there: bool| {
            Assumption::new(program, read.site.body, read.site.op, answer(there))
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
    let Some(own) = program.body(effect.site.body).filter(|_| effect.in_script()) else {
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
