//! Conditions: `&&`, `||`, `!`, `let` and the standard tests as branches.

use syn::{BinOp, Expr, UnOp};

use super::Lowerer;
use super::builder::Merge;
use crate::ir::body::Test;
use crate::ir::index::Path;
use crate::ir::value::{Literal, Pattern, ValueId, ValueKind};
use crate::source::Span;

impl Lowerer<'_> {
    /// Lowers a condition: the current point ends in branches to the two places. Variables that
    /// `let` binds on the way are declared in the open scope.
    pub(super) fn condition(&mut self, expr: &Expr, yes: &mut Merge, no: &mut Merge) {
        if self.depth >= super::MAX_DEPTH {
            let value = self.expression(expr);
            let span = self.span_of(expr);
            return self.frame.branch(Test::True(value), yes, no, span);
        }
        self.depth += 1;
        self.decide(expr, yes, no);
        self.depth -= 1;
    }

    fn decide(&mut self, expr: &Expr, yes: &mut Merge, no: &mut Merge) {
        match expr {
            Expr::Paren(of) => self.condition(&of.expr, yes, no),
            Expr::Group(of) => self.condition(&of.expr, yes, no),
            Expr::Unary(of) if matches!(of.op, UnOp::Not(_)) => self.condition(&of.expr, no, yes),
            Expr::Binary(of) if matches!(of.op, BinOp::And(_)) => {
                let mut both = self.frame.merge();
                self.condition(&of.left, &mut both, no);
                let span = self.span_of(&of.left);
                self.frame.enter(both, span);
                self.condition(&of.right, yes, no);
            }
            Expr::Binary(of) if matches!(of.op, BinOp::Or(_)) => {
                let mut neither = self.frame.merge();
                self.condition(&of.left, yes, &mut neither);
                let span = self.span_of(&of.left);
                self.frame.enter(neither, span);
                self.condition(&of.right, yes, no);
            }
            Expr::Let(of) => {
                let value = self.expression(&of.expr);
                let mut matched = self.frame.merge();
                self.test(value, &of.pat, &mut matched, no);
                let span = self.pattern_span(&of.pat);
                self.frame.enter(matched, span);
                self.bind(&of.pat, value, true);
                self.frame.goto(yes, None);
            }
            Expr::Lit(of) if matches!(&of.lit, syn::Lit::Bool(_)) => {
                let holds = matches!(&of.lit, syn::Lit::Bool(literal) if literal.value);
                self.frame.goto(if holds { yes } else { no }, None);
            }
            Expr::Macro(of) if of.mac.path.is_ident("matches") => {
                self.matches_condition(&of.mac, yes, no);
            }
            other => {
                let value = self.expression(other);
                let span = self.span_of(other);
                self.decide_value(value, yes, no, span);
            }
        }
    }

    /// Branches on a boolean value, in the terms of what it tests if that is known.
    pub(super) fn decide_value(
        &mut self,
        value: ValueId,
        yes: &mut Merge,
        no: &mut Merge,
        span: Span,
    ) {
        match self.frame.body.kind(value).clone() {
            ValueKind::Not(inner) => self.frame.branch(Test::True(inner), no, yes, span),
            ValueKind::Matches { value, pattern } => {
                self.frame.branch(Test::Matches { value, pattern }, yes, no, span);
            }
            _ => self.frame.branch(Test::True(value), yes, no, span),
        }
    }

    /// A condition as a value where control flow has to be followed (`let` outside of `if`).
    pub(super) fn boolean(&mut self, expr: &Expr) -> ValueId {
        let span = self.span_of(expr);
        let mut yes = self.frame.merge();
        let mut no = self.frame.merge();
        self.condition(expr, &mut yes, &mut no);
        self.truth(yes, no, span)
    }

    /// `true` where one place leads, `false` where the other does.
    pub(super) fn truth(&mut self, yes: Merge, no: Merge, span: Span) -> ValueId {
        let mut after = self.frame.merge();
        for (merge, truth) in [(yes, true), (no, false)] {
            self.frame.enter(merge, span);
            let value = self.value(ValueKind::Literal(Literal::Boolean(truth)), span);
            self.frame.goto(&mut after, Some(value));
        }
        match self.frame.enter(after, span) {
            Some(value) => value,
            None => self.unknown(span),
        }
    }

    /// Whether a value is of a variant, as a boolean value.
    pub(super) fn is_variant(&mut self, value: ValueId, variant: &str, span: Span) -> ValueId {
        let pattern = Pattern::Variant { path: Path::single(variant), fields: Vec::new() };
        self.value(ValueKind::Matches { value, pattern }, span)
    }
}
