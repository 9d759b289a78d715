//! Blocks, variables and scopes of one body while it is being built.
//!
//! A [`Frame`] is one body under construction. Variables live in an environment that is copied
//! where paths part and joined where they meet; [`Merge`] is such a meeting place. A variable keeps
//! its slot while its scope is open, so that environments of different paths can be compared slot
//! by slot.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::order::JoinSources;
use crate::ir::body::{BlockId, Body, BodyIndex, OpId, OpKind, Terminator, Test};
use crate::ir::value::{Literal, Pattern, ValueId, ValueKind};
use crate::source::Span;

/// Position of a variable in an environment.
pub(super) type Slot = usize;

/// What a variable stands for at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Binding {
    /// The value.
    pub value: ValueId,
    /// Whether it was moved out on every path to here.
    pub moved: bool,
}

/// The variables of one lexical scope, in order of declaration.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// Names and their slots; a later one hides an earlier one.
    pub names: Vec<(String, Slot)>,
    /// Slots that have something to do when the scope ends.
    pub owned: Vec<Slot>,
    /// How many variables are there outside of it.
    pub base: usize,
}

/// A way into a place where paths meet.
#[derive(Debug)]
pub(super) struct Way {
    /// The block it comes from.
    from: BlockId,
    /// The variables there.
    env: Rc<Vec<Binding>>,
    /// The value it carries.
    value: Option<ValueId>,
}

/// A place where paths meet: a block and the environment of each way in.
#[derive(Debug)]
pub(super) struct Merge {
    /// The block.
    pub block: BlockId,
    /// The ways in.
    pub incoming: Vec<Way>,
}

/// A target of `break` and `continue`.
#[derive(Debug)]
pub(super) struct Jump {
    /// The label, without the quote.
    pub label: Option<String>,
    /// Where `continue` goes; `None` for a labelled block.
    pub again: Option<BlockId>,
    /// Where `break` goes.
    pub exit: Merge,
    /// How many scopes are open outside.
    pub scopes: usize,
    /// Loop-carried variables: slot and its placeholder join.
    pub carried: Vec<(Slot, ValueId)>,
}

/// One body under construction.
#[derive(Debug)]
pub(super) struct Frame {
    /// Its number.
    pub index: BodyIndex,
    /// What is there so far.
    pub body: Body,
    /// Open scopes, innermost last; the first holds parameters.
    pub scopes: Vec<Scope>,
    /// Open loops and labelled blocks, innermost last.
    pub jumps: Vec<Jump>,
    /// Values by slot; shared with the ways that lead on from here until one of them changes it.
    pub env: Rc<Vec<Binding>>,
    /// How many loops are around the current point.
    pub loop_depth: u32,
    /// Whether this body takes what it names of the outer ones by value.
    pub moves: bool,
    /// Variables of outer bodies that this one names.
    pub captures: BTreeMap<String, ValueId>,
    /// Values that only borrow: nothing happens when they go out of scope.
    pub borrows: BTreeSet<ValueId>,
    /// Every join made, and where its ways come from.
    joins: Vec<JoinSources>,
    /// Captures that are this body's own: it took them by value.
    pub owned_captures: BTreeSet<ValueId>,
    /// Variables of outer bodies that this one changes.
    pub changed: BTreeSet<String>,
    /// Variables of outer bodies that this one gives another value: they are its variables, too.
    pub shared: Vec<Slot>,
    /// How many variables the ways out of this body have named so far.
    pub ended_variables: usize,
    /// Captures that this body has to drop when it ends.
    pub taken: Vec<ValueId>,
    cursor: BlockId,
    ended: bool,
    live: bool,
    unit: Option<ValueId>,
}

impl Frame {
    /// A frame that stands at the entry of an empty body.
    pub fn new(index: BodyIndex, body: Body) -> Self {
        Self {
            index,
            body,
            scopes: vec![Scope::default()],
            jumps: Vec::new(),
            env: Rc::default(),
            loop_depth: 0,
            moves: false,
            captures: BTreeMap::new(),
            borrows: BTreeSet::new(),
            joins: Vec::new(),
            owned_captures: BTreeSet::new(),
            changed: BTreeSet::new(),
            shared: Vec::new(),
            ended_variables: 0,
            taken: Vec::new(),
            cursor: BlockId(0),
            ended: false,
            live: true,
            unit: None,
        }
    }

    /// Whether the current point can be reached.
    pub fn live(&self) -> bool {
        self.live
    }

