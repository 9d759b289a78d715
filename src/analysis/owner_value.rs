//! Owner tokens that are the same for every attempt: what an acquire stores, followed through builders,
//! fields and callers to where it comes from.
//!
//! A value is the same each time where all of its parts are literal, name the process or its settings,
//! or stand in the key itself: who competes for that key stores the same. Errs on the side of *not*: a
//! part of which it is not known where it comes from may be another one each time.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::callgraph::call_site;
use super::identity::{Identified, constructed, outer_template, sites_above};
use super::lease::{Action, KeyKind, KeyUse, UseId, stored};
use super::outcome::Assumption;
use crate::ir::body::{Block, Body, OpId};
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::key::{Hole, HoleStep, KeyPart, KeyTemplate, Origin};
use crate::ir::value::ValueId;
use crate::link::Program;
use crate::link::evaluate::returned_values;
use crate::source::Span;

/// Commands whose value is the whole of what the key holds.
const STORES: [&str; 5] = ["SET", "SETNX", "SETEX", "PSETEX", "GETSET"];
/// How many calls above an acquire its value is followed.
const MOST_CALLS_UP: usize = 6;
/// How many ways a value may take that is looked at.
const MOST_STATES: usize = 500;
/// How many calls above an acquire are looked at for the loop that it runs in.
const MOST_CALLERS: usize = 200;

/// For whom a value is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    /// For everybody.
    Everywhere,
    /// For everybody who competes for the key: it is a part of that.
    Key,
    /// For everything that runs in one process, or on one host.
    Process,
}

/// An owner token that is the same for every attempt, as one way of calls gives it to an acquire.
#[derive(Clone, Debug)]
pub struct SameValue {
    /// For whom.
    pub sameness: Sameness,
    /// The value, as the outermost function sees it.
    pub value: KeyTemplate,
    /// Where it is given: the word of the command, or the argument of the outermost call.
    pub span: Span,
    /// The word of the command that stores it.
    pub stored: Span,
    /// Where a value that names the process is made.
    pub made_at: Option<Span>,
    /// The body in which it is given.
    pub body: BodyId,
    /// The calls from there down to the acquire.
    pub chain: Vec<Site>,
    /// The key that is taken with it.
    pub key: Identified,
}

