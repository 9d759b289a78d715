//! Text to statements: where each begins and ends.
//!
//! Knows what ends a statement in migrations of every common tool: `;`, DELIMITER, GO, goose's
//! StatementBegin/End; bodies of triggers and procedures stay whole; the down half is left out.

use super::head;
use super::token::{Token, TokenKind};

/// One statement: its tokens, comments and meta lines left out; never empty.
pub(super) type Piece = Vec<Token>;

/// All statements of a text, in order.
pub(super) fn pieces(content: &str, tokens: &[Token]) -> Vec<Piece> {
    let mut splitter = Splitter {
        content,
        pieces: Vec::new(),
        current: Vec::new(),
        whole: false,
        dollar: false,
        unclosed: false,
    };
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        match token.kind {
            TokenKind::Comment => {
                if splitter.comment(token) {
                    break;
                }
            }
            TokenKind::Meta => {}
            TokenKind::End if !splitter.whole => splitter.finish(),
            _ => {
                splitter.current.push(*token);
                splitter.dollar |= token.kind == TokenKind::Dollar;
                if let Some(end) = splitter.block(tokens, index) {
                    splitter.current.extend(significant(tokens, index + 1, end));
                    index = end;
                }
            }
        }
        index += 1;
    }
    splitter.finish();
    splitter.pieces
}

fn significant(tokens: &[Token], from: usize, to: usize) -> impl Iterator<Item = Token> {
    let range = tokens.get(from..=to).unwrap_or(&[]);
    range
        .iter()
        .filter(|token| !matches!(token.kind, TokenKind::Comment | TokenKind::Meta))
        .copied()
}

struct Splitter<'a> {
    content: &'a str,
    pieces: Vec<Piece>,
    current: Vec<Token>,
    /// Between StatementBegin and StatementEnd.
    whole: bool,
    /// The statement has a dollar-quoted string, which is its body.
    dollar: bool,
    /// A body was opened and never closed; no other is looked for.
    unclosed: bool,
}

impl Splitter<'_> {
    fn finish(&mut self) {
        let mut tokens = std::mem::take(&mut self.current);
        self.dollar = false;
        while tokens.last().is_some_and(|token| token.kind == TokenKind::End) {
            tokens.pop();
        }
        if !tokens.is_empty() {
            self.pieces.push(tokens);
        }
    }

    /// Follows the markers of migration tools; whether the rest of the file is the down half.
    fn comment(&mut self, token: &Token) -> bool {
        let Some(line) = token.text(self.content).strip_prefix("--") else { return false };
        let line = line.get(..line.len().min(60)).unwrap_or("").trim().to_ascii_lowercase();
        let marker = line.split_whitespace().collect::<Vec<_>>().join(" ");
        match marker.as_str() {
            "+goose statementbegin" | "+migrate statementbegin" => {
                self.finish();
                self.whole = true;
            }
            "+goose statementend" | "+migrate statementend" => {
                self.whole = false;
                self.finish();
            }
            "+goose down" | "+migrate down" => {
                self.finish();
                return true;
            }
            marker if marker.starts_with("migrate:down") => {
                self.finish();
                return true;
            }
            _ => {}
        }
        false
    }

    /// The token that closes a `BEGIN … END` body that opens at `index`, when the statement being
    /// read is a trigger, procedure, function or event.
    fn block(&mut self, tokens: &[Token], index: usize) -> Option<usize> {
        let begin = tokens.get(index)?;
        if self.unclosed || !begin.is(self.content, "begin") || !self.is_routine() {
            return None;
        }
        let mut depth = 0_usize;
        let mut at = index;
        while let Some(token) = tokens.get(at) {
            if token.is_any(self.content, &["begin", "case"]) {
                depth += 1;
            } else if token.is(self.content, "end") {
                let next = tokens.get(at + 1);
                let inner = next.is_some_and(|next| {
                    next.is_any(self.content, &["if", "loop", "while", "repeat", "for"])
                });
                if next.is_some_and(|next| next.is(self.content, "case")) {
                    at += 1;
                }
                if !inner {
                    depth -= 1;
                }
                if depth == 0 {
                    return Some(at);
                }
            }
            at += 1;
        }
        self.unclosed = true;
        None
    }

    fn is_routine(&self) -> bool {
        !self.dollar && head::makes_routine(self.content, &self.current).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Dialect, token};
    use super::*;

    fn split(text: &str) -> Vec<&str> {
        let tokens = token::tokens(text, Dialect::Generic);
        let spans: Vec<_> = pieces(text, &tokens)
            .iter()
            .map(|piece| piece[0].start..piece[piece.len() - 1].end)
            .collect();
        spans.into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_everything() {
        assert_eq!(split("a; 'b;' ; /* ; */ c -- ;\n;"), ["a", "'b;'", "c"]);
    }

    #[test]
    fn a_trigger_body_stays_whole() {
        let text = "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET x = CASE WHEN 1 THEN 2 END; END; SELECT 1;";
        assert_eq!(split(text).len(), 2);
    }

    #[test]
    fn a_transaction_is_no_body() {
        assert_eq!(split("BEGIN; UPDATE a SET b = 1; END;").len(), 3);
    }

    #[test]
    fn goose_blocks_stay_whole_and_the_down_half_is_left_out() {
        let text = "-- +goose Up\n-- +goose StatementBegin\na; b;\n-- +goose StatementEnd\nc;\n-- +goose Down\nd;";
        assert_eq!(split(text), ["a; b", "c"]);
    }
}
