//! External calls that an operation can reach, with one example chain each.

use std::collections::{BTreeMap, VecDeque};

use super::callgraph::CallGraph;
use crate::ir::effect::{BodyId, Effect, EffectKind, Site};
use crate::link::Program;

/// An external call and the calls that lead to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    /// Calls from the asking body down; the last is the external call's own site.
    pub chain: Vec<Site>,
    /// The effect: its position among the effects of the last site's body.
    pub effect: usize,
}

/// How many external calls a body keeps.
const MOST_REACHED: usize = 6;
/// How many calls deep an external call may lie.
const DEEPEST: usize = 24;

/// What each body reaches.
#[derive(Debug, Default)]
pub struct Reach {
    by_body: BTreeMap<BodyId, Vec<Reached>>,
}

impl Reach {
    /// Carries every external call up through all calls, nearest first.
    #[must_use]
    pub fn new(program: &Program, graph: &CallGraph) -> Self {
        let mut reach = Self::default();
        let mut waiting: VecDeque<(BodyId, Reached)> = VecDeque::new();
        for body in &program.bodies {
            for (index, effect) in program.effects(body.id).iter().enumerate() {
                if matches!(effect.kind, EffectKind::External(_)) {
                    waiting
                        .push_back((body.id, Reached { chain: vec![effect.site], effect: index }));
                }
            }
        }
        while let Some((body, reached)) = waiting.pop_front() {
            let own = reach.by_body.entry(body).or_default();
            let known = own.iter().any(|other| other.target() == reached.target());
            if known || own.len() >= MOST_REACHED || reached.chain.len() > DEEPEST {
                continue;
            }
            own.push(reached.clone());
            for site in graph.run_by(body) {
                let mut chain = vec![*site];
                chain.extend(reached.chain.iter().copied());
                waiting.push_back((site.body, Reached { chain, effect: reached.effect }));
            }
        }
        reach
    }

    /// What a body reaches, nearest first.
    #[must_use]
    pub fn body(&self, body: BodyId) -> &[Reached] {
        self.by_body.get(&body).map_or(&[], Vec::as_slice)
    }

    /// What an operation reaches: its own effect first, then through what it runs.
    #[must_use]
    pub fn at(&self, graph: &CallGraph, site: Site) -> Vec<Reached> {
        let own = self.body(site.body).iter().filter(|reached| reached.chain.as_slice() == [site]);
        let mut all: Vec<Reached> = own.cloned().collect();
        for body in graph.runs_at(site) {
            all.extend(self.body(*body).iter().map(|reached| {
                let mut chain = vec![site];
                chain.extend(reached.chain.iter().copied());
                Reached { chain, effect: reached.effect }
            }));
        }
        all
    }
}

impl Reached {
    /// The external call's own site.
    #[must_use]
    pub fn target(&self) -> Option<Site> {
        self.chain.last().copied()
    }

    /// The external call.
    #[must_use]
    pub fn effect<'p>(&self, program: &'p Program) -> Option<&'p Effect> {
        program.effects(self.target()?.body).get(self.effect)
    }
}
