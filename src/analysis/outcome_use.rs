//! Acquires whose outcome nobody asks for: who lost goes on as if the lease were held.
//!
//! An outcome is asked for where anything looks at it, where it is stored, handed to a call that may
//! look, or given back to a caller that asks; where a loss is a failure and that is passed on; and where
//! the key is read back at once. What is left is a loss that nobody sees. It matters only under a lease:
//! one that the same run gives back, or of which the owner is compared. Errs on the side of *asked*.

use std::collections::BTreeSet;

use super::Analysis;
use super::callgraph::call_site;
use super::expiry::{all_sites, comes_after};
use super::lease::{Action, KeyKind, KeyUse, UseId, written_where_free};
use super::lifted::says_yes_or_no;
use super::lock_words::has_acquire_verb;
use super::outcome::{Abstract, Answer, Assumption, nil_read};
use super::region::Region;
use super::result_use::{ResultUse, failure_use, presence_use, reply_use, result_use};
use crate::catalog::ApiEffect;
use crate::config::Confidence;
use crate::ir::body::{BlockId, Call, Callee, OpKind};
use crate::ir::effect::{Condition, Effect, EffectKind, Site};

pub mod failure;

/// Where the outcome of an acquire is thrown away.
#[derive(Clone, Debug)]
pub struct DroppedOutcome {
    /// The acquire, or a call that leads to it and says who won.
    pub site: Site,
    /// Calls from there down to the acquire, which is the last; empty where the site is the acquire.
    pub chain: Vec<Site>,
    /// Where the same run gives the lease back.
    pub release: Option<Site>,
    /// How sure.
    pub confidence: Confidence,
}

/// An acquire as one body sees it.
struct Point {
    site: Site,
    chain: Vec<Site>,
    answer: Answer,
}

/// How many calls up an answer is followed.
const MOST_CALLS_UP: usize = 6;
/// How many places of one acquire are looked at.
const MOST_POINTS: usize = 200;

