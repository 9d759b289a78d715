//! A table as it is written, and how it becomes rows.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::names;

use super::CatalogError;
use super::receiver::{Receiver, fits};
use super::row::{Api, ApiEffect, ApiScript, Bounds, Loss, Place, RowCount, TimeUnit, Wire};

/// A library.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    /// Its id.
    pub id: String,
    /// Its name in the package registry.
    pub package: String,
    /// The crates or packages it is imported by; a `*` stands for any text.
    pub import_roots: Vec<String>,
    /// Crates that it gives on under their own name: `redis` in `deadpool_redis::redis::cmd`.
    #[serde(default)]
    pub re_exports: Vec<String>,
    /// Types that a missing reply is read as without a failure: `Option` is nothing, `bool` is false.
    #[serde(default)]
    pub nil_reads_as: Vec<String>,
    /// Types that a missing reply can't be read as: the call fails.
    #[serde(default)]
    pub nil_fails_as: Vec<String>,
    /// Versions that were read.
    #[serde(default)]
    pub versions_read: Vec<String>,
    /// What is special about it.
    #[serde(default)]
    pub note: String,
}

impl Library {
    /// Whether this crate is one of the library's.
    #[must_use]
    pub fn has_root(&self, root: &str) -> bool {
        self.import_roots.iter().any(|own| own == root || own.contains('*') && fits(own, root))
    }
}

/// What one table holds.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) libraries: Vec<Library>,
    pub(super) sets: BTreeMap<String, Vec<Receiver>>,
    pub(super) rows: Vec<Api>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(rename = "catalog")]
    _catalog: IgnoredAny,
    #[serde(default)]
    receiver_set: BTreeMap<String, WrittenSet>,
    #[serde(default)]
    library: Vec<Library>,
    #[serde(default)]
    api: Vec<WrittenApi>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSet {
    members: Vec<String>,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
}

/// A name or a list of names; a flag or the word that stands for "both" or "depends".
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Flag {
    Yes(bool),
    Word(IgnoredAny),
}

