//! Key identity: when are two uses of a key uses of the *same* key.
//!
//! Identity travels by the same template with a literal part, the same field of the same type, the
//! same script key, or the same parameter of one function; never because two templates could
//! produce the same text. A key that is only a parameter has the identities its callers give it.

use std::collections::BTreeSet;

use super::choice::may_come_to;
use super::lock_words::has_lock_verb;
use crate::ir::effect::{BodyId, EffectKind, Site};
use crate::ir::index::TypeRef;
use crate::ir::key::{KeyPart, KeyTemplate, Origin};
use crate::ir::value::{ValueId, ValueKind};
use crate::link::{FunctionId, Program};

/// What makes a key that key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyIdentity {
    /// A template with literal text: its skeleton.
    Template(String),
    /// A field whose text is not known: type and field name.
    Field(String, String),
    /// The n-th parameter of a function.
    Parameter(FunctionId, u32),
    /// `KEYS[n]` of a script.
    ScriptKey(BodyId, u32),
    /// A named constant whose text is not known.
    Constant(String),
    /// The parameter of that name of functions of one type or module that say by their names that
    /// they take, release or renew a lock, when nothing in sight calls them.
    Named(String, String),
    /// A field or member of a key: the key, and the skeleton of the field's text.
    Part(Box<KeyIdentity>, String),
}

/// One identity of a key, and the calls through which it has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Identified {
    /// The identity.
    pub identity: KeyIdentity,
    /// The template in the frame of the outermost function.
    pub template: KeyTemplate,
    /// The body in whose frame the template is seen.
    pub frame: BodyId,
    /// Calls from the outermost function down to the use; empty when seen at the use itself.
    pub via: Vec<Site>,
}

/// How many calls up a parameter is followed.
const MOST_CALLS_UP: usize = 6;
/// How many places may build a type before a field of it is taken for unknown.
const MOST_CONSTRUCTORS: usize = 8;
/// How many identities one key keeps.
pub(super) const MOST_IDENTITIES: usize = 128;

/// How many calls and texts are looked at for one key.
const MOST_STATES: usize = 1_500;

/// All identities of a key seen at an operation; empty when nothing tells it from other keys.
#[must_use]
pub fn identities(program: &Program, site: Site, template: &KeyTemplate) -> Vec<Identified> {
    let body = site.body;
    let mut found: Vec<Identified> = Vec::new();
    // One example of the calls below is enough for each call, and each text it gives.
    let mut seen: BTreeSet<(BodyId, Option<Site>, String)> = BTreeSet::new();
    let mut waiting: Vec<(BodyId, KeyTemplate, Vec<Site>)> =
        vec![(body, template.clone(), Vec::new())];
    while let Some((frame, template, via)) = waiting.pop() {
        let is_full = found.len() >= MOST_IDENTITIES || seen.len() >= MOST_STATES;
        if is_full || !seen.insert((frame, via.first().copied(), template.to_string())) {
            continue;
        }
        if let Some(identity) = own_identity(program, frame, &template) {
            found.push(Identified {
                identity,
                template: template.clone(),
                frame,
                via: via.clone(),
            });
        }
        if template.has_literal() || via.len() >= MOST_CALLS_UP {
            continue;
        }
        for (body, value) in constructed(program, frame, &template) {
            let set = program.template(body, value);
            if body != frame || set != template {
                waiting.push((body, set, via.clone()));
            }
        }
        let at = via.first().copied().unwrap_or(site);
        let run = via.get(1).map_or(body, |next| next.body);
        let script = (run != at.body && program.in_script(run)).then_some(run);
        for site in sites_above(program, frame, &template) {
            if at.body == frame && !may_come_to(program, at, script, site) {
                continue;
            }
            let outer = outer_template(program, frame, &template, site);
            let mut longer = vec![site];
            longer.extend(via.iter().copied());
            if let Some(outer) = outer {
                waiting.push((site.body, outer, longer));
            }
        }
    }
    found.sort_by(|a, b| (&a.identity, &a.via).cmp(&(&b.identity, &b.via)));
    found
}

/// The identity a template has in its own frame.
fn own_identity(program: &Program, body: BodyId, template: &KeyTemplate) -> Option<KeyIdentity> {
    if template.has_literal() {
        return Some(KeyIdentity::Template(template.skeleton()));
    }
    let [KeyPart::Hole(hole)] = template.parts.as_slice() else { return None };
    match &hole.origin {
        Origin::Parameter(index) => {
            let id = program.enclosing_function(body)?;
            let function = program.function(id)?;
            let name = &function.parameters.get(*index as usize)?.name;
            let uncalled =
                program.function_body(id).is_none_or(|own| program.callers(own).is_empty());
            if uncalled && has_lock_verb(&program.words, &function.name) && !name.is_empty() {
                let home = function.owner.as_ref().and_then(type_name);
                let home = home.unwrap_or_else(|| format!("{:?} {}", id.file, function.scope));
                return Some(KeyIdentity::Named(home, name.clone()));
            }
            Some(KeyIdentity::Parameter(id, *index))
        }
        Origin::ScriptKey(index) => Some(KeyIdentity::ScriptKey(body, *index)),
        Origin::Constant(name) => Some(KeyIdentity::Constant(name.clone())),
        Origin::Field(path) => {
            let (owner, field) = field_owner(program, body, path)?;
            Some(KeyIdentity::Field(owner, field))
        }
        _ => None,
    }
}

