//! Reads one statement: the head decides who reads it, and each reader that fails hands on.
//!
//! `sqlparser` in the text's dialect, then in the others; then the statement taken apart
//! ([`super::repair`]); then the grammar's recovering tree ([`super::recover`]);
//! at last only its words ([`super::scan`]).

use sqlparser::ast::Statement as Tree;
use sqlparser::dialect::{
    self, ClickHouseDialect, GenericDialect, MySqlDialect, PostgreSqlDialect, SQLiteDialect,
};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token as ParserToken};

use super::normalise::{HOLE_NAME, Normalised, Numbering, normalise};
use super::token::{Token, TokenKind};
use super::{Dialect, definition, head, merge, query, recover, repair, routine, scan};
use crate::ir::body::{Problem, ProblemKind};
use crate::ir::sql::{Fidelity, Statement, StatementKind};
use crate::ir::value::{HOLE, Text};
use crate::source::{Span, beginning};

/// Nesting that the parser follows.
const RECURSION: usize = 40;
/// Tokens between two commas at one nesting level, and set operators in one statement: the depth of
/// the tree that operators make. Beyond it only words are read.
const CHAIN: usize = 1500;
const SET_OPERATORS: usize = 200;
/// Tokens that are given to a parser.
const TOKENS: usize = 60_000;
/// Statements of one text that every reader is tried on in vain.
const FAILURES: usize = 2_000;
/// How many bytes of a statement are kept as its text.
const KEPT: usize = 16_384;

/// Reads the statements of one text.
pub(super) struct Session<'a> {
    /// The text.
    pub text: &'a Text,
    /// Its dialect.
    pub dialect: Dialect,
    /// Placeholder numbers so far.
    pub numbering: Numbering,
    /// What could not be read.
    pub problems: Vec<Problem>,
    /// How many function bodies deep.
    pub depth: usize,
}

impl<'a> Session<'a> {
    /// The decoded text.
    pub fn content(&self) -> &'a str {
        &self.text.content
    }

    /// The source place of decoded bytes.
    pub fn place(&self, start: usize, end: usize) -> Span {
        self.text.place(start, end)
    }

    /// A statement over all of `tokens`.
    pub fn statement(
        &self,
        tokens: &[Token],
        kind: StatementKind,
        fidelity: Fidelity,
    ) -> Statement {
        let start = tokens.first().map_or(0, |token| token.start);
        let end = tokens.last().map_or(start, |token| token.end);
        Statement {
            kind,
            span: self.place(start, end),
            text: kept(self.content(), start, end),
            fidelity,
        }
    }

    /// Reads one statement.
    pub fn read(&mut self, tokens: &[Token]) -> Statement {
        if let Some(kind) = head::known(self.content(), tokens) {
            return self.statement(tokens, kind, Fidelity::Parsed);
        }
        if let Some(statement) = routine::read(self, tokens) {
            return statement;
        }
        let cut = head::without_rows(self.content(), tokens);
        let tokens_read = cut.as_deref().unwrap_or(tokens);
        let normalised = normalise(self.content(), tokens_read, self.dialect, &mut self.numbering);
        let mut reason = "it is too long or too deeply nested".to_owned();
        if self.problems.len() > FAILURES {
            "too many before it could not be read".clone_into(&mut reason);
        } else if !too_much(self.content(), tokens_read) {
            match self.parse(&normalised, tokens) {
                Ok(statement) => return statement,
                Err(error) => reason = error,
            }
            let apart = repair::read(self, tokens, &normalised);
            if let Some(statement) = apart.or_else(|| recover::read(self, tokens, &normalised)) {
                return statement;
            }
        }
        let kind = scan::kind(self, tokens_read, &normalised);
        let statement = self.statement(tokens, kind, Fidelity::Scanned);
        self.report(&statement, &reason, &normalised);
        statement
    }

    fn parse(&self, normalised: &Normalised, tokens: &[Token]) -> Result<Statement, String> {
        let mut first_error = None;
        for dialect in dialects(self.dialect) {
            match parse_with(dialect, &normalised.text) {
                Ok(tree) => {
                    let lines = Lines::new(&normalised.text);
                    let whole = self.statement(tokens, StatementKind::Other, Fidelity::Parsed);
                    let places =
                        Places { text: self.text, normalised, lines: &lines, whole: whole.span };
                    return Ok(Statement { kind: kind_of(&tree, places), ..whole });
                }
                Err(error) => first_error = first_error.or(Some(error)),
            }
        }
        Err(first_error.unwrap_or_default())
    }

    fn report(&mut self, statement: &Statement, reason: &str, normalised: &Normalised) {
        let (message, at) = split_location(reason);
        let lines = Lines::new(&normalised.text);
        let span = match at {
            Some(location) if self.depth == 0 => {
                let (start, end) = normalised.token_at(lines.offset(location));
                self.place(start, end)
            }
            _ => statement.span,
        };
        let kind = if self.depth == 0 { ProblemKind::Syntax } else { ProblemKind::Limit };
        self.problems.push(Problem {
            span,
            message: format!("statement can't be parsed: {message}"),
            kind,
        });
    }
}

