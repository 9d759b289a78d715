//! A script's syntax tree to bodies.
//!
//! Local variables become values: an assignment gives a variable another value, and where paths
//! meet a `Join` is made for each variable whose value differs. Fields of local tables that are
//! written by name (`t.key = …`, `t[1] = …`) are followed the same way. Local functions are inlined where they
//! are called, so that a guard in a helper guards what its caller does; one that calls itself, or
//! lies too deep, is a nested body and its call is a `Callee::Value`. A function nobody calls is
//! not lowered.
//!
//! Conventions, for readers of the result:
//! * `redis.call` and its aliases are calls of `redis::call` (`server.call`, too), `redis.pcall` of
//!   `redis::pcall`; `pcall(redis.call, …)` is `redis::call`, and its first result is a `Matches`
//!   of the success side. The call's name span is the command word.
//! * `unpack(t)` is an `Element` of `t` without index, as an argument: any number of words.
//! * `#t` is a call of the path `#`. The n-th extra result of a call is its field `"n"` (from 1).
//! * Globals are `Path` values; assigning one is a `Store` to such a value.
//! * Lua has no destructors, so there are no `ScopeEnd` operations.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use crate::ir::body::{
    BlockId, Body, BodyKind, Exit, Lowered, OpKind, Problem, ProblemKind, Terminator, Test,
};
use crate::ir::index::Path;
use crate::ir::value::{HOLE, Literal, Text, ValueId, ValueKind};
use crate::lang::cursor;
use crate::source::Span;

mod call;
mod compact;
mod condition;
mod expression;
mod flow;
mod function;
mod redis;
mod statement;
mod variable;

use flow::Flow;
use function::{Function, Inlined};
use variable::{Bindings, FieldWrite, VariableId};

/// Expressions and blocks inside one another, inlined functions included.
const MAXIMUM_DEPTH: u32 = 200;
/// Values of all bodies of one script.
const MAXIMUM_VALUES: usize = 60_000;
/// Syntax problems reported of one script.
const MAXIMUM_PROBLEMS: usize = 8;

/// Which part of a chunk is the item.
pub enum Part<'t> {
    /// All of it: a script.
    Chunk,
    /// The callback of one `redis.register_function`; the chunk around it runs first.
    Callback(Node<'t>),
}

/// Lowers a parsed script.
#[must_use]
pub fn lower<'t>(text: &'t Text, source: &'t str, root: Node<'t>, part: &Part<'t>) -> Lowered {
    let span = match part {
        Part::Chunk => text.place(0, text.content.len()),
        Part::Callback(node) => text.place(node.start_byte(), node.end_byte()),
    };
    let mut lowerer = Lowerer::new(text, source, span);
    lowerer.syntax_problems(root);
    lowerer.open_block(root);
    if let Part::Callback(node) = part {
        lowerer.callback(*node);
    }
    lowerer.leave(None, Exit::Tail, span);
    lowerer.bodies.iter_mut().for_each(compact::compact);
    Lowered { bodies: lowerer.bodies, problems: lowerer.problems, macros: Vec::new() }
}

/// What is known while a script is lowered.
struct Lowerer<'t> {
    text: &'t Text,
    source: &'t str,
    /// Whether a host language puts something into the text: it may define any name.
    has_holes: bool,
    bodies: Vec<Body>,
    problems: Vec<Problem>,
    /// The body that is being written.
    current: usize,
    flow: Flow,
    bindings: Bindings,
    /// Globals that the script assigns.
    globals: BTreeMap<String, VariableId>,
    /// Variables that stand for a field of a local table, by table and field.
    fields: BTreeMap<(VariableId, String), VariableId>,
    /// Fields of local tables that are written after the table was made.
    changed: BTreeSet<FieldWrite>,
    functions: Vec<Function<'t>>,
    /// Which value of which body is which function.
    function_values: BTreeMap<(usize, ValueId), usize>,
    /// The functions being inlined, outermost first.
    inlined: Vec<Inlined>,
    /// Where `break` goes, innermost last.
    breaks: Vec<BlockId>,
    /// What `...` stands for, in the function being lowered.
    varargs: Vec<ValueId>,
    loop_depth: u32,
    depth: u32,
    /// Values of all bodies.
    value_count: usize,
}

