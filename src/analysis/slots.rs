//! Keys that must share a hash slot: those of one command, one script call, one transaction.

use std::collections::BTreeMap;

use super::Analysis;
use super::identity::{constructed, outer_template};
use super::labels::last_name;
use super::script_keys::UndeclaredUse;
use crate::ir::effect::{BodyId, Cluster, Effect, EffectKind, Key, Site, Store};
use crate::ir::index::TypeRef;
use crate::ir::key::{KeyPart, KeyTemplate, Origin, SlotRelation, slot};
use crate::ir::value::ValueId;
use crate::link::Program;
use crate::source::Span;

/// Keys as callers see them.
mod passed;

use passed::Differing;

/// What needs one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// A command with several keys.
    Command,
    /// A script call.
    Script,
    /// MULTI/EXEC or an atomic pipeline.
    Transaction,
}

/// Whether the server is a cluster, as far as the program shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterUse {
    /// Settings, a cluster client, or hash tags say so.
    Yes,
    /// A plain single-server client.
    No,
    /// Nothing tells.
    Unknown,
}

/// A key and where it is written.
pub type Placed = (KeyTemplate, Span);

/// Two keys of one unit that can't share a slot.
#[derive(Clone, Debug)]
pub struct Conflict<'p> {
    /// The command, script call, or the last command of the transaction.
    pub effect: &'p Effect,
    /// What needs one slot.
    pub unit: Unit,
    /// First key.
    pub left: Placed,
    /// Second key.
    pub right: Placed,
    /// Slots of both, when both are constant.
    pub slots: Option<(u16, u16)>,
    /// Whether a hole at the start of both keys may hold the tag.
    pub may_hold_tag: bool,
    /// Whether a cluster is used.
    pub cluster: ClusterUse,
    /// Whether the second key is one that a script touches and its caller did not declare.
    pub undeclared: bool,
    /// The calls that give the keys, outermost first; empty when the function itself does.
    pub via: Vec<Site>,
}

/// A script with this flag may touch keys of several slots.
const CROSS_SLOT_FLAG: &str = "allow-cross-slot-keys";

