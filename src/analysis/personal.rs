//! Personal data in key templates.

use std::collections::BTreeSet;

use super::Analysis;
use super::identity::{Identified, KeyIdentity, identities};
use super::labels::last_name;
use super::lease::KeyKind;
use super::lock_words::builds_key;
use crate::config::words::{WordList, Words, split};
use crate::ir::body::BodyKind;
use crate::ir::effect::{BodyId, EffectKind, Key};
use crate::ir::key::{Hole, HoleStep, KeyPart, KeyTemplate, Origin};
use crate::source::Span;

mod literal;

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

/// What a name says that it holds: its last words, but for those that leave it what it is.
fn personal_data(lists: &Words, name: &str) -> Option<PersonalData> {
    let found = lists
        .located(WordList::Personal, name)
        .or_else(|| lists.located(WordList::Network, name))
        .filter(|found| found.after.iter().all(|word| lists.is(WordList::Form, word)))?;
    let data = kind_of(&found.entry);
    let of_whom = found.before.last().map(String::as_str);
    match data {
        // `queue_full_name` is no person's.
        PersonalData::Name if of_whom.is_some_and(|word| !lists.is(WordList::Person, word)) => None,
        PersonalData::IpAddress
            if of_whom.is_some_and(|word| lists.is(WordList::Machine, word)) =>
        {
            None
        }
        data => Some(data),
    }
}

/// What an entry of the word lists is.
fn kind_of(entry: &str) -> PersonalData {
    let has = |words: &[&str]| entry.split('_').any(|word| words.contains(&word));
    match () {
        () if has(&["email", "mail"]) => PersonalData::Email,
        () if has(&["phone", "telephone", "mobile", "msisdn", "fax"]) => PersonalData::Phone,
        () if has(&["name", "surname", "cardholder", "holder"]) => PersonalData::Name,
        () if has(&["birth", "birthdate", "birthday", "dob"]) => PersonalData::BirthDate,
        () if has(&["token", "jwt", "api"]) => PersonalData::Token,
        () if has(&["ip", "remote", "peer"]) => PersonalData::IpAddress,
        () if has(&["street", "address", "postcode", "postal", "zip"]) => PersonalData::Address,
        () if has(&["card", "iban", "bank", "pan", "cvv", "cvc"]) && !has(&["identity", "id"]) => {
            PersonalData::Card
        }
        () => PersonalData::NationalId,
    }
}

/// A hole that puts personal data into a key.
#[derive(Clone, Debug)]
pub struct PersonalKey {
    /// The hole's value, where it is written.
    pub span: Span,
    /// The template that it fills.
    pub made_at: Option<Span>,
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
            let written = written_out(body, &key);
            for one in personal_holes(self.words, body, &key.template).into_iter().chain(written) {
                if seen.insert(one.span) {
                    let lease = self.is_lease_key(&key.template);
                    found.push(PersonalKey { lease, used_at: Some(used_at), ..one });
                }
            }
        }
        for (body, template) in self.built_keys() {
            for one in personal_holes(self.words, body, &template) {
                if seen.insert(one.span) {
                    found.push(one);
                }
            }
        }
        let inner: Vec<Span> = found
            .iter()
            .filter(|one| self.is_told_above(one, &found))
            .map(|one| one.span)
            .collect();
        found.retain(|one| !inner.contains(&one.span));
        found.sort_by_key(|one| one.span);
        found
    }

    /// Whether a function that builds a key is given what it puts there by one whose key that is, and
    /// which is told of.
    fn is_told_above(&self, one: &PersonalKey, all: &[PersonalKey]) -> bool {
        let callers = self.graph.run_by(one.body);
        one.used_at.is_none()
            && all.iter().any(|other| {
                other.data == one.data
                    && other.template.skeleton() == one.template.skeleton()
                    && callers.iter().any(|site| site.body == other.body)
            })
    }

    fn keys_of_effects(&self) -> Vec<(BodyId, Key, Span)> {
        let mut all = Vec::new();
        for body in &self.program.bodies {
            for (index, effect) in self.program.effects(body.id).iter().enumerate() {
                let keys: &[Key] = match &effect.kind {
                    EffectKind::Redis(command) => &command.keys,
                    EffectKind::Script(call) => call.keys.as_deref().unwrap_or_default(),
                    EffectKind::Lease(call) => call.key.as_slice(),
                    _ => &[],
                };
                for key in keys {
                    all.push((body.id, key.clone(), effect.span));
                    let others = self.other_texts(body.id, index, key).into_iter();
                    all.extend(others.map(|(body, template)| {
                        (body, Key { template, ..key.clone() }, effect.span)
                    }));
                }
            }
        }
        all
    }

    /// What else a key is: one of several texts (the arms of a `match`), a parameter as callers build
    /// it.
    fn other_texts(&self, body: BodyId, effect: usize, key: &Key) -> Vec<(BodyId, KeyTemplate)> {
        let several = key.value.into_iter().flat_map(|value| self.program.templates(body, value));
        let mut all: Vec<(BodyId, KeyTemplate)> = several
            .filter(|it| it.has_literal() && *it != key.template)
            .map(|template| (body, template))
            .collect();
        if key.template.has_literal() {
            return all;
        }
        let seen = |one: &&Identified| !one.via.is_empty() && one.template.has_literal();
        let outer = |one: &Identified| (one.frame, one.template.clone());
        let known = self.leases.uses_at(body, effect).iter().find(|it| {
            let own = it.key.as_ref().is_some_and(|own| own.template == key.template);
            own && it.claim.is_none()
        });
        match known {
            Some(known) => all.extend(known.identities.iter().filter(seen).map(outer)),
            None => {
                let site = self.program.effects(body).get(effect).map(|effect| effect.site);
                let found = site.map(|site| identities(self.program, site, &key.template));
                all.extend(found.iter().flatten().filter(seen).map(outer));
            }
        }
        all
    }

    fn is_lease_key(&self, template: &KeyTemplate) -> bool {
        let identity = KeyIdentity::Template(template.skeleton());
        let uses = self.leases.uses_of(&identity);
        template.has_literal() && uses.iter().any(|it| self.leases.class(it).kind == KeyKind::Lease)
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
            for value in crate::link::evaluate::returned_values(&body.body) {
                let template = self.program.template(body.id, value);
                if template.has_literal() && template.literals().contains(':') {
                    all.push((body.id, template));
                }
            }
        }
        all
    }
}

