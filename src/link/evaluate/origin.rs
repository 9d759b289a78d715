//! Where a value that is not known comes from: the hole's origin, label and place.

use super::frame::{Entry, Frame};
use super::path::Way;
use super::{Evaluator, frame};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, Site};
use crate::ir::key::{Hole, HoleStep, KeyPart, KeyTemplate, Origin};
use crate::ir::value::{Conversion, ValueId, ValueKind};
use crate::link::Program;
use crate::link::names::{Named, Namespace};

/// How long a label may be, in characters.
const LONGEST_LABEL: usize = 48;

impl Evaluator<'_> {
    /// The hole that stands for a value of which no text is known.
    pub(crate) fn unknown(&mut self, frame: &Frame<'_>, value: ValueId) -> Hole {
        let program = self.program;
        let place = program.body(frame.body).and_then(|body| body.body.value(value));
        let span = place.map_or_else(|| program.start_of(frame.body), |value| value.span);
        let ty = place.and_then(|value| value.ty.clone()).or_else(|| self.declared(frame, value));
        Hole {
            label: self.label(frame, value),
            origin: self.origin_of(frame, value),
            steps: self.steps_of(frame, value),
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

    fn steps_of(&self, frame: &Frame<'_>, mut value: ValueId) -> Vec<HoleStep> {
        let Some(body) = self.body_of(frame) else { return Vec::new() };
        let mut steps = Vec::new();
        for _ in 0..super::MOST_STEPS {
            let ValueKind::Converted { value: inner, conversion } = body.kind(value) else { break };
            if *conversion == Conversion::Shaped {
                steps.push(HoleStep::Shape);
            }
            value = *inner;
        }
        steps
    }

    /// The value behind conversions, awaits and captures, and the frame it is a value of.
    fn bare<'f>(&self, frame: &Frame<'f>, value: ValueId) -> (Frame<'f>, ValueId) {
        let (mut frame, mut value) = (*frame, value);
        for _ in 0..super::MOST_STEPS {
            let Some(own) = self.program.body(frame.body) else { break };
            match own.body.kind(value) {
                ValueKind::Converted { value: inner, .. } | ValueKind::Awaited(inner) => {
                    value = *inner;
                }
                ValueKind::Captured(outer) => match own.parent {
                    Some(parent) => (frame, value) = (frame.around(parent), *outer),
                    None => break,
                },
                _ => break,
            }
        }
        (frame, value)
    }

    fn origin_of(&mut self, frame: &Frame<'_>, value: ValueId) -> Origin {
        let program = self.program;
        let (inner, bare) = self.bare(frame, value);
        let Some(own) = program.body(inner.body) else { return unknown_at(&inner, bare) };
        match own.body.kind(bare) {
            ValueKind::Parameter(index) if inner.entered.is_none() && own.parent.is_none() => {
                return Origin::Parameter(*index);
            }
            ValueKind::ScriptKey(Some(index)) => return Origin::ScriptKey(*index),
            ValueKind::ScriptArgument(Some(index)) => return Origin::ScriptArgument(*index),
            ValueKind::Path(path) if program.may_change(&inner, path) => {}
            ValueKind::Path(path) => return Origin::Constant(program.constant_name(&inner, path)),
            ValueKind::Result(op) => {
                let site = Site { body: inner.body, op: *op };
                if let Some(origin) = program.value_source(site) {
                    return numbered(&origin, |number| inner.number(number));
                }
                if let Some(reading) = self.clock_behind(&inner, site) {
                    return reading;
                }
            }
            _ => {}
        }
        let way = self.path_of(frame, value);
        way.map_or_else(|| unknown_at(&inner, bare), |way| Origin::Field(way.shown()))
    }

    /// The clock's reading that a library's method shows in another form: `now.timestamp()`.
    fn clock_behind(&mut self, frame: &Frame<'_>, site: Site) -> Option<Origin> {
        let receiver = self.body_of(frame)?.call(site.op)?.receiver?;
        let targets = self.program.targets(site.body, site.op);
        let foreign = targets.is_none_or(|targets| targets.bodies.is_empty());
        let origin = foreign.then(|| self.origin_of(frame, receiver))?;
        let own = (u64::from(site.body.0) << 32) | u64::from(site.op.0);
        // The hour and the minute of one reading are two texts.
        matches!(origin, Origin::Clock(_)).then(|| origin_of_field(&origin, own))
    }

    /// How a person would name the value: its source text on one line, or its variable.
    pub(crate) fn label(&self, frame: &Frame<'_>, value: ValueId) -> String {
        let (frame, value) = self.bare(frame, value);
        let Some(body) = self.body_of(&frame) else { return "?".to_owned() };
        match body.kind(value) {
            ValueKind::ScriptKey(Some(index)) => return format!("KEYS[{index}]"),
            ValueKind::ScriptArgument(Some(index)) => return format!("ARGV[{index}]"),
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
fn unknown_at(frame: &Frame<'_>, value: ValueId) -> Origin {
    Origin::Unknown(number_of(frame, value))
}

/// The number of a value, told apart by the calls that lead to it.
pub(super) fn number_of(frame: &Frame<'_>, value: ValueId) -> u64 {
    frame.number((u64::from(frame.body.0) << 32) | u64::from(value.0))
}

/// An origin with another number, if it has one.
fn numbered(origin: &Origin, number: impl Fn(u64) -> u64) -> Origin {
    match origin {
        Origin::Reply(own) => Origin::Reply(number(*own)),
        Origin::Unknown(own) => Origin::Unknown(number(*own)),
        Origin::Random(secure, own) => Origin::Random(*secure, number(*own)),
        Origin::Clock(own) => Origin::Clock(number(*own)),
        other => other.clone(),
    }
}

/// What a callee's origin is to one call of it, parameters and receiver aside.
pub(super) fn origin_through(origin: &Origin, call: Site) -> Origin {
    numbered(origin, |number| frame::seen_through(number, call))
}

/// What a constructor sets, as a field of one value: that of another value is another.
pub(super) fn origin_of_field(origin: &Origin, of: u64) -> Origin {
    numbered(origin, |number| frame::mixed(number, of))
}

impl Program {
    /// An empty span at the start of a body's file, for values without a place.
    pub(crate) fn start_of(&self, body: BodyId) -> crate::source::Span {
        let file = self.body(body).map_or(crate::source::FileId(0), |body| body.file);
        crate::source::Span::new(file, 0, 0)
    }

    /// The name of a constant whose text is not known, the same wherever it is written.
    pub(super) fn constant_name(&self, frame: &Frame<'_>, path: &crate::ir::index::Path) -> String {
        let scope = self.scope_of(frame.body);
        match self.names.resolve(scope, path, Namespace::Value).0 {
            Named::External(full) => full.to_string(),
            Named::Constant(id) => format!("{path} {}.{}", id.file.0, id.index),
            _ => path.to_string(),
        }
    }

    /// Whether a name may stand for another value each time: a static that code writes to, or one that
    /// is nothing in sight and written as variables are (a macro may have made it).
    fn may_change(&self, frame: &Frame<'_>, path: &crate::ir::index::Path) -> bool {
        let scope = self.scope_of(frame.body);
        match (self.names.resolve(scope, path, Namespace::Value).0, path.0.as_slice()) {
            (Named::Constant(id), _) => self.constant(id).is_some_and(|constant| constant.written),
            (Named::Unknown, [name]) => {
                name.starts_with(|first: char| first.is_lowercase() || first == '_')
            }
            _ => false,
        }
    }

    /// A template of a body that no call in sight enters: its parameters are nobody's here.
    pub(crate) fn detached_template(&self, template: &KeyTemplate, body: BodyId) -> KeyTemplate {
        let apart = |hole: &Hole| match &hole.origin {
            Origin::Parameter(index) => {
                Origin::Unknown(frame::mixed(u64::from(body.0) + 1, u64::from(*index) + 1))
            }
            Origin::Field(path) => {
                let way = Way::parse(path);
                Origin::Field(way.apart(u64::from(body.0) + 1).shown())
            }
            other => other.clone(),
        };
        KeyTemplate::new(template.parts.iter().map(|part| match part {
            KeyPart::Text(_) => part.clone(),
            KeyPart::Hole(hole) => KeyPart::Hole(Hole { origin: apart(hole), ..hole.clone() }),
        }))
    }
}

/// The entry of a frame's parameter, when it was passed.
pub(super) fn passed<'f>(frame: &Frame<'f>, index: u32) -> Option<(&'f Frame<'f>, ValueId)> {
    let Entry { outer, arguments, .. } = frame.entered?;
    Some((outer, arguments.get(index as usize).copied()?))
}
