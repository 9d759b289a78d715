//! Symbolic evaluation: what is known of a value before the program runs.
//!
//! A value is followed through locals, templates, key-builder functions (with the call's arguments
//! in place of their parameters), constants, lazily made statics and struct fields that every
//! constructor sets alike, to a list of literal texts and holes. What is not known stays a hole
//! that says where it comes from. Everything is bounded: [`MOST_FRAMES`] calls deep,
//! [`MOST_ALTERNATIVES`] alternatives where paths meet.
//!
//! The frame of a result is that of the enclosing *function*: in a closure or async block, captured
//! parameters keep the function's numbers, and the closure's own parameters are holes by name.

use crate::ir::body::{Body, Exit, Terminator};
use crate::ir::effect::BodyId;
use crate::ir::key::{Hole, HoleStep, KeyPart, KeyTemplate, Origin};
use crate::ir::value::{Adapter, Conversion, Literal, TemplatePart, Text, ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::Named;

mod alternatives;
mod calls;

mod fields;
mod frame;
mod numbers;
mod origin;
mod path;
mod questions;
mod sources;
mod workspace;

#[cfg(test)]
mod tests;

pub(crate) use frame::{Entry, Frame};
pub use workspace::{Caches, workspace_type};

/// How many calls deep evaluation follows.
pub const MOST_FRAMES: usize = 12;
/// How many alternatives are kept where paths meet.
pub const MOST_ALTERNATIVES: usize = 6;
/// How many parts of a template are looked at: more than any key or script has.
const MOST_PARTS: usize = 512;
/// How many values one question may look at.
const MOST_STEPS: usize = 4_000;

/// A piece of an evaluated text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    /// Literal, with its place in the source.
    Text(Text),
    /// Not known.
    Hole(Hole),
}

/// One alternative of a value's text.
pub(crate) type Segments = Vec<Segment>;

/// One question's state.
pub(crate) struct Evaluator<'p> {
    pub(crate) program: &'p Program,
    steps: usize,
    active: Vec<(BodyId, ValueId, usize)>,
}

/// Whether a variant is the success side of an option or result.
#[must_use]
pub fn is_success(variant: &str) -> bool {
    matches!(variant, "Some" | "Ok" | crate::ir::value::SUCCESS)
}

/// Whether the success payload comes through an adapter unchanged.
#[must_use]
pub fn keeps_success(adapter: Adapter) -> bool {
    matches!(
        adapter,
        Adapter::MapFailure
            | Adapter::Ok
            | Adapter::OkOr
            | Adapter::Unwrap
            | Adapter::UnwrapOrDefault
            | Adapter::Filter
            | Adapter::Reshape
            | Adapter::Inspect
    )
}

impl<'p> Evaluator<'p> {
    pub(crate) fn new(program: &'p Program) -> Self {
        Self { program, steps: 0, active: Vec::new() }
    }

