//! Where a value that is not known comes from: the hole's origin, label and place.

use super::{Entry, Evaluator, Frame};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, Site};
use crate::ir::key::{Hole, HoleStep, Origin};
use crate::ir::value::{Conversion, ValueId, ValueKind};
use crate::link::Program;

/// How a field path names the receiver. Parameters are `#0`, `#1`, …
pub(crate) const RECEIVER: &str = "self";

/// How long a label may be, in characters.
const LONGEST_LABEL: usize = 48;

impl Evaluator<'_> {
    /// The hole that stands for a value of which no text is known.
    pub(crate) fn unknown(&self, frame: &Frame<'_>, value: ValueId) -> Hole {
        let steps = self.steps_of(frame, value);
        let origin = self.origin_of(frame, value);
        let program = self.program;
        let place = program.body(frame.body).and_then(|body| body.body.value(value));
        let span = place.map_or_else(|| program.start_of(frame.body), |value| value.span);
        let ty = place.and_then(|value| value.ty.clone()).or_else(|| self.declared(frame, value));
        Hole {
            label: self.label(frame, value),
            origin,
            steps,
            ty,
            span,
            place: None,
            template: None,
        }
    }

    /// The declared type of a parameter.
    fn declared(&self, frame: &Frame<'_>, value: ValueId) -> Option<crate::ir::index::TypeRef> {
        let body = self.body_of(frame)?;
        let ValueKind::Parameter(index) = body.kind(value) else { return None };
        if body.kind != BodyKind::Function {
            return None;
        }
        let function = self.program.function(self.program.enclosing_function(frame.body)?)?;
        function.parameters.get(*index as usize).map(|parameter| parameter.ty.clone())
    }

    fn steps_of(&self, frame: &Frame<'_>, value: ValueId) -> Vec<HoleStep> {
        let Some(body) = self.body_of(frame) else { return Vec::new() };
        match body.kind(value) {
            ValueKind::Converted { value, conversion: Conversion::Shaped } => {
                let mut steps = self.steps_of(frame, *value);
                steps.push(HoleStep::Shape);
                steps
            }
            ValueKind::Converted { value, .. } => self.steps_of(frame, *value),
            _ => Vec::new(),
        }
    }

    fn origin_of(&self, frame: &Frame<'_>, value: ValueId) -> Origin {
        let Some(body) = self.body_of(frame) else { return unknown_at(frame.body, value) };
        match body.kind(value) {
            ValueKind::Parameter(index) if frame.entered.is_none() && body.parent.is_none() => {
                return Origin::Parameter(*index);
            }
            ValueKind::ScriptKey(Some(index)) => return Origin::ScriptKey(*index),
            ValueKind::ScriptArgument(Some(index)) => return Origin::ScriptArgument(*index),
            ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => {
                return self.origin_of(frame, *value);
            }
            ValueKind::Captured(outer) => {
                if let Some(parent) = self.program.body(frame.body).and_then(|body| body.parent) {
                    return self.origin_of(&Frame::root(parent), *outer);
                }
            }
            ValueKind::Path(path) => return Origin::Constant(path.to_string()),
            ValueKind::Result(op) => {
                let site = Site { body: frame.body, op: *op };
                return self.called_origin(frame, value, site);
            }
            _ => {}
        }
        self.path_of(frame, value).map_or_else(|| unknown_at(frame.body, value), Origin::Field)
    }

    fn called_origin(&self, frame: &Frame<'_>, value: ValueId, site: Site) -> Origin {
        if let Some(origin) = self.program.value_source(site) {
            return origin;
        }
        self.path_of(frame, value).map_or_else(|| unknown_at(frame.body, value), Origin::Field)
    }

    /// The canonical field path of a value: `self.name`, `#0.email`, `#1.id()`; a bare parameter is
    /// `#n`. `None` when it does not start at a parameter or the receiver of the root frame.
    pub(crate) fn path_of(&self, frame: &Frame<'_>, value: ValueId) -> Option<String> {
        self.path_within(frame, value, 0)
    }

    fn path_within(&self, frame: &Frame<'_>, value: ValueId, depth: usize) -> Option<String> {
        if depth > 32 {
            return None;
        }
        let body = self.body_of(frame)?;
        let inner = |value: ValueId| self.path_within(frame, value, depth + 1);
        match body.kind(value) {
            ValueKind::Receiver => match frame.entered {
                Some(Entry::Call { outer, receiver: Some(receiver), .. }) => {
                    self.path_within(outer, receiver, depth + 1)
                }
                _ => Some(RECEIVER.to_owned()),
            },
            ValueKind::Parameter(index) => match frame.entered {
                Some(Entry::Call { outer, arguments, .. } | Entry::Nested { outer, arguments }) => {
                    match arguments.get(*index as usize) {
                        Some(value) => self.path_within(outer, *value, depth + 1),
                        None => {
                            Some(format!("|{}", body.value(value)?.name.as_deref().unwrap_or("it")))
                        }
                    }
                }
                None if body.parent.is_none() => Some(format!("#{index}")),
                None => body.value(value)?.name.as_ref().map(|name| format!("|{name}")),
            },
            ValueKind::Field { base, name } => Some(format!("{}.{name}", inner(*base)?)),
            ValueKind::Payload { of, field, variant } => match super::is_success(variant) {
                true => inner(*of),
                false => Some(format!("{}.{variant}.{field}", inner(*of)?)),
            },
            ValueKind::Element { base, .. } => Some(format!("{}[]", inner(*base)?)),
            ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => inner(*value),
            ValueKind::Adapted { value, adapter, .. } if super::keeps_success(*adapter) => {
                inner(*value)
            }
            ValueKind::Captured(outer) => {
                let parent = self.program.body(frame.body)?.parent?;
                self.path_within(&Frame::root(parent), *outer, depth + 1)
            }
            ValueKind::Result(op) => {
                let call = body.call(*op)?;
                let name = call.callee.name()?;
                let quiet = call.arguments.is_empty() && self.program.effect_free(frame.body, *op);
                let base = call.receiver.filter(|_| quiet)?;
                Some(format!("{}.{name}()", inner(base)?))
            }
            _ => None,
        }
    }

    /// How a person would name the value: its source text on one line, or its variable.
    pub(crate) fn label(&self, frame: &Frame<'_>, value: ValueId) -> String {
        let Some(body) = self.body_of(frame) else { return "?".to_owned() };
        match body.kind(value) {
            ValueKind::ScriptKey(Some(index)) => return format!("KEYS[{index}]"),
            ValueKind::ScriptArgument(Some(index)) => return format!("ARGV[{index}]"),
            ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => {
                return self.label(frame, *value);
            }
            ValueKind::Captured(outer) => {
                if let Some(parent) = self.program.body(frame.body).and_then(|body| body.parent) {
                    return self.label(&Frame::root(parent), *outer);
                }
            }
            _ => {}
        }
        let Some(value) = body.value(value) else { return "?".to_owned() };
        let source =
            self.program.tree.file(value.span.file).map_or("", |file| file.slice(value.span));
        let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
        let written = line.trim_start_matches(['&', '*']);
        match &value.name {
            Some(name) if written.is_empty() || written.chars().count() > LONGEST_LABEL => {
                name.clone()
            }
            _ if written.is_empty() => "?".to_owned(),
            _ => written.chars().take(LONGEST_LABEL).collect(),
        }
    }
}

/// An origin that equals no other value's.
pub(crate) fn unknown_at(body: BodyId, value: ValueId) -> Origin {
    Origin::Unknown((u64::from(body.0) << 32) | u64::from(value.0))
}

impl Program {
    /// An empty span at the start of a body's file, for values without a place.
    pub(crate) fn start_of(&self, body: BodyId) -> crate::source::Span {
        let file = self.body(body).map_or(crate::source::FileId(0), |body| body.file);
        crate::source::Span::new(file, 0, 0)
    }

    /// Whether a call is not known to be an effect: an accessor by all that is seen.
    fn effect_free(&self, body: BodyId, op: crate::ir::body::OpId) -> bool {
        self.targets(body, op).is_none_or(|targets| targets.apis.is_empty())
    }
}
