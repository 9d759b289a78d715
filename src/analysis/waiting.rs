//! Waiting for a lease: loops that only the winner of an acquire leaves, and library calls that come
//! back to nobody else.
//!
//! A loop waits for an acquire where a loser comes to it again and a winner does not: a worker that asks
//! once a turn, works, and asks again waits for nothing. What bounds a wait is whatever else decides that
//! the loop is left: a clock, a counter, an iterator, a cancellation, any call that is not the server's;
//! or a limit of time, or another future, around the loop or a call that leads to it. Errs on the side of
//! *bounded*.

use std::collections::{BTreeSet, VecDeque};

use super::Analysis;
use super::lease::{KeyKind, KeyUse};
use super::lock_words::has_lock_verb;
use super::loops::{Loop, is_failure_of, loops_around, tests_only};
use super::outcome::{Abstract, Answer, Assumption};
use crate::catalog::ApiEffect;
use crate::config::Confidence;
use crate::ir::body::{Body, OpId, OpKind, Terminator};
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::key::Origin;
use crate::ir::value::{Literal, ValueId, ValueKind};

/// A wait for a lease that nothing ends but the lease.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The acquire, or the call that leads to it, which is made again and again.
    pub site: Site,
    /// Calls from there down to the acquire, which is the last; empty where the site is the acquire.
    pub chain: Vec<Site>,
    /// Whether the library waits by itself.
    pub by_library: bool,
    /// How sure.
    pub confidence: Confidence,
}

/// An acquire as one body sees it; `answer` where what comes back tells who won.
struct Point {
    site: Site,
    chain: Vec<Site>,
    answer: Option<Answer>,
    /// Whether that is only believed, by the name and type of the function.
    believed: bool,
}

/// How many calls up a loop is looked for.
const MOST_CALLS_UP: usize = 6;
/// How many places of one acquire are looked at.
const MOST_POINTS: usize = 120;