fn kept(content: &str, start: usize, end: usize) -> String {
    let whole = content.get(start..end).unwrap_or("");
    beginning(whole, KEPT).replace(HOLE, "?")
}

fn dialects(first: Dialect) -> Vec<&'static dyn dialect::Dialect> {
    let all: [(Option<Dialect>, &'static dyn dialect::Dialect); 5] = [
        (Some(Dialect::Generic), &GenericDialect {}),
        (Some(Dialect::Postgres), &PostgreSqlDialect {}),
        (Some(Dialect::MySql), &MySqlDialect {}),
        (Some(Dialect::Sqlite), &SQLiteDialect {}),
        (None, &ClickHouseDialect {}),
    ];
    let own = all.iter().filter(|(dialect, _)| *dialect == Some(first));
    let rest = all.iter().filter(|(dialect, _)| *dialect != Some(first));
    own.chain(rest).map(|(_, dialect)| *dialect).collect()
}

fn parse_with(dialect: &dyn dialect::Dialect, text: &str) -> Result<Tree, String> {
    let mut parser = Parser::new(dialect)
        .with_recursion_limit(RECURSION)
        .try_with_sql(text)
        .map_err(|error| error.to_string())?;
    let tree = parser.parse_statement().map_err(|error| error.to_string())?;
    let next = parser.peek_token();
    if matches!(next.token, ParserToken::EOF | ParserToken::SemiColon) {
        Ok(tree)
    } else {
        Err(format!(
            "Expected: end of statement, found: {} at Line: {}, Column: {}",
            next.token, next.span.start.line, next.span.start.column
        ))
    }
}

/// Parses a lone condition or value; `None` when it is none.
pub(super) fn parse_expression(first: Dialect, text: &str) -> Option<sqlparser::ast::Expr> {
    dialects(first).into_iter().find_map(|dialect| {
        let mut parser =
            Parser::new(dialect).with_recursion_limit(RECURSION).try_with_sql(text).ok()?;
        let expr = parser.parse_expr().ok()?;
        (parser.peek_token().token == ParserToken::EOF).then_some(expr)
    })
}

/// Parses one statement of text that was made for the purpose.
pub(super) fn parse_text(first: Dialect, text: &str) -> Option<Tree> {
    dialects(first).into_iter().find_map(|dialect| parse_with(dialect, text).ok())
}

/// Whether the tree would be too big or too deep to be handled without care for the stack.
pub(super) fn too_much(content: &str, tokens: &[Token]) -> bool {
    if tokens.len() > TOKENS {
        return true;
    }
    let mut chains = vec![0_usize];
    let mut operators = 0;
    for token in tokens {
        match token.kind {
            TokenKind::Open => chains.push(0),
            TokenKind::Close if chains.len() > 1 => {
                chains.pop();
            }
            TokenKind::Comma => {
                if let Some(chain) = chains.last_mut() {
                    *chain = 0;
                }
            }
            _ => {
                operators += usize::from(token.is_any(content, &["union", "intersect", "except"]));
                if let Some(chain) = chains.last_mut() {
                    *chain += 1;
                    if *chain > CHAIN || operators > SET_OPERATORS {
                        return true;
                    }
                }
            }
        }
    }
    false
}

