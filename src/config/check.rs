//! Whether every name in a configuration is known, and where one stands that is not.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::keys::{KEYS, Takes, key};
use super::names;
use super::words::WordList;

/// What a configuration may name that is declared on other floors.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// Ids of rules.
    pub rules: &'k [&'k str],
    /// Fields of a row of the catalog.
    pub row: &'k [&'k str],
}

/// A fault: its bytes in the text, and what is wrong.
pub(super) type Fault = (Range<usize>, String);

/// The first fault of a table, if it has one.
pub(super) fn first_fault(table: &DeTable<'_>, known: &Known<'_>) -> Option<Fault> {
    let mut faults = Vec::new();
    for (name, value) in table {
        match key(name.get_ref()) {
            Some(key) => check(key.takes, value, known, &mut faults),
            None => faults.extend(unknown("key", name, KEYS.iter().map(|key| key.name))),
        }
    }
    faults.into_iter().min_by_key(|(range, _)| range.start)
}

/// Checks a value; a value of another type is serde's to refuse.
fn check(takes: Takes, value: &Spanned<DeValue<'_>>, known: &Known<'_>, faults: &mut Vec<Fault>) {
    let rules = || known.rules.iter().copied();
    match takes {
        Takes::Globs => faults.extend(elements(value).filter_map(glob)),
        Takes::Rules => {
            faults
                .extend(elements(value).filter_map(|rule| unknown("rule", &text(rule)?, rules())));
        }
        Takes::Severities => {
            faults.extend(members(value).filter_map(|name| unknown("rule", name, rules())));
        }
        Takes::WordLists => {
            let lists = || names::of::<WordList>().iter().copied();
            faults.extend(members(value).filter_map(|name| unknown("word list", name, lists())));
        }
        Takes::Rows => {
            let fields = elements(value).flat_map(members);
            let row = || known.row.iter().copied();
            faults.extend(fields.filter_map(|name| unknown("field of a row", name, row())));
        }
        Takes::Word(words) => faults.extend(text(value).and_then(|word| {
            let known = words.contains(&word.get_ref().as_ref());
            let message =
                || format!("expected one of {}, not `{}`", words.join(", "), word.get_ref());
            (!known).then(|| (word.span(), message()))
        })),
        Takes::Flag | Takes::Bytes => {}
    }
}

fn elements<'v, 'i>(
    value: &'v Spanned<DeValue<'i>>,
) -> impl Iterator<Item = &'v Spanned<DeValue<'i>>> {
    value.get_ref().as_array().into_iter().flat_map(|array| array.iter())
}

fn members<'v, 'i>(
    value: &'v Spanned<DeValue<'i>>,
) -> impl Iterator<Item = &'v Spanned<toml::de::DeString<'i>>> {
    value.get_ref().as_table().into_iter().flat_map(|table| table.keys())
}

fn text<'v>(value: &'v Spanned<DeValue<'_>>) -> Option<Spanned<std::borrow::Cow<'v, str>>> {
    Some(Spanned::new(value.span(), value.get_ref().as_str()?.into()))
}

fn glob(value: &Spanned<DeValue<'_>>) -> Option<Fault> {
    let error = globset::Glob::new(value.get_ref().as_str()?).err()?;
    Some((value.span(), format!("this is no glob: {}", error.kind())))
}

/// The fault of a name that is not among those known.
fn unknown<'n>(
    what: &str,
    name: &Spanned<std::borrow::Cow<'_, str>>,
    names: impl Iterator<Item = &'n str> + Clone,
) -> Option<Fault> {
    let word = name.get_ref().as_ref();
    if names.clone().any(|known| known == word) {
        return None;
    }
    let hint = names::nearest(word, names).map(|near| format!(": did you mean `{near}`?"));
    Some((name.span(), format!("there is no {what} `{word}`{}", hint.unwrap_or_default())))
}
