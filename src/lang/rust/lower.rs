//! The second step of the Rust front-end: the body of one item as `ir`.
//!
//! An item's text is parsed on its own and walked once. Variables are bound to values as the walk
//! goes; where paths meet, joins are made. What the language means is said in the terms of `ir`:
//! `?` is a branch on the success side and a return on the other, `match` a chain of tests, a
//! string literal is decoded text that knows its bytes. Nothing is known of libraries beyond the
//! standard adapters of options, results and text.
//!
//! The body of an `async fn` is one `Function` body. A closure is a `Closure` body and an async
//! block an `Async` body; `async |x| { … }` is a closure whose body gives an async block. An outer
//! variable seen in a nested body is `Captured`, through every level in between.

use crate::ir::body::{Body, BodyIndex, BodyKind, Exit, Lowered, Problem, ProblemKind, Terminator};
use crate::ir::index::{FileIndex, ItemId};
use crate::ir::value::{ValueId, ValueKind};
use crate::source::{SourceFile, Span, Tree};

use super::slice::{self, Form, Slice};
use super::span::Place;
use crate::lang::Surroundings;
use builder::Frame;

mod adapters;
mod assigned;
mod builder;
mod calls;
mod closures;
mod conditions;
mod control;
mod expanded;
mod expressions;
mod items;
mod literals;
mod macros;
mod operators;
mod order;
mod patterns;
mod places;
mod scopes;
mod statements;
mod templates;
#[cfg(test)]
mod tests;
mod variables;

/// How deep expressions and blocks may nest before a part is given up.
const MAX_DEPTH: u32 = 300;

/// How deep macros may nest in each other.
const MAX_MACRO_DEPTH: u32 = 32;

/// The body of an item, and the bodies of the closures and async blocks in it. There is always a
/// body 0; it is empty when the item could not be read, and then a problem says so.
pub(crate) fn lower(
    file: &SourceFile,
    index: &FileIndex,
    item: ItemId,
    around: &Surroundings<'_>,
) -> Lowered {
    let Some(slice) = slice::slice(file, index, item) else { return Lowered::default() };
    let calls = expanded::Calls::of(index, item, around);
    let mut lowerer = Lowerer::new(file, around.tree, &slice, calls);
    if let Err(error) = lowerer.item(&slice) {
        let span = slice.place.span(error.span());
        let message = format!("cannot read this item: {error}");
        lowerer.problems.push(Problem { span, message, kind: ProblemKind::Syntax });
    }
    let lowered = lowerer.finish();
    proc_macro2::extra::invalidate_current_thread_spans();
    lowered
}

/// What is known while one item is lowered.
struct Lowerer<'a> {
    file: &'a SourceFile,
    tree: &'a Tree,
    place: Place,
    /// The body being built.
    frame: Frame,
    /// The bodies around it, outermost first.
    outer: Vec<Frame>,
    /// Finished bodies by number; `None` while one is being built.
    bodies: Vec<Option<Body>>,
    problems: Vec<Problem>,
    depth: u32,
    macro_depth: u32,
    /// Macros of the program that are called.
    calls: expanded::Calls<'a>,
}

impl<'a> Lowerer<'a> {
    fn new(
        file: &'a SourceFile,
        tree: &'a Tree,
        slice: &Slice<'_>,
        calls: expanded::Calls<'a>,
    ) -> Self {
        let kind = match slice.form {
            Form::Constant | Form::AssociatedConstant => BodyKind::Initialiser,
            Form::Function | Form::Method | Form::TraitMethod => BodyKind::Function,
        };
        Self {
            file,
            tree,
            place: slice.place.clone(),
            frame: Frame::new(BodyIndex(0), Body::new(kind, None, slice.span)),
            outer: Vec::new(),
            bodies: vec![None],
            problems: Vec::new(),
            depth: 0,
            macro_depth: 0,
            calls,
        }
    }

    fn finish(self) -> Lowered {
        let Self { frame, mut bodies, mut problems, calls, .. } = self;
        if let Some(first) = bodies.first_mut() {
            *first = Some(frame.finish());
        }
        problems.sort();
        problems.dedup();
        let macros = calls.into_notes();
        Lowered { bodies: bodies.into_iter().flatten().collect(), macros, problems }
    }

    /// Builds a nested body and gives its number. `moves` says whether it takes what it names by
    /// value.
    fn nested(
        &mut self,
        kind: BodyKind,
        span: Span,
        moves: bool,
        build: impl FnOnce(&mut Self),
    ) -> BodyIndex {
        let index = BodyIndex(u32::try_from(self.bodies.len()).unwrap_or(u32::MAX));
        self.bodies.push(None);
        let body = Body::new(kind, Some(self.frame.index), span);
        let mut frame = Frame::new(index, body);
        frame.moves = moves;
        self.outer.push(std::mem::replace(&mut self.frame, frame));
        build(self);
        if let Some(parent) = self.outer.pop() {
            let done = std::mem::replace(&mut self.frame, parent);
            self.moved_into(&done);
            self.changed_by(&done);
            if let Some(slot) = self.bodies.get_mut(index.0 as usize) {
                *slot = Some(done.finish());
            }
        }
        index
    }

    /// Ends the body with its value.
    fn tail(&mut self, value: ValueId, span: Span) {
        self.frame.leave(0, span);
        if self.frame.is_exhausted() {
            let span = Span { end: self.frame.body.span.start, ..self.frame.body.span };
            self.limit(span, "too many variables and ways out of here to follow what is dropped");
        }
        if self.frame.live() {
            let value = (value != self.frame.unit()).then_some(value);
            self.frame.end(Terminator::Return { value, exit: Exit::Tail, span });
        }
    }

    fn value(&mut self, kind: ValueKind, span: Span) -> ValueId {
        self.frame.value(kind, span)
    }

    fn unknown(&mut self, span: Span) -> ValueId {
        self.value(ValueKind::Unknown, span)
    }

    /// Says that a bound was met here.
    fn limit(&mut self, span: Span, message: &str) {
        self.problems.push(Problem { span, message: message.to_owned(), kind: ProblemKind::Limit });
    }
}
