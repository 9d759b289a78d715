//! Personal data in key templates.

use std::collections::BTreeSet;

use super::Analysis;
use super::lease::KeyKind;
use super::lock_words::{builds_key, words};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, EffectKind, Key};
use crate::ir::key::{Hole, HoleStep, KeyTemplate, Origin};
use crate::source::Span;

/// What kind of personal data a key carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PersonalData {
    /// An e-mail address.
    Email,
    /// A phone number.
    Phone,
    /// A national id, tax or passport number.
    NationalId,
    /// A card or account number.
    Card,
    /// A person's name.
    Name,
    /// A postal address.
    Address,
    /// A date of birth.
    BirthDate,
    /// An IP address.
    IpAddress,
    /// A session or access token, an API key.
    Token,
}

impl PersonalData {
    /// What a message calls it.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address",
            Self::Phone => "a phone number",
            Self::NationalId => "a national id number",
            Self::Card => "a card or account number",
            Self::Name => "a person's name",
            Self::Address => "a postal address",
            Self::BirthDate => "a date of birth",
            Self::IpAddress => "an IP address",
            Self::Token => "a session or access token",
        }
    }

    /// Whether rate limiters and session stores use it on purpose, so that it is only a note.
    #[must_use]
    pub fn is_note(self) -> bool {
        matches!(self, Self::IpAddress | Self::Token)
    }

    /// Whether there are so few values that a hash without a secret can be tried out.
    #[must_use]
    pub fn guessable(self) -> bool {
        !matches!(self, Self::Token | Self::Address)
    }
}

/// Names and what they hold, by their words.
const PERSONAL: &[(&[&str], PersonalData)] = &[
    (&["email"], PersonalData::Email),
    (&["e", "mail"], PersonalData::Email),
    (&["mail", "address"], PersonalData::Email),
    (&["phone"], PersonalData::Phone),
    (&["telephone"], PersonalData::Phone),
    (&["mobile", "number"], PersonalData::Phone),
    (&["msisdn"], PersonalData::Phone),
    (&["ssn"], PersonalData::NationalId),
    (&["national", "id"], PersonalData::NationalId),
    (&["passport"], PersonalData::NationalId),
    (&["tax", "number"], PersonalData::NationalId),
    (&["card", "number"], PersonalData::Card),
    (&["credit", "card"], PersonalData::Card),
    (&["iban"], PersonalData::Card),
    (&["first", "name"], PersonalData::Name),
    (&["last", "name"], PersonalData::Name),
    (&["full", "name"], PersonalData::Name),
    (&["surname"], PersonalData::Name),
    (&["street", "address"], PersonalData::Address),
    (&["postal", "address"], PersonalData::Address),
    (&["home", "address"], PersonalData::Address),
    (&["birth", "date"], PersonalData::BirthDate),
    (&["birthdate"], PersonalData::BirthDate),
    (&["birthday"], PersonalData::BirthDate),
    (&["date", "of", "birth"], PersonalData::BirthDate),
    (&["dob"], PersonalData::BirthDate),
    (&["ip"], PersonalData::IpAddress),
    (&["ip", "addr"], PersonalData::IpAddress),
    (&["ip", "address"], PersonalData::IpAddress),
    (&["ipaddr"], PersonalData::IpAddress),
    (&["access", "token"], PersonalData::Token),
    (&["session", "token"], PersonalData::Token),
    (&["oauth", "token"], PersonalData::Token),
    (&["refresh", "token"], PersonalData::Token),
    (&["bearer", "token"], PersonalData::Token),
    (&["auth", "token"], PersonalData::Token),
    (&["api", "key"], PersonalData::Token),
];

/// Words that follow such a name and make it something else (`email_id`, `phone_hash`).
const DEFUSING: [&str; 12] = [
    "id", "ids", "template", "hash", "hashed", "digest", "count", "type", "kind", "status", "uuid",
    "queue",
];

/// Words of persons.
const PERSONS: [&str; 8] =
    ["customer", "person", "patient", "employee", "contact", "guest", "passenger", "member"];

/// What a name says that it holds: its last words, unless a later word makes it something else.
fn personal_data(name: &str) -> Option<PersonalData> {
    let words = words(name);
    let found = PERSONAL.iter().find(|(wanted, _)| {
        let length = wanted.len();
        words
            .windows(length)
            .any(|window| window.iter().map(String::as_str).eq(wanted.iter().copied()))
    })?;
    let last = words.last()?;
    let defused = DEFUSING.contains(&last.as_str()) && found.0.last() != Some(&last.as_str());
    (!defused).then_some(found.1)
}

/// A hole that puts personal data into a key.
#[derive(Clone, Debug)]
pub struct PersonalKey {
    /// The hole's value, where it is written.
    pub span: Span,
    /// The body whose key it is.
    pub body: BodyId,
    /// The key's template.
    pub template: KeyTemplate,
    /// The hole's label.
    pub label: String,
    /// What it carries.
    pub data: PersonalData,
    /// Whether it is hashed, but without a secret.
    pub plain_hash: bool,
    /// Whether the key is a lease key.
    pub lease: bool,
    /// The command that uses the key; `None` for a key-builder function without a seen use.
    pub used_at: Option<Span>,
}

