//! Acquires whose failure, of which nobody knows whether it took the lease, is taken for a win.
//!
//! Three runs are followed from an acquire: it was won, it was lost, it failed. A *failure wins* where the
//! failed run says or does what the winner's does and the loser's does not. *Any reply wins* where only a
//! failure is told apart, and what becomes of it is no failure: it is the only loss that the code knows.
//! Errs on the side of silence: what can't be decided is no mistake.

use std::collections::BTreeSet;

use super::{MOST_CALLS_UP, MOST_POINTS, Point};
use crate::analysis::Analysis;
use crate::analysis::lease::{KeyKind, KeyUse};
use crate::analysis::outcome::{Abstract, Answer, Assumption, alike};
use crate::analysis::result_use::ResultUse;
use crate::config::Confidence;
use crate::ir::body::{BlockId, Body, OpKind, Terminator, Test};
use crate::ir::effect::Site;
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// Where a failed acquire is taken for a won one.
#[derive(Clone, Debug)]
pub struct FailureAsWin {
    /// What makes a win of it.
    pub span: Span,
    /// The acquire, or a call that leads to it and says who won.
    pub site: Site,
    /// Calls from there down to the acquire, which is the last; empty where the site is the acquire.
    pub chain: Vec<Site>,
    /// What is taken for what.
    pub mistake: Mistake,
    /// How sure.
    pub confidence: Confidence,
}

/// What is taken for a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A failure.
    FailureWins,
    /// Any reply, a loss too; a failure is taken for the loss.
    AnyReplyWins,
}

/// One of the runs that begin at an acquire.
struct Run<'p> {
    assumption: Assumption<'p>,
    blocks: BTreeSet<BlockId>,
    returned: Abstract,
}