/// Personal data in the literal text of a key.
fn written_out(body: BodyId, key: &Key) -> Option<PersonalKey> {
    let text = |part: &KeyPart| match part {
        KeyPart::Text(text) => literal::in_text(text).map(|(data, label)| (data, label.to_owned())),
        KeyPart::Hole(_) => None,
    };
    let (data, label) = key.template.parts.iter().find_map(text)?;
    Some(PersonalKey {
        span: key.span,
        made_at: None,
        body,
        template: key.template.clone(),
        label,
        data,
        plain_hash: false,
        lease: false,
        used_at: None,
    })
}

/// The holes of a template that carry personal data.
fn personal_holes(lists: &Words, body: BodyId, template: &KeyTemplate) -> Vec<PersonalKey> {
    let found = template.parts.iter().enumerate().filter_map(|(index, part)| {
        let KeyPart::Hole(hole) = part else { return None };
        let data = personal(lists, template, index, hole)?;
        let secret = |step: &HoleStep| matches!(step, HoleStep::KeyedHash | HoleStep::Encrypt);
        if hole.steps.iter().any(secret) {
            return None;
        }
        let plain_hash = hole.steps.contains(&HoleStep::Hash);
        if plain_hash && !data.guessable() {
            return None;
        }
        Some(PersonalKey {
            span: hole.span,
            made_at: hole.template.filter(|whole| !whole.covers(hole.span)),
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

/// What personal data a hole carries, by its type, its name, and, where that is mute, the field path
/// or the text before it.
fn personal(
    lists: &Words,
    template: &KeyTemplate,
    index: usize,
    hole: &Hole,
) -> Option<PersonalData> {
    if matches!(hole.origin, Origin::Random(..) | Origin::Clock(_) | Origin::Constant(_)) {
        return None;
    }
    let name = last_name(&hole.label);
    let of_machine = lists.has(WordList::Machine, name);
    let by_type = hole.ty.as_ref().and_then(|ty| ty.name()).and_then(|ty| personal_data(lists, ty));
    by_type
        .filter(|data| !(of_machine && *data == PersonalData::IpAddress))
        .or_else(|| personal_data(lists, name))
        .or_else(|| by_surroundings(lists, template, index, hole, name))
}

/// What a hole with a mute name holds.
fn by_surroundings(
    lists: &Words,
    template: &KeyTemplate,
    index: usize,
    hole: &Hole,
    name: &str,
) -> Option<PersonalData> {
    let own = split(name);
    if !lists.is(WordList::Mute, name) {
        return None;
    }
    let by_field = match &hole.origin {
        Origin::Field(path) => {
            let path = path.split('@').next().unwrap_or_default();
            let mut last = path.rsplit('.').filter(|part| part.parse::<u32>().is_err());
            let field = last.next().unwrap_or_default();
            last.next().and_then(|of| personal_data(lists, &format!("{of}_{field}")))
        }
        _ => None,
    };
    let before = index.checked_sub(1).and_then(|index| template.parts.get(index));
    let by_text = || match before {
        Some(KeyPart::Text(text)) => {
            let mut segments = text
                .split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
            let last = segments.rfind(|segment| !segment.is_empty())?;
            let data = personal_data(lists, last);
            // `name` alone says little: only with a person's word beside it.
            let person = lists.has(WordList::Person, last);
            data.or_else(|| (person && own == ["name"]).then_some(PersonalData::Name))
        }
        _ => None,
    };
    let person = || {
        let said = split(&hole.label);
        let of = said.iter().rev().nth(1).is_some_and(|word| lists.is(WordList::Person, word));
        (own == ["name"] && of).then_some(PersonalData::Name)
    };
    by_field.or_else(by_text).or_else(person)
}