    /// The current block; after a jump, a new one that nothing leads to.
    fn here(&mut self) -> BlockId {
        if self.ended {
            self.cursor = self.body.add_block(self.loop_depth);
            self.ended = false;
        }
        self.cursor
    }

    /// Adds an operation at the current point.
    pub fn op(&mut self, kind: OpKind, span: Span) -> OpId {
        let block = self.here();
        self.body.add_op(block, kind, span)
    }

    /// Adds a value.
    pub fn value(&mut self, kind: ValueKind, span: Span) -> ValueId {
        self.body.add_value(kind, span)
    }

    /// The one `()` of this body.
    pub fn unit(&mut self) -> ValueId {
        if let Some(unit) = self.unit {
            return unit;
        }
        let span = self.body.span;
        let unit = self.value(ValueKind::Literal(Literal::Unit), span);
        self.unit = Some(unit);
        unit
    }

    /// Ends the current block; what follows is not reached until a block is entered.
    pub fn end(&mut self, end: Terminator) {
        let block = self.here();
        self.body.end(block, end);
        self.ended = true;
        self.live = false;
    }

    /// A meeting place at the current loop depth.
    pub fn merge(&mut self) -> Merge {
        self.merge_at(self.loop_depth)
    }

    /// A meeting place at a loop depth.
    pub fn merge_at(&mut self, loop_depth: u32) -> Merge {
        Merge { block: self.body.add_block(loop_depth), incoming: Vec::new() }
    }

    /// The way that leads out of the current point.
    fn way(&mut self, value: Option<ValueId>) -> Way {
        Way { from: self.here(), env: Rc::clone(&self.env), value }
    }

    /// Goes to a meeting place with a value; nothing when the current point is not reached.
    pub fn goto(&mut self, merge: &mut Merge, value: Option<ValueId>) {
        if self.live {
            let way = self.way(value);
            merge.incoming.push(way);
            self.end(Terminator::Goto(merge.block));
        }
    }

    /// Branches to two meeting places.
    pub fn branch(&mut self, test: Test, yes: &mut Merge, no: &mut Merge, span: Span) {
        if self.live {
            let way = self.way(None);
            yes.incoming.push(way);
            let way = self.way(None);
            no.incoming.push(way);
        }
        self.end(Terminator::Branch { test, then: yes.block, otherwise: no.block, span });
    }

    /// Branches on a pattern; a pattern that always matches only goes on.
    pub fn matches(
        &mut self,
        value: ValueId,
        pattern: Pattern,
        yes: &mut Merge,
        no: &mut Merge,
        span: Span,
    ) {
        if pattern.always() {
            self.goto(yes, None);
        } else {
            self.branch(Test::Matches { value, pattern }, yes, no, span);
        }
    }

    /// Goes to one of several places, with nothing known of which.
    pub fn choose(&mut self, places: &mut [Merge]) {
        if self.live {
            for place in places.iter_mut() {
                let way = self.way(None);
                place.incoming.push(way);
            }
        }
        self.end(Terminator::Choice(places.iter().map(|place| place.block).collect()));
    }

    /// Continues in a meeting place; gives the value that its ways in carry.
    pub fn enter(&mut self, merge: Merge, span: Span) -> Option<ValueId> {
        self.cursor = merge.block;
        self.ended = false;
        self.live = !merge.incoming.is_empty();
        let first = merge.incoming.first()?;
        self.env = Rc::clone(&first.env);
        if merge.incoming.iter().any(|way| *way.env != *first.env) {
            self.join_variables(&merge.incoming, span);
        }
        let valued = merge.incoming.iter().filter_map(|way| Some((way.value?, way.from)));
        let (values, sources): (Vec<ValueId>, Vec<BlockId>) = valued.unzip();
        (!values.is_empty()).then(|| self.join_from(values, &sources, span))
    }

    /// One environment for those of several ways: a variable that differs is joined.
    fn join_variables(&mut self, ways: &[Way], span: Span) {
        let sources: Vec<BlockId> = ways.iter().map(|way| way.from).collect();
        let shared = ways.iter().map(|way| way.env.len()).min().unwrap_or(0);
        let mut joined = Vec::with_capacity(shared);
        for slot in 0..shared {
            let mut bindings = ways.iter().filter_map(|way| way.env.get(slot).copied());
            let Some(first) = bindings.next() else { break };
            if bindings.all(|other| other == first) {
                joined.push(first);
                continue;
            }
            let bindings = || ways.iter().filter_map(|way| way.env.get(slot));
            let moved = bindings().all(|binding| binding.moved);
            let values = bindings().map(|binding| binding.value).collect();
            joined.push(Binding { value: self.join_from(values, &sources, span), moved });
        }
        self.env = Rc::new(joined);
    }

