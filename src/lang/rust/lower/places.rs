//! The first and last token of expressions and patterns.
//!
//! `syn`'s own span of a node visits every token of it; in chains of calls that is quadratic. Here
//! only the path to the leftmost and the rightmost token is walked.

use proc_macro2::Span as Mark;
use syn::spanned::Spanned;
use syn::{Expr, Member, Pat};

use super::Lowerer;
use crate::source::Span;

impl Lowerer<'_> {
    /// The place of a whole expression.
    pub(super) fn span_of(&self, expr: &Expr) -> Span {
        self.place.between(first(expr), last(expr))
    }

    /// The place of a pattern.
    pub(super) fn pattern_span(&self, pattern: &Pat) -> Span {
        match pattern {
            Pat::Ident(ident) => self.place.span(ident.ident.span()),
            Pat::Wild(wild) => self.place.span(wild.underscore_token.spans[0]),
            other => self.place.node(other),
        }
    }

    /// Where a block ends: its closing brace.
    pub(super) fn block_end(&self, block: &syn::Block) -> Span {
        self.place.span(block.brace_token.span.close())
    }

    /// The place of a path: from its first to its last name.
    pub(super) fn path_span(&self, path: &syn::Path) -> Span {
        match (path.segments.first(), path.segments.last()) {
            (Some(first), Some(last)) => self.place.between(first.ident.span(), last.ident.span()),
            _ => self.frame.body.span,
        }
    }

    /// The place of the last name of a path.
    pub(super) fn name_span(&self, path: &syn::Path) -> Span {
        match path.segments.last() {
            Some(last) => self.place.span(last.ident.span()),
            None => self.frame.body.span,
        }
    }
}

/// The first token of a path in expression position.
fn path_start(qself: Option<&syn::QSelf>, path: &syn::Path) -> Mark {
    match (qself, &path.leading_colon, path.segments.first()) {
        (Some(qself), _, _) => qself.lt_token.spans[0],
        (None, Some(colon), _) => colon.spans[0],
        (None, None, Some(segment)) => segment.ident.span(),
        (None, None, None) => path.span(),
    }
}

fn path_end(path: &syn::Path) -> Mark {
    match path.segments.last() {
        Some(segment) => match &segment.arguments {
            syn::PathArguments::AngleBracketed(list) => list.gt_token.spans[0],
            _ => segment.ident.span(),
        },
        None => path.span(),
    }
}

/// The first token of an expression.
fn first(mut expr: &Expr) -> Mark {
    loop {
        expr = match expr {
            Expr::Assign(of) => &of.left,
            Expr::Await(of) => &of.base,
            Expr::Binary(of) => &of.left,
            Expr::Call(of) => &of.func,
            Expr::Cast(of) => &of.expr,
            Expr::Field(of) => &of.base,
            Expr::Group(of) => &of.expr,
            Expr::Index(of) => &of.expr,
            Expr::MethodCall(of) => &of.receiver,
            Expr::Try(of) => &of.expr,
            Expr::Range(of) => match &of.start {
                Some(start) => start,
                None => return of.limits.span(),
            },
            other => return opening(other),
        }
    }
}

/// The first token of an expression that does not begin with another one.
fn opening(expr: &Expr) -> Mark {
    match expr {
        Expr::Array(of) => of.bracket_token.span.open(),
        Expr::Async(of) => of.async_token.span,
        Expr::Block(of) => match &of.label {
            Some(label) => label.name.apostrophe,
            None => of.block.brace_token.span.open(),
        },
        Expr::Break(of) => of.break_token.span,
        Expr::Closure(of) => match (&of.asyncness, &of.capture) {
            (Some(token), _) => token.span,
            (None, Some(token)) => token.span,
            (None, None) => of.inputs_begin.spans[0],
        },
        Expr::If(of) => of.if_token.span,
        Expr::ForLoop(of) => of.for_token.span,
        Expr::Let(of) => of.let_token.span,
        Expr::Lit(of) => of.lit.span(),
        Expr::Loop(of) => of.loop_token.span,
        Expr::Macro(of) => path_start(None, &of.mac.path),
        Expr::Match(of) => of.match_token.span,
        Expr::Paren(of) => of.paren_token.span.open(),
        Expr::Path(of) => path_start(of.qself.as_ref(), &of.path),
        Expr::Reference(of) => of.and_token.spans[0],
        Expr::Repeat(of) => of.bracket_token.span.open(),
        Expr::Return(of) => of.return_token.span,
        Expr::Struct(of) => path_start(of.qself.as_ref(), &of.path),
        Expr::Tuple(of) => of.paren_token.span.open(),
        Expr::Unary(of) => of.op.span(),
        Expr::Unsafe(of) => of.unsafe_token.span,
        Expr::While(of) => of.while_token.span,
        other => other.span(),
    }
}

/// The last token of an expression.
fn last(mut expr: &Expr) -> Mark {
    loop {
        expr = match expr {
            Expr::Assign(of) => &of.right,
            Expr::Binary(of) => &of.right,
            Expr::Closure(of) => &of.body,
            Expr::Group(of) => &of.expr,
            Expr::Let(of) => &of.expr,
            Expr::Reference(of) => &of.expr,
            Expr::Unary(of) => &of.expr,
            Expr::Break(of) => match (&of.expr, &of.label) {
                (Some(value), _) => value,
                (None, Some(label)) => return label.ident.span(),
                (None, None) => return of.break_token.span,
            },
            Expr::Range(of) => match &of.end {
                Some(end) => end,
                None => return of.limits.span(),
            },
            Expr::Return(of) => match &of.expr {
                Some(value) => value,
                None => return of.return_token.span,
            },
            Expr::If(of) => match &of.else_branch {
                Some((_, otherwise)) => otherwise,
                None => return of.then_branch.brace_token.span.close(),
            },
            other => return closing(other),
        }
    }
}

/// The last token of an expression that does not end with another one.
fn closing(expr: &Expr) -> Mark {
    match expr {
        Expr::Array(of) => of.bracket_token.span.close(),
        Expr::Async(of) => of.block.brace_token.span.close(),
        Expr::Await(of) => of.await_token.span,
        Expr::Block(of) => of.block.brace_token.span.close(),
        Expr::Call(of) => of.paren_token.span.close(),
        Expr::Field(of) => match &of.member {
            Member::Named(name) => name.span(),
            Member::Unnamed(index) => index.span,
        },
        Expr::ForLoop(of) => of.body.brace_token.span.close(),
        Expr::Index(of) => of.bracket_token.span.close(),
        Expr::Lit(of) => of.lit.span(),
        Expr::Loop(of) => of.body.brace_token.span.close(),
        Expr::Macro(of) => of.mac.delimiter.span().close(),
        Expr::Match(of) => of.brace_token.span.close(),
        Expr::MethodCall(of) => of.paren_token.span.close(),
        Expr::Paren(of) => of.paren_token.span.close(),
        Expr::Path(of) => path_end(&of.path),
        Expr::Repeat(of) => of.bracket_token.span.close(),
        Expr::Struct(of) => of.brace_token.span.close(),
        Expr::Try(of) => of.question_token.spans[0],
        Expr::Tuple(of) => of.paren_token.span.close(),
        Expr::Unsafe(of) => of.block.brace_token.span.close(),
        Expr::While(of) => of.body.brace_token.span.close(),
        other => other.span(),
    }
}
