//! Fields: of a value built in sight, or of a type whose every constructor sets it alike; and the
//! display form of the workspace's own types.

use std::collections::{BTreeMap, BTreeSet};

use super::origin::{number_of, origin_of_field};
use super::path::{Way, hash};
use super::{Entry, Evaluator, Frame, Segment, Segments, holes_of};
use crate::ir::body::{BlockId, Body, Callee, Terminator, Test};
use crate::ir::effect::BodyId;
use crate::ir::key::Origin;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::{Program, TypeId};

/// How many places may build a type before its fields are taken for unknown.
const MOST_CONSTRUCTORS: usize = 12;

/// Traits whose one method writes a value's text, and that method.
const DISPLAYS: [(&str, &str); 3] =
    [("Display", "fmt"), ("ToRedisArgs", "write_redis_args"), ("AsRef", "as_ref")];

/// Methods and macros that a display method writes its text with: name, index of the text.
const WRITERS: [(&str, usize); 7] = [
    ("write", 1),
    ("writeln", 1),
    ("write_str", 0),
    ("write_fmt", 0),
    ("write_arg", 0),
    ("write_arg_fmt", 0),
    ("pad", 0),
];

impl Evaluator<'_> {
    /// The texts of `base.name`; `None` when nothing is known.
    pub(super) fn field_text(
        &mut self,
        frame: &Frame<'_>,
        base: ValueId,
        name: &str,
    ) -> Option<Vec<Segments>> {
        self.seen_field(frame, base, name, 0).or_else(|| self.constructed_field(frame, base, name))
    }

    /// The field of an aggregate that is built where this evaluation can see it.
    fn seen_field(
        &mut self,
        frame: &Frame<'_>,
        base: ValueId,
        name: &str,
        depth: usize,
    ) -> Option<Vec<Segments>> {
        if depth > 24 {
            return None;
        }
        let body = self.body_of(frame)?;
        match body.kind(base) {
            ValueKind::Aggregate { fields, base: rest, path } => {
                let found = fields.iter().find(|(field, _)| field == name).map(|(_, value)| *value);
                if let Some(value) = found {
                    let ty = super::workspace::built_type(&self.program.resolve(frame.body, path));
                    let later = ty.is_some_and(|ty| self.program.is_assigned(ty, name));
                    return (!later).then(|| self.text(frame, value));
                }
                match (path.last(), fields.as_slice()) {
                    (Some(last), [(_, inner)]) if super::is_success(last) => {
                        self.seen_field(frame, *inner, name, depth + 1)
                    }
                    _ => self.seen_field(frame, (*rest)?, name, depth + 1),
                }
            }
            ValueKind::List(values) => {
                let value = *values.get(name.parse::<usize>().ok()?)?;
                Some(self.text(frame, value))
            }
            ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => {
                self.seen_field(frame, *value, name, depth + 1)
            }
            ValueKind::Payload { of, variant, .. } if super::is_success(variant) => {
                self.seen_field(frame, *of, name, depth + 1)
            }
            ValueKind::Adapted { value, adapter, .. } if super::keeps_success(*adapter) => {
                self.seen_field(frame, *value, name, depth + 1)
            }
            ValueKind::Receiver => {
                let Entry { outer, receiver, .. } = frame.entered?;
                self.seen_field(outer, receiver?, name, depth + 1)
            }
            ValueKind::Parameter(index) => {
                let Entry { outer, arguments, .. } = frame.entered?;
                self.seen_field(outer, *arguments.get(*index as usize)?, name, depth + 1)
            }
            ValueKind::Captured(value) => {
                let parent = self.program.body(frame.body)?.parent?;
                self.seen_field(&frame.around(parent), *value, name, depth + 1)
            }
            ValueKind::Result(op) => {
                let call = body.call(*op)?;
                let targets = self.program.targets(frame.body, *op)?;
                let [callee] = targets.bodies.as_slice() else { return None };
                let (arguments, receiver) = self.program.bound_arguments(*callee, call);
                let inner = frame.called(*callee, Some(*op), receiver, &arguments);
                if inner.depth > super::MOST_FRAMES {
                    return None;
                }
                let returned = super::returned_values(self.body_of(&inner)?);
                let [value] = returned.as_slice() else { return None };
                self.seen_field(&inner, *value, name, depth + 1)
            }
            _ => None,
        }
    }

    /// The field as every constructor of the base's type sets it, when they agree on its literal
    /// text. Holes are those of the constructor and become field paths of the base.
    fn constructed_field(
        &mut self,
        frame: &Frame<'_>,
        base: ValueId,
        name: &str,
    ) -> Option<Vec<Segments>> {
        let ty = self.type_of(frame, base)?;
        let makers = self.program.constructors(ty);
        let unsure = makers.is_empty() || makers.len() > MOST_CONSTRUCTORS;
        if unsure || self.program.is_assigned(ty, name) {
            return None;
        }
        let mut agreed: Option<(String, Segments)> = None;
        for (body, value) in makers {
            let inner = frame.apart(*body);
            let mut texts = self.seen_field(&inner, *value, name, 0)?;
            let segments = if texts.len() == 1 { texts.remove(0) } else { return None };
            let skeleton = super::into_template(segments.clone()).skeleton();
            match &agreed {
                Some((before, _)) if *before != skeleton => return None,
                Some(_) => {}
                None => agreed = Some((skeleton, segments)),
            }
        }
        let (_, segments) = agreed?;
        let literal = segments.iter().any(|segment| matches!(segment, Segment::Text(_)));
        let path = self.path_of(frame, base);
        let of = path.as_ref().map_or_else(|| number_of(frame, base), |way| hash(&way.shown()));
        let way = path.unwrap_or_else(|| Way::parse("?").apart(number_of(frame, base)));
        let mut all = vec![segments];
        for (number, hole) in holes_of(&mut all).enumerate() {
            hole.origin = match &hole.origin {
                Origin::Constant(_) => continue,
                Origin::Random(..) | Origin::Clock(_) => origin_of_field(&hole.origin, of),
                _ => {
                    let step =
                        if literal { format!(".{name}/{number}") } else { format!(".{name}") };
                    Origin::Field(way.clone().then(&step).shown())
                }
            };
        }
        // A field that is just a parameter of the constructor is better named by its own path.
        let telling = literal
            || all.iter().flatten().any(|segment| match segment {
                Segment::Hole(hole) => {
                    !hole.steps.is_empty()
                        || matches!(hole.origin, Origin::Random(..) | Origin::Clock(_))
                }
                Segment::Text(_) => true,
            });
        telling.then_some(all)
    }

    fn type_of(&self, frame: &Frame<'_>, value: ValueId) -> Option<TypeId> {
        super::workspace_type(&self.program.type_of(frame.body, value))
    }

    /// The text of an element or of a variant's field.
    pub(super) fn part_text(&mut self, frame: &Frame<'_>, value: ValueId) -> Option<Vec<Segments>> {
        match self.body_of(frame)?.kind(value) {
            ValueKind::Element { base, index } => {
                let body = self.body_of(frame)?;
                match (body.kind(body.peel(*base)), index) {
                    (ValueKind::List(values), Some(index)) => {
                        let at = usize::try_from(self.integer(frame, *index)?).ok()?;
                        let value = *values.get(at)?;
                        Some(self.text(frame, value))
                    }
                    (ValueKind::List(values), None) => {
                        let values = values.clone();
                        Some(
                            self.alternatives(values, |evaluator, value| {
                                evaluator.text(frame, value)
                            }),
                        )
                    }
                    _ => None,
                }
            }
            ValueKind::Payload { of, field, .. } => {
                let (of, field) = (*of, field.clone());
                self.seen_field(frame, of, &field, 0)
            }
            _ => None,
        }
    }

    /// The text that a workspace type's own display method writes of a value.
    pub(super) fn displayed(&mut self, frame: &Frame<'_>, value: ValueId) -> Option<Vec<Segments>> {
        let ty = self.type_of(frame, value)?;
        let (body, writer) = self.program.display_method(ty)?;
        let variant = self.variant_of(frame, value);
        let written = self.written_value(body, writer, variant.as_deref())?;
        let inner = frame.called(body, None, Some(value), &[]);
        Some(self.text(&inner, written))
    }

    /// The variant that a value is, when it is built in sight.
    fn variant_of(&self, frame: &Frame<'_>, value: ValueId) -> Option<String> {
        let body = self.body_of(frame)?;
        match body.kind(body.peel(value)) {
            ValueKind::Aggregate { path, .. } | ValueKind::Path(path) => {
                path.last().map(str::to_owned)
            }
            _ => None,
        }
    }

    /// What a display method writes, when it writes once for the variant.
    fn written_value(&self, body: BodyId, method: &str, variant: Option<&str>) -> Option<ValueId> {
        let body = &self.program.body(body)?.body;
        if method == "as_ref" {
            let returned = super::returned_values(body);
            return (returned.len() == 1).then(|| returned.first().copied()).flatten();
        }
        let reached = reached_for(body, variant);
        let mut written = Vec::new();
        for (block, _, call) in body.calls() {
            if !reached.contains(&block) {
                continue;
            }
            let Some(name) = call.callee.name() else { continue };
            if let Some((_, index)) = WRITERS.iter().find(|(writer, _)| *writer == name) {
                written.push(call.arguments.get(*index)?.value);
            } else if name == method && matches!(call.callee, Callee::Method(_)) {
                written.push(call.receiver?);
            }
        }
        (written.len() == 1).then(|| written.first().copied()).flatten()
    }
}

