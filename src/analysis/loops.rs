//! Loops of a body, and what decides that one is left.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::ir::body::{BlockId, Body, OpId, Terminator, Test};
use crate::ir::value::{Operator, Pattern, ValueId, ValueKind};

/// In a body of more blocks no loop is looked for.
const MOST_BLOCKS: usize = 600;
/// How deep the values of a test are looked into.
const DEEPEST: usize = 24;

/// A loop: its head, and all blocks that can come back to it without leaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Where every turn begins.
    pub head: BlockId,
    /// Its blocks, the head included.
    pub blocks: BTreeSet<BlockId>,
}

/// A way out of a loop.
#[derive(Clone, Copy, Debug)]
pub struct LoopExit<'b> {
    /// The block that is left.
    pub from: BlockId,
    /// Where it leads.
    pub to: BlockId,
    /// What decides, and whether the loop is left where it holds; `None` where nothing is known of it
    /// (one of several futures was first).
    pub decided: Option<(&'b Test, bool)>,
}

/// The loops around a block, the innermost first.
#[must_use]
pub fn loops_around(body: &Body, block: BlockId) -> Vec<Loop> {
    if body.blocks.len() > MOST_BLOCKS {
        return Vec::new();
    }
    let next = |block: &crate::ir::body::Block| block.end.successors();
    let behind = body.reachable([block], next);
    let mut found: Vec<Loop> = Vec::new();
    for head in &behind {
        let turns: Vec<BlockId> = body
            .leading_to(*head)
            .into_iter()
            .filter(|from| dominates(body, *head, *from))
            .collect();
        if turns.is_empty() {
            continue;
        }
        let blocks = natural(body, *head, turns);
        if blocks.contains(&block) {
            found.push(Loop { head: *head, blocks });
        }
    }
    found.sort_by_key(|one| (one.blocks.len(), one.head));
    found
}

/// Whether every way from an entry to a block passes another.
pub(super) fn dominates(body: &Body, block: BlockId, other: BlockId) -> bool {
    let roots = body.roots().into_iter().filter(|root| *root != block);
    let others = body.reachable(roots, |from| {
        from.end.successors().into_iter().filter(|to| *to != block).collect()
    });
    block == other || !others.contains(&other)
}

/// The blocks that lead to the ends of a loop's turns without passing its head.
fn natural(body: &Body, head: BlockId, turns: Vec<BlockId>) -> BTreeSet<BlockId> {
    let mut blocks = BTreeSet::from([head]);
    let mut waiting = turns;
    while let Some(block) = waiting.pop() {
        if blocks.insert(block) {
            waiting.extend(body.leading_to(block));
        }
    }
    blocks
}

impl Loop {
    /// The ways out.
    #[must_use]
    pub fn exits<'b>(&self, body: &'b Body) -> Vec<LoopExit<'b>> {
        let inside = self.blocks.iter().filter_map(|id| Some((*id, body.block(*id)?)));
        let exits = inside.flat_map(|(from, block)| {
            let out = |to: &BlockId| !self.blocks.contains(to);
            let leaves = block.end.successors().into_iter().filter(out);
            leaves.map(move |to| {
                let decided = match &block.end {
                    Terminator::Branch { test, then, .. } => Some((test, *then == to)),
                    _ => None,
                };
                LoopExit { from, to, decided }
            })
        });
        exits.collect()
    }

    /// Whether an operation is in the loop.
    #[must_use]
    pub fn has(&self, body: &Body, op: OpId) -> bool {
        body.position(op).is_some_and(|(block, _)| self.blocks.contains(&block))
    }
}

/// Whether a test looks at what some operations gave, and otherwise at constants.
#[must_use]
pub fn tests_only(body: &Body, test: &Test, given: &dyn Fn(OpId) -> bool) -> bool {
    let found = Cell::new(false);
    let note = |op: OpId| {
        let is_given = given(op);
        found.set(found.get() || is_given);
        is_given
    };
    let mut seen = BTreeSet::new();
    match test {
        Test::True(value) | Test::Matches { value, .. } => {
            made_only_of(body, *value, &note, &mut seen, DEEPEST) && found.get()
        }
        Test::Opaque(_) => false,
    }
}

/// Whether an exit is the failure of what some operations gave: `?`, or a test for `Err`.
#[must_use]
pub fn is_failure_of(body: &Body, exit: &LoopExit<'_>, given: &dyn Fn(OpId) -> bool) -> bool {
    let Some((test @ Test::Matches { pattern, .. }, holds)) = exit.decided else { return false };
    let failure = match pattern.variant() {
        Some("Err") => holds,
        Some("Ok" | crate::ir::value::SUCCESS) => !holds && plain(pattern),
        _ => false,
    };
    failure && tests_only(body, test, given)
}

/// Whether a success pattern holds for every success.
fn plain(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Variant { fields, .. } => fields.iter().all(|(_, field)| field.always()),
        _ => false,
    }
}

/// Whether no two of some values are constants.
fn one_constant(body: &Body, values: &[ValueId]) -> bool {
    let constant = |value: &&ValueId| {
        matches!(body.kind(body.peel(**value)), ValueKind::Literal(_) | ValueKind::Path(_))
    };
    values.iter().filter(constant).count() < 2
}

