//! What the values of a script may be: the types that Lua sees.
//!
//! A reply has the type that the command table gives it, a missing one is `false` (or `nil`, after
//! `redis.setresp(3)`), and tests that were passed on the way take types away. Everything is *may*:
//! a type that is not in the answer is known not to come. What can't be followed is
//! [`Kinds::OTHER`], and rules that see it keep silent.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use crate::ir::body::{Body, Callee, OpId, OpKind};
use crate::ir::effect::{BodyId, Effect, EffectKind, RedisCommand};
use crate::ir::given::GivenId;
use crate::ir::value::{Conversion, Literal, Operator, ValueId, ValueKind};
use crate::link::Program;

mod kinds;
mod refine;
mod reply;

pub use kinds::Kinds;
pub(super) use refine::{text, typed};
use reply::Protocol;
pub use reply::{form, is_spread};

/// How often the values of one script are gone through.
const MOST_ROUNDS: usize = 40;

/// The types of all values of one script, or of a function in it.
#[derive(Debug)]
pub struct ScriptValues<'p> {
    /// The body.
    pub body: &'p Body,
    effects: BTreeMap<OpId, &'p Effect>,
    kinds: Vec<Kinds>,
    /// Tables that the script writes into.
    changed: BTreeSet<ValueId>,
    /// Operations at which replies may come in the newer protocol.
    three: BTreeSet<OpId>,
}

impl<'p> Analysis<'p> {
    /// Every body that runs as a script, with the types of its values.
    pub fn scripts(&self) -> impl Iterator<Item = (BodyId, &ScriptValues<'p>)> {
        self.script_values.iter().map(|(body, values)| (*body, values))
    }
}

/// The types of the values of every script.
pub(super) fn of_program(program: &Program) -> BTreeMap<BodyId, ScriptValues<'_>> {
    let scripts = program.bodies.iter().filter(|body| program.in_script(body.id));
    scripts.map(|body| (body.id, ScriptValues::new(&body.body, program.effects(body.id)))).collect()
}

impl<'p> ScriptValues<'p> {
    fn new(body: &'p Body, effects: &'p [Effect]) -> Self {
        let mut values = Self {
            body,
            effects: effects.iter().map(|effect| (effect.site.op, effect)).collect(),
            kinds: vec![Kinds::EMPTY; body.values.len()],
            changed: changed(body),
            three: behind(body, &reply::switches(body)),
        };
        values.settle();
        values
    }