impl Analysis<'_> {
    /// The values that are the same for every attempt and that an acquire stores in leases; one a place
    /// where they are given.
    #[must_use]
    pub fn same_values(&self, acquire: &KeyUse) -> Vec<SameValue> {
        let mut found: BTreeMap<Span, SameValue> = BTreeMap::new();
        for one in &acquire.identities {
            let kind = self.leases.class_of(&one.identity).kind;
            for value in self.same_for(acquire, one) {
                let counts = match (kind, value.sameness) {
                    // A key that names its holder is another one for each.
                    (_, Sameness::Key) if self.leases.names_owner(self.words, acquire) => false,
                    // A zero is a counter's start.
                    (_, Sameness::Everywhere) if value.value.constant() == Some("0") => false,
                    (KeyKind::Lease, _) => !self.changes(one).is_empty(),
                    // Who is handed a token is to give it back, if only out of sight.
                    (KeyKind::Marker, Sameness::Process) => self.hands_out(acquire, &value.value),
                    _ => false,
                };
                if counts {
                    found.entry(value.span).or_insert(value);
                }
            }
        }
        found.into_values().collect()
    }

    /// Whether the function that takes a key gives back what it has stored there.
    fn hands_out(&self, acquire: &KeyUse, value: &KeyTemplate) -> bool {
        let body = acquire.site.body;
        let returned = self.program.body(body).map(|own| returned_values(&own.body));
        returned.unwrap_or_default().into_iter().any(|returned| {
            let all = self.program.templates(body, returned);
            all.iter().any(|returned| returned.same_text(value))
        })
    }

    /// Where a release or renewal of a key compares who holds it.
    #[must_use]
    pub fn comparing_use(&self, key: &Identified) -> Option<&KeyUse> {
        self.changes(key).into_iter().find(|it| it.owner.compares())
    }

    /// The releases of a key, and what renews it later on.
    #[must_use]
    pub fn changes(&self, key: &Identified) -> Vec<&KeyUse> {
        let mut uses = self.leases.uses_of(&key.identity);
        uses.retain(|it| match it.action {
            Action::Release => true,
            Action::Renew => !self.is_first_expiry(it),
            _ => false,
        });
        uses
    }

    /// Whether one loop of the program takes a key and comes back to it while it is the holder, and
    /// nothing else takes it: a process that wants to be the leader.
    #[must_use]
    pub fn taken_by_one_loop(&self, id: UseId, acquire: &KeyUse) -> bool {
        let won = self.leases.won(self.program, acquire);
        let won = |site: Site| {
            let region =
                self.regions.iter().find(|it| it.point.acquire == id && it.point.site == site);
            region
                .map(|region| region.point.won.clone())
                .or_else(|| (site == acquire.site).then(|| won.clone()))
        };
        let above = self.graph.leading_to([acquire.site], MOST_CALLERS);
        let sites =
            above.iter().flat_map(|(body, ops)| ops.iter().map(|op| Site { body: *body, op: *op }));
        let looping = sites.filter(|site| {
            let Some(own) = self.program.body(site.body) else { return false };
            let assumed = won(*site).map(|won| {
                Assumption::new(self.program, site.body, own.body.call_behind(site.op), won)
            });
            comes_back(&own.body, site.op, assumed.as_ref())
        });
        looping.count() == 1
    }

    fn same_for(&self, acquire: &KeyUse, one: &Identified) -> Vec<SameValue> {
        let Some(mut waiting) = self.given(acquire).map(|given| vec![given]) else {
            return Vec::new();
        };
        let way = self.graph.chain(self.program, acquire.site.body, &one.via);
        let mut found = Vec::new();
        let mut seen: BTreeSet<(BodyId, Span)> = BTreeSet::new();
        while let Some(given) = waiting.pop() {
            if !seen.insert((given.frame, given.span)) || seen.len() > MOST_STATES {
                continue;
            }
            match given.judged() {
                Judged::Same(sameness) => found.push(given.into_found(sameness, one)),
                Judged::Unsure => {}
                Judged::FromAbove => {
                    waiting.extend(self.made(&given));
                    match way.get(given.chain.len()).filter(|_| !given.apart) {
                        Some(site) => waiting.extend(given.seen_from(self.program, *site)),
                        None if given.chain.len() < MOST_CALLS_UP => {
                            let sites = given
                                .values
                                .iter()
                                .flat_map(|value| sites_above(self.program, given.frame, value));
                            let sites: BTreeSet<Site> = sites.collect();
                            let above = sites.into_iter();
                            waiting
                                .extend(above.filter_map(|it| given.seen_from(self.program, it)));
                        }
                        None => {}
                    }
                }
            }
        }
        found
    }

    /// What an acquire's own command stores.
    fn given(&self, acquire: &KeyUse) -> Option<Given> {
        let (effect, command) = self.command_of(acquire)?;
        let word = stored(command).filter(|_| command.is(&STORES) && acquire.claim.is_none())?;
        let body = effect.site.body;
        let values = match (&word.text, word.value) {
            (Some(text), _) => vec![KeyTemplate::text(text.clone())],
            (None, Some(value)) => self.program.templates(body, value),
            (None, None) => return None,
        };
        Some(Given {
            frame: body,
            values,
            key: acquire.key.as_ref()?.template.clone(),
            span: word.span,
            stored: word.span,
            chain: Vec::new(),
            apart: false,
        })
    }

    /// What the constructors of a type set, where a field of it is stored.
    fn made(&self, given: &Given) -> Vec<Given> {
        let [value] = given.values.as_slice() else { return Vec::new() };
        let set = constructed(self.program, given.frame, value).into_iter();
        let set = set.map(|(frame, value)| Given {
            frame,
            values: self.program.templates(frame, value),
            // What the key is to the constructor is not known.
            key: KeyTemplate { parts: Vec::new() },
            span: span_of(self.program, frame, value).unwrap_or(given.span),
            stored: given.stored,
            chain: Vec::new(),
            apart: true,
        });
        set.collect()
    }
}

/// A value on its way up from an acquire.
struct Given {
    /// The body in whose frame it is seen.
    frame: BodyId,
    /// Its alternatives.
    values: Vec<KeyTemplate>,
    /// The key there.
    key: KeyTemplate,
    span: Span,
    /// The word of the acquire's command.
    stored: Span,
    /// The calls from there down, outermost first.
    chain: Vec<Site>,
    /// Whether it left the way of the acquire for that of a constructor.
    apart: bool,
}

/// What is known of a value in one frame.
enum Judged {
    Same(Sameness),
    /// It comes from a caller or a constructor.
    FromAbove,
    /// Some part of it may be another one each time.
    Unsure,
}

