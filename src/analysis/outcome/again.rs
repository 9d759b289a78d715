//! Whether a run comes to a place again under an assumption. Where values meet at the head of a loop,
//! the one counts that the turn brings: `while !won { won = ask(); }` ends with a winner.

use std::collections::BTreeSet;

use super::compare::matches;
use super::{Abstract, Assumption, truth};
use crate::ir::body::{BlockId, Body, Terminator, Test};
use crate::ir::value::{ValueId, ValueKind};

impl Assumption<'_> {
    /// Whether a run that stays in some blocks comes from a block to it again.
    #[must_use]
    pub fn comes_again(&self, body: &Body, inside: &BTreeSet<BlockId>, from: BlockId) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![(None, from)];
        while let Some((before, id)) = waiting.pop() {
            let Some(block) = body.block(id) else { continue };
            for next in self.successors_after(body, before, id, &block.end) {
                if next == from {
                    return true;
                }
                if inside.contains(&next) && seen.insert((id, next)) {
                    waiting.push((Some(id), next));
                }
            }
        }
        false
    }

    /// The blocks that a block can go to when it was come to from another.
    fn successors_after(
        &self,
        body: &Body,
        before: Option<BlockId>,
        id: BlockId,
        end: &Terminator,
    ) -> Vec<BlockId> {
        let Terminator::Branch { test, then, otherwise, .. } = end else {
            return end.successors();
        };
        let brought = before.and_then(|before| self.test_after(body, before, id, test));
        match brought.or_else(|| self.test(test)) {
            Some(true) => vec![*then],
            Some(false) => vec![*otherwise],
            None => vec![*then, *otherwise],
        }
    }

    /// What a test says of the value that one of the ways to its block brings.
    fn test_after(&self, body: &Body, before: BlockId, id: BlockId, test: &Test) -> Option<bool> {
        match test {
            Test::True(value) => match body.kind(body.peel(*value)) {
                ValueKind::Not(value) => {
                    truth(&self.brought(body, before, id, *value)?).map(|it| !it)
                }
                _ => truth(&self.brought(body, before, id, *value)?),
            },
            Test::Matches { value, pattern } => {
                matches(&self.brought(body, before, id, *value)?, pattern)
            }
            Test::Opaque(_) => None,
        }
    }

    fn brought(
        &self,
        body: &Body,
        before: BlockId,
        id: BlockId,
        value: ValueId,
    ) -> Option<Abstract> {
        let ways = body.incoming(id, value)?;
        let (_, value) = ways.into_iter().find(|(from, _)| *from == before)?;
        Some(self.value(body, value))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::analysis::loops::loops_around;
    use crate::config::Settings;
    use crate::link::Program;
    use crate::source::{Language, Tree};

    /// Whether who won, and who lost, comes to the call of `ask` again.
    fn again(body: &str) -> (bool, bool) {
        let text = format!("async fn f() -> Result<(), Error> {{ {body} }}");
        let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text)]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let own = program.bodies.iter().find(|own| own.parent.is_none()).unwrap();
        let mut calls = own.body.calls();
        let (block, op, _) = calls.find(|(_, _, call)| call.callee.name() == Some("ask")).unwrap();
        let turn = loops_around(&own.body, block).into_iter().next().unwrap();
        let comes = |won| {
            let reply = Abstract::Ok(Box::new(Abstract::Reply(won)));
            Assumption::new(&program, own.id, op, reply).comes_again(&own.body, &turn.blocks, block)
        };
        (comes(true), comes(false))
    }

    #[test]
    fn only_losers_come_again_where_winners_leave() {
        assert_eq!(
            again("loop { if ask().await? { return Ok(()); } nap().await; }"),
            (false, true)
        );
        assert_eq!(again("while !ask().await? { nap().await; } Ok(())"), (false, true));
        let later = "let mut won = false; while !won { won = ask().await?; } Ok(())";
        assert_eq!(again(later), (false, true));
    }

    #[test]
    fn a_worker_comes_again_however_it_went() {
        let worker = "loop { if ask().await? { work().await; } nap().await; }";
        assert_eq!(again(worker), (true, true));
        assert_eq!(
            again("loop { if !ask().await? { break; } work().await; } Ok(())"),
            (true, false)
        );
    }
}
