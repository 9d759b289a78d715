//! The last reader: what a statement's words alone tell.

use sqlparser::ast::Expr;

use super::condition::predicates;
use super::expression::expression;
use super::head;
use super::normalise::Normalised;
use super::reader::{Lines, Places, Session, parse_expression, too_much};
use super::token::{Token, TokenKind};
use crate::ir::sql::{
    Assignment, Delete, Expression, Insert, Predicate, PredicateKind, Select, StatementKind,
    TableName, Update,
};

/// How many conjuncts and assignments are looked at.
const PARTS: usize = 200;

/// The kind, tables and columns of a statement, from its words.
pub(super) fn kind(
    session: &Session<'_>,
    tokens: &[Token],
    normalised: &Normalised,
) -> StatementKind {
    let scan = Scan { session, content: session.content(), tokens, normalised };
    let Some((verb, at)) = scan.verb() else { return StatementKind::Other };
    match verb {
        "update" => StatementKind::Update(Update {
            table: scan.table_after(at),
            sets: scan.sets(at),
            predicates: scan.conditions(at),
            returning: scan.returning(at),
            ..Update::default()
        }),
        "delete" => StatementKind::Delete(Delete {
            table: scan.after(at, "from").map(|from| scan.table_after(from)).unwrap_or_default(),
            predicates: scan.conditions(at),
            returning: scan.returning(at),
            ..Delete::default()
        }),
        "insert" => StatementKind::Insert(Insert {
            table: scan.after(at, "into").map(|into| scan.table_after(into)).unwrap_or_default(),
            returning: scan.returning(at),
            ..Insert::default()
        }),
        _ => StatementKind::Select(Select {
            tables: scan
                .after(at, "from")
                .map(|from| vec![scan.table_after(from)])
                .unwrap_or_default(),
            predicates: scan.conditions(at),
            ..Select::default()
        }),
    }
}

struct Scan<'a> {
    session: &'a Session<'a>,
    content: &'a str,
    tokens: &'a [Token],
    normalised: &'a Normalised,
}

