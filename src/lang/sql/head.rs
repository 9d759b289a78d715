//! What a statement's first words already say.

use super::expression;
use super::token::{Token, TokenKind};
use crate::ir::sql::{SchemaChange, StatementKind, TableName};

/// Statements that touch no table's rows or shape.
const OTHER: &[&str] = &[
    "comment",
    "grant",
    "revoke",
    "set",
    "reset",
    "show",
    "analyze",
    "vacuum",
    "reindex",
    "cluster",
    "pragma",
    "use",
    "lock",
    "unlock",
    "savepoint",
    "release",
    "notify",
    "listen",
    "unlisten",
    "copy",
    "call",
    "prepare",
    "deallocate",
    "discard",
    "refresh",
    "security",
    "checkpoint",
    "truncate",
    "attach",
    "detach",
    "declare",
    "fetch",
    "close",
    "move",
    "reassign",
    "import",
    "kill",
    "optimize",
    "flush",
    "print",
    "describe",
    "explain",
    "execute",
    "backup",
    "restore",
    "inherits",
    "optimise",
];

/// What CREATE, ALTER and DROP may make that is no table and no index.
const OBJECTS: &[&str] = &[
    "extension",
    "type",
    "domain",
    "sequence",
    "view",
    "materialized",
    "schema",
    "role",
    "user",
    "database",
    "policy",
    "rule",
    "publication",
    "subscription",
    "statistics",
    "aggregate",
    "operator",
    "cast",
    "collation",
    "conversion",
    "server",
    "language",
    "text",
    "access",
    "transform",
    "group",
    "default",
    "system",
    "tablespace",
    "virtual",
    "keyspace",
    "changefeed",
    "recursive",
    "resource",
    "zone",
    "range",
    "partition",
    "configuration",
    "sink",
    "source",
    "connection",
    "secret",
];

/// The kind of a statement that its head alone decides; `None` when it must be read.
pub(super) fn known(content: &str, tokens: &[Token]) -> Option<StatementKind> {
    let words: Vec<String> = tokens
        .iter()
        .take_while(|token| token.kind == TokenKind::Word)
        .take(6)
        .map(|token| token.text(content).to_ascii_lowercase())
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["begin", ..] | ["start", "transaction", ..] => Some(StatementKind::Begin),
        ["commit", ..] | ["end"] | ["end", "transaction" | "work", ..] => {
            Some(StatementKind::Commit)
        }
        ["rollback", rest @ ..] => {
            let partial = rest.contains(&"to");
            Some(if partial { StatementKind::Other } else { StatementKind::Rollback })
        }
        ["abort", ..] => Some(StatementKind::Rollback),
        ["drop", "index", ..] => {
            let names = dropped(content, tokens).into_iter();
            let changes = names.map(|name| SchemaChange::DropIndex { name: name.name });
            Some(StatementKind::Schema(changes.collect()))
        }
        ["drop", "table", ..] => {
            let tables = dropped(content, tokens).into_iter();
            let changes = tables.map(|table| SchemaChange::DropTable { table });
            Some(StatementKind::Schema(changes.collect()))
        }
        ["drop", "function" | "procedure" | "trigger" | "event" | "foreign" | "routine", ..] => {
            Some(StatementKind::Schema(Vec::new()))
        }
        [
            "alter",
            "index" | "function" | "procedure" | "trigger" | "event" | "foreign" | "routine",
            ..,
        ] => Some(StatementKind::Schema(Vec::new())),
        ["create" | "alter" | "drop", ..] => {
            let at = object(content, tokens)?;
            let after = |word: &str| tokens.get(at + 1).is_some_and(|next| next.is(content, word));
            let object = tokens.get(at)?;
            let known = match () {
                () if object.is(content, "event") => after("trigger"),
                () if object.is(content, "foreign") => after("data"),
                () => object.is_any(content, OBJECTS),
            };
            known.then(|| StatementKind::Schema(Vec::new()))
        }
        [first, ..] if OTHER.contains(first) => Some(StatementKind::Other),
        _ => None,
    }
}

/// Words between CREATE, ALTER or DROP and the word that says what is made.
const MODIFIERS: &[&str] = &[
    "or",
    "replace",
    "alter",
    "temp",
    "temporary",
    "unlogged",
    "trusted",
    "procedural",
    "constraint",
    "global",
    "local",
    "editionable",
    "noneditionable",
];