impl<'t> Lowerer<'t> {
    fn new(text: &'t Text, source: &'t str, span: Span) -> Self {
        Self {
            text,
            source,
            has_holes: text.content.contains(HOLE) || text.content != source,
            bodies: vec![Body::new(BodyKind::Script, None, span)],
            problems: Vec::new(),
            current: 0,
            flow: Flow::new(),
            bindings: Bindings::default(),
            globals: BTreeMap::new(),
            fields: BTreeMap::new(),
            changed: BTreeSet::new(),
            functions: Vec::new(),
            function_values: BTreeMap::new(),
            inlined: Vec::new(),
            breaks: Vec::new(),
            varargs: Vec::new(),
            loop_depth: 0,
            depth: 0,
            value_count: 0,
        }
    }

    /// The body being written.
    fn body(&mut self) -> &mut Body {
        if self.current >= self.bodies.len() {
            self.current = 0;
        }
        // The list is never empty: it starts with the script's body and only grows.
        #[allow(clippy::indexing_slicing)]
        &mut self.bodies[self.current]
    }

    fn kind(&self, value: ValueId) -> &ValueKind {
        self.bodies.get(self.current).map_or(&ValueKind::Unknown, |body| body.kind(value))
    }

    fn span(&self, node: Node<'_>) -> Span {
        self.text.place(node.start_byte(), node.end_byte())
    }

    /// The text of a node as it is parsed.
    fn source_of(&self, node: Node<'_>) -> &'t str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn add(&mut self, kind: ValueKind, span: Span) -> ValueId {
        self.value_count += 1;
        let value = self.body().add_value(kind, span);
        if let Some(given) = self.flow.given {
            self.body().givens.made(value, given);
        }
        value
    }

    fn unknown(&mut self, span: Span) -> ValueId {
        self.add(ValueKind::Unknown, span)
    }

    fn nothing(&mut self, span: Span) -> ValueId {
        self.add(ValueKind::Literal(Literal::Nothing), span)
    }

    fn path(&mut self, parts: &[&str], span: Span) -> ValueId {
        let path = Path(parts.iter().map(|part| (*part).to_owned()).collect());
        self.add(ValueKind::Path(path), span)
    }

    fn operation(&mut self, kind: OpKind, span: Span) -> crate::ir::body::OpId {
        let block = self.flow.block;
        self.body().add_op(block, kind, span)
    }

    /// Runs one step deeper, or `otherwise` where that is too deep or too much already.
    fn deeper<R>(
        &mut self,
        node: Node<'t>,
        otherwise: impl FnOnce(&mut Self) -> R,
        step: impl FnOnce(&mut Self) -> R,
    ) -> R {
        if self.depth >= MAXIMUM_DEPTH || self.value_count >= MAXIMUM_VALUES {
            self.limit(node);
            return otherwise(self);
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }

    fn limit(&mut self, node: Node<'_>) {
        if self.problems.iter().any(|problem| problem.kind == ProblemKind::Limit) {
            return;
        }
        let message = "the script is too deep or too long to be followed further".to_owned();
        self.problems.push(Problem { span: self.span(node), message, kind: ProblemKind::Limit });
    }

    fn syntax_problems(&mut self, root: Node<'_>) {
        for fault in cursor::faults(root, MAXIMUM_PROBLEMS) {
            let message = match fault.missing {
                Some(token) => format!("`{token}` is missing in this Lua code"),
                None => "this Lua code does not parse".to_owned(),
            };
            let span = self.text.place(fault.start, fault.end);
            self.problems.push(Problem { span, message, kind: ProblemKind::Syntax });
        }
    }

    /// Leaves the function being lowered with a value: the body, or the function inlined in it.
    fn leave(&mut self, value: Option<ValueId>, exit: Exit, span: Span) {
        if self.flow.reachable {
            self.end(Terminator::Return { value, exit, span });
        }
        self.unreachable();
    }
}