impl Analysis<'_> {
    /// The places where a failed acquire is taken for a won one.
    #[must_use]
    pub fn failures_as_wins(&self, acquire: &KeyUse) -> Vec<FailureAsWin> {
        let Some(answer) = self.leases.answer(self.program, acquire) else { return Vec::new() };
        let Some(confidence) = self.is_relied_on(acquire) else { return Vec::new() };
        if !self.says_who_won(acquire) || self.is_told_by_exec(acquire) {
            return Vec::new();
        }
        let first = Point { site: acquire.site, chain: Vec::new(), answer };
        let failed = (!self.in_script(acquire)).then_some(Abstract::Err);
        let (mut found, mut waiting) = (Vec::new(), vec![(first, failed)]);
        let mut seen = BTreeSet::new();
        while let Some((point, failed)) = waiting.pop() {
            if !seen.insert(point.site) || seen.len() > MOST_POINTS {
                continue;
            }
            match failed.as_ref().and_then(|failed| self.mistake(acquire, &point, failed)) {
                Some((span, mistake)) => found.push(FailureAsWin {
                    span,
                    site: point.site,
                    chain: point.chain,
                    mistake,
                    confidence,
                }),
                None if point.chain.len() < MOST_CALLS_UP => {
                    waiting.extend(self.above_failing(acquire, &point, failed.as_ref()));
                }
                None => {}
            }
        }
        found.sort_by_key(|one| one.site);
        found
    }

    /// How sure it is that somebody relies on who won: a key that is only filled once harms nobody.
    fn is_relied_on(&self, acquire: &KeyUse) -> Option<Confidence> {
        let class = self.leases.class(acquire);
        match class.kind {
            _ if acquire.library => Some(Confidence::High),
            KeyKind::Lease => Some(class.confidence),
            KeyKind::Marker if class.named => Some(Confidence::Medium),
            KeyKind::Marker | KeyKind::Plain => None,
        }
    }

    /// The callers that get the answer of a point, and what a failure is to them. What runs a script fails
    /// where the script could not be run.
    fn above_failing(
        &self,
        acquire: &KeyUse,
        point: &Point,
        failed: Option<&Abstract>,
    ) -> Vec<(Point, Option<Abstract>)> {
        let up = self.above(acquire, point).into_iter().map(|caller| {
            let program = self.program;
            let failed = match failed {
                None => Some(Abstract::Err),
                Some(failed) => {
                    let told = Answer { won: failed.clone(), lost: point.answer.lost.clone() };
                    told.seen_by(program, point.site, caller.site).map(|told| told.won)
                }
            };
            (caller, failed)
        });
        up.collect()
    }

    /// The mistake that is made at a point, and what makes it.
    fn mistake(
        &self,
        acquire: &KeyUse,
        point: &Point,
        failed: &Abstract,
    ) -> Option<(Span, Mistake)> {
        if *failed == Abstract::Unknown || *failed == point.answer.lost {
            return None;
        }
        let body = &self.program.body(point.site.body)?.body;
        let [won, lost] =
            [&point.answer.won, &point.answer.lost].map(|it| self.run(point.site, it));
        let (won, lost, failed) = (won?, lost?, self.run(point.site, failed)?);
        let fallback = self.place(point.site);
        if self.failure_wins(point.site, body, [&won, &lost, &failed]) {
            let span = span_of_win(body, [&won, &lost, &failed]).or(fallback)?;
            return Some((span, Mistake::FailureWins));
        }
        // What a function says of a key that is only left to lapse is `acquire-result-ignored`.
        let told = acquire.library || self.leases.class(acquire).kind == KeyKind::Lease;
        let unread = told && self.use_at(acquire, point) == ResultUse::Dropped;
        if unread && self.any_reply_wins(point.site, body, [&won, &lost, &failed]) {
            let span = span_of_success(body, [&won, &lost, &failed]).or(fallback)?;
            return Some((span, Mistake::AnyReplyWins));
        }
        None
    }

    fn run(&self, site: Site, result: &Abstract) -> Option<Run<'_>> {
        let body = &self.program.body(site.body)?.body;
        let (from, _) = body.position(site.op)?;
        let op = body.call_behind(site.op);
        let assumption = Assumption::new(self.program, site.body, op, result.clone());
        let blocks = assumption.reachable(body, from);
        let returned = assumption.returned(from).unwrap_or(Abstract::Unknown);
        Some(Run { assumption, blocks, returned })
    }

    /// Whether a failure says or does what a win does, and a loss does not.
    fn failure_wins(&self, site: Site, body: &Body, [won, lost, failed]: [&Run<'_>; 3]) -> bool {
        let told = alike(&won.returned, &lost.returned) == Some(false);
        if told && alike(&failed.returned, &won.returned) == Some(true) {
            return true;
        }
        let acting = |block: &&BlockId| self.acts(site, body, **block);
        let mut winners = won.blocks.difference(&lost.blocks).filter(acting).peekable();
        winners.peek().is_some() && winners.all(|block| failed.blocks.contains(block))
    }

    /// Whether a loss says and does all that a win does, and only a failure less.
    fn any_reply_wins(&self, site: Site, body: &Body, [won, lost, failed]: [&Run<'_>; 3]) -> bool {
        let acting = |block: &BlockId| self.acts(site, body, *block);
        let same = won.returned == lost.returned
            && !won.blocks.symmetric_difference(&lost.blocks).any(acting);
        let fails = failed.returned == Abstract::Err;
        let less = alike(&failed.returned, &won.returned) == Some(false)
            || won.blocks.difference(&failed.blocks).any(acting);
        same && !fails && less
    }

    /// Whether a block does something other than saying so.
    fn acts(&self, site: Site, body: &Body, block: BlockId) -> bool {
        let ops = body.block(block).into_iter().flat_map(|block| &block.ops);
        ops.filter_map(|op| Some((*op, &body.op(*op)?.kind))).any(|(op, kind)| match kind {
            OpKind::Store { .. } | OpKind::Await { .. } => true,
            OpKind::Call(call) => !self.is_said(Site { op, ..site }, call),
            _ => false,
        })
    }
}

/// The value or test by which a failure comes to be a win.
fn span_of_win(body: &Body, [won, lost, failed]: [&Run<'_>; 3]) -> Option<Span> {
    let made = (0..body.values.len()).filter_map(|index| {
        let id = ValueId(u32::try_from(index).ok()?);
        let [won, lost, failed] = [won, lost, failed].map(|run| run.assumption.value(body, id));
        let wins = alike(&won, &lost) == Some(false) && alike(&failed, &won) == Some(true);
        wins.then(|| body.value(id).map(|value| value.span))?
    });
    let made: Vec<Span> = made.collect();
    made.into_iter().min_by_key(|span| span.end).or_else(|| {
        decided(body, [won, lost, failed], |[won, lost, failed]| won == failed && won != lost)
    })
}

/// The test that a loss passes like a win, and a failure does not.
fn span_of_success(body: &Body, [won, lost, failed]: [&Run<'_>; 3]) -> Option<Span> {
    let tested =
        decided(body, [won, lost, failed], |[won, lost, failed]| won == lost && won != failed);
    tested.or_else(|| {
        body.values.iter().enumerate().find_map(|(index, value)| {
            let id = ValueId(u32::try_from(index).ok()?);
            let holds = |run: &Run<'_>| match run.assumption.value(body, id) {
                Abstract::Truth(truth) => Some(truth),
                _ => None,
            };
            let looks = matches!(value.kind, ValueKind::Matches { .. });
            let (won, lost, failed) = (holds(won)?, holds(lost)?, holds(failed)?);
            (looks && won == lost && won != failed).then_some(value.span)
        })
    })
}

/// The first branch that all three runs come to and that decides so.
fn decided(body: &Body, runs: [&Run<'_>; 3], so: impl Fn([bool; 3]) -> bool) -> Option<Span> {
    let shared = runs.iter().skip(1).fold(runs.first()?.blocks.clone(), |all, run| {
        all.intersection(&run.blocks).copied().collect()
    });
    let mut spans = shared.iter().filter_map(|block| match &body.block(*block)?.end {
        Terminator::Branch { test, span, .. } => {
            let test: &Test = test;
            let [won, lost, failed] = runs.map(|run| run.assumption.test(test));
            so([won?, lost?, failed?]).then_some(*span)
        }
        _ => None,
    });
    spans.next()
}
