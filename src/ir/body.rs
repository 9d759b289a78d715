//! Bodies: operations in blocks, and edges that carry a condition.
//!
//! A body is what one function, closure, async block, script or constant initialiser runs. Block 0
//! is the entry. Leaving a scope early (`return`, `?`, `break`) passes a [`OpKind::ScopeEnd`] for
//! every scope left, so that exit actions (Drop) happen on each path.

use std::collections::{BTreeMap, BTreeSet};

use super::given::Givens;
use super::index::{Path, TypeRef};
use super::value::{Pattern, Value, ValueId, ValueKind};
use crate::source::Span;

mod ends;

/// An operation of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(pub u32);

/// A block of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// A body of one lowered item: 0 is the item's own, others are its closures and async blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyIndex(pub u32);

/// What an item was lowered to.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// Index 0 is the item's own body; nested ones follow in source order.
    pub bodies: Vec<Body>,
    /// What the macro calls in it are that a front-end does not know by name, in source order.
    pub macros: Vec<MacroNote>,
    /// What could not be lowered, and where.
    pub problems: Vec<Problem>,
}

/// A macro call in a body, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroNote {
    /// The whole call.
    pub span: Span,
    /// The macro, as written.
    pub name: Path,
    /// The rules that it was expanded by.
    pub definition: Option<Span>,
    /// The text that it stands for, cut where it is long; else why that is not known.
    pub made: Result<String, &'static str>,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What, in one sentence without a full stop.
    pub message: String,
    /// Whether code was lost (`syntax-error`), or only a bound was met (`analysis-limit`).
    pub kind: ProblemKind,
}

/// What a problem cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// Source that does not parse; the part named was not linted.
    Syntax,
    /// The analysis gave up on something within a bound.
    Limit,
}

/// Why a body exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A function or method.
    Function,
    /// A closure: `?` and `return` leave the closure.
    Closure,
    /// An async block (or the body of an async closure): `?` and `return` leave the block.
    Async,
    /// A Redis script or a Redis Function's callback.
    Script,
    /// The initialiser of a constant, static or field default.
    Initialiser,
}

/// One body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Why it exists.
    pub kind: BodyKind,
    /// The enclosing body, for closures and async blocks.
    pub parent: Option<BodyIndex>,
    /// The type written for what it gives back (once it was waited for); of closures, whose header is
    /// nowhere else.
    pub returns: Option<TypeRef>,
    /// Parameter values in order, the receiver not counted; index n is `ValueKind::Parameter(n)`.
    pub parameters: Vec<ValueId>,
    /// All values.
    pub values: Vec<Value>,
    /// All operations.
    pub ops: Vec<Op>,
    /// All blocks; 0 is the entry.
    pub blocks: Vec<Block>,
    /// The block that each value of a join comes from, in order; not of every front-end.
    pub ways: BTreeMap<ValueId, Vec<BlockId>>,
    /// Fields that are given out for change, or that a method changes: `&mut self.name`.
    pub lent: BTreeSet<ValueId>,
    /// What was decided on the way to each value; not of every front-end.
    pub givens: Givens,
    /// What a script's first line tells the server of it: `flags=no-cluster,allow-cross-slot-keys`.
    pub flags: Vec<String>,
    /// The whole source of the body.
    pub span: Span,
}

/// A straight run of operations and how it ends.
#[derive(Clone, Debug)]
pub struct Block {
    /// In order.
    pub ops: Vec<OpId>,
    /// How it ends.
    pub end: Terminator,
    /// How many loops are around it.
    pub loop_depth: u32,
}

/// How a block ends.
#[derive(Clone, Debug)]
pub enum Terminator {
    /// Goes on elsewhere.
    Goto(BlockId),
    /// Two ways.
    Branch {
        /// What decides.
        test: Test,
        /// Where the test holds.
        then: BlockId,
        /// Where it does not.
        otherwise: BlockId,
        /// The test's source.
        span: Span,
    },
    /// One of several, with nothing known of which (`select!`, concurrent arms).
    Choice(Vec<BlockId>),
    /// Leaves the body with a value.
    Return {
        /// The value.
        value: Option<ValueId>,
        /// Why.
        exit: Exit,
        /// The statement, or the expression that `?` follows.
        span: Span,
    },
    /// Ends the process or unwinds: `panic!`, `unreachable!`, `process::exit`, `error(…)`.
    Panic(Span),
    /// Never reached, or not finished by the front-end.
    Unreachable,
}

/// Why a body is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The end of the body.
    Tail,
    /// An explicit `return`.
    Return,
    /// A failure passed on: `?`, `throw`.
    Propagated,
}

/// What a branch tests.
#[derive(Clone, Debug)]
pub enum Test {
    /// A boolean value is true.
    True(ValueId),
    /// A value matches a pattern.
    Matches {
        /// The value.
        value: ValueId,
        /// The pattern.
        pattern: Pattern,
    },
    /// Another element is there (the head of a loop over these values); opaque otherwise.
    Opaque(Vec<ValueId>),
}

