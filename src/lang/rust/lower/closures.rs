//! Closures, async blocks, and the outer variables they see.

use syn::visit::Visit;
use syn::{Expr, ReturnType};

use super::super::types;
use super::Lowerer;
use super::builder::Frame;
use crate::ir::body::BodyKind;
use crate::ir::index::TypeRef;
use crate::ir::value::{ValueId, ValueKind};

impl Lowerer<'_> {
    pub(super) fn async_block(&mut self, of: &syn::ExprAsync) -> ValueId {
        let mark = self.place.span(of.async_token.span);
        let span = self.place.join(mark, self.block_end(&of.block));
        let index = self.nested(BodyKind::Async, span, of.capture.is_some(), |lowerer| {
            lowerer.share_assigned(|names| names.visit_block(&of.block));
            let value = lowerer.block(&of.block);
            let end = lowerer.block_end(&of.block);
            lowerer.tail(value, end);
        });
        self.value(ValueKind::Async(index), span)
    }

    pub(super) fn closure(&mut self, of: &syn::ExprClosure) -> ValueId {
        let span =
            self.place.join(self.place.span(of.inputs_begin.spans[0]), self.span_of(&of.body));
        let returns = match types::returned(&of.output) {
            _ if matches!(of.output, ReturnType::Default) => None,
            returns => Some(returns),
        };
        let index = self.nested(BodyKind::Closure, span, of.capture.is_some(), |lowerer| {
            lowerer.frame.body.returns.clone_from(&returns);
            lowerer.share_assigned(|names| names.visit_expr_closure(of));
            for (number, input) in of.inputs.iter().enumerate() {
                lowerer.parameter(u32::try_from(number).unwrap_or(u32::MAX), input, None);
            }
            let value = match of.asyncness {
                Some(_) => lowerer.async_body(&of.body, returns),
                None => lowerer.operand(&of.body),
            };
            let end = lowerer.span_of(&of.body);
            lowerer.tail(value, end);
        });
        self.value(ValueKind::Closure(index), span)
    }

    /// The body of an async closure: an async block that takes the parameters along.
    fn async_body(&mut self, body: &Expr, returns: Option<TypeRef>) -> ValueId {
        let span = self.span_of(body);
        let index = self.nested(BodyKind::Async, span, true, |lowerer| {
            lowerer.frame.body.returns = returns;
            lowerer.share_assigned(|names| names.visit_expr(body));
            let value = lowerer.operand(body);
            lowerer.tail(value, span);
        });
        self.value(ValueKind::Async(index), span)
    }

    /// What a name stands for here; `None` when it is no variable.
    pub(super) fn variable(&mut self, name: &str) -> Option<ValueId> {
        if let Some(slot) = self.frame.slot(name) {
            return self.frame.env.get(slot).map(|binding| binding.value);
        }
        if let Some(value) = self.frame.captures.get(name) {
            return Some(*value);
        }
        self.capture(name)
    }

    /// Looks a name up in the bodies around, and makes it known in every body in between.
    fn capture(&mut self, name: &str) -> Option<ValueId> {
        let (level, seen) = self
            .outer
            .iter()
            .enumerate()
            .rev()
            .find_map(|(level, frame)| Some((level, frame.seen(name)?)))?;
        let mut value = seen.value;
        let mut owned = seen.owned;
        let frames = self.outer.iter_mut().skip(level + 1).chain(std::iter::once(&mut self.frame));
        for frame in frames {
            owned = owned && frame.moves;
            value = frame.captured(name, value, &seen, owned);
        }
        Some(value)
    }

    /// A variable named alone as an operand is moved out.
    pub(super) fn move_out(&mut self, expr: &Expr) {
        let Expr::Path(path) = expr else { return };
        let Some(ident) = path.path.get_ident() else { return };
        self.frame.take(&types::name(ident));
    }

    /// A body that takes by value has taken what it names out of the current one.
    pub(super) fn moved_into(&mut self, inner: &Frame) {
        if inner.moves {
            for name in inner.captures.keys() {
                self.frame.take(name);
            }
        }
    }
}
