//! From `proc_macro2` spans to byte ranges of the file that a person would open.
//!
//! `proc_macro2` counts from the start of the text that was parsed; a [`Place`] knows where in the
//! file that text begins. Spans must be turned into byte ranges before
//! `proc_macro2::extra::invalidate_current_thread_spans` is called: afterwards they can't be read.

use rustc_lexer::{FrontmatterAllowed, TokenKind};
use syn::spanned::Spanned;

use crate::source::{FileId, SourceFile, Span};

/// Which file a parsed text is of, and at which byte of it the text begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The file.
    pub(crate) file: FileId,
    /// Byte offset of the parsed text in the file.
    pub(crate) base: u32,
}

impl Place {
    /// The byte range of a token's span in the file.
    pub(crate) fn span(self, span: proc_macro2::Span) -> Span {
        let range = span.byte_range();
        Span::new(self.file, self.offset(range.start), self.offset(range.end))
    }

    /// The byte range from the first token of `first` to the last of `last`.
    pub(crate) fn between(self, first: proc_macro2::Span, last: proc_macro2::Span) -> Span {
        self.span(first).to(self.span(last))
    }

    /// The byte range of a whole node. It visits every token of the node: where the first and last
    /// token are at hand, [`Place::between`] is cheaper.
    pub(crate) fn node(self, node: &impl Spanned) -> Span {
        self.span(node.span())
    }

    fn offset(self, at: usize) -> u32 {
        u32::try_from(at).unwrap_or(u32::MAX).saturating_add(self.base)
    }
}

/// Length in bytes of what stands at the start of a file and is no Rust: a `#!` line, and a
/// `---` block with the manifest of a single-file package.
pub(crate) fn head_length(file: &SourceFile) -> usize {
    let line = rustc_lexer::strip_shebang(&file.text).unwrap_or(0);
    let rest = file.text.get(line..).unwrap_or("");
    let mut length = 0;
    for token in rustc_lexer::tokenize(rest, FrontmatterAllowed::Yes) {
        length += token.len as usize;
        match token.kind {
            TokenKind::Whitespace => {}
            TokenKind::Frontmatter { .. } => return line + length,
            _ => break,
        }
    }
    line
}
