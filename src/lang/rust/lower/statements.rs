//! Blocks, `let`, and values that are thrown away.

use syn::{Block, Expr, Pat, Stmt};

use super::Lowerer;
use super::builder::Scope;
use crate::ir::body::{OpKind, Terminator};
use crate::ir::value::{Literal, ValueId, ValueKind};
use crate::source::Span;

impl Lowerer<'_> {
    /// Opens a scope.
    pub(super) fn open(&mut self) {
        let base = self.frame.env.len();
        self.frame.scopes.push(Scope { base, ..Scope::default() });
    }

    /// Closes the innermost scope at a place.
    pub(super) fn close(&mut self, span: Span) {
        let depth = self.frame.scopes.len().saturating_sub(1);
        self.frame.leave(depth, span);
        if let Some(scope) = self.frame.scopes.pop() {
            self.frame.forget(scope.base);
        }
    }

    /// A block with a scope of its own; gives the value of its tail.
    pub(super) fn block(&mut self, block: &Block) -> ValueId {
        self.open();
        let value = self.statements(&block.stmts);
        let end = self.block_end(block);
        self.close(end);
        value
    }

    /// Statements in the open scope; gives the value of the last one if it is a tail.
    pub(super) fn statements(&mut self, statements: &[Stmt]) -> ValueId {
        let Some((last, rest)) = statements.split_last() else { return self.frame.unit() };
        for statement in rest {
            self.statement(statement);
        }
        match last {
            Stmt::Expr(expr, None) => self.operand(expr),
            Stmt::Macro(of) if of.semi_token.is_none() => self.macro_call(&of.mac, true),
            other => {
                self.statement(other);
                self.frame.unit()
            }
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Local(local) => self.local(local),
            // Items are in the file's index and lowered on their own.
            Stmt::Item(_) => {}
            Stmt::Expr(expr, _) => {
                let value = self.expression(expr);
                let span = self.span_of(expr);
                if !is_place(expr) {
                    self.discard(value, false, span);
                }
            }
            Stmt::Macro(of) => {
                let value = self.macro_call(&of.mac, true);
                let span = self.path_span(&of.mac.path);
                let span = self.place.join(span, self.place.span(of.mac.delimiter.span().close()));
                self.discard(value, false, span);
            }
        }
    }

    /// Notes that a value is thrown away; nothing for `()`.
    pub(super) fn discard(&mut self, value: ValueId, explicit: bool, span: Span) {
        let unit = matches!(self.frame.body.kind(value), ValueKind::Literal(Literal::Unit));
        if self.frame.live() && (explicit || !unit) {
            self.frame.op(OpKind::Discard { value, explicit }, span);
        }
    }

    fn local(&mut self, local: &syn::Local) {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, None),
        };
        let Some(init) = &local.init else {
            let span = self.pattern_span(pattern);
            let value = self.unknown(span);
            if let Some(ty) = ty {
                self.annotate(value, ty);
            }
            self.bind(pattern, value, false);
            return;
        };
        let value = self.expression(&init.expr);
        if let Some(ty) = ty {
            self.annotate(value, ty);
        }
        if matches!(pattern, Pat::Wild(_)) {
            if !is_place(&init.expr) {
                let span = self.span_of(&init.expr);
                self.discard(value, true, span);
            }
            return;
        }
        self.move_out(&init.expr);
        match &init.diverge {
            Some((_, otherwise)) => self.let_else(pattern, value, otherwise),
            None => self.bind(pattern, value, false),
        }
    }

    fn let_else(&mut self, pattern: &Pat, value: ValueId, otherwise: &Expr) {
        let span = self.pattern_span(pattern);
        let mut matched = self.frame.merge();
        let mut missed = self.frame.merge();
        self.test(value, pattern, &mut matched, &mut missed);
        self.frame.enter(missed, span);
        self.expression(otherwise);
        if self.frame.live() {
            self.frame.end(Terminator::Unreachable);
        }
        self.frame.enter(matched, span);
        self.bind(pattern, value, true);
    }
}

/// Whether an expression names a place, so that a statement of it drops nothing.
pub(super) fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => true,
        Expr::Paren(of) => is_place(&of.expr),
        Expr::Reference(of) => is_place(&of.expr),
        Expr::Unary(of) => matches!(of.op, syn::UnOp::Deref(_)),
        _ => false,
    }
}
