//! Functions, procedures, triggers and DO blocks: their statements, out of their bodies.
//!
//! PL/pgSQL and MySQL bodies are taken apart at their structure words; what stands between is read
//! like any statement, with places in the file. `SELECT … INTO v` and `PERFORM` are read as SELECT.

use super::condition::predicates;
use super::head;
use super::normalise::normalise;
use super::reader::{Lines, Places, Session, parse_expression, too_much};
use super::token::{self, Token, TokenKind};
use crate::ir::sql::{
    Fidelity, Predicate, PredicateKind, SchemaChange, Select, Statement, StatementKind,
};

/// How many bodies deep a body is opened.
const DEPTH: usize = 3;

/// Reads a routine or DO block; `None` for other statements.
pub(super) fn read(session: &mut Session<'_>, tokens: &[Token]) -> Option<Statement> {
    let content = session.content();
    let first = tokens.first()?;
    if first.is(content, "do") {
        let body = session.body(tokens);
        return Some(session.statement(tokens, StatementKind::Compound(body), Fidelity::Parsed));
    }
    let what = head::makes_routine(content, tokens)?;
    let name = name(content, tokens.get(what + 1..)?).unwrap_or_default();
    let body = session.body(tokens);
    let change = SchemaChange::CreateFunction { name, body };
    Some(session.statement(tokens, StatementKind::Schema(vec![change]), Fidelity::Parsed))
}

/// The name of a routine, its schema left out.
fn name(content: &str, tokens: &[Token]) -> Option<String> {
    let structural = |token: &&Token| token.is_any(content, &["if", "not", "exists"]);
    let mut parts = tokens.iter().skip_while(structural);
    let mut name = head::name(content, parts.next()?)?;
    while parts.next().is_some_and(|next| next.kind == TokenKind::Dot) {
        name = head::name(content, parts.next()?)?;
    }
    Some(name)
}

impl Session<'_> {
    /// The statements of the body that a routine's tokens hold.
    fn body(&mut self, tokens: &[Token]) -> Vec<Statement> {
        if self.depth >= DEPTH || foreign_language(self.content(), tokens) {
            return Vec::new();
        }
        let content = self.content();
        let (inner, declares_first) =
            match tokens.iter().find(|token| token.kind == TokenKind::Dollar) {
                Some(dollar) => (inside_dollar(content, dollar, self), true),
                None => match tokens.iter().position(|token| token.is(content, "begin")) {
                    Some(begin) => (tokens.get(begin..).unwrap_or(&[]).to_vec(), false),
                    None => return Vec::new(),
                },
            };
        self.depth += 1;
        let mut walker =
            Walker { session: self, tokens: &inner, at: 0, declares_first, found: Vec::new() };
        walker.walk();
        let found = walker.found;
        self.depth -= 1;
        found
    }
}

/// Whether the body is in a language other than SQL and PL/pgSQL.
fn foreign_language(content: &str, tokens: &[Token]) -> bool {
    let language = tokens.iter().position(|token| token.is(content, "language"));
    let Some(name) = language.and_then(|at| tokens.get(at + 1)) else { return false };
    let name = name.text(content).trim_matches(['\'', '"']).to_ascii_lowercase();
    !matches!(name.as_str(), "sql" | "plpgsql")
}

fn inside_dollar(content: &str, dollar: &Token, session: &Session<'_>) -> Vec<Token> {
    let text = dollar.text(content);
    let tag = text.get(1..).and_then(|rest| rest.find('$')).map_or(2, |at| at + 2);
    shifted(session, dollar.start + tag, dollar.end.saturating_sub(tag))
}

/// Tokens of a part of the text, with places in the text; comments left out.
fn shifted(session: &Session<'_>, start: usize, end: usize) -> Vec<Token> {
    let body = session.content().get(start..end).unwrap_or("");
    token::tokens(body, session.dialect)
        .into_iter()
        .filter(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Meta))
        .map(|token| Token { start: token.start + start, end: token.end + start, ..token })
        .collect()
}

struct Walker<'s, 't, 'x> {
    session: &'s mut Session<'x>,
    tokens: &'t [Token],
    at: usize,
    /// PL/pgSQL: DECLARE opens a section that lasts until BEGIN.
    declares_first: bool,
    found: Vec<Statement>,
}

