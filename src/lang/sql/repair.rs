//! A CREATE TABLE or ALTER TABLE that no parser takes whole, element by element: one clause that
//! is not understood costs that clause alone.

use sqlparser::ast::Statement as Tree;

use super::definition;
use super::head;
use super::normalise::Normalised;
use super::query;
use super::reader::{Lines, Places, Session, parse_text};
use super::token::{Token, TokenKind};
use crate::ir::sql::{Fidelity, Insert, OnConflict, SchemaChange, Statement, StatementKind};
use crate::source::Span;

/// Words that ALTER TABLE's actions begin with.
const ACTIONS: &[&str] = &[
    "add",
    "alter",
    "drop",
    "rename",
    "modify",
    "change",
    "validate",
    "attach",
    "detach",
    "set",
    "reset",
    "enable",
    "disable",
    "owner",
    "inherit",
    "no",
    "replica",
    "force",
    "cluster",
    "configure",
    "experimental_audit",
    "scatter",
    "split",
    "convert",
    "engine",
    "order",
    "auto_increment",
    "comment",
    "partition",
    "materialize",
    "freeze",
    "update",
    "delete",
    "clear",
];

/// How many elements are tried.
const ELEMENTS: usize = 400;

/// Reads what it can of a table's definition or change; `None` for other statements, or when
/// nothing could be read.
pub(super) fn read(
    session: &Session<'_>,
    tokens: &[Token],
    normalised: &Normalised,
) -> Option<Statement> {
    let content = session.content();
    let word = |index: usize| {
        tokens.get(index).map_or("", |token| token.text(content)).to_ascii_lowercase()
    };
    if matches!(word(0).as_str(), "insert" | "replace" | "upsert") {
        return inserted(session, tokens, normalised);
    }
    let table = tokens.iter().take(5).position(|token| token.is(content, "table"))?;
    let changes = match word(0).as_str() {
        "create" => created(session, tokens, table, normalised)?,
        "alter" => altered(session, tokens, table, normalised)?,
        _ => return None,
    };
    Some(session.statement(tokens, StatementKind::Schema(changes), Fidelity::Recovered))
}

/// Runs of tokens between commas outside of parentheses.
fn elements(tokens: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_usize;
    let mut parts: Vec<&[Token]> = Vec::new();
    let mut from = 0;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Comma if depth == 0 => {
                parts.extend(tokens.get(from..index));
                from = index + 1;
            }
            _ => {}
        }
    }
    parts.extend(tokens.get(from..));
    parts.retain(|part| !part.is_empty());
    parts
}

/// The changes of a statement made of one element, with places of that element.
fn changes_of(
    session: &Session<'_>,
    normalised: &Normalised,
    element: &[Token],
    text: &str,
) -> Option<Vec<SchemaChange>> {
    let tree = parse_text(session.dialect, text)?;
    let whole = session.statement(element, StatementKind::Other, Fidelity::Recovered).span;
    // The made-up text has places of its own: no line is known, so each part gets the element's.
    let lines = Lines::new("");
    let places = Places { text: session.text, normalised, lines: &lines, whole };
    let mut changes = definition::changes(&tree, places)?;
    for change in &mut changes {
        relocate(change, whole);
    }
    Some(changes)
}

fn relocate(change: &mut SchemaChange, span: Span) {
    match change {
        SchemaChange::CreateTable { columns, constraints, .. } => {
            columns.iter_mut().for_each(|column| column.span = span);
            constraints.iter_mut().for_each(|constraint| constraint.span = span);
        }
        SchemaChange::AddColumn { column, .. } => column.span = span,
        SchemaChange::AddConstraint { constraint, .. } => constraint.span = span,
        _ => {}
    }
}

/// An INSERT in two halves, before ON CONFLICT and from there: the parser may take ON for a part of
/// a query. A half that a query builder is still to complete is given what it lacks.
fn inserted(session: &Session<'_>, tokens: &[Token], normalised: &Normalised) -> Option<Statement> {
    let content = session.content();
    let conflict = tokens.windows(2).rposition(|pair| {
        matches!(pair, [on, conflict] if on.is(content, "on") && conflict.is(content, "conflict"))
    });
    let span = session.statement(tokens, StatementKind::Other, Fidelity::Recovered).span;
    let head = normalised.written(tokens.get(..conflict.unwrap_or(tokens.len()))?)?;
    let completed = ["", " VALUES (NULL)", " (NULL)"].iter().map(|rest| format!("{head}{rest}"));
    let mut insert =
        completed.into_iter().find_map(|text| insert_of(session, normalised, &text, span))?;
    if let Some(conflict) = conflict {
        let tail = normalised.written(tokens.get(conflict..)?)?;
        let text = format!("INSERT INTO a (b) VALUES (1) {tail}");
        let mut rest = insert_of(session, normalised, &text, span)?;
        if let Some(OnConflict::Update { predicates, .. }) = &mut rest.on_conflict {
            predicates.iter_mut().for_each(|predicate| predicate.span = span);
        }
        insert.on_conflict = rest.on_conflict;
        insert.returning = rest.returning;
    }
    Some(session.statement(tokens, StatementKind::Insert(insert), Fidelity::Recovered))
}