impl<'p> Analysis<'p> {
    /// All units whose keys must differ in slot, one conflict each, in body order.
    #[must_use]
    pub fn slot_conflicts(&self) -> Vec<Conflict<'p>> {
        let mut found = Vec::new();
        for body in &self.program.bodies {
            let mut batches: BTreeMap<u32, Vec<(&'p Effect, &'p Key)>> = BTreeMap::new();
            for effect in self.program.effects(body.id) {
                match &effect.kind {
                    EffectKind::Redis(command) if !effect.in_script() => {
                        let keys = command.keys.iter().map(|key| (effect, key));
                        match command.batch.filter(|batch| batch.atomic) {
                            Some(batch) => batches.entry(batch.number).or_default().extend(keys),
                            None => {
                                let keys: Vec<_> = keys.collect();
                                found.extend(self.conflict(Unit::Command, &keys));
                            }
                        }
                    }
                    EffectKind::Script(call) => {
                        let keys: Vec<_> =
                            call.keys.iter().flatten().map(|key| (effect, key)).collect();
                        let free = !call.scripts.is_empty()
                            && call.scripts.iter().all(|it| self.has_flag(*it, CROSS_SLOT_FLAG));
                        if !free {
                            found.extend(self.conflict(Unit::Script, &keys));
                        }
                        if let Some(batch) = call.batch.filter(|batch| batch.atomic) {
                            batches.entry(batch.number).or_default().extend(keys);
                        }
                    }
                    _ => {}
                }
            }
            for keys in batches.values() {
                found.extend(self.conflict(Unit::Transaction, keys));
            }
            found.extend(self.conflicts_in_script(body.id));
        }
        found
    }

    /// Keys that a script touches undeclared and that lie in another slot than one that a caller
    /// declares. Where there is no cluster they are undeclared, and that is all.
    fn conflicts_in_script(&self, script: BodyId) -> Vec<Conflict<'p>> {
        let sites = self.program.script_callers(script);
        if sites.is_empty() || self.has_flag(script, CROSS_SLOT_FLAG) {
            return Vec::new();
        }
        let conflict = |one: &UndeclaredUse<'p>, site: &Site| {
            let made = match one.key.template.constant() {
                Some(_) => one.key.template.clone(),
                None => outer_template(self.program, script, &one.key.template, *site)?,
            };
            let call = self.program.effects(site.body).iter().find(|call| call.site == *site)?;
            let EffectKind::Script(invocation) = &call.kind else { return None };
            let cluster = self.cluster_use(call);
            let declared =
                invocation.keys.iter().flatten().find(|key| {
                    !may_bring_tag(&key.template) && must_differ(&key.template, &made)
                })?;
            let known = cluster != ClusterUse::No && !may_bring_tag(&made);
            known.then(|| Conflict {
                effect: one.effect,
                unit: Unit::Script,
                slots: slots(&declared.template, &made),
                left: (declared.template.clone(), declared.span),
                right: (made, one.key.span),
                may_hold_tag: false,
                cluster,
                undeclared: true,
                via: Vec::new(),
            })
        };
        let undeclared = self.undeclared_keys(script);
        undeclared
            .iter()
            .filter_map(|one| sites.iter().find_map(|site| conflict(one, site)))
            .collect()
    }

    fn conflict(&self, unit: Unit, keys: &[(&'p Effect, &'p Key)]) -> Option<Conflict<'p>> {
        let Differing { left, right, effect, via } = self.differing(keys)?;
        Some(Conflict {
            effect,
            unit,
            slots: slots(&left.0, &right.0),
            may_hold_tag: may_bring_tag(&left.0) || may_bring_tag(&right.0),
            left,
            right,
            cluster: self.cluster_use(effect),
            undeclared: false,
            via,
        })
    }

    /// All that a key can look like, as far as its own function and the constructors of the type
    /// whose field it is say.
    fn forms(&self, effect: &Effect, key: &Key) -> Forms {
        let (program, body) = (self.program, effect.site.body);
        self.constructed_forms(body, &key.template).unwrap_or_else(|| {
            let value = key.value.filter(|_| !key.many);
            let several = value.map(|value| program.templates(body, value));
            let several = several.filter(|all| all.len() > 1);
            Forms { all: several.unwrap_or_else(|| vec![key.template.clone()]), of_frame: true }
        })
    }

    /// What the constructors of a type make of a key that is a field of it.
    fn constructed_forms(&self, body: BodyId, template: &KeyTemplate) -> Option<Forms> {
        let program = self.program;
        let made = constructed(program, body, template);
        let apart = |(maker, value): (BodyId, ValueId)| {
            let all = program.templates(maker, value);
            all.into_iter().map(move |it| program.detached_template(&it, maker))
        };
        let all: Vec<KeyTemplate> = made.into_iter().flat_map(apart).collect();
        (!all.is_empty()).then_some(Forms { all, of_frame: false })
    }

    /// Whether an effect's server is a cluster.
    #[must_use]
    pub fn cluster_use(&self, effect: &Effect) -> ClusterUse {
        let store = match &effect.kind {
            EffectKind::Redis(command) => &command.store,
            EffectKind::Script(call) => &call.store,
            _ => &Store::default(),
        };
        match (self.program.settings.cluster, store.cluster) {
            (Some(true), _) | (None, Cluster::Yes) => ClusterUse::Yes,
            (Some(false), _) => ClusterUse::No,
            (None, _) if self.hash_tags => ClusterUse::Yes,
            (None, Cluster::No) => ClusterUse::No,
            (None, Cluster::Unknown) => ClusterUse::Unknown,
        }
    }
}

/// Whether any key of the program has a hash tag.
#[must_use]
pub fn uses_hash_tags(program: &Program) -> bool {
    program.bodies.iter().flat_map(|body| program.effects(body.id)).any(|effect| {
        let keys: &[Key] = match &effect.kind {
            EffectKind::Redis(command) => &command.keys,
            EffectKind::Script(call) => call.keys.as_deref().unwrap_or_default(),
            _ => &[],
        };
        keys.iter().any(|key| key.template.hash_tag().is_some())
    })
}