    /// Goes through the values until nothing changes.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut settled = true;
            for index in 0..self.kinds.len() {
                let id = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
                let new = self.step(id);
                if let Some(slot) = self.kinds.get_mut(index) {
                    settled &= new.without(*slot) == Kinds::EMPTY;
                    *slot = slot.or(new);
                }
            }
            if settled {
                return;
            }
        }
        self.kinds.fill(Kinds::OTHER);
    }

    /// What a value may be where another is made.
    #[must_use]
    pub fn at(&self, value: ValueId, place: ValueId) -> Kinds {
        self.under(value, self.body.givens.of(place))
    }

    /// What a value may be where these tests were decided.
    #[must_use]
    pub fn under(&self, value: ValueId, given: Option<GivenId>) -> Kinds {
        refine::refined(self.body, &self.kinds, value, given)
    }

    /// Whether two values are one.
    #[must_use]
    pub fn same(&self, left: ValueId, right: ValueId) -> bool {
        refine::same(self.body, left, right)
    }

    fn step(&self, id: ValueId) -> Kinds {
        let at = |value: ValueId| self.at(value, id);
        match self.body.kind(id) {
            ValueKind::Literal(literal) => of_literal(literal),
            ValueKind::ScriptKey(_) | ValueKind::ScriptArgument(_) => {
                if self.arguments_change() {
                    Kinds::OTHER
                } else {
                    Kinds::TEXT.or(Kinds::ABSENT)
                }
            }
            ValueKind::Template(_) => Kinds::TEXT,
            ValueKind::Converted { value, conversion } => converted(at(*value), *conversion),
            ValueKind::Not(_) | ValueKind::Matches { .. } => Kinds::FALSE.or(Kinds::TRUE),
            ValueKind::Binary { operator, left, right } => match operator {
                _ if operator.compares() => Kinds::FALSE.or(Kinds::TRUE),
                Operator::And => at(*left).and(Kinds::FALSY).or(at(*right)),
                Operator::Or => at(*left).and(Kinds::TRUTHY).or(at(*right)),
                _ => Kinds::NUMBER,
            },
            ValueKind::Join(values) => {
                let ways = values.iter().enumerate();
                ways.fold(Kinds::EMPTY, |found, (way, value)| {
                    found.or(self.under(*value, self.body.givens.on_way(id, way)))
                })
            }
            ValueKind::List(_) | ValueKind::Aggregate { .. } => Kinds::TABLE,
            ValueKind::Closure(_) => Kinds::FUNCTION,
            ValueKind::Result(op) => self.result(*op),
            ValueKind::Element { base, index } => self.element(*base, *index),
            ValueKind::Field { base, name } => {
                let reply = Kinds::STATUS.or(Kinds::ERROR);
                let table = at(*base);
                match table.may_be(reply) && !table.may_be(Kinds::TABLE.or(Kinds::OTHER)) {
                    true if name == "ok" || name == "err" => Kinds::TEXT.or(Kinds::ABSENT),
                    _ => Kinds::OTHER,
                }
            }
            _ => Kinds::OTHER,
        }
    }

    fn result(&self, op: OpId) -> Kinds {
        let Some(call) = self.body.call(op) else { return Kinds::OTHER };
        let Some(command) = self.command(op) else { return reply::of_function(call) };
        let protocol = if self.three.contains(&op) { Protocol::MaybeThree } else { Protocol::Two };
        let reply = reply::of_command(self.body, command, protocol);
        if is_protected(&call.callee) { reply.or(Kinds::ERROR) } else { reply }
    }

    fn element(&self, base: ValueId, index: Option<ValueId>) -> Kinds {
        let base = self.body.peel(base);
        let ValueKind::Result(op) = self.body.kind(base) else { return Kinds::OTHER };
        let known = !self.changed.contains(&base) && !self.three.contains(op);
        let Some(command) = self.command(*op).filter(|_| known) else { return Kinds::OTHER };
        let position = index.and_then(|index| refine::integer(self.body, index));
        let element = reply::element(self.body, command, position);
        match (index, position) {
            (Some(_), None) if element != Kinds::OTHER => element.or(Kinds::ABSENT),
            _ => element,
        }
    }

    /// The command that a call of a script sends.
    #[must_use]
    pub fn command(&self, op: OpId) -> Option<&'p RedisCommand> {
        match &self.effects.get(&op)?.kind {
            EffectKind::Redis(command) => Some(command),
            _ => None,
        }
    }

    /// The command's effect.
    #[must_use]
    pub fn effect(&self, op: OpId) -> Option<&'p Effect> {
        self.effects.get(&op).copied()
    }

    /// The commands whose replies a value is or is made of, as it stands: through conversions, tables
    /// and where ways meet.
    #[must_use]
    pub fn replies(&self, value: ValueId) -> Vec<OpId> {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![value];
        let mut found = Vec::new();
        while let Some(value) = waiting.pop().filter(|_| seen.len() < 100) {
            if !seen.insert(value) {
                continue;
            }
            match self.body.kind(value) {
                ValueKind::Result(op) if self.command(*op).is_some() => found.push(*op),
                ValueKind::Converted { value, .. } | ValueKind::Element { base: value, .. } => {
                    waiting.push(*value);
                }
                ValueKind::Join(values) => waiting.extend(values),
                ValueKind::Binary { operator: Operator::Or | Operator::And, left, right } => {
                    waiting.extend([*left, *right]);
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a value is, or is made of, an element of KEYS or ARGV.
    #[must_use]
    pub fn is_argument(&self, value: ValueId) -> bool {
        let mut value = self.body.peel(value);
        for _ in 0..8 {
            match self.body.kind(value) {
                ValueKind::ScriptArgument(_) | ValueKind::ScriptKey(_) => return true,
                ValueKind::Converted { value: inner, .. } => value = *inner,
                ValueKind::Binary { operator: Operator::Or, left, .. } => value = *left,
                _ => return false,
            }
        }
        false
    }

    /// Whether the script writes into ARGV or KEYS.
    fn arguments_change(&self) -> bool {
        self.changed.iter().any(|base| {
            matches!(self.body.kind(*base), ValueKind::Path(path)
                if matches!(path.first(), Some("ARGV" | "KEYS")))
        })
    }
}

fn is_protected(callee: &Callee) -> bool {
    matches!(callee, Callee::Path(path) if path.last() == Some("pcall"))
}

fn of_literal(literal: &Literal) -> Kinds {
    match literal {
        Literal::Text(_) => Kinds::TEXT,
        Literal::Integer(_) | Literal::Float(_) => Kinds::NUMBER,
        Literal::Boolean(true) => Kinds::TRUE,
        Literal::Boolean(false) => Kinds::FALSE,
        Literal::Nothing => Kinds::NIL,
        Literal::Unit => Kinds::OTHER,
    }
}

/// `tonumber` of what is no number and no text is `nil`; text is taken to hold a number.
fn converted(kinds: Kinds, conversion: Conversion) -> Kinds {
    match conversion {
        Conversion::Same => kinds,
        Conversion::Number => {
            let mut found = kinds.and(Kinds::OTHER.or(Kinds::ABSENT));
            if kinds.may_be(Kinds::NUMBER.or(Kinds::TEXT).or(Kinds::OTHER)) {
                found = found.or(Kinds::NUMBER);
            }
            if kinds.may_be(Kinds::NIL.or(Kinds::FALSE)) {
                found = found.or(Kinds::NIL);
            }
            found
        }
        _ => Kinds::TEXT,
    }
}

/// The tables that a body writes into, by element, field or `table.insert`.
fn changed(body: &Body) -> BTreeSet<ValueId> {
    let mut changed = BTreeSet::new();
    for (_, _, op) in body.operations() {
        match &op.kind {
            OpKind::Store { place, .. } => match body.kind(*place) {
                ValueKind::Element { base, .. } | ValueKind::Field { base, .. } => {
                    changed.insert(body.peel(*base));
                }
                ValueKind::Path(_) | ValueKind::ScriptKey(_) | ValueKind::ScriptArgument(_) => {
                    changed.insert(*place);
                }
                _ => {}
            },
            OpKind::Call(call) => {
                let inserts = matches!(&call.callee, Callee::Path(path)
                    if path.0.ends_with(&["table".to_owned(), "insert".to_owned()]));
                if let Some(table) = call.arguments.first().filter(|_| inserts) {
                    changed.insert(body.peel(table.value));
                }
            }
            _ => {}
        }
    }
    changed
}

/// The operations that may run after one of these.
fn behind(body: &Body, ops: &[OpId]) -> BTreeSet<OpId> {
    let mut found = BTreeSet::new();
    for op in ops {
        let Some((block, at)) = body.position(*op) else { continue };
        let Some(own) = body.block(block) else { continue };
        found.extend(own.ops.iter().skip(at + 1).copied());
        let later = body.reachable(own.end.successors(), |block| block.end.successors());
        found.extend(later.iter().filter_map(|id| body.block(*id)).flat_map(|b| b.ops.clone()));
    }
    found
}
