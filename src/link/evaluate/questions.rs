//! The questions that others ask of values: templates, texts, what a caller makes of them, and what
//! a value really is.

use super::alternatives::common;
use super::frame::seen_through;
use super::origin::{number_of, origin_through};
use super::path::{RECEIVER, Way};
use super::{
    Evaluator, Frame, MOST_STEPS, Segment, Segments, into_template, is_success, keeps_success,
};
use crate::ir::effect::{BodyId, Site};
use crate::ir::key::{Hole, KeyPart, KeyTemplate, Origin};
use crate::ir::value::{Text, ValueId, ValueKind};
use crate::link::Program;

impl Program {
    /// The template of a value, in the frame of the enclosing function. Where paths meet with
    /// different texts, what these share and a hole; see [`Program::templates`].
    #[must_use]
    pub fn template(&self, body: BodyId, value: ValueId) -> KeyTemplate {
        self.merged(&Frame::root(body), value, self.templates(body, value))
    }

    /// One template for all alternatives of a value.
    fn merged(&self, frame: &Frame<'_>, value: ValueId, mut all: Vec<KeyTemplate>) -> KeyTemplate {
        if all.len() == 1 {
            return all.remove(0);
        }
        let whole = Evaluator::new(self).unknown(frame, value);
        // What stands between the shared parts is not the value, wherever that comes from.
        let origin = Origin::Unknown(number_of(frame, value));
        let between = Hole { origin, label: "…".to_owned(), ..whole.clone() };
        let merged = common(&all, between);
        match merged.has_literal() {
            true => merged,
            false => KeyTemplate::new([KeyPart::Hole(whole)]),
        }
    }

    /// All templates a value can have, one an alternative, without duplicates; never empty.
    #[must_use]
    pub fn templates(&self, body: BodyId, value: ValueId) -> Vec<KeyTemplate> {
        let mut evaluator = Evaluator::new(self);
        let mut templates: Vec<KeyTemplate> = Vec::new();
        for segments in evaluator.text(&Frame::root(body), value) {
            let template = into_template(segments);
            if !templates.contains(&template) {
                templates.push(template);
            }
        }
        templates
    }

    /// Every text a value can have, holes as [`HOLE`](crate::ir::value::HOLE); empty when nothing literal is known of it.
    #[must_use]
    pub fn texts(&self, body: BodyId, value: ValueId) -> Vec<Text> {
        let mut evaluator = Evaluator::new(self);
        let alternatives = evaluator.text(&Frame::root(body), value);
        alternatives.into_iter().filter_map(flatten).collect()
    }

    /// The template of a value of a body that calls entered, in the frame of the outermost.
    pub(crate) fn template_through(
        &self,
        entered: &[(Site, BodyId)],
        body: BodyId,
        value: ValueId,
    ) -> KeyTemplate {
        let root = Frame::root(entered.first().map_or(body, |(site, _)| site.body));
        through(self, &root, entered, &|frame| {
            let frame = if frame.body == body { *frame } else { frame.around(body) };
            let all = Evaluator::new(self).text(&frame, value);
            self.merged(&frame, value, all.into_iter().map(into_template).collect())
        })
    }

    /// Seen from the caller: the callee's parameters replaced by what the call passes, and what the
    /// callee made told apart from what another call of it makes.
    #[must_use]
    pub fn into_caller(&self, template: &KeyTemplate, callee: BodyId, call: Site) -> KeyTemplate {
        let Some(caller) = self.body(call.body) else { return template.clone() };
        let Some(written) = caller.body.call(call.op) else { return template.clone() };
        // A closure's template names the parameters of the function around it.
        let closure = self.body(callee).is_some_and(|own| own.parent.is_some());
        let (arguments, receiver) = match closure {
            true => (Vec::new(), None),
            false => self.bound_arguments(callee, written),
        };
        let parts = template.parts.iter().flat_map(|part| match part {
            KeyPart::Text(_) => vec![part.clone()],
            KeyPart::Hole(hole) => self.hole_in_caller(hole, call, &arguments, receiver),
        });
        KeyTemplate::new(parts.collect::<Vec<_>>())
    }

