//! Markers that hold nothing but that they are there: what is stored says nothing, and nobody reads it
//! or writes something else in its place. Such a key answers "was this done?", and one for every
//! thing that is done grows without end. A key that holds an answer, a name or a count is data.

use super::{Action, KeyUse, Leases};
use crate::ir::effect::EffectKind;
use crate::ir::key::{KeyPart, KeyTemplate, Origin};
use crate::link::Program;

/// Whether the key of an acquire is one of many (its text has a hole) that say only that they are
/// there.
pub(crate) fn is_presence(program: &Program, leases: &Leases, acquire: &KeyUse) -> bool {
    let many = |template: &KeyTemplate| template.has_literal() && template.holes().next().is_some();
    acquire.identities.iter().any(|one| many(&one.template))
        && says_nothing(program, acquire)
        && !holds_data(program, leases, acquire)
}

/// Whether what an acquire stores is the same each time or a clock's reading. A zero is a counter's
/// start.
fn says_nothing(program: &Program, acquire: &KeyUse) -> bool {
    let effect = program.effects(acquire.site.body).get(acquire.effect);
    let Some(EffectKind::Redis(command)) = effect.map(|effect| &effect.kind) else { return false };
    let Some(word) = super::stored(command) else { return false };
    let template = match (&word.text, word.value) {
        (Some(text), _) => KeyTemplate::text(text.clone()),
        (None, Some(value)) => program.template(acquire.site.body, value),
        (None, None) => return false,
    };
    let blank = |part: &KeyPart| match part {
        KeyPart::Text(_) => true,
        KeyPart::Hole(hole) => matches!(hole.origin, Origin::Clock(_)),
    };
    template.parts.iter().all(blank) && template.constant() != Some("0")
}

/// Whether the program reads or replaces what the key holds.
fn holds_data(program: &Program, leases: &Leases, acquire: &KeyUse) -> bool {
    let asks = |it: &KeyUse| {
        let effect = program.effects(it.site.body).get(it.effect);
        matches!(effect.map(|effect| &effect.kind), Some(EffectKind::Redis(command))
            if command.is(&["EXISTS", "TTL", "PTTL"]))
    };
    leases.others(acquire, Action::Write).next().is_some()
        || leases.others(acquire, Action::Read).any(|(_, read)| !asks(read))
}
