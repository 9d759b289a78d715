//! What a statement's first words already say.

use super::expression;
use super::token::{Token, TokenKind};
use crate::ir::sql::{SchemaChange, StatementKind};

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
        ["drop", "index", ..] => Some(StatementKind::Schema(drop_index(content, tokens))),
        ["drop", "function" | "procedure" | "trigger" | "event" | "foreign" | "routine", ..] => {
            Some(StatementKind::Schema(Vec::new()))
        }
        [
            "alter",
            "index" | "function" | "procedure" | "trigger" | "event" | "foreign" | "routine",
            ..,
        ] => Some(StatementKind::Schema(Vec::new())),
        ["create" | "alter" | "drop", rest @ ..] => {
            object(rest).then(|| StatementKind::Schema(Vec::new()))
        }
        [first, ..] if OTHER.contains(first) => Some(StatementKind::Other),
        _ => None,
    }
}

/// Whether the words after CREATE name an object that is no table.
fn object(words: &[&str]) -> bool {
    let kind = words.iter().find(|word| {
        !matches!(
            **word,
            "or" | "replace"
                | "temp"
                | "temporary"
                | "algorithm"
                | "definer"
                | "sql"
                | "unlogged"
                | "trusted"
                | "global"
                | "local"
        )
    });
    match kind {
        Some(&"event") => words.contains(&"trigger"),
        Some(&"foreign") => words.contains(&"data"),
        Some(kind) => OBJECTS.contains(kind),
        None => false,
    }
}

fn drop_index(content: &str, tokens: &[Token]) -> Vec<SchemaChange> {
    let mut names = Vec::new();
    let mut last: Option<String> = None;
    for token in tokens.iter().skip(2) {
        match token.kind {
            TokenKind::Comma => names.extend(last.take()),
            TokenKind::Word
                if token.is_any(content, &["concurrently", "if", "exists"]) && last.is_none() => {}
            TokenKind::Word if token.is_any(content, &["cascade", "restrict", "on"]) => break,
            TokenKind::Word => last = Some(token.text(content).to_lowercase()),
            TokenKind::Quoted => {
                last = Some(token.text(content).trim_matches(['"', '`']).to_owned())
            }
            _ => {}
        }
    }
    names.extend(last);
    names.into_iter().map(|name| SchemaChange::DropIndex { name }).collect()
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
