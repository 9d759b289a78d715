//! `.sqlx/query-*.json`: the text and parameter types of a checked query.

/// The text of a query and the types of its parameters; `None` when the JSON is not such a file.
#[must_use]
pub fn offline_query(json_text: &str) -> Option<(String, Vec<String>)> {
    let json: serde_json::Value = serde_json::from_str(json_text).ok()?;
    let query = json.get("query")?.as_str()?.to_owned();
    let parameters = json.get("describe").and_then(|describe| describe.get("parameters"));
    let types = match parameters {
        Some(serde_json::Value::Object(either)) => {
            either.get("Left").or_else(|| either.get("Right"))
        }
        other => other,
    };
    let types = match types {
        Some(serde_json::Value::Array(types)) => types.iter().map(type_name).collect(),
        Some(count) => {
            let count = count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            vec![String::new(); count.min(1_000)]
        }
        None => Vec::new(),
    };
    Some((query, types))
}

/// A type is a word, or an object that names a type of the database.
fn type_name(ty: &serde_json::Value) -> String {
    if let Some(name) = ty.as_str() {
        return name.to_owned();
    }
    let custom = ty.get("Custom").and_then(|custom| custom.get("name"));
    custom.and_then(serde_json::Value::as_str).unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_types() {
        let json = r#"{"db_name":"PostgreSQL","query":"SELECT $1, $2","describe":{"columns":[],"parameters":{"Left":["Int8",{"Custom":{"name":"mood"}}]}},"hash":"x"}"#;
        assert_eq!(
            offline_query(json),
            Some(("SELECT $1, $2".into(), vec!["Int8".into(), "mood".into()]))
        );
        assert_eq!(offline_query("{}"), None);
    }
}
