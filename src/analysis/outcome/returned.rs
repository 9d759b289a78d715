//! What a body gives back under an assumption. Where paths meet before the end, only those that can be
//! taken count: `match reply { 1 => Some(guard), _ => None }` tells a winner from a loser.

use std::collections::BTreeSet;

use super::{Abstract, Assumption, join, wrapped};
use crate::ir::body::{BlockId, Body, Exit, Terminator};
use crate::ir::value::{ValueId, ValueKind};

/// How deep values that meet are looked into.
const DEEPEST: usize = 8;

impl Assumption<'_> {
    /// What the body gives back when it runs on from the assumed operation: the common value of all
    /// returns that can be reached, `None` when none can. A failure that is passed on says nothing of
    /// the operation, and counts only where nothing else is given back.
    #[must_use]
    pub fn returned(&self, from: BlockId) -> Option<Abstract> {
        let body = &self.program.body(self.body)?.body;
        self.returned_by(body, self.reachable(body, from))
    }

    /// The same, of runs that do not come to a block.
    #[must_use]
    pub fn returned_without(&self, from: BlockId, avoided: BlockId) -> Option<Abstract> {
        let body = &self.program.body(self.body)?.body;
        let reached = body.reachable([from], |block| {
            let next = self.successors(&block.end).into_iter();
            next.filter(|next| *next != avoided).collect()
        });
        self.returned_by(body, reached)
    }

    fn returned_by(&self, body: &Body, reached: BTreeSet<BlockId>) -> Option<Abstract> {
        let mut own: Option<Abstract> = None;
        let mut passed_on: Option<Abstract> = None;
        for block in &reached {
            let Some(Terminator::Return { value, exit, .. }) =
                body.block(*block).map(|block| &block.end)
            else {
                continue;
            };
            let given = |value| self.given_back(body, *block, value, &reached, DEEPEST);
            let returned = value.map_or(Abstract::Unknown, given);
            let all = if *exit == Exit::Propagated { &mut passed_on } else { &mut own };
            *all = Some(match all.take() {
                None => returned,
                Some(before) => join(before, returned),
            });
        }
        own.or(passed_on)
    }

    /// A value at a block that is reached, where only some of the ways there are.
    fn given_back(
        &self,
        body: &Body,
        at: BlockId,
        value: ValueId,
        reached: &BTreeSet<BlockId>,
        depth: usize,
    ) -> Abstract {
        let Some(depth) = depth.checked_sub(1) else { return self.value(body, value) };
        if let Some(ways) = body.incoming(at, value) {
            let taken = ways.into_iter().filter(|(from, _)| reached.contains(from));
            let mut values =
                taken.map(|(from, value)| self.given_back(body, from, value, reached, depth));
            let first = values.next().unwrap_or(Abstract::Unknown);
            return values.fold(first, join);
        }
        match body.kind(body.peel(value)) {
            ValueKind::Aggregate { path, fields, base: None } if fields.len() == 1 => {
                let content = fields.first().map_or(Abstract::Present, |(_, inner)| {
                    self.given_back(body, at, *inner, reached, depth)
                });
                wrapped(path, content)
            }
            _ => self.value(body, value),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Settings;
    use crate::link::Program;
    use crate::source::{Language, Tree};

    /// What `f` gives back where its call of `ask` gives this number.
    fn given(body: &str, number: i128) -> Option<Abstract> {
        let text = format!("async fn f() -> Result<Option<u64>, ()> {{ {body} }}");
        let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text)]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let own = program.bodies.iter().find(|own| own.parent.is_none()).unwrap();
        let mut calls = own.body.calls();
        let (block, op, _) = calls.find(|(_, _, call)| call.callee.name() == Some("ask")).unwrap();
        let reply = Abstract::Ok(Box::new(Abstract::Number(number)));
        Assumption::new(&program, own.id, op, reply).returned(block)
    }

    fn found() -> Option<Abstract> {
        Some(Abstract::Ok(Box::new(Abstract::Some(Box::new(Abstract::Number(7))))))
    }

    fn nothing() -> Option<Abstract> {
        Some(Abstract::Ok(Box::new(Abstract::Nothing)))
    }

    #[test]
    fn only_the_ways_that_can_be_taken_count() {
        let arms = "match ask().await? { 1 => { log().await?; Ok(Some(7)) } _ => Ok(None) }";
        assert_eq!((given(arms, 1), given(arms, 2)), (found(), nothing()));
        let inside = "let n = ask().await?; Ok(if n == 1 { log().await?; Some(7) } else { None })";
        assert_eq!((given(inside, 1), given(inside, 2)), (found(), nothing()));
    }

    #[test]
    fn values_that_met_before_are_not_told_by_the_last_ways() {
        let earlier = "let n = ask().await?; let r = if old() { Some(7) } else { None };
            if n != 1 { log().await?; } Ok(r)";
        let unknown = Some(Abstract::Ok(Box::new(Abstract::Unknown)));
        assert_eq!((given(earlier, 1), given(earlier, 2)), (unknown.clone(), unknown));
    }

    #[test]
    fn a_failure_passed_on_counts_where_nothing_else_is_given_back() {
        assert_eq!(given("ask().await?; Err(log())?", 1), Some(Abstract::Err));
    }
}