/// An operation.
#[derive(Clone, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Its source.
    pub span: Span,
}

/// What an operation does.
#[derive(Clone, Debug)]
pub enum OpKind {
    /// Calls something.
    Call(Call),
    /// Waits for a future: this is where an async callee or async block runs.
    Await {
        /// The future.
        value: ValueId,
        /// The `Awaited` value.
        result: ValueId,
    },
    /// Writes to a field, element or captured variable.
    Store {
        /// The place written: a `Field`, `Element` or `Captured` value.
        place: ValueId,
        /// What is written.
        value: ValueId,
    },
    /// Variables that go out of scope here, last declared first.
    ScopeEnd(Vec<ValueId>),
    /// An expression statement: the value is thrown away here.
    Discard {
        /// The value.
        value: ValueId,
        /// Whether the source says so on purpose (`let _ = x`, `drop(x)`, `_ = x`).
        explicit: bool,
    },
}

/// A call, as written.
#[derive(Clone, Debug)]
pub struct Call {
    /// What is called.
    pub callee: Callee,
    /// The value before the dot.
    pub receiver: Option<ValueId>,
    /// The arguments in order.
    pub arguments: Vec<Argument>,
    /// Type arguments written at the call (`query_as::<_, Row>`, `set_nx::<_, _, bool>`).
    pub type_arguments: Vec<TypeRef>,
    /// The value it gives back: `Result` of this operation, or an `Adapted` value.
    pub result: ValueId,
    /// The name alone (`set_nx` in `con.set_nx(k, v)`): the primary place of most findings.
    pub name_span: Span,
}

/// An argument.
#[derive(Clone, Debug)]
pub struct Argument {
    /// Its keyword, in languages that have them; field names in logging macros.
    pub name: Option<String>,
    /// Its value.
    pub value: ValueId,
}

/// What is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A path: function, associated function, tuple constructor.
    Path(Path),
    /// A method by name; the receiver says on what.
    Method(String),
    /// A macro, `sqlx::query!` without the `!`.
    Macro(Path),
    /// A value that can be called: a closure parameter, a local closure, a field.
    Value(ValueId),
}

impl Callee {
    /// The last part of the name: `set_nx`, `query`; `None` for a called value.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Path(path) | Self::Macro(path) => path.last(),
            Self::Method(name) => Some(name),
            Self::Value(_) => None,
        }
    }
}

impl Body {
    /// An empty body of a kind: one unfinished block, no value.
    #[must_use]
    pub fn new(kind: BodyKind, parent: Option<BodyIndex>, span: Span) -> Self {
        let entry = Block { ops: Vec::new(), end: Terminator::Unreachable, loop_depth: 0 };
        Self {
            kind,
            parent,
            returns: None,
            parameters: Vec::new(),
            values: Vec::new(),
            ops: Vec::new(),
            blocks: vec![entry],
            ways: BTreeMap::new(),
            lent: BTreeSet::new(),
            givens: Givens::default(),
            flags: Vec::new(),
            span,
        }
    }

    /// The value with this number; `None` for a number of another body.
    #[must_use]
    pub fn value(&self, id: ValueId) -> Option<&Value> {
        self.values.get(id.0 as usize)
    }

    /// The kind of a value; `Unknown` for a number of another body.
    #[must_use]
    pub fn kind(&self, id: ValueId) -> &ValueKind {
        self.value(id).map_or(&ValueKind::Unknown, |value| &value.kind)
    }

    /// The operation with this number.
    #[must_use]
    pub fn op(&self, id: OpId) -> Option<&Op> {
        self.ops.get(id.0 as usize)
    }

    /// The call at an operation; `None` when it is no call.
    #[must_use]
    pub fn call(&self, id: OpId) -> Option<&Call> {
        match &self.op(id)?.kind {
            OpKind::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The call an operation stands for: an await stands for the call that made its future.
    #[must_use]
    pub fn call_behind(&self, op: OpId) -> OpId {
        let Some(OpKind::Await { value, .. }) = self.op(op).map(|op| &op.kind) else { return op };
        match self.kind(self.peel(*value)) {
            ValueKind::Result(call) => *call,
            _ => op,
        }
    }

    /// The block with this number.
    #[must_use]
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id.0 as usize)
    }

    /// All operations in block order, with their block and number.
    pub fn operations(&self) -> impl Iterator<Item = (BlockId, OpId, &Op)> {
        self.blocks.iter().enumerate().flat_map(move |(index, block)| {
            let block_id = BlockId(u32::try_from(index).unwrap_or(u32::MAX));
            block.ops.iter().filter_map(move |id| Some((block_id, *id, self.op(*id)?)))
        })
    }

    /// All calls in block order.
    pub fn calls(&self) -> impl Iterator<Item = (BlockId, OpId, &Call)> {
        self.operations().filter_map(|(block, id, op)| match &op.kind {
            OpKind::Call(call) => Some((block, id, call)),
            _ => None,
        })
    }