impl Analysis<'_> {
    /// The places where the outcome of an acquire is thrown away and code goes on under a lease.
    #[must_use]
    pub fn dropped_outcomes(&self, id: UseId, acquire: &KeyUse) -> Vec<DroppedOutcome> {
        let Some(answer) = self.leases.answer(self.program, acquire) else { return Vec::new() };
        if !self.says_who_won(acquire) || self.is_watched(acquire) || self.is_told_by_exec(acquire)
        {
            return Vec::new();
        }
        let first = Point { site: acquire.site, chain: Vec::new(), answer };
        // The reply of a write that a script makes where it found nothing says nothing; what the script
        // gives back does.
        let free = self.is_written_where_free(acquire);
        let (mut found, mut waiting) = (Vec::new(), vec![first]);
        let mut seen = BTreeSet::new();
        while let Some(point) = waiting.pop() {
            if !seen.insert(point.site) || seen.len() > MOST_POINTS {
                continue;
            }
            match self.use_at(acquire, &point) {
                _ if free && point.chain.is_empty() => waiting.extend(self.above(acquire, &point)),
                ResultUse::Dropped => found.extend(self.dropped(id, acquire, &point)),
                ResultUse::Passed(_) => {}
                ResultUse::Tested(_) if self.acts_on(&point) => {}
                _ if point.chain.len() >= MOST_CALLS_UP => {}
                ResultUse::Tested(_) | ResultUse::Returned(_) => {
                    waiting.extend(self.above(acquire, &point))
                }
            }
        }
        found.sort_by_key(|one| one.site);
        found
    }

    /// Whether an acquire, or the script that it is in, tells who won.
    fn says_who_won(&self, acquire: &KeyUse) -> bool {
        let Some(effect) = self.effect_of(acquire) else { return false };
        match (&effect.kind, &acquire.key) {
            (EffectKind::Redis(command), Some(key)) => {
                let conditional = command.is(&["SETNX", "MSETNX"])
                    || command.is(&["SET", "MSETEX"]) && command.condition == Condition::IfAbsent;
                let conditional = conditional || written_where_free(self.program, effect, key);
                conditional && acquire.claim.is_none()
            }
            _ => acquire.library,
        }
    }

    fn is_written_where_free(&self, acquire: &KeyUse) -> bool {
        let effect = self.effect_of(acquire).zip(acquire.key.as_ref());
        effect.is_some_and(|(effect, key)| written_where_free(self.program, effect, key))
    }

    /// What happens to the answer of an acquire at a point.
    fn use_at(&self, acquire: &KeyUse, point: &Point) -> ResultUse {
        let own = self.effect_of(acquire).filter(|_| point.chain.is_empty());
        let fails = point.answer.lost == Abstract::Err || own.is_some_and(|it| self.may_fail(it));
        match own {
            _ if fails => failure_use(self.program, point.site),
            Some(effect) => reply_use(self.program, effect),
            None => presence_use(self.program, point.site),
        }
    }

    /// Whether it is not known if a missing reply fails to be read: as a type of the program's own.
    fn may_fail(&self, effect: &Effect) -> bool {
        let named = effect.reply_type.as_ref().is_some_and(|ty| ty.name().is_some());
        !effect.in_script() && named && nil_read(self.program, effect).is_none()
    }

    /// The callers that get the answer of a point.
    fn above(&self, acquire: &KeyUse, point: &Point) -> Vec<Point> {
        let run_by = self.graph.run_by(point.site.body).iter();
        let up = run_by.filter_map(|site| {
            let seen = (point.site, &point.answer);
            let answer = self.leases.seen_by(self.program, acquire, seen, *site)?;
            let mut chain = vec![point.site];
            chain.extend(point.chain.iter().copied());
            answer.tells().then_some(Point { site: *site, chain, answer })
        });
        up.collect()
    }

    /// Whether a body does something with the answer that only winners or only losers come to, other
    /// than saying so: whoever drops what it says may have it from there.
    fn acts_on(&self, point: &Point) -> bool {
        let Some(own) = self.program.body(point.site.body) else { return true };
        let Some((from, _)) = own.body.position(point.site.op) else { return true };
        let op = own.body.call_behind(point.site.op);
        let reached = |result: &Abstract| -> BTreeSet<BlockId> {
            let assumption = Assumption::new(self.program, own.id, op, result.clone());
            assumption.reachable(&own.body, from)
        };
        let (won, lost) = (reached(&point.answer.won), reached(&point.answer.lost));
        let ops = won.symmetric_difference(&lost).filter_map(|block| own.body.block(*block));
        let mut kinds = ops
            .flat_map(|block| &block.ops)
            .filter_map(|op| Some((Site { body: own.id, op: *op }, &own.body.op(*op)?.kind)));
        kinds.any(|(site, kind)| match kind {
            OpKind::Store { .. } => true,
            OpKind::Call(call) => call.receiver.is_some() && !self.is_said(site, call),
            _ => false,
        })
    }

    /// Whether a call only says something: a log line, a macro, a value read off another.
    fn is_said(&self, site: Site, call: &Call) -> bool {
        matches!(call.callee, Callee::Macro(_))
            || call.arguments.is_empty()
            || self
                .program
                .effects(site.body)
                .iter()
                .any(|effect| effect.site == site && matches!(effect.kind, EffectKind::Log { .. }))
    }

    /// An answer that is thrown away, where that is under a lease.
    fn dropped(&self, id: UseId, acquire: &KeyUse, point: &Point) -> Option<DroppedOutcome> {
        let class = self.leases.class(acquire);
        if self.is_read_back(acquire) {
            return None;
        }
        let release = self.section(id, point).and_then(|region| self.release_of(region));
        let own = point.chain.is_empty();
        let told = class.named || class.compared || self.holds_no_data(acquire);
        let sure = class.compared && class.confidence == Confidence::High;
        let under_lease = match class.kind {
            _ if acquire.library => true,
            KeyKind::Lease if release.is_some() && told => true,
            KeyKind::Lease if own && sure && self.only_guarded(acquire) => true,
            KeyKind::Lease | KeyKind::Marker => own && class.named && self.misleads(point),
            KeyKind::Plain => false,
        };
        let certain = own && (acquire.library || class.kind == KeyKind::Lease);
        let most = if certain { Confidence::High } else { Confidence::Medium };
        under_lease.then(|| DroppedOutcome {
            site: point.site,
            chain: point.chain.clone(),
            release,
            confidence: if acquire.library { most } else { class.confidence.min(most) },
        })
    }

    /// Whether the function around an acquire says by its name that it takes a lock, and by its type that
    /// it tells who won, and tells losers that they did: it takes something else for the answer.
    fn misleads(&self, point: &Point) -> bool {
        let program = self.program;
        let id = program.enclosing_function(point.site.body);
        let function = id.and_then(|id| program.function(id));
        let told = || point.answer.given_back(program, point.site).map(|told| told.lost);
        let yes = |told: Abstract| match told {
            Abstract::Ok(inner) => *inner == Abstract::Truth(true),
            told => told == Abstract::Truth(true),
        };
        function.is_some_and(|function| has_acquire_verb(self.words, &function.name))
            && says_yes_or_no(program, point.site.body)
            && told().is_some_and(yes)
    }

    /// The region of an acquire that runs through a point and ends with a release.
    fn section(&self, id: UseId, point: &Point) -> Option<&Region> {
        let at = call_site(self.program, point.site);
        self.regions.iter().filter(|region| region.point.acquire == id).find(|region| {
            let way = region.point.way();
            !region.releases.is_empty()
                && way.iter().any(|site| call_site(self.program, *site) == at)
        })
    }

    fn release_of(&self, region: &Region) -> Option<Site> {
        region.releases.first().map(|op| Site { op: *op, ..region.point.site })
    }

    /// Whether the key is never read nor written otherwise: it holds nothing but who has it.
    fn holds_no_data(&self, acquire: &KeyUse) -> bool {
        [Action::Read, Action::Write]
            .iter()
            .all(|action| self.leases.others(acquire, *action).next().is_none())
    }

    /// Whether the key is read only where it is given back or renewed.
    fn only_guarded(&self, acquire: &KeyUse) -> bool {
        let guards = |read: &KeyUse| self.serves_release(acquire, read);
        self.leases.others(acquire, Action::Read).all(|(_, read)| guards(read))
    }

    /// Whether a read stands in a body that gives the key back or renews it.
    fn serves_release(&self, acquire: &KeyUse, read: &KeyUse) -> bool {
        [Action::Release, Action::Renew].iter().any(|action| {
            self.leases.others(acquire, *action).any(|(_, it)| it.site.body == read.site.body)
        })
    }

    /// Whether the key is read at once after it was taken, in the same batch or with nothing in between:
    /// who holds it is asked that way.
    fn is_read_back(&self, acquire: &KeyUse) -> bool {
        let early = all_sites(self.program, acquire);
        let in_script = self.in_script(acquire);
        self.leases.others(acquire, Action::Read).any(|(_, read)| {
            let batched = read.site == acquire.site && read.effect > acquire.effect;
            let own = in_script && read.site.body == acquire.site.body;
            let counts = own || !self.serves_release(acquire, read);
            batched
                || counts
                    && all_sites(self.program, read)
                        .iter()
                        .any(|late| early.iter().any(|early| self.follows_at_once(*early, *late)))
        })
    }

    /// Whether an operation comes after another, and nothing that has an effect between them.
    fn follows_at_once(&self, early: Site, late: Site) -> bool {
        comes_after(self.program, early, late)
            && !self.program.effects(early.body).iter().any(|effect| {
                let between = effect.site;
                !matches!(effect.kind, EffectKind::Log { .. } | EffectKind::Sleep { .. })
                    && between.op != early.op
                    && between.op != late.op
                    && comes_after(self.program, early, between)
                    && comes_after(self.program, between, late)
            })
    }

    /// Whether somebody looks at what the end of the acquire's transaction answers, which holds the
    /// answers of all its commands: `EXEC` by hand.
    fn is_told_by_exec(&self, acquire: &KeyUse) -> bool {
        let program = self.program;
        let batched = self.command_of(acquire).and_then(|(_, command)| command.batch).is_some();
        let Some(own) = program.body(acquire.site.body) else { return false };
        let ends = |site: Site| {
            let sent = program.effects(own.id).iter().any(|effect| {
                effect.site == site
                    && matches!(&effect.kind, EffectKind::Redis(it) if it.is(&["EXEC"]))
            });
            let targets = program.targets(own.id, own.body.call_behind(site.op));
            let rows = targets.into_iter().flat_map(|targets| &targets.apis);
            sent || rows.into_iter().any(|row| row.effect == ApiEffect::TxCommit)
        };
        batched
            && !self.in_script(acquire)
            && own.body.operations().any(|(_, op, _)| {
                let site = Site { body: own.id, op };
                site != acquire.site
                    && comes_after(program, acquire.site, site)
                    && ends(site)
                    && result_use(program, site) != ResultUse::Dropped
            })
    }

    /// Whether the acquire leaves in a transaction that fails when a watched key changed.
    fn is_watched(&self, acquire: &KeyUse) -> bool {
        let batched = self.command_of(acquire).and_then(|(_, command)| command.batch);
        let watches =
            |effect: &Effect| matches!(&effect.kind, EffectKind::Redis(it) if it.is(&["WATCH"]));
        let around =
            std::iter::successors(Some(acquire.site.body), |body| self.program.body(*body)?.parent);
        batched.is_some_and(|batch| batch.atomic)
            && !self.in_script(acquire)
            && around.into_iter().any(|body| self.program.effects(body).iter().any(watches))
    }
}
