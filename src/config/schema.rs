//! The JSON schema of `leaselint.toml`, made of the list of keys: editors complete and check by it.

use serde_json::{Map, Value, json};

use super::keys::{KEYS, Key, Takes};
use super::words::WordList;
use super::{Known, names};

/// Where the schema can be read.
pub const ADDRESS: &str =
    "https://raw.githubusercontent.com/leaselint/leaselint/main/leaselint.schema.json";

/// The fields that every row of the catalog has.
const ROW: [&str; 5] = ["id", "library", "receiver", "method", "effect"];

/// The schema. `effects` are the words for what a row does.
#[must_use]
pub fn schema(known: &Known<'_>, effects: &[&str]) -> Value {
    let properties: Map<String, Value> =
        KEYS.iter().map(|key| (key.name.to_owned(), property(key, known, effects))).collect();
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": ADDRESS,
        "title": "leaselint.toml",
        "description": "Settings of leaselint, in leaselint.toml or under [workspace.metadata.leaselint] in Cargo.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

fn property(key: &Key, known: &Known<'_>, effects: &[&str]) -> Value {
    let mut property = match key.takes {
        Takes::Globs => json!({ "type": "array", "items": { "type": "string" } }),
        Takes::Rules => json!({ "type": "array", "items": { "enum": known.rules } }),
        Takes::Severities => json!({
            "type": "object",
            "propertyNames": { "enum": known.rules },
            "additionalProperties": { "enum": names::of::<super::Severity>() },
        }),
        Takes::Word(words) => json!({ "enum": words }),
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::Bytes => json!({ "type": "integer", "minimum": 0 }),
        Takes::WordLists => json!({
            "type": "object",
            "propertyNames": { "enum": names::of::<WordList>() },
            "additionalProperties": { "type": "array", "items": { "type": "string" } },
        }),
        Takes::Rows => json!({ "type": "array", "items": row(known, effects) }),
    };
    if let Value::Object(map) = &mut property {
        map.insert("description".to_owned(), key.summary.into());
        // Defaults in words are no values.
        if let Ok(default) = serde_json::from_str::<Value>(key.default) {
            map.insert("default".to_owned(), default);
        }
    }
    property
}

/// The schema of a row of the catalog: its fields by name, those that every row has by their type.
fn row(known: &Known<'_>, effects: &[&str]) -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 });
    let field = |name: &&str| {
        let shape = match *name {
            "id" | "library" => json!({ "type": "string" }),
            "receiver" => texts.clone(),
            "method" => json!({ "anyOf": [{ "type": "string" }, texts] }),
            "effect" => json!({ "enum": effects }),
            "args" => json!({ "type": "object" }),
            "arity" => json!({
                "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2,
            }),
            _ => json!({}),
        };
        ((*name).to_owned(), shape)
    };
    let fields: Map<String, Value> = known.row.iter().map(field).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ROW,
        "properties": fields,
    })
}