/// Where the one word stands that says what CREATE, ALTER or DROP is about (`table`, `function`).
pub(super) fn object(content: &str, tokens: &[Token]) -> Option<usize> {
    let mut at = 1;
    while let Some(token) = tokens.get(at) {
        if token.is_any(content, &["definer", "algorithm"]) {
            at = after_setting(content, tokens, at + 1);
        } else if token.is(content, "sql") {
            // MySQL's `SQL SECURITY INVOKER`.
            at += 3;
        } else if token.is_any(content, MODIFIERS) {
            at += 1;
        } else {
            return (token.kind == TokenKind::Word).then_some(at);
        }
    }
    None
}

/// Where the word stands by which CREATE makes something that has a body of statements.
pub(super) fn makes_routine(content: &str, tokens: &[Token]) -> Option<usize> {
    if !tokens.first()?.is(content, "create") {
        return None;
    }
    let at = object(content, tokens)?;
    let routines = ["function", "procedure", "trigger", "event"];
    tokens.get(at)?.is_any(content, &routines).then_some(at)
}

/// Behind `= value` of an option: a word, or an account (`'app'@'%'`, `CURRENT_USER()`).
fn after_setting(content: &str, tokens: &[Token], mut at: usize) -> usize {
    let sign = |at: usize, sign: &str| tokens.get(at).is_some_and(|it| it.text(content) == sign);
    if sign(at, "=") {
        at += 1;
    }
    at += 1;
    if sign(at, "@") {
        at += 2;
    } else if tokens.get(at).is_some_and(|host| host.text(content).starts_with('@')) {
        at += 1;
    }
    if sign(at, "(") && sign(at + 1, ")") { at + 2 } else { at }
}

/// The names after `DROP TABLE` or `DROP INDEX`; of `table@index`, the index.
fn dropped(content: &str, tokens: &[Token]) -> Vec<TableName> {
    let mut names = Vec::new();
    let mut parts: Vec<String> = Vec::new();
    let mut finish = |parts: &mut Vec<String>| {
        let name = parts.pop();
        names.extend(name.map(|name| TableName { schema: parts.pop(), name }));
        parts.clear();
    };
    for token in tokens.iter().skip(2) {
        match token.kind {
            TokenKind::Comma => finish(&mut parts),
            TokenKind::Word
                if parts.is_empty() && token.is_any(content, &["concurrently", "if", "exists"]) => {
            }
            TokenKind::Word if token.is_any(content, &["cascade", "restrict", "on", "sync"]) => {
                break;
            }
            _ => parts.extend(name(content, token)),
        }
    }
    finish(&mut parts);
    names
}

/// An INSERT with its first row alone, when it has many: dumps are long. The clauses after the rows
/// are kept.
pub(super) fn without_rows(content: &str, tokens: &[Token]) -> Option<Vec<Token>> {
    const MANY: usize = 2_000;
    if tokens.len() < MANY || !tokens.first()?.is_any(content, &["insert", "replace", "upsert"]) {
        return None;
    }
    let values = tokens.iter().position(|token| token.is_any(content, &["values", "value"]))?;
    let first_end = close(tokens, values + 1)?;
    let head = tokens.get(..=first_end)?;
    let mut depth = 0_usize;
    let mut tail = tokens.len();
    for (index, token) in tokens.iter().enumerate().skip(first_end + 1) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Word if depth == 0 && token.is_any(content, &["on", "returning", "as"]) => {
                tail = index;
                break;
            }
            _ => {}
        }
    }
    Some(head.iter().chain(tokens.get(tail..)?).copied().collect())
}

/// The token that closes the parenthesis at `open`.
pub(super) fn close(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The table that tokens name, all of them: `a`, `s.a`.
pub(super) fn table(content: &str, tokens: &[Token]) -> Option<TableName> {
    let mut parts = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        if index % 2 == 1 {
            (token.kind == TokenKind::Dot).then_some(())?;
        } else {
            parts.push(name(content, token)?);
        }
    }
    let name = parts.pop()?;
    Some(TableName { schema: parts.pop(), name })
}

/// The name that a token spells, folded; `None` for other tokens, empty for a hole.
pub(super) fn name(content: &str, token: &Token) -> Option<String> {
    match token.kind {
        TokenKind::Word | TokenKind::Quoted => {
            let quote = (token.kind == TokenKind::Quoted).then_some('"');
            let value = token.text(content).trim_matches(['"', '`']).to_owned();
            let ident = match quote {
                Some(quote) => sqlparser::ast::Ident::with_quote(quote, value),
                None => sqlparser::ast::Ident::new(value),
            };
            Some(if ident.value.contains('{') { String::new() } else { expression::name(&ident) })
        }
        TokenKind::Hole => Some(String::new()),
        _ => None,
    }
}