fn insert_of(
    session: &Session<'_>,
    normalised: &Normalised,
    text: &str,
    whole: Span,
) -> Option<Insert> {
    let lines = Lines::new("");
    let places = Places { text: session.text, normalised, lines: &lines, whole };
    match parse_text(session.dialect, text)? {
        Tree::Insert(insert) => match query::insert(&insert, places) {
            StatementKind::Insert(insert) => Some(insert),
            _ => None,
        },
        _ => None,
    }
}

fn created(
    session: &Session<'_>,
    tokens: &[Token],
    table: usize,
    normalised: &Normalised,
) -> Option<Vec<SchemaChange>> {
    if let Some(change) = copied(session.content(), tokens, table) {
        return Some(vec![change]);
    }
    let open = tokens.iter().position(|token| token.kind == TokenKind::Open)?;
    let close = head::close(tokens, open)?;
    let name = tokens.get(open.checked_sub(1)?)?;
    let start = tokens
        .get(table + 1..open)?
        .iter()
        .rposition(|token| token.is(session.content(), "exists"))
        .map_or(table + 1, |at| table + 2 + at);
    let name_text = normalised.written(
        tokens
            .get(start..open)
            .filter(|name| !name.is_empty())
            .unwrap_or(std::slice::from_ref(name)),
    )?;
    let mut whole: Option<SchemaChange> = None;
    for element in elements(tokens.get(open + 1..close)?).into_iter().take(ELEMENTS) {
        let Some(text) = normalised.written(element) else { continue };
        let Some(mut changes) = shortened(session, normalised, element, text, |text| {
            format!("CREATE TABLE {name_text} ({text})")
        }) else {
            continue;
        };
        let Some(SchemaChange::CreateTable { columns: more, constraints: also, .. }) =
            changes.first_mut()
        else {
            continue;
        };
        match &mut whole {
            Some(SchemaChange::CreateTable { columns, constraints, .. }) => {
                columns.append(more);
                constraints.append(also);
            }
            _ => whole = changes.into_iter().next(),
        }
    }
    whole.map(|change| vec![change])
}

/// ClickHouse's `CREATE TABLE a AS b`: a table like another.
fn copied(content: &str, tokens: &[Token], table: usize) -> Option<SchemaChange> {
    let word = tokens.iter().position(|token| token.is(content, "as"))?;
    let before = tokens.get(table + 1..word)?;
    let if_not_exists = before.first()?.is(content, "if");
    let after = tokens.get(word + 1..)?;
    let length = after.iter().take_while(|token| !token.is(content, "engine")).count();
    let like = head::table(content, after.get(..length)?)?;
    let named = before.iter().position(|token| token.is(content, "on")).unwrap_or(before.len());
    let name = before.get(if if_not_exists { 3 } else { 0 }..named)?;
    Some(SchemaChange::CreateTable {
        table: head::table(content, name)?,
        if_not_exists,
        columns: Vec::new(),
        constraints: Vec::new(),
        like: Some(like),
    })
}

fn altered(
    session: &Session<'_>,
    tokens: &[Token],
    table: usize,
    normalised: &Normalised,
) -> Option<Vec<SchemaChange>> {
    let content = session.content();
    let action =
        tokens.iter().skip(table + 2).position(|token| token.is_any(content, ACTIONS))? + table + 2;
    let name = normalised.written(tokens.get(table + 1..action)?)?;
    let mut changes = Vec::new();
    for element in elements(tokens.get(action..)?).into_iter().take(ELEMENTS) {
        if let Some(text) = normalised.written(element)
            && let Some(more) = shortened(session, normalised, element, text, |text| {
                format!("ALTER TABLE {name} {text}")
            })
        {
            changes.extend(more);
        }
    }
    Some(changes)
}

/// Turns `CONSTRAINT name NOT NULL` into `NOT NULL`.
fn without_not_null_names(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let is = |index: usize, word: &str| {
        words.get(index).is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let mut kept = Vec::with_capacity(words.len());
    let mut index = 0;
    while let Some(word) = words.get(index) {
        if is(index, "constraint") && is(index + 2, "not") && is(index + 3, "null") {
            index += 2;
        } else {
            kept.push(*word);
            index += 1;
        }
    }
    kept.join(" ")
}

/// Tries an element, and then ever shorter heads of it: the options at its end are what parsers
/// do not know.
fn shortened(
    session: &Session<'_>,
    normalised: &Normalised,
    element: &[Token],
    text: &str,
    make: impl Fn(&str) -> String,
) -> Option<Vec<SchemaChange>> {
    if let Some(changes) = changes_of(session, normalised, element, &make(text)) {
        return Some(changes);
    }
    // `id int CONSTRAINT c NOT NULL`: the name is of no use.
    let nameless = without_not_null_names(text);
    if nameless != text
        && let Some(changes) = changes_of(session, normalised, element, &make(&nameless))
    {
        return Some(changes);
    }
    let longest = element.len().min(24);
    (2..longest).rev().find_map(|length| {
        let head = normalised.written(element.get(..length)?)?;
        changes_of(session, normalised, element, &make(head))
    })
}
