//! Words of SQL text, in any dialect, without a grammar.
//!
//! Never fails and takes linear time: what is not closed ends at its line. Comments, psql lines and
//! COPY data are tokens too, so that the tokens tile everything but white space.

use super::Dialect;
use crate::ir::value::HOLE;
use crate::source::beginning;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A bare word: keyword or name. May hold holes (`jobs_⟨⟩`).
    Word,
    /// A quoted name.
    Quoted,
    /// A string literal, prefix included.
    Text,
    /// A dollar-quoted string.
    Dollar,
    /// A number.
    Number,
    /// `$1`, `?`, `?1`, `:name`, `@name`, `$⟨⟩`.
    Placeholder,
    /// A hole of the host language or of a template (`{{ … }}`, `${name}`), standing alone.
    Hole,
    /// Any comment.
    Comment,
    /// `;`, another DELIMITER, or GO.
    End,
    /// A `;` where another delimiter is in force.
    InnerEnd,
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// Operators and everything else.
    Symbol,
    /// A psql meta-command, DELIMITER line, or data of COPY.
    Meta,
}

/// A token: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

impl Token {
    /// Its text.
    pub fn text<'a>(&self, content: &'a str) -> &'a str {
        content.get(self.start..self.end).unwrap_or("")
    }

    /// Whether it is this bare word, in any case.
    pub fn is(&self, content: &str, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text(content).eq_ignore_ascii_case(word)
    }

    /// Whether it is one of these bare words, in any case.
    pub fn is_any(&self, content: &str, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(content, word))
    }
}

/// How many dollar tags without an end are looked for before `$` is taken for a mere sign.
const OPEN_TAGS: usize = 16;

/// All tokens of a text, in order.
pub(super) fn tokens(content: &str, dialect: Dialect) -> Vec<Token> {
    let mut lexer = Lexer {
        content,
        bytes: content.as_bytes(),
        dialect,
        at: 0,
        tokens: Vec::new(),
        delimiter: None,
        statement_start: true,
        copy: 0,
        open_tags: 0,
        closed: [true; 3],
    };
    while lexer.at < lexer.bytes.len() {
        lexer.next();
    }
    lexer.tokens
}

struct Lexer<'a> {
    content: &'a str,
    bytes: &'a [u8],
    dialect: Dialect,
    at: usize,
    tokens: Vec<Token>,
    delimiter: Option<&'a str>,
    statement_start: bool,
    /// How much of `COPY … FROM STDIN` the statement has shown: 0 to 3.
    copy: u8,
    open_tags: usize,
    /// For `'`, `"` and a backtick: whether a closing one may still follow.
    closed: [bool; 3],
}

