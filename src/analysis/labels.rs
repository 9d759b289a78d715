//! Labels of holes: how a source names what fills them.

/// The last name of a label: `email` of `account.email.to_lowercase()`, `salt[..6]` → `salt`.
#[must_use]
pub fn last_name(label: &str) -> &str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_has_the_last_name_and_not_what_is_done_to_it() {
        for (label, name) in [
            ("account.email.to_lowercase()", "email"),
            ("job.lease_token", "lease_token"),
            ("token.clone()", "token"),
            ("&self.owner", "owner"),
            ("salt[..6]", "salt"),
            ("self.queue()", "queue"),
            ("KEYS[1]", "KEYS"),
        ] {
            assert_eq!(last_name(label), name, "{label}");
        }
    }
}
