//! How many KEYS and ARGV a script reads, and how many it is given.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::script_values::{Kinds, ScriptValues};
use crate::ir::body::{Body, OpKind, Terminator, Test};
use crate::ir::effect::{BodyId, Effect, EffectKind, ScriptCall};
use crate::ir::index::Path;
use crate::ir::value::{Operator, ValueId, ValueKind};
use crate::source::Span;

/// A call that gives a script another number of keys or arguments than it reads.
#[derive(Clone, Debug)]
pub struct ArityFault<'p> {
    /// The call.
    pub effect: &'p Effect,
    /// `KEYS` or `ARGV`.
    pub list: &'static str,
    /// How many are given.
    pub given: usize,
    /// The number of the last one that is read, and where.
    pub read: Option<(u32, Span)>,
    /// Whether fewer are given than are read.
    pub missing: bool,
}

/// What a script reads of one list.
#[derive(Clone, Debug, Default)]
struct Reads {
    /// Number to place, of what is read.
    by_number: BTreeMap<u32, Span>,
    /// What the script does without: it is tested for being there.
    optional: BTreeSet<u32>,
    /// The list is used as a whole, or by a number that is computed.
    whole: bool,
}

impl<'p> Analysis<'p> {
    /// The calls of scripts whose keys or arguments are all known and do not fit.
    #[must_use]
    pub fn arity_faults(&self) -> Vec<ArityFault<'p>> {
        let mut found = Vec::new();
        for effect in self.effects() {
            let EffectKind::Script(call) = &effect.kind else { continue };
            if call.scripts.is_empty() {
                continue;
            }
            let given = [("KEYS", keys(call)), ("ARGV", call.arguments.as_ref().map(Vec::len))];
            for (list, given) in given {
                let Some(given) = given else { continue };
                let reads: Vec<Reads> =
                    call.scripts.iter().map(|script| self.reads(*script, list)).collect();
                found.extend(fault(effect, list, given, &reads));
            }
        }
        found
    }

    /// What a script, the functions in it included, reads of a list.
    fn reads(&self, script: BodyId, list: &str) -> Reads {
        let mut reads = Reads::default();
        for (body, values) in self.scripts() {
            if body == script || self.is_inside(body, script) {
                read_in(values, list, &mut reads);
            }
        }
        reads
    }

    fn is_inside(&self, body: BodyId, script: BodyId) -> bool {
        let mut next = self.program.body(body).and_then(|own| own.parent);
        for _ in 0..16 {
            match next {
                Some(parent) if parent == script => return true,
                Some(parent) => next = self.program.body(parent).and_then(|own| own.parent),
                None => return false,
            }
        }
        false
    }
}

/// How many keys are given; `None` where that is not known.
fn keys(call: &ScriptCall) -> Option<usize> {
    let keys = call.keys.as_ref()?;
    (!keys.iter().any(|key| key.many)).then_some(keys.len())
}

/// What is wrong for every script that a call may run.
fn fault<'p>(
    effect: &'p Effect,
    list: &'static str,
    given: usize,
    reads: &[Reads],
) -> Option<ArityFault<'p>> {
    let beyond = |reads: &Reads| {
        let needed = reads.by_number.iter().rev();
        let mut needed = needed.filter(|(number, _)| !reads.optional.contains(*number));
        let (number, span) = needed.next()?;
        (*number as usize > given && !reads.whole).then_some((*number, *span))
    };
    let missing: Option<Vec<(u32, Span)>> = reads.iter().map(beyond).collect();
    if let Some(last) = missing.and_then(|all| all.first().copied()) {
        return Some(ArityFault { effect, list, given, read: Some(last), missing: true });
    }
    let last = reads.iter().map(|reads| {
        let last = reads.by_number.iter().next_back().map(|(number, span)| (*number, *span));
        let unread = last.map_or(0, |(number, _)| number as usize) < given && !reads.whole;
        (unread, last)
    });
    let last: Vec<_> = last.collect();
    let unread = last.iter().all(|(unread, _)| *unread);
    let read = last.iter().filter_map(|(_, last)| *last).max_by_key(|(number, _)| *number);
    unread.then_some(ArityFault { effect, list, given, read, missing: false })
}

fn read_in(values: &ScriptValues<'_>, list: &str, reads: &mut Reads) {
    let body = values.body;
    let number = |value: ValueId| match body.kind(body.peel(value)) {
        ValueKind::ScriptKey(number) if list == "KEYS" => Some(*number),
        ValueKind::ScriptArgument(number) if list == "ARGV" => Some(*number),
        _ => None,
    };
    for (index, value) in (0_u32..).zip(&body.values) {
        match number(ValueId(index)) {
            Some(Some(found)) => {
                reads.by_number.entry(found).or_insert(value.span);
            }
            Some(None) => reads.whole = true,
            None => {}
        }
    }
    let tested = body.givens.all().map(|given| given.value);
    let in_values = body.values.iter().filter_map(|value| match &value.kind {
        ValueKind::Not(of) => Some(*of),
        ValueKind::Binary { operator: Operator::And | Operator::Or, left, .. } => Some(*left),
        ValueKind::Binary { operator: Operator::Equal | Operator::NotEqual, left, right } => {
            let nil = Kinds::NIL;
            let side = if values.at(*right, *left).only(nil) { left } else { right };
            Some(*side)
        }
        _ => None,
    });
    let converted = |value: ValueId| match body.kind(value) {
        ValueKind::Converted { value, .. } => *value,
        _ => value,
    };
    for value in tested.chain(in_values) {
        for value in [value, converted(value)] {
            reads.optional.extend(number(value).flatten());
        }
        // `ARGV[3] == nil` is tested as a whole.
        if let ValueKind::Binary { left, right, .. } = body.kind(value) {
            let nil = [(*left, *right), (*right, *left)];
            for (side, other) in nil {
                if values.at(other, value).only(Kinds::NIL) {
                    reads.optional.extend(number(side).flatten());
                }
            }
        }
    }
    reads.whole |= is_used_whole(body, list);
}

/// Whether a list is counted, given to a function, gone through or written to.
fn is_used_whole(body: &Body, list: &str) -> bool {
    let own = |value: ValueId| match body.kind(body.peel(value)) {
        ValueKind::Path(Path(parts)) => parts.first().is_some_and(|first| first == list),
        _ => false,
    };
    let given = body.calls().any(|(_, _, call)| {
        call.arguments.iter().any(|argument| own(argument.value)) || call.receiver.is_some_and(own)
    });
    let written = body.operations().any(|(_, _, op)| match &op.kind {
        OpKind::Store { place, value } => {
            let base = match body.kind(*place) {
                ValueKind::Element { base, .. } => *base,
                _ => *place,
            };
            own(base)
                || own(*value)
                || matches!(body.kind(*place), ValueKind::ScriptKey(_) if list == "KEYS")
                || matches!(body.kind(*place), ValueKind::ScriptArgument(_) if list == "ARGV")
        }
        _ => false,
    });
    let gone_through = body.blocks.iter().any(|block| match &block.end {
        Terminator::Branch { test: Test::Opaque(values), .. } => values.iter().any(|it| own(*it)),
        Terminator::Return { value: Some(value), .. } => own(*value),
        _ => false,
    });
    let held = body.values.iter().any(|value| match &value.kind {
        ValueKind::Element { base, index: None } => own(*base),
        ValueKind::List(values) | ValueKind::Join(values) => values.iter().any(|it| own(*it)),
        _ => false,
    });
    given || written || gone_through || held
}