    /// Forgets the variables of a scope that is closed.
    pub fn forget(&mut self, base: usize) {
        if self.env.len() > base {
            Rc::make_mut(&mut self.env).truncate(base);
        }
    }

    /// The variable of a slot, to be changed.
    pub fn variable(&mut self, slot: Slot) -> Option<&mut Binding> {
        Rc::make_mut(&mut self.env).get_mut(slot)
    }

    /// One value for several that come from different blocks.
    fn join_from(&mut self, values: Vec<ValueId>, sources: &[BlockId], span: Span) -> ValueId {
        let before = self.body.values.len();
        let joined = self.join(values, span);
        if joined.0 as usize >= before {
            self.joins.push((joined, sources.to_vec()));
        }
        joined
    }

    /// One value for several; a new join only when they differ.
    pub fn join(&mut self, values: Vec<ValueId>, span: Span) -> ValueId {
        let Some(first) = values.first().copied() else { return self.unit() };
        if values.iter().all(|value| *value == first) {
            return first;
        }
        let known = self.body.value(first);
        let name = known.and_then(|value| value.name.clone());
        let ty = known.and_then(|value| value.ty.clone());
        // Another variable of the same name is another thing; a value without a name is none.
        let shared = values
            .iter()
            .all(|value| self.body.value(*value).is_some_and(|value| value.name == name));
        let joined = self.value(ValueKind::Join(values), span);
        if let Some(value) = self.body.values.get_mut(joined.0 as usize)
            && shared
        {
            value.name = name;
            value.ty = ty;
        }
        joined
    }

    /// Starts a block that the current point goes on into, and that later jumps come back to.
    /// Gives the block and the placeholder joins of the variables that the loop assigns.
    pub fn loop_head(&mut self, assigned: &[Slot], span: Span) -> (BlockId, Vec<(Slot, ValueId)>) {
        let was_live = self.live;
        let head = self.body.add_block(self.loop_depth);
        let entry = self.here();
        self.end(Terminator::Goto(head));
        self.cursor = head;
        self.ended = false;
        self.live = was_live;
        let mut carried = Vec::new();
        for slot in assigned {
            let Some(before) = self.env.get(*slot).map(|binding| binding.value) else { continue };
            let join = self.value(ValueKind::Join(vec![before]), span);
            let name = self.body.value(before).and_then(|value| value.name.clone());
            let ty = self.body.value(before).and_then(|value| value.ty.clone());
            if let Some(value) = self.body.values.get_mut(join.0 as usize) {
                value.name = name;
                value.ty = ty;
            }
            self.joins.push((join, vec![entry]));
            if let Some(binding) = self.variable(*slot) {
                binding.value = join;
            }
            carried.push((*slot, join));
        }
        (head, carried)
    }

    /// Goes back to a loop's head with what its carried variables are now.
    pub fn back_edge(&mut self, head: BlockId, carried: &[(Slot, ValueId)]) {
        if !self.live {
            return;
        }
        let from = self.here();
        for (slot, join) in carried {
            let Some(now) = self.env.get(*slot).map(|binding| binding.value) else { continue };
            if let Some((_, sources)) = self.joins.iter_mut().find(|(known, _)| known == join) {
                sources.push(from);
            }
            if let Some(value) = self.body.values.get_mut(join.0 as usize)
                && let ValueKind::Join(ways) = &mut value.kind
            {
                ways.push(now);
            }
        }
        self.end(Terminator::Goto(head));
    }

    /// Jumps to an open loop or block: out of it with a value, or back to its head without one.
    pub fn jump(&mut self, target: usize, value: Option<ValueId>) {
        if !self.live {
            return;
        }
        let way = self.way(value);
        let Some(jump) = self.jumps.get_mut(target) else { return };
        if value.is_some() {
            jump.exit.incoming.push(way);
            let exit = jump.exit.block;
            self.end(Terminator::Goto(exit));
        } else if let Some(head) = jump.again {
            let carried = jump.carried.clone();
            self.back_edge(head, &carried);
        }
    }

    /// The finished body: blocks in an order that follows the control flow, what is never reached
    /// last, empty blocks that nothing leads to left out.
    pub fn finish(self) -> Body {
        super::order::ordered(self.body, &self.joins)
    }
}