    pub(crate) fn body_of(&self, frame: &Frame<'_>) -> Option<&'p Body> {
        self.program.body(frame.body).map(|body| &body.body)
    }

    /// All texts of a value; never empty.
    pub(crate) fn text(&mut self, frame: &Frame<'_>, value: ValueId) -> Vec<Segments> {
        let key = (frame.body, value, frame.depth);
        self.steps += 1;
        if self.steps > MOST_STEPS || frame.depth > MOST_FRAMES || self.active.contains(&key) {
            return vec![vec![Segment::Hole(self.unknown(frame, value))]];
        }
        self.active.push(key);
        let mut found = self.text_inner(frame, value).unwrap_or_default();
        self.active.pop();
        found.truncate(MOST_ALTERNATIVES);
        if found.is_empty() {
            found.push(vec![Segment::Hole(self.unknown(frame, value))]);
        }
        found
    }

    /// `None` when nothing is known.
    fn text_inner(&mut self, frame: &Frame<'_>, value: ValueId) -> Option<Vec<Segments>> {
        let body = self.body_of(frame)?;
        match body.kind(value) {
            ValueKind::Literal(literal) => {
                literal_text(literal, body, value).map(|text| vec![vec![text]])
            }
            ValueKind::Template(parts) => Some(self.template_text(frame, value, parts)),
            ValueKind::Converted { value: inner, conversion } => {
                self.converted_text(frame, *inner, *conversion)
            }
            ValueKind::Parameter(index) => self.parameter_text(frame, *index),
            ValueKind::Receiver => match frame.entered? {
                Entry { outer, receiver: Some(receiver), .. } => Some(self.text(outer, receiver)),
                _ => self.displayed(frame, value),
            },
            ValueKind::Captured(outer) => {
                let parent = self.program.body(frame.body)?.parent?;
                Some(self.text(&frame.around(parent), *outer))
            }
            ValueKind::Path(path) => self.path_text(frame, path),
            ValueKind::Field { base, name } => {
                self.field_text(frame, *base, name).or_else(|| self.displayed(frame, value))
            }
            ValueKind::Payload { of, variant, field } if is_success(variant) && field == "0" => {
                Some(self.text(frame, *of))
            }
            ValueKind::Payload { .. } | ValueKind::Element { .. } => self.part_text(frame, value),
            ValueKind::Result(op) => self.call_text(frame, *op),
            ValueKind::Adapted { value: inner, adapter, argument, .. } => {
                self.adapted_text(frame, *inner, *adapter, *argument)
            }
            ValueKind::Awaited(inner) => Some(self.text(frame, *inner)),
            ValueKind::Async(index) => {
                let nested = self.program.nested(frame.body, *index)?;
                let inner = frame.nested(nested, &[]);
                self.returned_text(&inner)
            }
            ValueKind::Aggregate { path, fields, .. } => match (path.last(), fields.as_slice()) {
                // `AssertSqlSafe(text)`: sqlx's mark for text that is no literal.
                (Some(last), [(_, inner)]) if is_success(last) || last == "AssertSqlSafe" => {
                    Some(self.text(frame, *inner))
                }
                _ => self.displayed(frame, value),
            },
            ValueKind::Join(values) => {
                let values = values.clone();
                let known = values.into_iter().filter(|inner| !self.is_active(frame, *inner));
                let known: Vec<ValueId> = known.collect();
                Some(self.alternatives(known, |evaluator, inner| evaluator.text(frame, inner)))
            }
            _ => None,
        }
    }

    fn is_active(&self, frame: &Frame<'_>, value: ValueId) -> bool {
        self.active.contains(&(frame.body, value, frame.depth))
    }

    pub(crate) fn alternatives(
        &mut self,
        values: Vec<ValueId>,
        mut text: impl FnMut(&mut Self, ValueId) -> Vec<Segments>,
    ) -> Vec<Segments> {
        let mut all: Vec<Segments> = Vec::new();
        for value in values {
            for segments in text(self, value) {
                if !all.contains(&segments) && all.len() < MOST_ALTERNATIVES {
                    all.push(segments);
                }
            }
        }
        all
    }

    fn template_text(
        &mut self,
        frame: &Frame<'_>,
        template: ValueId,
        parts: &[TemplatePart],
    ) -> Vec<Segments> {
        let mut all: Vec<Segments> = vec![Vec::new()];
        for part in parts.iter().take(MOST_PARTS) {
            let options = match part {
                TemplatePart::Text(text) => vec![vec![Segment::Text(text.clone())]],
                TemplatePart::Hole(value) => self.filled_text(frame, template, *value),
            };
            // What is copied counts as looked at: texts joined to themselves end here.
            self.steps += options.iter().map(Vec::len).sum::<usize>();
            match options.as_slice() {
                [only] => all.iter_mut().for_each(|segments| segments.extend_from_slice(only)),
                _ => all = product(&all, &options),
            }
            let size = all.iter().map(Vec::len).max().unwrap_or(0);
            if size > MOST_PARTS {
                break;
            }
        }
        all
    }

    /// The texts of a hole's value; holes in them that no inner template placed are placed here.
    fn filled_text(
        &mut self,
        frame: &Frame<'_>,
        template: ValueId,
        value: ValueId,
    ) -> Vec<Segments> {
        let span = |value| self.body_of(frame).and_then(|body| body.value(value)).map(|it| it.span);
        let (own, whole) = (span(value), span(template));
        let mut all = self.text(frame, value);
        for hole in holes_of(&mut all) {
            hole.place = hole.place.or(own);
            hole.template = hole.template.or(whole);
        }
        all
    }

    fn converted_text(
        &mut self,
        frame: &Frame<'_>,
        inner: ValueId,
        conversion: Conversion,
    ) -> Option<Vec<Segments>> {
        let mut all = self.text(frame, inner);
        if conversion == Conversion::Shaped {
            for hole in holes_of(&mut all) {
                hole.steps.push(HoleStep::Shape);
            }
        }
        Some(all)
    }

    fn parameter_text(&mut self, frame: &Frame<'_>, index: u32) -> Option<Vec<Segments>> {
        let Entry { outer, arguments, .. } = frame.entered?;
        let value = arguments.get(index as usize).copied()?;
        Some(self.text(outer, value))
    }

    fn path_text(
        &mut self,
        frame: &Frame<'_>,
        path: &crate::ir::index::Path,
    ) -> Option<Vec<Segments>> {
        match self.program.resolve(frame.body, path) {
            Named::Constant(id) => {
                if self.program.constant(id)?.written {
                    return None;
                }
                let body = self.program.constant_body(id)?;
                let mut all = self.returned_text(&frame.apart(body))?;
                // A static is made once: what was random or unknown then is the same ever after.
                let name = self.program.constant_name(frame, path);
                for (number, hole) in holes_of(&mut all).enumerate() {
                    hole.origin = Origin::Constant(format!("{name}/{number}"));
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// The texts a body returns on its success paths.
    pub(crate) fn returned_text(&mut self, frame: &Frame<'_>) -> Option<Vec<Segments>> {
        let values = returned_values(self.body_of(frame)?);
        if values.is_empty() {
            return None;
        }
        Some(self.alternatives(values, |evaluator, value| evaluator.text(frame, value)))
    }

    fn adapted_text(
        &mut self,
        frame: &Frame<'_>,
        inner: ValueId,
        adapter: Adapter,
        argument: Option<ValueId>,
    ) -> Option<Vec<Segments>> {
        match adapter {
            adapter if keeps_success(adapter) => Some(self.text(frame, inner)),
            // An element of a list is told apart by the closure's own parameter.
            Adapter::Map if self.is_list(frame, inner) => self.closure_text(frame, argument?, &[]),
            Adapter::Map | Adapter::AndThen => self.closure_text(frame, argument?, &[inner]),
            Adapter::Then => match self.body_of(frame)?.kind(argument?) {
                ValueKind::Closure(_) => self.closure_text(frame, argument?, &[]),
                _ => Some(self.text(frame, argument?)),
            },
            Adapter::UnwrapOr | Adapter::OrElse => {
                let mut all = self.text(frame, inner);
                let default = match self.body_of(frame)?.kind(argument?) {
                    ValueKind::Closure(_) => self.closure_text(frame, argument?, &[])?,
                    _ => self.text(frame, argument?),
                };
                all.extend(
                    default.into_iter().filter(|other| !all.contains(other)).collect::<Vec<_>>(),
                );
                Some(all)
            }
            _ => None,
        }
    }

    fn is_list(&self, frame: &Frame<'_>, value: ValueId) -> bool {
        matches!(self.program.type_of(frame.body, value), crate::link::types::Ty::List(_))
    }

    /// What a closure value returns when called with these values of the frame.
    pub(crate) fn closure_text(
        &mut self,
        frame: &Frame<'_>,
        closure: ValueId,
        arguments: &[ValueId],
    ) -> Option<Vec<Segments>> {
        let body = self.body_of(frame)?;
        match body.kind(body.peel(closure)) {
            ValueKind::Closure(index) | ValueKind::Async(index) => {
                let nested = self.program.nested(frame.body, *index)?;
                let inner = frame.nested(nested, arguments);
                self.returned_text(&inner)
            }
            ValueKind::Path(path) => match self.program.resolve(frame.body, path) {
                Named::Function(id) => {
                    let body = self.program.function_body(id)?;
                    self.returned_text(&frame.called(body, None, None, arguments))
                }
                // `map(String::from)`, `map(ToString::to_string)`: a conversion.
                _ => arguments.first().map(|value| self.text(frame, *value)),
            },
            _ => None,
        }
    }
}

/// The values a body gives back where it does not fail.
#[must_use]
pub fn returned_values(body: &Body) -> Vec<ValueId> {
    let mut values: Vec<ValueId> = Vec::new();
    for block in &body.blocks {
        let Terminator::Return { value: Some(value), exit, .. } = &block.end else { continue };
        let failure = *exit == Exit::Propagated || is_failure(body, *value);
        if !failure && !values.contains(value) {
            values.push(*value);
        }
    }
    values
}

/// Whether a value is plainly the failure side: `Err(…)`, `None`.
#[must_use]
pub fn is_failure(body: &Body, value: ValueId) -> bool {
    match body.kind(body.peel(value)) {
        ValueKind::Aggregate { path, .. } => path.last() == Some("Err"),
        ValueKind::Literal(Literal::Nothing) => true,
        ValueKind::Path(path) => path.last() == Some("None"),
        ValueKind::Payload { variant, .. } => variant == "Err",
        _ => false,
    }
}

fn literal_text(literal: &Literal, body: &Body, value: ValueId) -> Option<Segment> {
    let span = body.value(value)?.span;
    let shown = match literal {
        Literal::Text(text) => return Some(Segment::Text(text.clone())),
        Literal::Integer(number) => number.to_string(),
        Literal::Float(number) => number.to_string(),
        Literal::Boolean(truth) => truth.to_string(),
        Literal::Nothing | Literal::Unit => return None,
    };
    Some(Segment::Text(Text::verbatim(shown, span)))
}

/// Every left alternative followed by every right one.
fn product(left: &[Segments], right: &[Segments]) -> Vec<Segments> {
    let pairs = left.iter().flat_map(|l| right.iter().map(move |r| [l.as_slice(), r].concat()));
    pairs.take(MOST_ALTERNATIVES).collect()
}

pub(crate) fn holes_of(all: &mut [Segments]) -> impl Iterator<Item = &mut Hole> {
    all.iter_mut().flatten().filter_map(|segment| match segment {
        Segment::Hole(hole) => Some(hole),
        Segment::Text(_) => None,
    })
}

pub(crate) fn into_template(segments: Segments) -> KeyTemplate {
    KeyTemplate::new(segments.into_iter().map(|segment| match segment {
        Segment::Text(text) => KeyPart::Text(text.content),
        Segment::Hole(hole) => KeyPart::Hole(hole),
    }))
}