/// What a key can look like.
#[derive(Clone)]
struct Forms {
    all: Vec<KeyTemplate>,
    /// Whether all are seen from the function of the use: then equal holes hold equal text.
    of_frame: bool,
}

impl Forms {
    /// A form of this key and one of another that differ in slot and can meet in one run.
    fn differing(&self, other: &Self) -> Option<(KeyTemplate, KeyTemplate)> {
        let one_frame = self.of_frame && other.of_frame;
        let differ = |(left, right): &(&KeyTemplate, &KeyTemplate)| match one_frame {
            true => must_differ(left, right),
            false => left.slot_relation(right) == SlotRelation::MustDiffer,
        };
        let meeting: Vec<_> = self.meeting(other).filter(differ).collect();
        // A start that is known can hold no tag that is not seen.
        let plain = |(left, right): &&(&KeyTemplate, &KeyTemplate)| {
            !may_bring_tag(left) && !may_bring_tag(right)
        };
        let (left, right) = meeting.iter().find(plain).or(meeting.first())?;
        Some(((*left).clone(), (*right).clone()))
    }

    /// The pairs of forms that can meet. Keys with the same number of forms owe them to one decision
    /// (a namespace that is there or not), or else any may meet any, those of one place included.
    fn meeting<'f>(
        &'f self,
        other: &'f Self,
    ) -> Box<dyn Iterator<Item = (&'f KeyTemplate, &'f KeyTemplate)> + 'f> {
        if self.all.len() == other.all.len() {
            return Box::new(self.all.iter().zip(&other.all));
        }
        Box::new(self.all.iter().flat_map(|left| other.all.iter().map(move |right| (left, right))))
    }
}

/// Whether two keys of one run can't share a slot.
fn must_differ(left: &KeyTemplate, right: &KeyTemplate) -> bool {
    left.slot_relation(right) == SlotRelation::MustDiffer || tags_differ(left, right)
}

/// The slots of two keys, when both are constant.
fn slots(left: &KeyTemplate, right: &KeyTemplate) -> Option<(u16, u16)> {
    Some((slot(left.constant()?), slot(right.constant()?)))
}

/// Whether two keys are tagged by different values: `{<dev_addr>}` and `{<dev_eui>}`.
fn tags_differ(left: &KeyTemplate, right: &KeyTemplate) -> bool {
    let lone = |template: &KeyTemplate| match template.hash_tag()?.as_slice() {
        [KeyPart::Hole(hole)] => Some(hole.clone()),
        _ => None,
    };
    let (Some(left), Some(right)) = (lone(left), lone(right)) else { return false };
    let (one, other) = (last_name(&left.label), last_name(&right.label));
    // `{queue}` and `{self.queue}` may be one value under two names.
    left.origin != right.origin && !one.ends_with(other) && !other.ends_with(one)
}

/// Whether two elements of one list of keys differ in what is hashed: a hole that belongs to the
/// element lies in the tag, or there is no tag.
fn elements_differ(template: &KeyTemplate) -> bool {
    let hashed = template.hash_tag().unwrap_or_else(|| template.parts.clone());
    template.has_literal()
        && hashed.iter().any(|part| match part {
            KeyPart::Hole(hole) => match &hole.origin {
                Origin::Field(path) => path.contains("[]") || path.starts_with('|'),
                _ => false,
            },
            KeyPart::Text(_) => false,
        })
}

/// Whether the tag may be in a hole at the start. Who writes braces further on means those, and a number
/// or an id of hexadecimal digits has none.
fn may_bring_tag(template: &KeyTemplate) -> bool {
    let first = match template.parts.first() {
        Some(KeyPart::Hole(hole)) => hole,
        _ => return false,
    };
    let name = first.ty.as_ref().and_then(TypeRef::name);
    !name.is_some_and(|name| BRACELESS.contains(&name)) && template.hash_tag().is_none()
}

/// Types whose text has no brace.
const BRACELESS: [&str; 16] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "bool",
    "Uuid", "Ulid", "ObjectId",
];