    /// The block of an operation, and its place among the block's operations.
    #[must_use]
    pub fn position(&self, op: OpId) -> Option<(BlockId, usize)> {
        self.blocks.iter().enumerate().find_map(|(index, block)| {
            let at = block.ops.iter().position(|other| *other == op)?;
            Some((BlockId(u32::try_from(index).ok()?), at))
        })
    }

    /// The blocks from which a block is reached in one step, in order.
    #[must_use]
    pub fn leading_to(&self, block: BlockId) -> Vec<BlockId> {
        let leads = |from: &&Block| from.end.successors().contains(&block);
        let ids = self.blocks.iter().enumerate().filter(|(_, from)| leads(from));
        ids.filter_map(|(index, _)| u32::try_from(index).ok().map(BlockId)).collect()
    }

    /// The values that meet where a block begins, each with the block that brings it; `None` when the
    /// value is not known to be one that meets there.
    #[must_use]
    pub fn incoming(&self, block: BlockId, value: ValueId) -> Option<Vec<(BlockId, ValueId)>> {
        let join = self.peel(value);
        let ValueKind::Join(values) = self.kind(join) else { return None };
        let before = self.ways.get(&join).filter(|ways| **ways == self.leading_to(block))?;
        Some(before.iter().copied().zip(values.iter().copied()).collect())
    }

    /// Every block that some blocks lead to, those included, by the ways on that `next` leaves open.
    #[must_use]
    pub fn reachable(
        &self,
        from: impl IntoIterator<Item = BlockId>,
        next: impl Fn(&Block) -> Vec<BlockId>,
    ) -> BTreeSet<BlockId> {
        let mut waiting: Vec<BlockId> = from.into_iter().collect();
        let mut seen: BTreeSet<BlockId> = waiting.iter().copied().collect();
        while let Some(block) = waiting.pop().and_then(|id| self.block(id)) {
            waiting.extend(next(block).into_iter().filter(|id| seen.insert(*id)));
        }
        seen
    }

    /// Where a run may begin: the entry, and every block that nothing leads to (a file that collects
    /// several scripts has one for each).
    #[must_use]
    pub fn roots(&self) -> Vec<BlockId> {
        let led_to: BTreeSet<BlockId> =
            self.blocks.iter().flat_map(|block| block.end.successors()).collect();
        let ids = (0..self.blocks.len()).filter_map(|index| u32::try_from(index).ok().map(BlockId));
        ids.filter(|id| id.0 == 0 || !led_to.contains(id)).collect()
    }

    /// Adds a value.
    pub fn add_value(&mut self, kind: ValueKind, span: Span) -> ValueId {
        let id = ValueId(u32::try_from(self.values.len()).unwrap_or(u32::MAX));
        self.values.push(Value { kind, span, ty: None, name: None });
        id
    }

    /// Adds an operation at the end of a block.
    pub fn add_op(&mut self, block: BlockId, kind: OpKind, span: Span) -> OpId {
        let id = OpId(u32::try_from(self.ops.len()).unwrap_or(u32::MAX));
        self.ops.push(Op { kind, span });
        if let Some(block) = self.blocks.get_mut(block.0 as usize) {
            block.ops.push(id);
        }
        id
    }

    /// Adds an unfinished block.
    pub fn add_block(&mut self, loop_depth: u32) -> BlockId {
        let id = BlockId(u32::try_from(self.blocks.len()).unwrap_or(u32::MAX));
        self.blocks.push(Block { ops: Vec::new(), end: Terminator::Unreachable, loop_depth });
        id
    }

    /// Ends a block.
    pub fn end(&mut self, block: BlockId, end: Terminator) {
        if let Some(block) = self.blocks.get_mut(block.0 as usize) {
            block.end = end;
        }
    }

    /// Keeps these blocks, in this order, and renumbers them. One that leads to a block that is not
    /// kept ends there. Gives the new number of every block.
    pub fn keep(&mut self, order: &[BlockId]) -> Vec<Option<BlockId>> {
        let mut numbers = vec![None; self.blocks.len()];
        for (new, old) in (0_u32..).zip(order) {
            if let Some(slot) = numbers.get_mut(old.0 as usize) {
                *slot = Some(BlockId(new));
            }
        }
        let number = |old: BlockId| numbers.get(old.0 as usize).copied().flatten();
        let mut old: Vec<Option<Block>> =
            std::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        let kept = order.iter().filter_map(|id| old.get_mut(id.0 as usize)?.take());
        self.blocks = kept
            .map(|mut block| {
                if block.end.successors().into_iter().any(|next| number(next).is_none()) {
                    block.end = Terminator::Unreachable;
                }
                block.end.retarget(|id| number(id).unwrap_or(id));
                block
            })
            .collect();
        numbers
    }

    /// The value with every `Converted { conversion: Same }` around it peeled off.
    #[must_use]
    pub fn peel(&self, mut id: ValueId) -> ValueId {
        for _ in 0..64 {
            match self.kind(id) {
                ValueKind::Converted { value, conversion: super::value::Conversion::Same } => {
                    id = *value;
                }
                _ => break,
            }
        }
        id
    }
}