impl Analysis<'_> {
    /// All holes that put personal data into a key, one a place, in order.
    #[must_use]
    pub fn personal_keys(&self) -> Vec<PersonalKey> {
        let mut found: Vec<PersonalKey> = Vec::new();
        let mut seen: BTreeSet<Span> = BTreeSet::new();
        for (body, key, used_at) in self.keys_of_effects() {
            let lease = self.is_lease_key(body, &key);
            for one in personal_holes(body, &key.template) {
                if seen.insert(one.span) {
                    found.push(PersonalKey { lease, used_at: Some(used_at), ..one });
                }
            }
        }
        for (body, template) in self.built_keys() {
            for one in personal_holes(body, &template) {
                if seen.insert(one.span) {
                    found.push(one);
                }
            }
        }
        found.sort_by_key(|one| one.span);
        found
    }

    fn keys_of_effects(&self) -> Vec<(BodyId, Key, Span)> {
        let mut all = Vec::new();
        for effect in self.effects() {
            let keys: &[Key] = match &effect.kind {
                EffectKind::Redis(command) => &command.keys,
                EffectKind::Script(call) => call.keys.as_deref().unwrap_or_default(),
                EffectKind::Lease(call) => call.key.as_slice(),
                _ => &[],
            };
            for key in keys {
                all.push((effect.site.body, key.clone(), effect.span));
                // A key that is only a parameter is seen as its callers build it.
                for one in
                    super::identity::identities(self.program, effect.site.body, &key.template)
                {
                    if !one.via.is_empty() && one.template.has_literal() {
                        let key = Key { template: one.template, ..key.clone() };
                        all.push((one.frame, key, effect.span));
                    }
                }
            }
        }
        all
    }

    fn is_lease_key(&self, body: BodyId, key: &Key) -> bool {
        let same = |other: &super::lease::KeyUse| {
            other.identities.iter().any(|one| one.template.skeleton() == key.template.skeleton())
                && self.leases.class(other).kind == KeyKind::Lease
        };
        let _ = body;
        key.template.has_literal() && self.leases.iter().any(|(_, other)| same(other))
    }

    /// Templates of functions that say by their name that they build a key and give back text with
    /// a namespace.
    fn built_keys(&self) -> Vec<(BodyId, KeyTemplate)> {
        let mut all = Vec::new();
        for body in &self.program.bodies {
            if body.body.kind != BodyKind::Function || body.parent.is_some() {
                continue;
            }
            let function =
                self.program.enclosing_function(body.id).and_then(|id| self.program.function(id));
            if !function.is_some_and(|function| builds_key(&function.name)) {
                continue;
            }
            for value in crate::link::evaluate::returned(&body.body) {
                let template = self.program.template(body.id, value);
                if template.has_literal() && template.literals().contains(':') {
                    all.push((body.id, template));
                }
            }
        }
        all
    }
}

fn personal_holes(body: BodyId, template: &KeyTemplate) -> Vec<PersonalKey> {
    let found = template.holes().filter_map(|hole| {
        let data = personal(hole, template)?;
        let secret = |step: &HoleStep| matches!(step, HoleStep::KeyedHash | HoleStep::Encrypt);
        if hole.steps.iter().any(secret) {
            return None;
        }
        let plain_hash = hole.steps.contains(&HoleStep::Hash);
        if plain_hash && !data.guessable() {
            return None;
        }
        Some(PersonalKey {
            span: hole.place.unwrap_or(hole.span),
            body,
            template: template.clone(),
            label: hole.label.clone(),
            data,
            plain_hash,
            lease: false,
            used_at: None,
        })
    });
    found.collect()
}

/// What personal data a hole carries, by its type, its field path and its name.
fn personal(hole: &Hole, template: &KeyTemplate) -> Option<PersonalData> {
    if matches!(hole.origin, Origin::Random(_) | Origin::Clock | Origin::Constant(_)) {
        return None;
    }
    let by_type = hole.ty.as_ref().and_then(|ty| ty.name()).and_then(personal_data);
    by_type.or_else(|| personal_data(last_name(&hole.label))).or_else(|| {
        // `name` alone says little: only with a person's word beside it.
        let context = words(&format!("{} {}", template.literals(), hole.label));
        let person = context.iter().any(|word| PERSONS.contains(&word.as_str()));
        let named = words(last_name(&hole.label)) == ["name"];
        (named && person).then_some(PersonalData::Name)
    })
}

/// The last name of a label: `email` of `account.email.to_lowercase()`, `salt[..6]` → `salt`.
fn last_name(label: &str) -> &str {
    let head = label.split(['(', '[', '?']).next().unwrap_or(label);
    let mut names: Vec<&str> =
        head.split(['.', ':', ' ', '&', '*']).filter(|name| !name.is_empty()).collect();
    let called = label.get(head.len()..).is_some_and(|rest| rest.starts_with('('));
    // The name before a call's dot says more than the method: `email` of `email.trim()`.
    if called && names.len() > 1 && SHAPING.contains(names.last().unwrap_or(&"")) {
        names.pop();
    }
    names.last().copied().unwrap_or(label)
}

/// Methods that only change a value's form.
const SHAPING: [&str; 14] = [
    "to_lowercase",
    "to_ascii_lowercase",
    "to_uppercase",
    "trim",
    "to_string",
    "as_str",
    "clone",
    "as_ref",
    "to_owned",
    "into",
    "unwrap_or_default",
    "unwrap",
    "as_deref",
    "into_inner",
];
