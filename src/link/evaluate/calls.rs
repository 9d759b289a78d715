//! The text of a call's result: key-builder functions, text functions, digests, random sources.

use super::{Evaluator, Frame, MOST_ALTERNATIVES, Segment, Segments, holes_of};
use crate::ir::body::{Call, Callee, OpId};
use crate::ir::effect::{BodyId, Site};
use crate::ir::key::{HoleStep, Origin};
use crate::ir::value::{Literal, Text, ValueId, ValueKind};

impl Evaluator<'_> {
    /// The texts of a call's result; `None` when nothing is known.
    pub(super) fn call_text(&mut self, frame: &Frame<'_>, op: OpId) -> Option<Vec<Segments>> {
        let call = self.body_of(frame)?.call(op)?;
        if let Some(targets) = self.program.targets(frame.body, op)
            && !targets.bodies.is_empty()
        {
            let bodies: Vec<BodyId> =
                targets.bodies.iter().copied().take(MOST_ALTERNATIVES).collect();
            return self.workspace_text(frame, (op, call), &bodies);
        }
        let site = Site { body: frame.body, op };
        if let Some(step) = self.program.digest_step(site) {
            return self.digested_text(frame, call, step);
        }
        self.text_function(frame, call)
    }

    fn workspace_text(
        &mut self,
        frame: &Frame<'_>,
        (op, call): (OpId, &Call),
        bodies: &[BodyId],
    ) -> Option<Vec<Segments>> {
        let mut all: Vec<Segments> = Vec::new();
        for body in bodies {
            let (arguments, receiver) = self.program.bound_arguments(*body, call);
            let inner = frame.called(*body, Some(op), receiver, &arguments);
            for segments in self.returned_text(&inner)? {
                if !all.contains(&segments) {
                    all.push(segments);
                }
            }
        }
        // A function that only wraps something unknown tells less than the call itself.
        let telling = |segments: &Segments| {
            segments.iter().any(|segment| match segment {
                Segment::Text(_) => true,
                Segment::Hole(hole) => {
                    !hole.steps.is_empty() || !matches!(hole.origin, Origin::Unknown(_))
                }
            })
        };
        all.iter().all(telling).then_some(all)
    }

    /// A digest or encoding: the holes of what goes in, with one more step.
    fn digested_text(
        &mut self,
        frame: &Frame<'_>,
        call: &Call,
        step: HoleStep,
    ) -> Option<Vec<Segments>> {
        let input = self.digested_input(frame, call)?;
        let mut all = self.text(frame, input);
        for hole in holes_of(&mut all) {
            hole.steps.push(step);
        }
        // What was literal is no longer readable either: only holes are kept.
        for segments in &mut all {
            segments.retain(|segment| matches!(segment, Segment::Hole(_)));
        }
        all.retain(|segments| !segments.is_empty());
        Some(all)
    }

    /// What a digest is of: what was fed into its state, or its argument, or its receiver.
    fn digested_input(&self, frame: &Frame<'_>, call: &Call) -> Option<ValueId> {
        let body = self.body_of(frame)?;
        let argument = call.arguments.last().map(|argument| argument.value);
        let Some(receiver) = call.receiver else { return argument };
        let (_, state) = self.program.source_of(frame.body, receiver);
        let mut fed = None;
        for (_, _, other) in body.calls() {
            let feeds = matches!(&other.callee, Callee::Method(name) if name == "update" || name == "chain_update");
            let into = other.receiver.map(|value| self.program.source_of(frame.body, value).1);
            if feeds && into == Some(state) {
                fed = other.arguments.first().map(|argument| argument.value).or(fed);
            }
        }
        fed.or(argument).or(Some(receiver))
    }

    /// Functions on text and sequences that every standard library has.
    fn text_function(&mut self, frame: &Frame<'_>, call: &Call) -> Option<Vec<Segments>> {
        let receiver = call.receiver?;
        let arguments: Vec<ValueId> =
            call.arguments.iter().map(|argument| argument.value).collect();
        match (call.callee.name()?, arguments.as_slice()) {
            ("replace" | "replacen", [from, to, ..]) => self.replaced(frame, receiver, *from, *to),
            (
                "iter" | "into_iter" | "iter_mut" | "collect" | "rev" | "peekable" | "as_bytes",
                [],
            ) => Some(self.text(frame, receiver)),
            _ => None,
        }
    }

    fn replaced(
        &mut self,
        frame: &Frame<'_>,
        whole: ValueId,
        from: ValueId,
        to: ValueId,
    ) -> Option<Vec<Segments>> {
        let needle = match self.body_of(frame)?.kind(self.body_of(frame)?.peel(from)) {
            ValueKind::Literal(Literal::Text(text)) => text.content.clone(),
            _ => return None,
        };
        let filling = self.text(frame, to).into_iter().next()?;
        let mut all = self.text(frame, whole);
        for segments in &mut all {
            *segments =
                segments.iter().flat_map(|segment| fill(segment, &needle, &filling)).collect();
        }
        Some(all)
    }
}

/// A segment with each occurrence of a needle in its text replaced.
fn fill(segment: &Segment, needle: &str, filling: &Segments) -> Segments {
    let Segment::Text(text) = segment else { return vec![segment.clone()] };
    if needle.is_empty() {
        return vec![segment.clone()];
    }
    let mut filled = Segments::new();
    let mut rest = 0;
    for (at, found) in text.content.match_indices(needle) {
        filled.extend(cut(text, rest, at));
        filled.extend(filling.iter().cloned());
        rest = at + found.len();
    }
    filled.extend(cut(text, rest, text.content.len()));
    filled
}

/// The part of a text between two offsets; nothing when it is empty.
fn cut(text: &Text, start: usize, end: usize) -> Option<Segment> {
    (start < end).then(|| Segment::Text(text.part(start, end)))
}
