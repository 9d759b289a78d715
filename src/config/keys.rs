//! The keys of `leaselint.toml`, each described once: the README's table, the JSON schema, the file
//! that `leaselint init` writes and the check of what is written all derive from this list.

use super::{DIALECTS, Severity};

/// A key and what is said of it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What holds when it is not said, as TOML or in words.
    pub default: &'static str,
    /// A value, as TOML.
    pub example: &'static str,
    /// What it does, one sentence without a full stop.
    pub summary: &'static str,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A list of globs.
    Globs,
    /// A list of rules.
    Rules,
    /// A table: rule to severity.
    Severities,
    /// One of these words.
    Word(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// A number of bytes.
    Bytes,
    /// A table: name of a word list to words.
    WordLists,
    /// A list of tables: rows of the catalog.
    Rows,
}

/// The severities, mildest first.
const SEVERITIES: &[&str] =
    &[Severity::Note.word(), Severity::Warning.word(), Severity::Error.word()];

/// Every key, in the order in which people need them.
pub static KEYS: &[Key] = &[
    Key {
        name: "exclude",
        takes: Takes::Globs,
        default: "[]",
        example: r#"["generated/**"]"#,
        summary: "globs of paths to leave out, relative to the folder of the configuration; a name without `/` is meant at any depth",
    },
    Key {
        name: "force-exclude",
        takes: Takes::Flag,
        default: "false",
        example: "true",
        summary: "`exclude` holds for paths that are named on the command line, too",
    },
    Key {
        name: "select",
        takes: Takes::Rules,
        default: "[]",
        example: r#"["unconditional-del"]"#,
        summary: "these rules alone",
    },
    Key {
        name: "extend-select",
        takes: Takes::Rules,
        default: "[]",
        example: r#"["pii-in-key"]"#,
        summary: "these rules too: pedantic ones are off unless they are named",
    },
    Key {
        name: "ignore",
        takes: Takes::Rules,
        default: "[]",
        example: r#"["pii-in-key"]"#,
        summary: "not these rules",
    },
    Key {
        name: "severity",
        takes: Takes::Severities,
        default: "as the rule's page says",
        example: r#"{ lock-across-http = "error" }"#,
        summary: "another severity for a rule: `note`, `warning` or `error`",
    },
    Key {
        name: "min-severity",
        takes: Takes::Word(SEVERITIES),
        default: r#""note""#,
        example: r#""warning""#,
        summary: "findings below it are not shown",
    },
    Key {
        name: "min-confidence",
        takes: Takes::Word(&["low", "medium", "high"]),
        default: r#""medium""#,
        example: r#""low""#,
        summary: "findings that are less sure are not shown",
    },
    Key {
        name: "fail-on",
        takes: Takes::Word(SEVERITIES),
        default: r#""warning""#,
        example: r#""error""#,
        summary: "the run fails on findings of this severity and above",
    },
    Key {
        name: "include-tests",
        takes: Takes::Flag,
        default: "false",
        example: "true",
        summary: "test code is linted, too",
    },
    Key {
        name: "cluster",
        takes: Takes::Flag,
        default: "judged by the clients",
        example: "true",
        summary: "Redis runs as a cluster",
    },
    Key {
        name: "dialect",
        takes: Takes::Word(&DIALECTS),
        default: "guessed file by file",
        example: r#""postgres""#,
        summary: "the dialect of all SQL: `postgres`, `mysql` or `sqlite`",
    },
    Key {
        name: "lock-keys",
        takes: Takes::Globs,
        default: "[]",
        example: r#"["job:*:lease"]"#,
        summary: "globs of keys that are leases although no code here takes them",
    },
    Key {
        name: "max-file-size",
        takes: Takes::Bytes,
        default: "2097152",
        example: "4194304",
        summary: "larger files, in bytes, are skipped, and said to be",
    },
    Key {
        name: "words",
        takes: Takes::WordLists,
        default: "those of `rules/words.toml`",
        example: r#"{ personal = ["mailbox"] }"#,
        summary: "more words for a list of names",
    },
    Key {
        name: "api",
        takes: Takes::Rows,
        default: "[]",
        example: r#"[{ id = "own.acquire", library = "redis", receiver = ["fn:locks"], method = "acquire", effect = "LockAcquire", args = { key = 0 } }]"#,
        summary: "more rows for the catalog of calls, in the schema of `rules/apis/rust.toml`: teaches leaselint a wrapper",
    },
];

/// The key of a name.
#[must_use]
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Known, Settings, names, parse};

    #[test]
    fn the_list_has_every_key_that_is_read() {
        let mut listed: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        let mut read = names::of::<Settings>().to_vec();
        listed.sort_unstable();
        read.sort_unstable();
        assert_eq!(listed, read);
    }

    #[test]
    fn examples_and_defaults_are_read() {
        let rules = ["unconditional-del", "pii-in-key", "lock-across-http"];
        let row = ["id", "library", "receiver", "method", "effect", "args"];
        let known = Known { rules: &rules, row: &row };
        for key in KEYS {
            let text = format!("{} = {}", key.name, key.example);
            parse(&text, &known).unwrap_or_else(|error| panic!("{text}: {error}"));
            if key.default.starts_with(['[', '"', 'f', '2']) {
                let text = format!("{} = {}", key.name, key.default);
                parse(&text, &known).unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }
}