fn made_only_of(
    body: &Body,
    value: ValueId,
    given: &dyn Fn(OpId) -> bool,
    seen: &mut BTreeSet<ValueId>,
    depth: usize,
) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    // What meets itself in a loop says nothing of its own.
    if !seen.insert(value) {
        return true;
    }
    let mut all = |values: &[ValueId]| {
        values.iter().all(|value| made_only_of(body, *value, given, seen, depth))
    };
    match body.kind(value) {
        ValueKind::Literal(_) | ValueKind::Path(_) | ValueKind::Closure(_) => true,
        ValueKind::Converted { value, .. }
        | ValueKind::Awaited(value)
        | ValueKind::Not(value)
        | ValueKind::Matches { value, .. }
        | ValueKind::Adapted { value, .. }
        | ValueKind::Payload { of: value, .. }
        | ValueKind::Field { base: value, .. } => all(&[*value]),
        // What is counted up ends some time.
        ValueKind::Binary { operator, left, right }
            if operator.compares() || matches!(operator, Operator::And | Operator::Or) =>
        {
            all(&[*left, *right])
        }
        // Which of two constants it is, something else decided.
        ValueKind::Join(values) => one_constant(body, values) && all(values),
        ValueKind::Aggregate { fields, base: None, .. } => {
            let fields: Vec<ValueId> = fields.iter().map(|(_, value)| *value).collect();
            all(&fields)
        }
        ValueKind::Result(op) if given(*op) => true,
        // `Outcome::from(reply)`.
        ValueKind::Result(op) => body.call(*op).is_some_and(|call| {
            let inputs: Vec<ValueId> =
                call.receiver.into_iter().chain(call.arguments.iter().map(|it| it.value)).collect();
            let constant = |value: &ValueId| {
                matches!(body.kind(*value), ValueKind::Literal(_) | ValueKind::Path(_))
            };
            !inputs.is_empty() && !inputs.iter().all(constant) && all(&inputs)
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Settings;
    use crate::link::Program;
    use crate::source::{Language, Tree};

    /// Of the loops around the call of `ask`, innermost first, the number of exits that the call alone
    /// decides, that its failure alone does, and that anything else does.
    fn exits(body: &str) -> Vec<(usize, usize, usize)> {
        let text = format!("async fn f() -> Result<(), Error> {{ {body} }}");
        let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text)]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let body = &program.bodies.iter().find(|own| own.parent.is_none()).unwrap().body;
        let mut calls = body.calls();
        let (block, asked, _) =
            calls.find(|(_, _, call)| call.callee.name() == Some("ask")).unwrap();
        let own = |op: OpId| op == asked;
        let count = |turn: &Loop| {
            let mut counts = (0, 0, 0);
            for exit in turn.exits(body) {
                let by_answer = exit.decided.is_some_and(|(test, _)| tests_only(body, test, &own));
                match (is_failure_of(body, &exit, &own), by_answer) {
                    (true, _) => counts.1 += 1,
                    (false, true) => counts.0 += 1,
                    (false, false) => counts.2 += 1,
                }
            }
            counts
        };
        loops_around(body, block).iter().map(count).collect()
    }

    #[test]
    fn no_loop_around_a_call() {
        assert!(exits("ask().await?; for row in rows { tell(row); } Ok(())").is_empty());
    }

    #[test]
    fn what_the_call_gives_decides() {
        assert_eq!(exits("loop { if ask().await? { break; } } Ok(())"), [(1, 1, 0)]);
        assert_eq!(exits("while !ask().await.unwrap() { nap().await; } Ok(())"), [(1, 0, 0)]);
        let later = "let mut won = false; while !won { won = ask().await.unwrap(); } Ok(())";
        assert_eq!(exits(later), [(1, 0, 0)]);
        let asked = "loop { match Outcome::from(ask().await) { Outcome::Won => break, _ => nap().await } } Ok(())";
        assert_eq!(exits(asked), [(1, 0, 0)]);
    }

    #[test]
    fn clocks_counters_iterators_flags_and_other_calls_decide() {
        let deadline =
            "loop { if ask().await.unwrap() || start.elapsed() > LIMIT { break; } } Ok(())";
        assert_eq!(exits(deadline), [(1, 0, 1)]);
        let both =
            "let mut go = true; while go { go = !ask().await.unwrap() && now() < end; } Ok(())";
        assert_eq!(exits(both), [(0, 0, 1)]);
        let counted = "let mut n = 0; loop { if ask().await.unwrap() { break; } n += 1; if n > 9 { break; } } Ok(())";
        assert_eq!(exits(counted), [(1, 0, 1)]);
        assert_eq!(
            exits("for _ in 0..3 { if ask().await.unwrap() { break; } } Ok(())"),
            [(1, 0, 1)]
        );
        let told = "let mut late = false; while !late { if ask().await.unwrap() { break; }
            if now() > end { late = true; } } Ok(())";
        assert_eq!(exits(told), [(1, 0, 1)]);
        let flag =
            "while !STOP.load(Ordering::Relaxed) { if ask().await.unwrap() { break; } } Ok(())";
        assert_eq!(exits(flag), [(1, 0, 1)]);
        assert_eq!(exits("loop { ask().await?; check(&token)?; } "), [(0, 1, 1)]);
    }

    #[test]
    fn the_innermost_loop_comes_first() {
        let nested =
            "loop { for _ in 0..3 { if ask().await.unwrap() { return Ok(()); } } nap().await; }";
        assert_eq!(exits(nested), [(1, 0, 1), (1, 0, 0)]);
    }
}
