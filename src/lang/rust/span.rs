//! From `proc_macro2` spans to byte ranges of the file that a person would open.
//!
//! `proc_macro2` counts from the start of the text that was parsed; a [`Place`] knows where in the
//! file that text begins. Spans must be turned into byte ranges before
//! `proc_macro2::extra::invalidate_current_thread_spans` is called: afterwards they can't be read.

use std::ops::Range;
use std::sync::Arc;

use rustc_lexer::{FrontmatterAllowed, TokenKind};
use syn::spanned::Spanned;

use crate::ir::expansion::Expansion;
use crate::ir::index::Part;
use crate::source::{FileId, SourceFile, Span};

/// Which file or expansion a parsed text is of, and at which byte of it the text begins.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The file; for an expansion, that of the outermost macro call.
    pub(crate) file: FileId,
    /// Byte offset of the parsed text in the file or expansion.
    pub(crate) base: u32,
    /// The expansion and its number in the index; `None` for text of the file.
    pub(crate) made: Option<(u32, Arc<Expansion>)>,
}

impl Place {
    /// The byte range of a token's span in the file.
    pub(crate) fn span(&self, span: proc_macro2::Span) -> Span {
        let range = span.byte_range();
        self.range(self.offset(range.start)..self.offset(range.end))
    }

    /// The bytes of the file or expansion from the first token of `first` to the last of `last`.
    pub(crate) fn part(&self, first: proc_macro2::Span, last: proc_macro2::Span) -> Part {
        let (first, last) = (first.byte_range(), last.byte_range());
        let bytes = first.start.min(last.start)..first.end.max(last.end);
        let bytes = self.offset(bytes.start)..self.offset(bytes.end);
        Part { expansion: self.made.as_ref().map(|(number, _)| *number), bytes }
    }

    /// The text of a part of what was parsed.
    pub(crate) fn text<'t>(&'t self, file: &'t SourceFile, part: &Part) -> &'t str {
        let whole = self.made.as_ref().map_or(&file.text, |(_, made)| &made.text);
        whole.get(part.bytes.start as usize..part.bytes.end as usize).unwrap_or("")
    }

    /// The first bytes of what was parsed.
    pub(crate) fn whole(&self, length: u32) -> Span {
        self.range(self.base..self.base.saturating_add(length))
    }

    /// The span from one place to another.
    pub(crate) fn join(&self, first: Span, last: Span) -> Span {
        match &self.made {
            Some((_, made)) => made.join(first, last),
            None => first.to(last),
        }
    }

    fn range(&self, bytes: Range<u32>) -> Span {
        let place = self.made.as_ref().and_then(|(_, made)| made.place(bytes.clone()));
        place.unwrap_or(Span::new(self.file, bytes.start, bytes.end))
    }

    /// The byte range from the first token of `first` to the last of `last`.
    pub(crate) fn between(&self, first: proc_macro2::Span, last: proc_macro2::Span) -> Span {
        self.range(self.part(first, last).bytes)
    }

    /// The byte range of a whole node. It visits every token of the node: where the first and last
    /// token are at hand, [`Place::between`] is cheaper.
    pub(crate) fn node(&self, node: &impl Spanned) -> Span {
        self.span(node.span())
    }

    fn offset(&self, at: usize) -> u32 {
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
