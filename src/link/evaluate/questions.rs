//! The questions that others ask of values: templates, texts, what a caller makes of them, and what
//! a value really is.

use super::{
    Evaluator, Frame, MOST_STEPS, Segment, Segments, calls, into_template, is_success,
    keeps_success, origin,
};
use crate::ir::effect::{BodyId, Site};
use crate::ir::key::{Hole, KeyPart, KeyTemplate, Origin};
use crate::ir::value::{Text, ValueId, ValueKind};
use crate::link::Program;

impl Program {
    /// The template of a value, in the frame of the enclosing function. Where paths meet with
    /// different texts, a single hole; see [`Program::templates`].
    #[must_use]
    pub fn template(&self, body: BodyId, value: ValueId) -> KeyTemplate {
        let mut all = self.templates(body, value);
        match all.len() {
            1 => all.remove(0),
            _ => {
                let evaluator = Evaluator::new(self);
                KeyTemplate::new([KeyPart::Hole(evaluator.unknown(&Frame::root(body), value))])
            }
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

    /// Every text a value can have, holes as [`HOLE`]; empty when nothing literal is known of it.
    #[must_use]
    pub fn texts(&self, body: BodyId, value: ValueId) -> Vec<Text> {
        let mut evaluator = Evaluator::new(self);
        let alternatives = evaluator.text(&Frame::root(body), value);
        alternatives.into_iter().filter_map(flatten).collect()
    }

    /// Seen from the caller: the callee's parameters replaced by what the call passes.
    #[must_use]
    pub fn into_caller(&self, template: &KeyTemplate, callee: BodyId, call: Site) -> KeyTemplate {
        let Some(caller) = self.body(call.body) else { return template.clone() };
        let Some(written) = caller.body.call(call.op) else { return template.clone() };
        let (arguments, receiver) = calls::bind(self, callee, written);
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
        let Origin::Field(path) = &hole.origin else { return vec![KeyPart::Hole(hole.clone())] };
        let renamed = rebase(path, |root| match root {
            origin::RECEIVER => receiver.map(|value| self.label_in(call.body, value)),
            root => {
                let index: usize = root.strip_prefix('#')?.parse().ok()?;
                arguments.get(index).map(|value| self.label_in(call.body, *value))
            }
        });
        let origin = renamed.map_or_else(|| hole.origin.clone(), Origin::Field);
        vec![KeyPart::Hole(Hole { origin, ..hole.clone() })]
    }

    fn label_in(&self, body: BodyId, value: ValueId) -> String {
        Evaluator::new(self).path_of(&Frame::root(body), value).unwrap_or_else(|| {
            let text = self.body(body).map(|body| body.body.kind(value));
            format!("?{body:?}{value:?}{}", if text.is_some() { "" } else { "!" })
        })
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

/// One text of segments, holes as [`HOLE`]; `None` when there is nothing but holes.
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

/// A field path with its first part replaced.
fn rebase(path: &str, root: impl FnOnce(&str) -> Option<String>) -> Option<String> {
    let (first, rest) =
        path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let root = root(first)?;
    Some(rest.map_or_else(|| root.clone(), |rest| format!("{root}.{rest}")))
}