impl<'t> Walker<'_, 't, '_> {
    fn content(&self) -> &str {
        self.session.content()
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is_any(self.content(), words))
    }

    fn walk(&mut self) {
        while self.at < self.tokens.len() {
            self.step();
        }
    }

    /// Position of the next `;` at or after `from`.
    fn end(&self, from: usize) -> usize {
        let ends = |token: &Token| matches!(token.kind, TokenKind::End | TokenKind::InnerEnd);
        self.tokens.iter().skip(from).position(ends).map_or(self.tokens.len(), |at| from + at)
    }

    /// Position of the next of `words` outside of parentheses and CASE, before the next `;`.
    fn before(&self, words: &[&str]) -> usize {
        let (mut depth, mut cases) = (0_usize, 0_usize);
        for (index, token) in self.tokens.iter().enumerate().skip(self.at) {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close => depth = depth.saturating_sub(1),
                TokenKind::End | TokenKind::InnerEnd => return index,
                TokenKind::Word if depth == 0 => {
                    if token.is(self.content(), "case") && index > self.at {
                        cases += 1;
                    } else if cases > 0 && token.is(self.content(), "end") {
                        cases -= 1;
                    } else if cases == 0 && token.is_any(self.content(), words) {
                        return index;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    fn step(&mut self) {
        let at = self.at;
        self.dispatch(at);
        self.row_count(at, self.at);
    }

    /// `IF NOT FOUND`, `GET DIAGNOSTICS n = ROW_COUNT`, `RETURN FOUND`, `SELECT ROW_COUNT()`.
    fn row_count(&mut self, from: usize, to: usize) {
        let asks = ["found", "row_count", "rowcount", "@@rowcount"];
        let to = to.min(self.tokens.len());
        if (from..to).any(|index| self.is(index, &asks))
            && let Some(tokens) = self.tokens.get(from..to)
        {
            let asked = self.session.statement(tokens, StatementKind::RowCount, Fidelity::Parsed);
            self.found.push(asked);
        }
    }

    fn dispatch(&mut self, at: usize) {
        if self.is(at, &["if", "elsif", "elseif", "while", "until"]) {
            let end = self.before(&["then", "loop", "do", "end"]);
            self.test(at + 1, end);
            self.at = if self.is(end, &["end"]) { end } else { end + 1 };
        } else if self
            .is(at, &["else", "begin", "loop", "exception", "repeat", "atomic", "then", "do"])
        {
            self.at += 1;
        } else if self.is(at, &["declare"]) {
            self.at = if self.declares_first { self.declarations(at) } else { self.end(at) + 1 };
        } else if self.is(at, &["when", "case"]) {
            self.at = self.before(&["then", "when"]).max(at + 1);
        } else if self.is(at, &["for", "foreach"]) {
            let end = self.before(&["loop", "do"]);
            self.loop_query(at, end);
            self.at = end + 1;
        } else {
            let end = self.end(at);
            self.statement(at, end);
            self.at = end + 1;
        }
    }

    fn declarations(&self, from: usize) -> usize {
        let mut at = from + 1;
        while at < self.tokens.len() && !self.is(at, &["begin"]) {
            at = self.end(at) + 1;
        }
        at
    }

    fn loop_query(&mut self, from: usize, to: usize) {
        let verbs = ["select", "with", "update", "delete", "insert"];
        let query = (from..to).find(|index| self.is(*index, &verbs));
        let Some(query) = query else { return };
        let open = query.checked_sub(1).filter(|open| {
            self.tokens.get(*open).is_some_and(|token| token.kind == TokenKind::Open)
        });
        let close = open.and_then(|open| head::close(self.tokens, open));
        self.emit(query, close.unwrap_or(to));
    }

    fn test(&mut self, from: usize, to: usize) {
        let Some(tokens) = self.tokens.get(from..to).filter(|tokens| !tokens.is_empty()) else {
            return;
        };
        let whole = self.session.statement(tokens, StatementKind::Other, Fidelity::Parsed);
        let conjuncts = condition(self.session, tokens, &whole);
        self.found.push(Statement { kind: StatementKind::Test(conjuncts), ..whole });
    }

    /// The statement between two positions, when it is one of SQL's.
    fn statement(&mut self, from: usize, to: usize) {
        let dml = [
            "select", "with", "update", "delete", "insert", "replace", "upsert", "merge", "perform",
        ];
        let ddl = ["alter", "create", "drop"];
        let flow = ["commit", "rollback", "start"];
        if self.is(from, &dml) || self.is(from, &ddl) || self.is(from, &flow) {
            self.emit(from, to);
        } else if self.is(from, &["return"]) && self.is(from + 1, &["query"]) {
            self.emit(from + 2, to);
        } else if self.is(from, &["execute"]) {
            self.dynamic(from + 1, to);
        } else {
            // `v := (SELECT …)`, `RETURN (SELECT …)`: the sub-select is read.
            let open = (from..to.min(from + 8)).find(|index| {
                self.tokens.get(*index).is_some_and(|token| token.kind == TokenKind::Open)
                    && self.is(index + 1, &["select"])
            });
            if let Some(open) = open
                && let Some(close) = head::close(self.tokens, open)
            {
                self.emit(open + 1, close.min(to));
            }
        }
    }

    /// EXECUTE of a constant text.
    fn dynamic(&mut self, from: usize, to: usize) {
        let Some(literal) = self.tokens.get(from) else { return };
        let text = literal.text(self.session.content());
        let plain = literal.kind == TokenKind::Text && text.starts_with('\'') && to == from + 1;
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        if plain && !inner.contains('\'') {
            let tokens = shifted(self.session, literal.start + 1, literal.end.saturating_sub(1));
            let tokens: Vec<Token> =
                tokens.into_iter().take_while(|token| token.kind != TokenKind::End).collect();
            if !tokens.is_empty() {
                let statement = self.session.read(&tokens);
                self.found.push(statement);
            }
        }
    }

    fn emit(&mut self, from: usize, to: usize) {
        let Some(tokens) = self.tokens.get(from..to).filter(|tokens| !tokens.is_empty()) else {
            return;
        };
        let (mut kept, into) = without_into(self.session.content(), tokens);
        if self.is(from, &["perform"]) {
            kept.remove(0);
            let mut statement = self.perform(&kept, tokens);
            statement.span = self.session.place(
                tokens.first().map_or(0, |token| token.start),
                tokens.last().map_or(0, |token| token.end),
            );
            self.found.push(statement);
            return;
        }
        let mut statement = self.session.read(&kept);
        if let StatementKind::Select(select) = &mut statement.kind {
            select.into = into;
        }
        self.found.push(statement);
    }

    /// PERFORM is SELECT with another name; its first word has no place of its own.
    fn perform(&mut self, rest: &[Token], whole: &[Token]) -> Statement {
        let mut select = Select::default();
        let numbering = &mut self.session.numbering;
        let mut normalised =
            normalise(&self.session.text.content, rest, self.session.dialect, numbering);
        let lead = "SELECT ";
        normalised.text.insert_str(0, lead);
        normalised.tokens.iter_mut().for_each(|(start, _)| *start += lead.len());
        let statement = self.session.statement(whole, StatementKind::Other, Fidelity::Parsed);
        if !too_much(&self.session.text.content, rest)
            && let Some(sqlparser::ast::Statement::Query(query)) =
                super::reader::parse_text(self.session.dialect, &normalised.text)
        {
            let lines = Lines::new(&normalised.text);
            let places = Places {
                text: self.session.text,
                normalised: &normalised,
                lines: &lines,
                whole: statement.span,
            };
            return Statement { kind: super::query::statement(&query, places), ..statement };
        }
        select.functions = rest
            .first()
            .and_then(|token| head::name(&self.session.text.content, token))
            .into_iter()
            .collect();
        Statement { kind: StatementKind::Select(select), fidelity: Fidelity::Scanned, ..statement }
    }
}

/// The conjuncts of a procedure's condition.
fn condition(session: &mut Session<'_>, tokens: &[Token], whole: &Statement) -> Vec<Predicate> {
    let content = &session.text.content;
    if !too_much(content, tokens) {
        let normalised = normalise(content, tokens, session.dialect, &mut session.numbering);
        if let Some(expr) = parse_expression(session.dialect, &normalised.text) {
            let lines = Lines::new(&normalised.text);
            let places = Places {
                text: session.text,
                normalised: &normalised,
                lines: &lines,
                whole: whole.span,
            };
            return predicates(&expr, places);
        }
    }
    let words = tokens
        .iter()
        .filter_map(|token| head::name(content, token))
        .filter(|name| !name.is_empty());
    vec![Predicate { kind: PredicateKind::Other(words.take(64).collect()), span: whole.span }]
}

/// A statement without `INTO [STRICT] a, b`, and the names that stood there.
fn without_into(content: &str, tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut names = Vec::new();
    let mut depth = 0_usize;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        let table = kept.last().is_some_and(|before| {
            before.is_any(content, &["insert", "replace", "merge", "ignore", "upsert", "overwrite"])
        });
        if depth == 0 && token.is(content, "into") && !table {
            index = targets(content, tokens, index + 1, &mut names);
            continue;
        }
        kept.push(*token);
        index += 1;
    }
    (kept, names)
}

/// Reads the variables behind INTO; gives the position behind the last.
fn targets(content: &str, tokens: &[Token], from: usize, names: &mut Vec<String>) -> usize {
    const ENDS: [&str; 9] =
        ["from", "where", "using", "group", "order", "limit", "for", "union", "having"];
    let separates = |at: usize| {
        let token = tokens.get(at);
        token.is_some_and(|next| matches!(next.kind, TokenKind::Comma | TokenKind::Dot))
    };
    let mut index = from;
    while let Some(target) = tokens.get(index) {
        let named = matches!(target.kind, TokenKind::Word | TokenKind::Quoted);
        if target.is_any(content, &ENDS) || !named && !separates(index) {
            break;
        }
        index += 1;
        if target.is(content, "strict") {
            continue;
        }
        names.extend(head::name(content, target));
        // A name that no comma or dot follows is the last.
        if named && !separates(index) {
            break;
        }
    }
    index
}
