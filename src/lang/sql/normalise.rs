//! One statement as text that the parsers accept, with the way back to the source.
//!
//! Comments go, placeholders of every style become `$n`, holes become names, literals or nothing,
//! and a few clauses that parsers refuse are said in words they know. Every byte of the result
//! still knows its token.

use super::Dialect;
use super::token::{Token, TokenKind};
use crate::ir::value::HOLE;

/// The name that stands for a hole. A name that contains it is not known.
pub(super) const HOLE_NAME: &str = "leaselint_hole";

/// Words after which a value or name is still to come.
const OPENERS: &[&str] = &[
    "select",
    "from",
    "where",
    "and",
    "or",
    "not",
    "in",
    "like",
    "ilike",
    "between",
    "is",
    "set",
    "values",
    "limit",
    "offset",
    "on",
    "by",
    "having",
    "when",
    "then",
    "else",
    "case",
    "returning",
    "update",
    "into",
    "join",
    "using",
    "as",
    "distinct",
    "all",
    "any",
    "interval",
    "table",
    "exists",
    "only",
    "do",
    "conflict",
    "union",
    "except",
    "intersect",
    "with",
    "escape",
    "similar",
    "regexp",
    "rlike",
    "glob",
    "match",
    "div",
    "mod",
    "xor",
    "to",
    "add",
    "alter",
    "drop",
    "column",
    "constraint",
    "references",
    "key",
    "check",
    "default",
    "index",
    "delete",
    "insert",
    "ignore",
    "replace",
    "rename",
    "view",
    "call",
    "perform",
    "return",
    "if",
];

/// Words before which a lone hole in value position may be a whole clause.
const CLAUSES: &[&str] = &[
    "where",
    "and",
    "or",
    "order",
    "group",
    "limit",
    "offset",
    "returning",
    "on",
    "for",
    "from",
    "join",
    "left",
    "inner",
    "union",
    "having",
    "set",
    "values",
    "select",
    "using",
];

/// Numbers for placeholders, over all statements of one text.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    anonymous: u32,
    names: Vec<String>,
    /// The text uses `$1`, so that `?` is an operator.
    dollars: bool,
}

impl Numbering {
    /// Looks at a text's tokens once, before its statements are read.
    pub fn new(content: &str, tokens: &[Token]) -> Self {
        let dollars = tokens.iter().any(|token| {
            token.kind == TokenKind::Placeholder
                && token
                    .text(content)
                    .strip_prefix('$')
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        });
        Self { dollars, ..Self::default() }
    }

    /// The 1-based number of a placeholder; `None` when a hole stands for it.
    fn number(&mut self, text: &str) -> Option<u32> {
        if text.contains(HOLE) {
            return None;
        }
        let name = text.trim_start_matches(['$', '?', ':', '@', '\'', '"']);
        if text == "?" {
            self.anonymous += 1;
            return Some(self.anonymous);
        }
        if let Ok(number) = name.parse::<u32>() {
            self.anonymous = self.anonymous.max(number);
            return Some(number.max(1));
        }
        let known = self.names.iter().take(256).position(|known| known == name);
        let position = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        u32::try_from(position + 1).ok()
    }
}

/// A statement ready for a parser.
#[derive(Debug)]
pub(super) struct Normalised {
    /// The text, mostly one line.
    pub text: String,
    /// Start in `text` of each token that was kept, and the token.
    pub tokens: Vec<(usize, Token)>,
}

impl Normalised {
    /// The source bytes of a range of the normalised text.
    pub fn source(&self, start: usize, end: usize) -> (usize, usize) {
        let from = self.offset(start, false);
        let to = self.offset(end, true);
        (from, to.max(from))
    }

    /// The source bytes of the token at an offset of the normalised text.
    pub fn token_at(&self, at: usize) -> (usize, usize) {
        let index = self.tokens.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.tokens.get(index).map_or((0, 0), |(_, token)| (token.start, token.end))
    }

    /// The text of a run of the statement's tokens.
    pub fn written(&self, tokens: &[Token]) -> Option<&str> {
        let (first, last) = (tokens.first()?, tokens.last()?);
        let from = self.tokens.partition_point(|(_, kept)| kept.start < first.start);
        let to = self.tokens.partition_point(|(_, kept)| kept.start <= last.start);
        let start = self.tokens.get(from)?.0;
        let end = self.tokens.get(to).map_or(self.text.len(), |(start, _)| *start);
        self.text.get(start..end)
    }

    fn offset(&self, at: usize, end: bool) -> usize {
        let index =
            self.tokens.partition_point(|(start, _)| if end { *start < at } else { *start <= at });
        let Some((start, token)) = index.checked_sub(1).and_then(|index| self.tokens.get(index))
        else {
            return self.tokens.first().map_or(0, |(_, token)| token.start);
        };
        let next = self.tokens.get(index).map_or(self.text.len(), |(start, _)| *start);
        let length = token.end - token.start;
        // A token that was replaced is one place.
        if next - start < length || at - start > length {
            return if end { token.end } else { token.start };
        }
        token.start + (at - start)
    }
}