    fn hole_in_caller(
        &self,
        hole: &Hole,
        call: Site,
        arguments: &[ValueId],
        receiver: Option<ValueId>,
    ) -> Vec<KeyPart> {
        let passed = match &hole.origin {
            Origin::Parameter(index) => arguments.get(*index as usize).copied(),
            _ => None,
        };
        if let Some(value) = passed {
            let mut parts = self.template(call.body, value).parts;
            for part in &mut parts {
                if let KeyPart::Hole(inner) = part {
                    inner.steps.extend(hole.steps.iter().copied());
                }
            }
            return parts;
        }
        let origin = match &hole.origin {
            Origin::Field(path) => {
                let way = Way::parse(path);
                let value = match way.split().0 {
                    RECEIVER => receiver,
                    root => root
                        .strip_prefix('#')
                        .and_then(|index| arguments.get(index.parse::<usize>().ok()?).copied()),
                };
                Origin::Field(self.way_in_caller(&way, call, value).shown())
            }
            origin => origin_through(origin, call),
        };
        vec![KeyPart::Hole(Hole { origin, ..hole.clone() })]
    }

    /// A callee's path, its root replaced by what the call passes for it.
    fn way_in_caller(&self, way: &Way, call: Site, root: Option<ValueId>) -> Way {
        let number = match way.number {
            0 => 0,
            number => seen_through(number, call),
        };
        let Some(root) = root else { return Way { number, ..way.clone() } };
        let frame = Frame::root(call.body);
        let passed = Evaluator::new(self).path_of(&frame, root);
        let passed = passed.unwrap_or_else(|| Way::parse("?").apart(number_of(&frame, root)));
        passed.then(way.split().1).apart(number)
    }

    /// The value behind conversions, captures, awaits, `?`, success payloads and adapters that
    /// keep the success side: the call, parameter or field that a variable really holds.
    #[must_use]
    pub fn source_of(&self, body: BodyId, value: ValueId) -> (BodyId, ValueId) {
        let (mut body_id, mut value) = (body, value);
        for _ in 0..MOST_STEPS {
            let Some(body) = self.body(body_id) else { break };
            match body.body.kind(value) {
                ValueKind::Converted { value: inner, .. } | ValueKind::Awaited(inner) => {
                    value = *inner
                }
                ValueKind::Payload { of, variant, .. } if is_success(variant) => value = *of,
                ValueKind::Adapted { value: inner, adapter, .. } if keeps_success(*adapter) => {
                    value = *inner;
                }
                ValueKind::Captured(outer) => match body.parent {
                    Some(parent) => (body_id, value) = (parent, *outer),
                    None => break,
                },
                _ => break,
            }
        }
        (body_id, value)
    }
}

/// One text of segments, holes as [`HOLE`](crate::ir::value::HOLE); `None` when there is nothing but holes.
fn flatten(segments: Segments) -> Option<Text> {
    let mut flat = Text::default();
    let mut literal = false;
    for segment in segments {
        match segment {
            Segment::Text(text) => {
                literal |= !text.content.is_empty();
                flat.append(&text);
            }
            Segment::Hole(hole) => flat.push_hole(hole.span),
        }
    }
    (literal && !flat.runs.is_empty()).then_some(flat)
}

/// Answers in the frame that calls enter one after the other.
fn through<R>(
    program: &Program,
    frame: &Frame<'_>,
    entered: &[(Site, BodyId)],
    answer: &dyn Fn(&Frame<'_>) -> R,
) -> R {
    let Some(((site, callee), rest)) = entered.split_first() else { return answer(frame) };
    let around = if frame.body == site.body { *frame } else { frame.around(site.body) };
    let call = program.body(site.body).and_then(|own| own.body.call(site.op));
    let (arguments, receiver) =
        call.map(|call| program.bound_arguments(*callee, call)).unwrap_or_default();
    let inner = around.called(*callee, Some(site.op), receiver, &arguments);
    through(program, &inner, rest, answer)
}