impl<'a> Lexer<'a> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a str {
        self.content.get(self.at..).unwrap_or("")
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let mut end = (self.at + length.max(1)).min(self.bytes.len());
        while !self.content.is_char_boundary(end) {
            end += 1;
        }
        self.tokens.push(Token { kind, start: self.at, end });
        self.at = end;
        match kind {
            TokenKind::Comment | TokenKind::Meta => {}
            TokenKind::End => self.end_statement(),
            _ => self.statement_start = false,
        }
    }

    fn end_statement(&mut self) {
        self.statement_start = true;
        let copies = self.copy == 3;
        self.copy = 0;
        if copies {
            let rest = self.rest();
            let length = rest.find("\n\\.").map_or(rest.len(), |at| at + 3);
            self.push(TokenKind::Meta, length);
        }
    }

    /// Bytes to the end of the line.
    fn line(&self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
    }

    fn starts_line(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        before
            .iter()
            .rev()
            .take_while(|byte| **byte != b'\n')
            .take(64)
            .all(|byte| *byte == b' ' || *byte == b'\t')
    }

    fn next(&mut self) {
        let byte = self.byte(0);
        if byte.is_ascii_whitespace() {
            self.at += 1;
            return;
        }
        if let Some(delimiter) = self.delimiter
            && self.rest().starts_with(delimiter)
        {
            return self.push(TokenKind::End, delimiter.len());
        }
        match byte {
            b'-' if self.byte(1) == b'-' => self.push(TokenKind::Comment, self.line()),
            b'#' if self.dialect == Dialect::MySql => self.push(TokenKind::Comment, self.line()),
            b'/' if self.byte(1) == b'*' => self.block_comment(),
            b'\'' => self.quoted(TokenKind::Text, 0, self.dialect == Dialect::MySql),
            b'"' if self.dialect == Dialect::MySql => self.quoted(TokenKind::Text, 0, true),
            b'"' | b'`' => self.quoted(TokenKind::Quoted, 0, false),
            b'$' => self.dollar(),
            b'?' => self.question(),
            b':' | b'@' => self.named(),
            b'{' => self.brace(),
            b'\\' if self.statement_start || self.starts_line() => {
                self.push(TokenKind::Meta, self.line());
            }
            b';' if self.delimiter.is_some() => self.push(TokenKind::InnerEnd, 1),
            b';' => self.push(TokenKind::End, 1),
            b'(' => self.push(TokenKind::Open, 1),
            b')' => self.push(TokenKind::Close, 1),
            b',' => self.push(TokenKind::Comma, 1),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            b'.' => self.push(TokenKind::Dot, 1),
            _ if starts_word(byte) => self.word(),
            _ => self.symbol(),
        }
    }

    fn block_comment(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let nests = self.dialect == Dialect::Postgres;
        let (mut at, mut depth) = (2, 1);
        while at < rest.len() && depth > 0 {
            match rest.get(at..at + 2) {
                Some(b"*/") => {
                    depth -= 1;
                    at += 2;
                }
                Some(b"/*") if nests => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        self.push(TokenKind::Comment, at);
    }

    /// A literal whose quote stands `prefix` bytes ahead.
    fn quoted(&mut self, kind: TokenKind, prefix: usize, backslash: bool) {
        let quote = self.byte(prefix);
        let slot = usize::from(quote == b'"') + 2 * usize::from(quote == b'`');
        let open = self.closed.get(slot).copied().unwrap_or(true);
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let mut at = prefix + 1;
        while open && at < rest.len() {
            let byte = rest.get(at).copied().unwrap_or(0);
            if backslash && byte == b'\\' {
                at += 2;
            } else if byte == quote {
                at += 1;
                if rest.get(at) != Some(&quote) {
                    return self.push(kind, at);
                }
                at += 1;
            } else {
                at += 1;
            }
        }
        if let Some(closed) = self.closed.get_mut(slot) {
            *closed = false;
        }
        self.push(kind, self.line());
    }

    fn dollar(&mut self) {
        let next = self.byte(1);
        if self.rest().get(1..).is_some_and(|rest| rest.starts_with(HOLE)) {
            return self.push(TokenKind::Placeholder, 1 + HOLE.len_utf8());
        }
        if next == b'{' {
            let length = braces(self.rest().get(1..).unwrap_or(""));
            return if length > 0 {
                self.push(TokenKind::Hole, length + 1);
            } else {
                self.push(TokenKind::Symbol, 1);
            };
        }
        if next.is_ascii_digit() {
            return self
                .push(TokenKind::Placeholder, 1 + self.run(1, |byte| byte.is_ascii_digit()));
        }
        let tag = self.run(1, |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80);
        if self.byte(1 + tag) != b'$' || self.dialect == Dialect::MySql {
            let kind = if tag > 0 { TokenKind::Placeholder } else { TokenKind::Symbol };
            return self.push(kind, 1 + tag);
        }
        let quote = self.rest().get(..tag + 2).unwrap_or("$$");
        let body = self.rest().get(tag + 2..).unwrap_or("");
        let length = if self.open_tags < OPEN_TAGS { body.find(quote) } else { None };
        match length {
            Some(length) => self.push(TokenKind::Dollar, length + 2 * quote.len()),
            None => {
                self.open_tags += 1;
                self.push(TokenKind::Symbol, quote.len());
            }
        }
    }

    /// How many bytes from `skip` on satisfy a test.
    fn run(&self, skip: usize, test: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(self.at + skip..).unwrap_or(&[]);
        rest.iter().position(|byte| !test(*byte)).unwrap_or(rest.len())
    }

    fn question(&mut self) {
        let digits = self.run(1, |byte| byte.is_ascii_digit());
        if digits > 0 {
            self.push(TokenKind::Placeholder, 1 + digits);
        } else if matches!(self.byte(1), b'|' | b'&') {
            self.push(TokenKind::Symbol, 2);
        } else {
            self.push(TokenKind::Placeholder, 1);
        }
    }

    fn named(&mut self) {
        let before =
            self.at.checked_sub(1).and_then(|at| self.bytes.get(at)).copied().unwrap_or(b' ');
        let colon = self.byte(0) == b':';
        if self.rest().starts_with(":::") {
            return self.push(TokenKind::Symbol, 3);
        }
        if self.byte(1) == self.byte(0) || self.byte(1) == b'=' || self.byte(1) == b'>' {
            return self.push(TokenKind::Symbol, 2);
        }
        let glued =
            before == b'[' || before == b']' || before == b')' || is_word(before) || before == b'@';
        let name = self.run(1, is_word);
        if colon && matches!(self.byte(1), b'\'' | b'"') && self.dialect == Dialect::Postgres {
            let quote = self.byte(1);
            let length = self.run(2, is_word);
            if self.byte(2 + length) == quote && length > 0 {
                return self.push(TokenKind::Placeholder, length + 3);
            }
        }
        let variable = !colon && self.dialect == Dialect::MySql;
        let starts = starts_word(self.byte(1))
            || self.rest().get(1..).is_some_and(|rest| rest.starts_with(HOLE));
        if variable && name > 0 {
            self.push(TokenKind::Word, 1 + name);
        } else if name > 0 && starts && !glued {
            self.push(TokenKind::Placeholder, 1 + name);
        } else {
            self.push(TokenKind::Symbol, 1);
        }
    }

    fn brace(&mut self) {
        let length = braces(self.rest());
        let kind = if length > 0 { TokenKind::Hole } else { TokenKind::Symbol };
        self.push(kind, length);
    }

    fn number(&mut self) {
        let length =
            self.run(0, |byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'_');
        self.push(TokenKind::Number, length);
    }

    fn symbol(&mut self) {
        let first = self.byte(0);
        if matches!(first, b'[' | b']' | b'+' | b'/' | b'%' | b'^' | b'*' | b'~') {
            return self.push(TokenKind::Symbol, 1);
        }
        let length = self
            .run(0, |byte| matches!(byte, b'<' | b'>' | b'=' | b'!' | b'|' | b'&' | b'-' | b'#'));
        // `=-1` and `>--` are an operator and a sign or comment.
        let text = self.bytes.get(self.at..self.at + length).unwrap_or(&[]);
        let cut = text.iter().skip(1).position(|byte| *byte == b'-').map_or(length, |at| at + 1);
        self.push(TokenKind::Symbol, cut);
    }

    fn word(&mut self) {
        let first = self.byte(0);
        let prefixed = matches!(first, b'e' | b'E' | b'n' | b'N' | b'x' | b'X' | b'b' | b'B')
            && self.byte(1) == b'\'';
        if prefixed {
            return self.quoted(TokenKind::Text, 1, matches!(first, b'e' | b'E'));
        }
        let length = self.word_length();
        let text = self.rest().get(..length).unwrap_or("");
        if text.eq_ignore_ascii_case("delimiter") && self.statement_start {
            return self.delimiter_line(length);
        }
        if text.eq_ignore_ascii_case("go")
            && self.starts_line()
            && self.rest().get(length..self.line()).is_some_and(|tail| tail.trim().is_empty())
        {
            return self.push(TokenKind::End, length);
        }
        self.copy = match (self.copy, self.statement_start) {
            (_, true) => u8::from(text.eq_ignore_ascii_case("copy")),
            (1, _) if text.eq_ignore_ascii_case("from") => 2,
            (2, _) if text.eq_ignore_ascii_case("stdin") => 3,
            (seen, _) => seen,
        };
        let kind = if text.chars().all(|letter| letter == HOLE) {
            TokenKind::Hole
        } else {
            TokenKind::Word
        };
        self.push(kind, length);
    }

    /// A word may be glued of letters, holes and template braces (`{schema}_jobs`).
    fn word_length(&self) -> usize {
        let mut length = 0;
        loop {
            length += self.run(length, |byte| is_word(byte) || byte == b'$');
            let braced = braces(self.rest().get(length..).unwrap_or(""));
            if braced == 0 {
                return length;
            }
            length += braced;
        }
    }

    fn delimiter_line(&mut self, word: usize) {
        let line = self.line();
        let sign = self.rest().get(word..line).unwrap_or("").trim();
        self.delimiter = (sign != ";" && !sign.is_empty()).then_some(sign);
        self.push(TokenKind::Meta, line);
    }
}

/// The length of `{{ … }}` or `{name}` at the start of a text, within one line; 0 when none is.
fn braces(text: &str) -> usize {
    let line = beginning(text, 200).split('\n').next().unwrap_or("");
    if line.starts_with("{{") {
        return line.find("}}").map_or(0, |at| at + 2);
    }
    let Some(inner) = line.strip_prefix('{') else { return 0 };
    let name = inner.bytes().take_while(|byte| is_word(*byte) || *byte == b'.').count();
    if inner.as_bytes().get(name) == Some(&b'}') { name + 2 } else { 0 }
}

fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str, dialect: Dialect) -> Vec<(TokenKind, &str)> {
        tokens(text, dialect).into_iter().map(|token| (token.kind, token.text(text))).collect()
    }

    #[test]
    fn strings_comments_and_placeholders_are_told_apart() {
        let text = "a=$1 -- x;\n'it''s' E'\\'' $t$;$t$ :v ::int ? /* /* */ ; */";
        let kinds = kinds(text, Dialect::Postgres);
        let count = |kind| kinds.iter().filter(|token| token.0 == kind).count();
        assert_eq!(count(TokenKind::Placeholder), 3);
        assert_eq!(count(TokenKind::End), 0);
        assert_eq!(count(TokenKind::Text), 2);
        assert_eq!(count(TokenKind::Dollar), 1);
    }

    #[test]
    fn what_is_not_closed_ends_at_its_line() {
        let kinds = kinds("select 'a\n;\nselect $x$ 1", Dialect::Postgres);
        assert!(kinds.contains(&(TokenKind::End, ";")));
    }

    #[test]
    fn a_delimiter_line_changes_what_ends_a_statement() {
        let kinds = kinds("DELIMITER //\na; b//\nDELIMITER ;\nc;", Dialect::MySql);
        let ends: Vec<_> = kinds.iter().filter(|token| token.0 == TokenKind::End).collect();
        assert_eq!(ends.len(), 2);
    }

    #[test]
    fn copy_data_is_skipped() {
        let text = "COPY t (a) FROM stdin;\n1;'\n\\.\nSELECT 1;";
        let kinds = kinds(text, Dialect::Postgres);
        assert!(kinds.contains(&(TokenKind::Word, "SELECT")));
        assert!(!kinds.iter().any(|token| token.0 == TokenKind::Text));
    }
}