impl Given {
    fn judged(&self) -> Judged {
        let mut sameness = Sameness::Everywhere;
        let mut above = false;
        for hole in self.values.iter().flat_map(KeyTemplate::holes) {
            match self.judged_hole(hole) {
                Judged::Same(of_hole) => sameness = sameness.max(of_hole),
                Judged::FromAbove => above = true,
                Judged::Unsure => return Judged::Unsure,
            }
        }
        if above { Judged::FromAbove } else { Judged::Same(sameness) }
    }

    fn judged_hole(&self, hole: &Hole) -> Judged {
        if hole.steps.iter().any(|step| matches!(step, HoleStep::Encrypt | HoleStep::Opaque)) {
            return Judged::Unsure;
        }
        let in_key = self.key.holes().any(|own| own.origin == hole.origin);
        match hole.origin {
            Origin::Constant(_) => Judged::Same(Sameness::Process),
            Origin::Random(..) | Origin::Clock(_) | Origin::Reply(_) => Judged::Unsure,
            _ if in_key => Judged::Same(Sameness::Key),
            Origin::Parameter(_)
            | Origin::Field(_)
            | Origin::ScriptArgument(_)
            | Origin::ScriptKey(_) => Judged::FromAbove,
            Origin::Unknown(_) => Judged::Unsure,
        }
    }

    /// One call up; `None` when the call does not say.
    fn seen_from(&self, program: &Program, site: Site) -> Option<Self> {
        let script = program.in_script(self.frame);
        let site = if script { site } else { call_site(program, site) };
        let up = |template: &KeyTemplate| outer_template(program, self.frame, template, site);
        let passed = self.passed(program, site, script);
        let values = match passed {
            Some(value) => program.templates(site.body, value),
            None => self.values.iter().map(up).collect::<Option<Vec<_>>>()?,
        };
        let call = program.body(site.body)?.body.call(site.op);
        let span = passed.and_then(|value| span_of(program, site.body, value));
        Some(Self {
            frame: site.body,
            values,
            key: up(&self.key).unwrap_or(KeyTemplate { parts: Vec::new() }),
            span: span.or(call.map(|call| call.name_span)).unwrap_or(self.span),
            stored: self.stored,
            chain: std::iter::once(site).chain(self.chain.iter().copied()).collect(),
            apart: self.apart,
        })
    }

    /// The argument of a call that is the value as it is.
    fn passed(&self, program: &Program, site: Site, script: bool) -> Option<ValueId> {
        let [value] = self.values.as_slice() else { return None };
        let [KeyPart::Hole(hole)] = value.parts.as_slice() else { return None };
        match &hole.origin {
            _ if !hole.steps.is_empty() => None,
            Origin::Parameter(index) if !script => {
                let own = program.function_body(program.enclosing_function(self.frame)?)?;
                let call = program.body(site.body)?.body.call(site.op)?;
                program.bound_arguments(own, call).0.get(*index as usize).copied()
            }
            Origin::ScriptArgument(index) => {
                let effects = program.effects(site.body).iter();
                let mut calls = effects.filter(|effect| effect.site == site);
                let arguments = calls.find_map(|effect| match &effect.kind {
                    EffectKind::Script(call) => call.arguments.as_ref(),
                    _ => None,
                })?;
                arguments.get((*index as usize).checked_sub(1)?).copied()
            }
            _ => None,
        }
    }

    fn into_found(mut self, sameness: Sameness, key: &Identified) -> SameValue {
        let value = self.values.swap_remove(0);
        let made = value.holes().find(|hole| matches!(hole.origin, Origin::Constant(_)));
        let made_at = made.map(|hole| hole.span);
        SameValue {
            sameness,
            made_at,
            value,
            span: self.span,
            stored: self.stored,
            body: self.frame,
            chain: self.chain,
            key: key.clone(),
        }
    }
}

fn span_of(program: &Program, body: BodyId, value: ValueId) -> Option<Span> {
    program.body(body)?.body.value(value).map(|value| value.span)
}

/// Whether a run of a body may come to an operation again, where it ended as is assumed.
fn comes_back(body: &Body, op: OpId, assumed: Option<&Assumption<'_>>) -> bool {
    let next = |block: &Block| match assumed {
        Some(assumed) => assumed.successors(&block.end),
        None => block.end.successors(),
    };
    let Some((at, _)) = body.position(op) else { return false };
    let Some(block) = body.block(at) else { return false };
    body.reachable(next(block), next).contains(&at)
}
