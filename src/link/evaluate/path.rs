//! Field paths: how a value is reached from a parameter or the receiver.
//!
//! `self.name`, `#0.email`, `#1.id()`, `#2[3]`: a bare parameter is `#n`, one of a closure
//! `|name`. Equal paths are equal values. Where the way alone does not tell two values apart (the
//! elements of an iteration, what an iterator gives next), a number behind `@` does.

use super::frame::{self, Frame};
use super::origin::{number_of, passed};
use super::{Evaluator, is_success, keeps_success};
use crate::ir::body::{Body, Call, OpId, OpKind};
use crate::ir::effect::BodyId;
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::link::types::standard;

/// How a field path names the receiver. Parameters are `#0`, `#1`, …
pub(crate) const RECEIVER: &str = "self";

/// How many steps a path may have.
const LONGEST: usize = 32;

/// A field path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The way.
    pub(crate) text: String,
    /// What tells values on the same way apart; 0 when the way alone does.
    pub(crate) number: u64,
}

impl Way {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: 0 }
    }

    /// Reads what [`Way::shown`] gave.
    pub(crate) fn parse(path: &str) -> Self {
        let read = path.rsplit_once('@').and_then(|(text, number)| {
            Some(Self { text: text.to_owned(), number: number.parse().ok()? })
        });
        read.unwrap_or_else(|| Self::new(path))
    }

    /// The path as text.
    pub(crate) fn shown(&self) -> String {
        match self.number {
            0 => self.text.clone(),
            number => format!("{}@{number}", self.text),
        }
    }

    /// The same way of another value.
    pub(crate) fn apart(self, number: u64) -> Self {
        Self { number: frame::mixed(self.number, number), ..self }
    }

    /// One step on.
    pub(crate) fn then(mut self, step: &str) -> Self {
        self.text.push_str(step);
        self
    }

    /// The root and what follows it.
    pub(crate) fn split(&self) -> (&str, &str) {
        let end = self.text.find(['.', '[']).unwrap_or(self.text.len());
        self.text.split_at(end)
    }
}