impl Flag {
    fn known(&self) -> Option<bool> {
        match self {
            Self::Yes(flag) => Some(*flag),
            Self::Word(_) => None,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenApi {
    id: String,
    library: String,
    receiver: Vec<String>,
    method: OneOrMany,
    effect: ApiEffect,
    arity: Option<(i64, i64)>,
    generics: Option<usize>,
    #[serde(rename = "async")]
    is_async: Option<Flag>,
    #[serde(default)]
    args: BTreeMap<String, toml::Value>,
    #[serde(default)]
    wire: Vec<String>,
    command: Option<String>,
    ttl_unit: Option<String>,
    script: Option<ApiScript>,
    yields: Option<String>,
    target: Option<String>,
    bounds: Option<Bounds>,
    lease_unit: Option<TimeUnit>,
    lease_default: Option<String>,
    renewal: Option<String>,
    blocking: Option<String>,
    not_acquired: Option<String>,
    release_checks_owner: Option<bool>,
    rowcount: Option<String>,
    rowcount_means: Option<String>,
    domain: Option<String>,
    scope: Option<String>,
    ends: Option<String>,
    on_drop: Option<String>,
    protocol: Option<String>,
    timeout_default: Option<String>,
    #[serde(default)]
    timeout_from: Vec<String>,
    unit: Option<TimeUnit>,
    csprng: Option<Flag>,
    clock: Option<String>,
    #[serde(default)]
    keyed: bool,
    ack: Option<String>,
    ambiguity: Option<String>,
    // For people, not for the program.
    #[serde(default, rename = "kind")]
    _kind: IgnoredAny,
    #[serde(default, rename = "condition")]
    _condition: IgnoredAny,
    #[serde(default, rename = "sets")]
    _sets: IgnoredAny,
    #[serde(default, rename = "statement_from")]
    _statement_from: IgnoredAny,
    #[serde(default, rename = "dispatch")]
    _dispatch: IgnoredAny,
    #[serde(default, rename = "acquired")]
    _acquired: IgnoredAny,
    #[serde(default, rename = "versions")]
    _versions: IgnoredAny,
    #[serde(default, rename = "wait_default")]
    _wait_default: IgnoredAny,
    #[serde(default, rename = "level")]
    _level: IgnoredAny,
    #[serde(default, rename = "bits")]
    _bits: IgnoredAny,
    #[serde(default, rename = "default")]
    _default: IgnoredAny,
    #[serde(default, rename = "returns")]
    _returns: IgnoredAny,
    #[serde(default, rename = "must_use")]
    _must_use: IgnoredAny,
    #[serde(default, rename = "source")]
    _source: IgnoredAny,
    #[serde(default, rename = "note")]
    _note: IgnoredAny,
}

/// Reads a table of the program.
pub(super) fn read(name: &str, text: &str) -> Result<Table, CatalogError> {
    let trouble = |row: Option<String>, message: String| CatalogError {
        table: name.to_owned(),
        row,
        message,
    };
    let written: Written =
        toml::from_str(text).map_err(|error| trouble(None, error.to_string()))?;
    let mut table = Table { libraries: written.library, ..Table::default() };
    for (set, written) in written.receiver_set {
        let members: Result<Vec<_>, _> =
            written.members.iter().map(|member| Receiver::parse(member)).collect();
        table.sets.insert(set, members.map_err(|message| trouble(None, message))?);
    }
    table.rows = rows(name, written.api)?;
    Ok(table)
}

/// The fields that a row may have.
pub(super) fn fields() -> &'static [&'static str] {
    names::of::<WrittenApi>()
}

/// Reads a team's own rows.
pub(super) fn own_rows(own: &[toml::Value]) -> Result<Table, CatalogError> {
    let mut written = Vec::new();
    for value in own {
        let row = value.get("id").and_then(toml::Value::as_str).map(str::to_owned);
        let read: Result<WrittenApi, _> = value.clone().try_into();
        written.push(read.map_err(|error: toml::de::Error| CatalogError {
            table: "api".to_owned(),
            row,
            message: error.message().to_owned(),
        })?);
    }
    Ok(Table { rows: rows("api", written)?, ..Table::default() })
}

fn rows(name: &str, written: Vec<WrittenApi>) -> Result<Vec<Api>, CatalogError> {
    let one = |written: WrittenApi| {
        let id = written.id.clone();
        written.into_row().map_err(|message| CatalogError {
            table: name.to_owned(),
            row: Some(id),
            message,
        })
    };
    written.into_iter().map(one).collect()
}

impl WrittenApi {
    fn into_row(self) -> Result<Api, String> {
        let receivers: Result<Vec<_>, _> =
            self.receiver.iter().map(|receiver| Receiver::parse(receiver)).collect();
        let wire: Result<Vec<_>, _> = self.wire.iter().map(|word| Wire::parse(word)).collect();
        let yields = self.yields.as_deref().map(Receiver::parse).transpose()?;
        let mut args = BTreeMap::new();
        for (role, place) in &self.args {
            args.insert(role.clone(), Place::parse(place)?);
        }
        let least = |least: i64| usize::try_from(least).unwrap_or(0);
        Ok(Api {
            id: self.id,
            library: self.library,
            receivers: receivers?,
            methods: match self.method {
                OneOrMany::One(name) => vec![name],
                OneOrMany::Many(names) => names,
            },
            arity: self.arity.map(|(low, high)| (least(low), usize::try_from(high).ok())),
            generics: self.generics,
            is_async: self.is_async.as_ref().and_then(Flag::known),
            effect: self.effect,
            args,
            wire: wire?,
            command: self.command,
            ttl_unit: self.ttl_unit,
            script: self.script,
            yields,
            target: self.target,
            lease_unit: self.lease_unit,
            lease_default: self.lease_default,
            renewal: self.renewal,
            bounds: self.bounds,
            blocking: self.blocking,
            loss: self.not_acquired.as_deref().and_then(Loss::parse),
            release_checks_owner: self.release_checks_owner,
            rowcount: self.rowcount.as_deref().map(RowCount::parse).transpose()?,
            rowcount_means: self.rowcount_means,
            domain: self.domain,
            scope: self.scope,
            ends: self.ends,
            on_drop: self.on_drop,
            protocol: self.protocol,
            timeout_default: self.timeout_default,
            timeout_from: self.timeout_from,
            unit: self.unit,
            csprng: self.csprng.as_ref().and_then(Flag::known),
            clock: self.clock,
            keyed: self.keyed,
            ack: self.ack,
            ambiguity: self.ambiguity.unwrap_or_else(|| "medium".to_owned()),
        })
    }
}