/// Makes the text of one statement.
pub(super) fn normalise(
    content: &str,
    tokens: &[Token],
    dialect: Dialect,
    numbering: &mut Numbering,
) -> Normalised {
    let mut writer = Writer {
        content,
        tokens,
        dialect,
        numbering,
        out: Normalised {
            text: String::with_capacity(content.len().min(1024)),
            tokens: Vec::with_capacity(tokens.len()),
        },
        operand: false,
        last_end: tokens.first().map_or(0, |token| token.start),
    };
    let mut index = 0;
    while index < tokens.len() {
        index += writer.step(index);
    }
    writer.out
}

struct Writer<'a> {
    content: &'a str,
    tokens: &'a [Token],
    dialect: Dialect,
    numbering: &'a mut Numbering,
    out: Normalised,
    /// Whether what was written last is an operand.
    operand: bool,
    last_end: usize,
}

impl Writer<'_> {
    fn write(&mut self, token: Token, text: &str) {
        if token.start > self.last_end && !self.out.text.is_empty() {
            self.out.text.push(' ');
        }
        self.last_end = token.end;
        self.out.tokens.push((self.out.text.len(), token));
        self.out.text.push_str(text);
    }

    fn word(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index).filter(|token| token.kind == TokenKind::Word)
    }

    fn next_is(&self, index: usize, word: &str) -> bool {
        self.word(index).is_some_and(|token| token.is(self.content, word))
    }

    /// Writes the token at `index`; how many tokens were used.
    fn step(&mut self, index: usize) -> usize {
        let Some(token) = self.tokens.get(index).copied() else { return 1 };
        let text = token.text(self.content);
        match token.kind {
            TokenKind::Hole => self.hole(token, index),
            TokenKind::Placeholder => self.placeholder(token, text, index),
            TokenKind::Word | TokenKind::Quoted if text.contains([HOLE, '{']) => {
                self.write(token, HOLE_NAME);
                self.operand = true;
            }
            TokenKind::Word => return self.bare(token, text, index),
            TokenKind::Symbol
                if text == "@" && self.dialect != Dialect::MySql && self.index_hint(index) =>
            {
                return 2;
            }
            TokenKind::Symbol => {
                // CockroachDB's `:::` is a cast too.
                self.write(token, if text == ":::" { "::" } else { text });
                self.operand = text == "]";
            }
            TokenKind::Comma | TokenKind::Dot | TokenKind::Open => {
                self.write(token, text);
                self.operand = false;
            }
            TokenKind::InnerEnd | TokenKind::End => {
                self.write(token, ";");
                self.operand = false;
            }
            _ => {
                self.write(token, text);
                self.operand = true;
            }
        }
        1
    }

    /// `jobs@jobs_pkey`: CockroachDB's index hint.
    fn index_hint(&self, index: usize) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.word(before));
        let after = self.word(index + 1);
        before.is_some_and(|before| {
            self.tokens.get(index).is_some_and(|token| before.end == token.start)
        }) && after.is_some()
    }

    fn bare(&mut self, token: Token, text: &str, index: usize) -> usize {
        let folded = text.to_ascii_lowercase();
        if folded == "no" && self.next_is(index + 1, "key") && self.next_is(index + 2, "update") {
            return 2;
        }
        if folded == "key" && self.next_is(index + 1, "share") {
            return 1;
        }
        if folded == "on" && self.next_is(index + 1, "cluster") {
            return 3;
        }
        // `CREATE INDEX … ON ONLY t`: of the partitioned table, not of its parts.
        let after_on = index.checked_sub(1).is_some_and(|before| self.next_is(before, "on"));
        if folded == "only" && after_on && self.next_is(0, "create") {
            return 1;
        }
        let after_constraint =
            index.checked_sub(1).is_some_and(|before| self.next_is(before, "constraint"));
        if after_constraint && folded == "if" && self.next_is(index + 1, "not") {
            return 3;
        }
        let written = match folded.as_str() {
            "upsert" if index == 0 => "INSERT",
            "storing"
                if self.tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Open) =>
            {
                "INCLUDE"
            }
            _ => text,
        };
        self.write(token, written);
        self.operand = !OPENERS.contains(&folded.as_str());
        1
    }

    fn placeholder(&mut self, token: Token, text: &str, index: usize) {
        // Only PostgreSQL has an operator `?`.
        let operators = !matches!(self.dialect, Dialect::MySql | Dialect::Sqlite);
        if text == "?" && operators && (self.operand || self.numbering.dollars) {
            self.write(token, text);
            self.operand = false;
            return;
        }
        let name_wanted = self.names_something(index);
        match self.numbering.number(text) {
            Some(_) if name_wanted => self.write(token, HOLE_NAME),
            Some(number) => self.write(token, &format!("${number}")),
            None => self.write(token, HOLE_NAME),
        }
        self.operand = true;
    }

    /// Whether a table, schema or column name is wanted at `index`.
    fn names_something(&self, index: usize) -> bool {
        let after = self.tokens.get(index + 1).is_some_and(|next| next.kind == TokenKind::Dot);
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        after
            || before.is_some_and(|before| {
                before.kind == TokenKind::Dot
                    || before.is_any(
                        self.content,
                        &["from", "into", "update", "join", "table", "only", "schema"],
                    )
            })
    }

    fn hole(&mut self, token: Token, index: usize) {
        if self.names_something(index) || !self.operand {
            self.value_hole(token, index);
            return;
        }
        // `UPDATE t ⟨⟩ WHERE …`: the hole is the SET clause.
        let word = |index: usize, word: &str| self.next_is(index, word);
        if word(0, "update") && !(0..self.tokens.len().min(200)).any(|at| word(at, "set")) {
            self.write(token, &format!("SET {HOLE_NAME} = {HOLE_NAME}"));
            return;
        }
        // An operand before it: a clause, an alias or a direction. Nothing is written.
        self.last_end = self.last_end.min(token.start.saturating_sub(1));
    }

    fn value_hole(&mut self, token: Token, index: usize) {
        let before = index.checked_sub(1).and_then(|before| self.tokens.get(before));
        let after = self.tokens.get(index + 1);
        let clause_follows = after.is_none_or(|after| {
            matches!(after.kind, TokenKind::Comma | TokenKind::Hole)
                || after.is_any(self.content, CLAUSES)
        });
        let assigns = before.is_some_and(|before| before.is(self.content, "set")) && clause_follows;
        if assigns {
            self.write(token, &format!("{HOLE_NAME} = {HOLE_NAME}"));
        } else {
            self.write(token, HOLE_NAME);
        }
        self.operand = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::token;
    use super::*;

    fn text(sql: &str, dialect: Dialect) -> String {
        let tokens = token::tokens(sql, dialect);
        let mut numbering = Numbering::new(sql, &tokens);
        normalise(sql, &tokens, dialect, &mut numbering).text
    }

    #[test]
    fn an_index_of_a_partitioned_table_alone_is_one_of_the_table() {
        assert_eq!(
            text("CREATE INDEX i ON ONLY app.log USING btree (at)", Dialect::Postgres),
            "CREATE INDEX i ON app.log USING btree (at)"
        );
        assert_eq!(text("SELECT a FROM ONLY b", Dialect::Postgres), "SELECT a FROM ONLY b");
    }

    #[test]
    fn placeholders_of_every_style_are_numbered() {
        assert_eq!(text("a = ? AND b = ?", Dialect::Postgres), "a = $1 AND b = $2");
        assert_eq!(
            text("a = :x AND b = :y AND c = :x", Dialect::Sqlite),
            "a = $1 AND b = $2 AND c = $1"
        );
        assert_eq!(text("a ? 'k' AND b = $1", Dialect::Postgres), "a ? 'k' AND b = $1");
        for dialect in [Dialect::MySql, Dialect::Generic] {
            let words = "a REGEXP ? AND b DIV ? = 1 AND c = ?";
            assert_eq!(text(words, dialect), "a REGEXP $1 AND b DIV $2 = 1 AND c = $3");
        }
        assert_eq!(text("a OPERATES ? AND b = ?", Dialect::Sqlite), "a OPERATES $1 AND b = $2");
    }

    #[test]
    fn holes_become_what_suits_the_place() {
        assert_eq!(
            text("SELECT \u{FFFC} FROM \u{FFFC}_x WHERE a = \u{FFFC} \u{FFFC}", Dialect::Postgres),
            "SELECT leaselint_hole FROM leaselint_hole WHERE a = leaselint_hole"
        );
        assert_eq!(
            text("UPDATE \u{FFFC} SET \u{FFFC} WHERE id = $\u{FFFC}", Dialect::Postgres),
            "UPDATE leaselint_hole SET leaselint_hole = leaselint_hole WHERE id = leaselint_hole"
        );
    }

    #[test]
    fn a_place_leads_back_to_the_source() {
        let sql = "a /* c */ = ? AND b = 22";
        let mut tokens = token::tokens(sql, Dialect::Sqlite);
        tokens.retain(|token| token.kind != TokenKind::Comment);
        let mut numbering = Numbering::default();
        let normalised = normalise(sql, &tokens, Dialect::Sqlite, &mut numbering);
        let at = normalised.text.find("b = ").unwrap();
        let (start, end) = normalised.source(at, normalised.text.len());
        assert_eq!(sql.get(start..end), Some("b = 22"));
        let (start, end) = normalised.source(0, 6);
        assert_eq!(sql.get(start..end), Some("a /* c */ = ?"));
    }
}