fn kind_of(tree: &Tree, places: Places<'_>) -> StatementKind {
    match tree {
        Tree::Query(query) => query::statement(query, places),
        Tree::Update(update) => query::update(update, places),
        Tree::Delete(delete) => query::delete(delete, places),
        Tree::Insert(insert) => query::insert(insert, places),
        Tree::Merge(merge) => merge::merge(merge, places),
        other => {
            definition::changes(other, places).map_or(StatementKind::Other, StatementKind::Schema)
        }
    }
}

/// Splits `… at Line: 1, Column: 7` off a parser's message.
fn split_location(reason: &str) -> (String, Option<Location>) {
    let reason = reason.trim_start_matches("sql parser error: ");
    let Some((message, place)) = reason.rsplit_once(" at Line: ") else {
        return (reason.to_owned(), None);
    };
    let mut numbers = place.split(", Column: ").map(|part| part.trim().parse::<u64>().ok());
    let location = match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(line), Some(column)) => Some(Location { line, column }),
        _ => None,
    };
    let message: String = message.chars().take(160).collect();
    (message.replace(HOLE_NAME, "a hole"), location)
}

/// From the parser's places to the source's.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    /// The text read.
    pub text: &'a Text,
    /// The statement as it was given to the parser.
    pub normalised: &'a Normalised,
    /// Its lines.
    pub lines: &'a Lines,
    /// The whole statement.
    pub whole: Span,
}

impl Places<'_> {
    /// The whole statement.
    pub fn whole(&self) -> Span {
        self.whole
    }

    fn bytes(&self, span: sqlparser::tokenizer::Span) -> Option<(usize, usize)> {
        if span.start.line == 0 || span.end.line == 0 {
            return None;
        }
        Some(self.normalised.source(self.lines.offset(span.start), self.lines.offset(span.end)))
    }

    /// A parser's span in the source; the whole statement when the parser knows none.
    pub fn span(&self, span: sqlparser::tokenizer::Span) -> Span {
        self.bytes(span).map_or(self.whole, |(start, end)| self.text.place(start, end))
    }

    /// A part of the statement that is a statement itself.
    pub fn part(&self, kind: StatementKind, span: sqlparser::tokenizer::Span) -> Statement {
        let text = self.bytes(span).map(|(start, end)| kept(&self.text.content, start, end));
        Statement {
            kind,
            span: self.span(span),
            text: text.unwrap_or_default(),
            fidelity: Fidelity::Parsed,
        }
    }
}

/// Line and column (in characters) to byte offset of a parsed text.
pub(super) struct Lines {
    /// Character number at which each line starts.
    starts: Vec<usize>,
    /// Byte offset of each character; empty when all are one byte.
    bytes: Vec<usize>,
    length: usize,
}

impl Lines {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(
            text.chars()
                .enumerate()
                .filter(|(_, letter)| *letter == '\n')
                .map(|(index, _)| index + 1),
        );
        let bytes = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at).collect()
        };
        Self { starts, bytes, length: text.len() }
    }

    /// The byte offset of a place.
    pub fn offset(&self, location: Location) -> usize {
        let line = usize::try_from(location.line).unwrap_or(1).saturating_sub(1);
        let column = usize::try_from(location.column).unwrap_or(1).saturating_sub(1);
        let letter = self.starts.get(line).copied().unwrap_or(0) + column;
        let byte =
            if self.bytes.is_empty() { Some(letter) } else { self.bytes.get(letter).copied() };
        byte.unwrap_or(self.length).min(self.length)
    }
}