impl Scan<'_> {
    /// Tokens outside of parentheses, from `from` on.
    fn top(&self, from: usize) -> impl Iterator<Item = (usize, &Token)> {
        let mut depth = 0_usize;
        self.tokens.iter().enumerate().skip(from).filter(move |(_, token)| {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
    }

    fn verb(&self) -> Option<(&'static str, usize)> {
        self.top(0).find_map(|(index, token)| {
            let verbs = [
                ("update", "update"),
                ("delete", "delete"),
                ("insert", "insert"),
                ("replace", "insert"),
                ("upsert", "insert"),
                ("select", "select"),
            ];
            verbs
                .iter()
                .find(|(word, _)| token.is(self.content, word))
                .map(|(_, verb)| (*verb, index))
        })
    }

    fn after(&self, from: usize, word: &str) -> Option<usize> {
        self.top(from).find(|(_, token)| token.is(self.content, word)).map(|(index, _)| index)
    }

    fn table_after(&self, at: usize) -> TableName {
        let mut parts: Vec<String> = Vec::new();
        let mut wanted = true;
        for token in self.tokens.iter().skip(at + 1) {
            if token.is_any(self.content, &["only", "ignore", "or", "table"]) && parts.is_empty() {
                continue;
            }
            match head::name(self.content, token) {
                Some(name) if wanted => parts.push(name),
                None if token.kind == TokenKind::Dot => {}
                _ => break,
            }
            wanted = token.kind == TokenKind::Dot;
        }
        let name = parts.pop().unwrap_or_default();
        TableName { schema: parts.pop(), name }
    }

    /// The expression that a range of tokens spells, and the text it was read from.
    fn expr(&self, from: usize, to: usize) -> Option<Expr> {
        let tokens = self.tokens.get(from..to)?;
        if too_much(self.content, tokens) {
            return None;
        }
        parse_expression(self.session.dialect, self.normalised.written(tokens)?)
    }

    fn sets(&self, at: usize) -> Vec<Assignment> {
        let Some(set) = self.after(at, "set") else { return Vec::new() };
        let ends = ["where", "from", "returning", "order", "limit"];
        let end = self
            .top(set + 1)
            .find(|(_, token)| token.is_any(self.content, &ends))
            .map_or(self.tokens.len(), |(index, _)| index);
        let commas: Vec<usize> = self
            .top(set + 1)
            .take_while(|(index, _)| *index < end)
            .filter(|(_, token)| token.kind == TokenKind::Comma)
            .map(|(index, _)| index)
            .take(PARTS)
            .collect();
        let mut from = set + 1;
        let mut found = Vec::new();
        for comma in commas.into_iter().chain([end]) {
            let equal = self
                .top(from)
                .take_while(|(index, _)| *index < comma)
                .find(|(_, token)| {
                    token.kind == TokenKind::Symbol
                        && matches!(token.text(self.content), "=" | ":=")
                })
                .map(|(index, _)| index);
            if let Some(equal) = equal
                && let Some(column) = equal
                    .checked_sub(1)
                    .and_then(|before| self.tokens.get(before))
                    .and_then(|token| head::name(self.content, token))
            {
                let value = self
                    .expr(equal + 1, comma)
                    .map_or_else(|| Expression::Other(Vec::new()), |expr| expression(&expr));
                found.push(Assignment { column, value });
            }
            from = comma + 1;
        }
        found
    }

    fn conditions(&self, at: usize) -> Vec<Predicate> {
        let Some(start) = self.after(at, "where") else { return Vec::new() };
        let ends = ["returning", "order", "limit", "group", "for", "union", "on"];
        let end = self
            .top(start + 1)
            .find(|(_, token)| token.is_any(self.content, &ends))
            .map_or(self.tokens.len(), |(index, _)| index);
        let mut between = false;
        let mut cuts = Vec::new();
        for (index, token) in self.top(start + 1).take_while(|(index, _)| *index < end) {
            if token.is(self.content, "between") {
                between = true;
            } else if token.is(self.content, "and") {
                if !between {
                    cuts.push(index);
                }
                between = false;
            }
        }
        let mut from = start + 1;
        let mut found = Vec::new();
        for cut in cuts.into_iter().take(PARTS).chain([end]) {
            found.extend(self.condition(from, cut));
            from = cut + 1;
        }
        found
    }

    fn condition(&self, from: usize, to: usize) -> Vec<Predicate> {
        let Some(tokens) = self.tokens.get(from..to).filter(|tokens| !tokens.is_empty()) else {
            return Vec::new();
        };
        let whole = self
            .session
            .statement(tokens, StatementKind::Other, crate::ir::sql::Fidelity::Scanned)
            .span;
        if let Some(expr) = self.expr(from, to) {
            // Places inside a part are not those of the statement: each gets the whole part.
            let lines = Lines::new("");
            let places = Places {
                text: self.session.text,
                normalised: self.normalised,
                lines: &lines,
                whole,
            };
            let mut found = predicates(&expr, places);
            for predicate in &mut found {
                predicate.span = whole;
            }
            return found;
        }
        let words = tokens
            .iter()
            .filter_map(|token| head::name(self.content, token))
            .filter(|name| !name.is_empty());
        let columns: Vec<String> = words
            .filter(|word| !matches!(word.as_str(), "and" | "or" | "not" | "is" | "null" | "in"))
            .take(PARTS)
            .collect();
        vec![Predicate { kind: PredicateKind::Other(columns), span: whole }]
    }

    fn returning(&self, at: usize) -> Vec<String> {
        let Some(start) = self.after(at, "returning") else { return Vec::new() };
        let names =
            self.tokens.iter().skip(start + 1).filter_map(|token| head::name(self.content, token));
        let found: Vec<String> = names.take(PARTS).collect();
        if found.is_empty() { vec!["*".to_owned()] } else { found }
    }
}