impl Evaluator<'_> {
    /// The path of a value. `None` when it does not start at a parameter or the receiver of the
    /// root frame.
    pub(crate) fn path_of(&mut self, frame: &Frame<'_>, value: ValueId) -> Option<Way> {
        self.path_within(frame, value, 0)
    }

    fn path_within(&mut self, frame: &Frame<'_>, value: ValueId, depth: usize) -> Option<Way> {
        if depth > LONGEST {
            return None;
        }
        let own = self.program.body(frame.body)?;
        let body = &own.body;
        let next = depth + 1;
        match body.kind(value) {
            ValueKind::Receiver => match frame.entered.map(|entry| (entry.outer, entry.receiver)) {
                Some((outer, Some(receiver))) => self.path_within(outer, receiver, next),
                _ => Some(Way::new(RECEIVER)),
            },
            ValueKind::Parameter(index) => match passed(frame, *index) {
                Some((outer, value)) => self.path_within(outer, value, next),
                None if frame.entered.is_none() && own.parent.is_none() => {
                    Some(Way::new(format!("#{index}")))
                }
                None => {
                    let name = body.value(value)?.name.as_deref().unwrap_or("it");
                    let number = u64::from(*index) + 1;
                    let number = frame.number((u64::from(frame.body.0) + 1) << 32 | number);
                    Some(Way::new(format!("|{name}")).apart(number))
                }
            },
            ValueKind::Field { base, name } => {
                Some(self.path_within(frame, *base, next)?.then(&format!(".{name}")))
            }
            ValueKind::Payload { of, field, variant } => {
                let of = self.path_within(frame, *of, next)?;
                match is_success(variant) {
                    true => Some(of),
                    false => Some(of.then(&format!(".{variant}.{field}"))),
                }
            }
            ValueKind::Element { base, index } => {
                let base = self.path_within(frame, *base, next)?;
                Some(match index {
                    Some(index) => self.indexed(frame, base, *index),
                    None => base.then("[]").apart(number_of(frame, value)),
                })
            }
            ValueKind::Awaited(inner) => self.awaited(frame, *inner, depth),
            ValueKind::Converted { value, .. } => self.path_within(frame, *value, next),
            ValueKind::Adapted { value, adapter, .. } if keeps_success(*adapter) => {
                self.path_within(frame, *value, next)
            }
            ValueKind::Captured(outer) => {
                self.path_within(&frame.around(own.parent?), *outer, next)
            }
            ValueKind::Result(op) => self.accessed(frame, *op, depth),
            _ => None,
        }
    }

    /// An element by its index: `[3]`, or one of a number that is not constant.
    fn indexed(&mut self, frame: &Frame<'_>, base: Way, index: ValueId) -> Way {
        if let Some(number) = self.integer(frame, index) {
            return base.then(&format!("[{number}]"));
        }
        let body = self.program.body(frame.body).map(|own| &own.body);
        let literal = body.and_then(|body| match body.kind(body.peel(index)) {
            ValueKind::Literal(Literal::Text(text)) => Some(text.content.clone()),
            _ => None,
        });
        let way = literal.or_else(|| self.path_of(frame, index).map(|way| way.shown()));
        let number = way.map_or_else(|| number_of(frame, index), |way| hash(&way));
        base.then("[]").apart(number)
    }

    /// What a call without arguments gives: a value is reached through its accessors.
    fn accessed(&mut self, frame: &Frame<'_>, op: OpId, depth: usize) -> Option<Way> {
        let body = &self.program.body(frame.body)?.body;
        let call = body.call(op)?;
        let quiet = call.arguments.is_empty() && self.program.effect_free(frame.body, op);
        let base = call.receiver.filter(|_| quiet)?;
        let name = call.callee.name()?;
        let way = self.path_within(frame, base, depth + 1)?.then(&format!(".{name}()"));
        let same = self.program.gives_the_same(frame.body, op, call);
        Some(if same { way } else { way.apart(number_of(frame, call.result)) })
    }

    /// What an awaited value is: a library's future may give another value each time.
    fn awaited(&mut self, frame: &Frame<'_>, future: ValueId, depth: usize) -> Option<Way> {
        let way = self.path_within(frame, future, depth + 1)?;
        let body = &self.program.body(frame.body)?.body;
        let future = body.peel(future);
        let ValueKind::Result(op) = body.kind(future) else { return Some(way) };
        let own = self.program.targets(frame.body, *op).is_some_and(|it| !it.bodies.is_empty());
        let held = body.call(*op).and_then(|call| call.receiver).is_some_and(|receiver| {
            standard::held(&self.program.type_of(frame.body, receiver)).is_some()
        });
        Some(if own || held { way } else { way.apart(number_of(frame, future)) })
    }
}

/// A number for a text.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(1, |hash, byte| frame::mixed(hash, u64::from(byte) + 1))
}

impl Program {
    /// Whether a call is not known to be an effect: an accessor by all that is seen.
    fn effect_free(&self, body: BodyId, op: OpId) -> bool {
        self.targets(body, op).is_none_or(|targets| targets.apis.is_empty())
    }

    /// Whether an accessor gives the same value each time: not what takes the next one from where
    /// it is called on, nor what changes it.
    fn gives_the_same(&self, body: BodyId, op: OpId, call: &Call) -> bool {
        let bodies = self.targets(body, op).map_or(&[][..], |targets| &targets.bodies);
        if !bodies.is_empty() {
            return !bodies
                .iter()
                .filter_map(|callee| self.body(*callee))
                .any(|callee| changes_receiver(&callee.body));
        }
        !call.callee.name().is_some_and(standard::takes_next)
    }
}

/// Whether a method writes to what it is called on.
fn changes_receiver(body: &Body) -> bool {
    body.ops.iter().any(|op| match &op.kind {
        OpKind::Store { place, .. } => {
            let mut place = *place;
            for _ in 0..LONGEST {
                place = match body.kind(place) {
                    ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => *base,
                    ValueKind::Converted { value, .. } => *value,
                    kind => return matches!(kind, ValueKind::Receiver),
                };
            }
            false
        }
        _ => false,
    })
}