/// The blocks that a method of an enum can run when its receiver is of one variant; all of them
/// when the variant is not known.
fn reached_for(body: &Body, variant: Option<&str>) -> BTreeSet<BlockId> {
    let mut reached = BTreeSet::from([BlockId(0)]);
    let mut waiting = vec![BlockId(0)];
    while let Some(id) = waiting.pop() {
        let Some(block) = body.block(id) else { continue };
        let next = match (&block.end, variant) {
            (
                Terminator::Branch {
                    test: Test::Matches { value, pattern }, then, otherwise, ..
                },
                Some(variant),
            ) if matches!(body.kind(body.peel(*value)), ValueKind::Receiver) => {
                match pattern.variant() {
                    Some(name) if name == variant => vec![*then],
                    Some(_) => vec![*otherwise],
                    None => block.end.successors(),
                }
            }
            (end, _) => end.successors(),
        };
        waiting.extend(next.into_iter().filter(|block| reached.insert(*block)));
    }
    reached
}

/// Where each workspace type is built, by type.
pub(crate) type Constructors = BTreeMap<TypeId, Vec<(BodyId, ValueId)>>;

impl Program {
    /// The places that build a type, in body order; empty when none is seen.
    #[must_use]
    pub fn constructors(&self, ty: TypeId) -> &[(BodyId, ValueId)] {
        let all = self.evaluated.constructors.get_or_init(|| self.find_constructors());
        all.get(&ty).map_or(&[], Vec::as_slice)
    }

    fn find_constructors(&self) -> Constructors {
        let mut all = Constructors::new();
        for body in &self.bodies {
            for (index, value) in body.body.values.iter().enumerate() {
                let ValueKind::Aggregate { path, .. } = &value.kind else { continue };
                let id = ValueId(u32::try_from(index).unwrap_or(u32::MAX));
                if let Some(ty) = super::workspace::built_type(&self.resolve(body.id, path)) {
                    all.entry(ty).or_default().push((body.id, id));
                }
            }
        }
        all
    }

    /// The method by which a type writes its text, and its name.
    fn display_method(&self, ty: TypeId) -> Option<(BodyId, &'static str)> {
        DISPLAYS.iter().find_map(|(trait_name, method)| {
            let function = self.trait_method(ty, trait_name, method)?;
            Some((self.function_body(function)?, *method))
        })
    }
}