/// The type a field path's last field belongs to, and that field.
#[must_use]
pub fn field_owner(program: &Program, body: BodyId, path: &str) -> Option<(String, String)> {
    let (owner, field) = owner_type(program, body, path)?;
    Some((type_name(&owner)?, field))
}

fn owner_type(program: &Program, body: BodyId, path: &str) -> Option<(TypeRef, String)> {
    let function = program.function(program.enclosing_function(body)?)?;
    let mut parts = path.split('@').next()?.split('.');
    let root = parts.next()?;
    let mut owner: TypeRef = match root.strip_prefix('#') {
        Some(index) => function.parameters.get(index.parse::<usize>().ok()?)?.ty.clone(),
        None if root == "self" => function.owner.clone()?,
        None => return None,
    };
    let fields: Vec<&str> = parts.collect();
    let (last, between) = fields.split_last()?;
    for field in between {
        owner = program.written_field(body, &owner, field)?;
    }
    Some((owner, (*last).to_owned()))
}

fn type_name(ty: &TypeRef) -> Option<String> {
    match ty {
        TypeRef::Named { path, arguments } => match (path.last()?, arguments.as_slice()) {
            ("Option" | "Mutex" | "RwLock", [inner]) => type_name(inner),
            (name, _) => Some(name.to_owned()),
        },
        _ => None,
    }
}

/// The values that the constructors of a type set for a key that is only a field of it.
pub(super) fn constructed(
    program: &Program,
    body: BodyId,
    template: &KeyTemplate,
) -> Vec<(BodyId, ValueId)> {
    let [KeyPart::Hole(hole)] = template.parts.as_slice() else { return Vec::new() };
    let Origin::Field(path) = &hole.origin else { return Vec::new() };
    let Some((owner, field)) = owner_type(program, body, path) else { return Vec::new() };
    let Some(ty) = program.enclosing_function(body).and_then(|id| program.type_named(id, &owner))
    else {
        return Vec::new();
    };
    let makers = program.constructors(ty);
    if makers.len() > MOST_CONSTRUCTORS || program.is_assigned(ty, &field) {
        return Vec::new();
    }
    let set = makers.iter().filter_map(|(maker, value)| {
        let own = program.body(*maker)?;
        let ValueKind::Aggregate { fields, .. } = own.body.kind(*value) else { return None };
        let (_, value) = fields.iter().find(|(name, _)| *name == field)?;
        Some((*maker, *value))
    });
    set.collect()
}

/// The calls one level up that give a template's parameters or script keys a value.
pub(super) fn sites_above(program: &Program, body: BodyId, template: &KeyTemplate) -> Vec<Site> {
    let origins = || template.holes().map(|hole| &hole.origin);
    if origins().any(|origin| matches!(origin, Origin::ScriptKey(_) | Origin::ScriptArgument(_))) {
        return program.script_callers(body).to_vec();
    }
    let from_caller = |origin: &Origin| match origin {
        Origin::Parameter(_) => true,
        Origin::Field(path) => path.starts_with('#') || path.starts_with("self"),
        _ => false,
    };
    if !origins().any(from_caller) {
        return Vec::new();
    }
    let Some(function) = program.enclosing_function(body) else { return Vec::new() };
    let Some(own) = program.function_body(function) else { return Vec::new() };
    program.callers(own).to_vec()
}

/// A template one level up. `None` when the call does not say.
pub(super) fn outer_template(
    program: &Program,
    body: BodyId,
    template: &KeyTemplate,
    site: Site,
) -> Option<KeyTemplate> {
    let is_script = template
        .holes()
        .any(|hole| matches!(hole.origin, Origin::ScriptKey(_) | Origin::ScriptArgument(_)));
    if !is_script {
        let own = program.function_body(program.enclosing_function(body)?)?;
        return Some(program.into_caller(template, own, site));
    }
    let call = program.effects(site.body).iter().find_map(|effect| match &effect.kind {
        EffectKind::Script(call) if effect.site == site => Some(call),
        _ => None,
    })?;
    let parts = template.parts.iter().map(|part| match part {
        KeyPart::Hole(hole) => match &hole.origin {
            Origin::ScriptKey(index) => {
                let key = call.keys.as_ref()?.get((*index as usize).checked_sub(1)?)?;
                Some(key.template.parts.clone())
            }
            Origin::ScriptArgument(index) => {
                let value = call.arguments.as_ref()?.get((*index as usize).checked_sub(1)?)?;
                Some(program.template(site.body, *value).parts)
            }
            _ => Some(vec![part.clone()]),
        },
        KeyPart::Text(_) => Some(vec![part.clone()]),
    });
    let parts: Option<Vec<Vec<KeyPart>>> = parts.collect();
    Some(KeyTemplate::new(parts?.concat()))
}