impl Analysis<'_> {
    /// The places where an acquire is waited for without a bound.
    #[must_use]
    pub fn unbounded_waits(&self, acquire: &KeyUse) -> Vec<Wait> {
        let Some(confidence) = self.waited_for(acquire) else { return Vec::new() };
        if self.waits_by_itself(acquire) {
            let bounded = self.is_limited(acquire.site);
            let wait = Wait { site: acquire.site, chain: Vec::new(), by_library: true, confidence };
            return if bounded { Vec::new() } else { vec![wait] };
        }
        let answer = self.leases.answer(self.program, acquire);
        let first = Point { site: acquire.site, chain: Vec::new(), answer, believed: false };
        let (mut found, mut waiting) = (Vec::new(), VecDeque::from([first]));
        let mut seen = BTreeSet::new();
        while let Some(point) = waiting.pop_front() {
            if seen.len() > MOST_POINTS || !seen.insert(point.site) {
                continue;
            }
            if self.waits(acquire, &point) {
                if !self.is_limited(point.site) && !self.is_spawned(point.site.body) {
                    let most = if point.believed { Confidence::Medium } else { Confidence::High };
                    found.push(Wait {
                        site: point.site,
                        chain: point.chain,
                        by_library: false,
                        confidence: confidence.min(most),
                    });
                }
            } else if point.chain.len() < MOST_CALLS_UP {
                waiting.extend(self.callers_of(acquire, &point));
            }
        }
        found.sort_by_key(|one| one.site);
        found
    }

    /// How sure it is that the key of an acquire is one that others hold and give back.
    fn waited_for(&self, acquire: &KeyUse) -> Option<Confidence> {
        let class = self.leases.class(acquire);
        match class.kind {
            _ if acquire.library => Some(Confidence::High),
            KeyKind::Lease => Some(class.confidence),
            KeyKind::Marker if class.named => Some(Confidence::Medium),
            _ => None,
        }
    }

    /// Whether a library's acquire comes back to the winner only: always, or with the wait it is given.
    fn waits_by_itself(&self, acquire: &KeyUse) -> bool {
        let Some(effect) = self.effect_of(acquire).filter(|_| acquire.library) else {
            return false;
        };
        let Some(row) = self.program.catalog.row(&effect.api) else { return false };
        let Some(body) = self.program.body(acquire.site.body).map(|own| &own.body) else {
            return false;
        };
        let call = body.call(body.call_behind(acquire.site.op));
        let given = row.argument("wait").zip(call).and_then(|(at, call)| call.arguments.get(at));
        let none = || given.is_some_and(|argument| is_none(body, body.peel(argument.value)));
        match row.blocking.as_deref() {
            Some("forever") => true,
            Some(words) => words.contains("None = no bound") && none(),
            None => false,
        }
    }

    /// The calls that lead to a point, with what they are answered.
    fn callers_of(&self, acquire: &KeyUse, point: &Point) -> Vec<Point> {
        let program = self.program;
        let up = self.graph.run_by(point.site.body).iter().map(|site| {
            let mut chain = vec![point.site];
            chain.extend(point.chain.iter().copied());
            let told = point.answer.as_ref().and_then(|answer| {
                self.leases.seen_by(program, acquire, (point.site, answer), *site)
            });
            let told = told.filter(Answer::tells);
            let believed = told.is_none();
            let answer = told.or_else(|| self.by_name_and_type(point.site.body));
            Point { site: *site, chain, answer, believed: believed || point.believed }
        });
        up.collect()
    }

    /// What a function answers that says by its name that it takes a lock.
    fn by_name_and_type(&self, body: BodyId) -> Option<Answer> {
        let own = self.program.body(body)?;
        let function = self.program.function(self.program.enclosing_function(body)?)?;
        if own.parent.is_some() || !has_lock_verb(self.words, &function.name) {
            return None;
        }
        Answer::of_type(&function.returns)
    }

    /// Whether a body waits in a loop for the acquire of a point, and nothing but the acquire ends it.
    fn waits(&self, acquire: &KeyUse, point: &Point) -> bool {
        let Some(answer) = &point.answer else { return false };
        let Some(own) = self.program.body(point.site.body) else { return false };
        let Some((block, _)) = own.body.position(point.site.op) else { return false };
        let op = own.body.call_behind(point.site.op);
        let assuming =
            |result: &Abstract| Assumption::new(self.program, own.id, op, result.clone());
        let (won, lost) = (assuming(&answer.won), assuming(&answer.lost));
        for turn in loops_around(&own.body, block) {
            let again =
                |answer: &Assumption<'_>| answer.comes_again(&own.body, &turn.blocks, block);
            // Where a winner comes again too, it is no wait, nor is what is around it.
            if again(&won) {
                return false;
            }
            if again(&lost)
                && !self.is_bounded(&own.body, own.id, &turn, op, &lost)
                && !self.key_changes(acquire, point, &own.body, &turn)
            {
                return true;
            }
        }
        false
    }

    /// Whether anything but an acquire decides that a loser leaves the loop.
    fn is_bounded(
        &self,
        body: &Body,
        id: BodyId,
        turn: &Loop,
        op: OpId,
        lost: &Assumption<'_>,
    ) -> bool {
        let own = |other: OpId| other == op;
        let server = |other: OpId| other == op || self.is_of_server(Site { body: id, op: other });
        turn.exits(body).iter().any(|exit| {
            let Some(block) = body.block(exit.from) else { return true };
            let open = lost.successors(&block.end).contains(&exit.to);
            let panics =
                body.block(exit.to).is_some_and(|to| matches!(to.end, Terminator::Panic(_)));
            open && match exit.decided {
                Some((test, _)) => {
                    !tests_only(body, test, &own) && !is_failure_of(body, exit, &server)
                }
                None => !panics,
            }
        })
    }

    /// Whether what a call gives is the server's answer, or the way to it: that it fails is no bound.
    fn is_of_server(&self, site: Site) -> bool {
        let program = self.program;
        let Some(own) = program.body(site.body) else { return false };
        let here = |at: Site| at.op == site.op || own.body.call_behind(at.op) == site.op;
        let sends = program.effects(own.id).iter().any(|effect| {
            here(effect.site)
                && matches!(
                    effect.kind,
                    EffectKind::Redis(_) | EffectKind::Script(_) | EffectKind::Lease(_)
                )
        });
        let rows = program.targets(own.id, site.op).into_iter().flat_map(|targets| &targets.apis);
        let connects = rows.into_iter().any(|row| row.effect == ApiEffect::Handle);
        let client = || {
            own.body.call(site.op).is_some_and(|call| {
                let ty = program.type_of(own.id, call.result);
                let library =
                    ty.payload().root().and_then(|root| program.catalog.library_of_root(root));
                library.is_some_and(|library| {
                    !library.nil_reads_as.is_empty()
                        || library.re_exports.iter().any(|name| name == "redis")
                })
            })
        };
        sends || connects || client()
    }

    /// Whether every turn of a loop asks for another key: what is in it is made anew, or written, there.
    fn key_changes(&self, acquire: &KeyUse, point: &Point, body: &Body, turn: &Loop) -> bool {
        let here = point.site.body;
        let seen = acquire.identities.iter().filter(|one| one.frame == here);
        let own = acquire.key.as_ref().filter(|_| point.chain.is_empty());
        let templates = seen.map(|one| &one.template).chain(own.map(|key| &key.template));
        let holes: Vec<_> = templates.flat_map(|template| template.holes()).collect();
        let written: Vec<&str> = turn
            .blocks
            .iter()
            .filter_map(|block| body.block(*block))
            .flat_map(|block| &block.ops)
            .filter_map(|op| match &body.op(*op)?.kind {
                OpKind::Store { place, .. } => match body.kind(*place) {
                    ValueKind::Field { name, .. } => Some(name.as_str()),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let fresh = holes.iter().any(|hole| {
            matches!(hole.origin, Origin::Random(..) | Origin::Clock(_))
                || written.contains(&super::labels::last_name(&hole.label))
        });
        fresh || self.argument_changes(point, body, turn)
    }

    /// Whether a call that leads to the acquire is given something that is written in the loop.
    fn argument_changes(&self, point: &Point, body: &Body, turn: &Loop) -> bool {
        let Some(call) = body.call(body.call_behind(point.site.op)) else { return false };
        let roots: BTreeSet<ValueId> = call
            .arguments
            .iter()
            .map(|argument| root(body, argument.value))
            .filter(|_| !point.chain.is_empty())
            .collect();
        let ops = turn.blocks.iter().filter_map(|block| body.block(*block)).flat_map(|it| &it.ops);
        ops.filter_map(|op| Some(&body.op(*op)?.kind)).any(|kind| match kind {
            OpKind::Store { place, .. } => roots.contains(&root(body, *place)),
            _ => false,
        })
    }

    /// Whether an operation, or every call that leads to it as far as one is seen, has a limit of time
    /// or waits for another future too.
    fn is_limited(&self, site: Site) -> bool {
        let mut seen = BTreeSet::from([site]);
        let mut waiting = vec![(site, 0)];
        while let Some((site, depth)) = waiting.pop() {
            if self.limit_around(&[site]).is_some() || self.is_one_of_several(site) {
                return true;
            }
            if depth < MOST_CALLS_UP && seen.len() < MOST_POINTS {
                let up = self.graph.run_by(site.body).iter().copied();
                waiting.extend(up.filter(|site| seen.insert(*site)).map(|site| (site, depth + 1)));
            }
        }
        false
    }

    /// Whether an operation waits for one of several futures, of which the first to end is taken.
    fn is_one_of_several(&self, site: Site) -> bool {
        let Some(body) = self.program.body(site.body).map(|own| &own.body) else { return false };
        let Some((block, _)) = body.position(site.op) else { return false };
        body.leading_to(block)
            .into_iter()
            .filter_map(|from| body.block(from))
            .any(|from| matches!(&from.end, Terminator::Choice(ways) if ways.len() > 1))
    }

    /// Whether a body runs in a task of its own: nobody waits while it waits.
    fn is_spawned(&self, body: BodyId) -> bool {
        let around = std::iter::successors(Some(body), |body| self.program.body(*body)?.parent);
        let around: BTreeSet<BodyId> = around.collect();
        self.effects().any(|effect| {
            matches!(effect.kind, EffectKind::Spawn { body: Some(body) } if around.contains(&body))
        })
    }
}

/// The value that a field, an element or a copy is taken from.
fn root(body: &Body, mut value: ValueId) -> ValueId {
    for _ in 0..32 {
        value = match body.kind(value) {
            ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => *base,
            ValueKind::Converted { value, .. } => *value,
            _ => break,
        };
    }
    value
}

fn is_none(body: &Body, value: ValueId) -> bool {
    match body.kind(value) {
        ValueKind::Literal(Literal::Nothing) => true,
        ValueKind::Path(path) => path.last() == Some("None"),
        _ => false,
    }
}
