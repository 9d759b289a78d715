//! Control flow: `if`, `match`, loops, jumps, and `?`.

use syn::{Expr, Pat};

use super::Lowerer;
use super::builder::Jump;
use crate::ir::body::{Exit, Terminator, Test};
use crate::ir::index::Path;
use crate::ir::value::{Pattern, SUCCESS, ValueId, ValueKind};
use crate::source::Span;

impl Lowerer<'_> {
    pub(super) fn if_(&mut self, of: &syn::ExprIf) -> ValueId {
        let span = self.place.span(of.if_token.span);
        let mut then = self.frame.merge();
        let mut otherwise = self.frame.merge();
        let mut after = self.frame.merge();
        self.open();
        self.condition(&of.cond, &mut then, &mut otherwise);
        self.frame.enter(then, span);
        let value = self.block(&of.then_branch);
        let end = self.block_end(&of.then_branch);
        self.close(end);
        self.frame.goto(&mut after, Some(value));
        self.frame.enter(otherwise, span);
        let value = match &of.else_branch {
            Some((_, branch)) => self.expression(branch),
            None => self.frame.unit(),
        };
        self.frame.goto(&mut after, Some(value));
        self.enter_with_value(after, span)
    }

    /// Continues in a meeting place; its value, or `()` when no way leads there.
    fn enter_with_value(&mut self, merge: super::builder::Merge, span: Span) -> ValueId {
        match self.frame.enter(merge, span) {
            Some(value) => value,
            None => self.frame.unit(),
        }
    }

    pub(super) fn match_(&mut self, of: &syn::ExprMatch) -> ValueId {
        let span = self.place.span(of.match_token.span);
        let value = self.expression(&of.expr);
        let mut after = self.frame.merge();
        for arm in &of.arms {
            let mut body = self.frame.merge();
            let mut next = self.frame.merge();
            self.open();
            let (pattern, guard) = match &arm.pat {
                Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
                pattern => (pattern, None),
            };
            self.test(value, pattern, &mut body, &mut next);
            let place = self.pattern_span(pattern);
            self.frame.enter(body, place);
            self.bind(pattern, value, true);
            if let Some(guard) = guard {
                let mut held = self.frame.merge();
                self.condition(guard, &mut held, &mut next);
                self.frame.enter(held, place);
            }
            let result = self.operand(&arm.body);
            let end = self.span_of(&arm.body);
            self.close(end);
            self.frame.goto(&mut after, Some(result));
            self.frame.enter(next, span);
        }
        // A `match` is exhaustive: nothing gets past its last arm.
        self.frame.end(Terminator::Unreachable);
        self.enter_with_value(after, span)
    }

    pub(super) fn try_(&mut self, of: &syn::ExprTry) -> ValueId {
        let value = self.operand(&of.expr);
        let place = self.span_of(&of.expr);
        let whole = self.place.join(place, self.place.span(of.question_token.spans[0]));
        self.propagate(value, place, whole)
    }

    /// `?`: leaves the body on failure, goes on with the payload.
    pub(super) fn propagate(&mut self, value: ValueId, place: Span, whole: Span) -> ValueId {
        let mut success = self.frame.merge();
        let mut failure = self.frame.merge();
        let test = Test::Matches { value, pattern: Pattern::success() };
        self.frame.branch(test, &mut success, &mut failure, place);
        self.frame.enter(failure, place);
        let error = self.payload(value, "Err", "0", place);
        let error = self.failed(error, place);
        self.exit(Some(error), Exit::Propagated, place);
        self.frame.enter(success, place);
        self.payload(value, SUCCESS, "0", whole)
    }

    /// `Err(error)`.
    pub(super) fn failed(&mut self, error: ValueId, span: Span) -> ValueId {
        let path = Path::single("Err");
        let fields = vec![("0".to_owned(), error)];
        self.value(ValueKind::Aggregate { path, fields, base: None }, span)
    }

    /// Leaves the body early.
    pub(super) fn exit(&mut self, value: Option<ValueId>, exit: Exit, span: Span) {
        self.frame.leave(0, span);
        self.frame.end(Terminator::Return { value, exit, span });
    }

    pub(super) fn return_(&mut self, of: &syn::ExprReturn) -> ValueId {
        let value = of.expr.as_ref().map(|value| self.operand(value));
        let start = self.place.span(of.return_token.span);
        let span = match &of.expr {
            Some(value) => self.place.join(start, self.span_of(value)),
            None => start,
        };
        self.exit(value, Exit::Return, span);
        self.frame.unit()
    }

    /// Opens a loop; gives its head and the variables it carries.
    fn open_loop(
        &mut self,
        body: &syn::Block,
        condition: Option<&Expr>,
        label: Option<&syn::Label>,
        span: Span,
    ) {
        let exit = self.frame.merge();
        let assigned = self.assigned_in(body, condition);
        self.frame.loop_depth += 1;
        let (head, carried) = self.frame.loop_head(&assigned, span);
        self.frame.jumps.push(Jump {
            label: label.map(|label| label.name.ident.to_string()),
            again: Some(head),
            exit,
            scopes: self.frame.scopes.len(),
            carried,
        });
    }

    /// Goes back to the head, closes the loop, and continues behind it. `done` is where the loop's
    /// own condition leads when it ends.
    fn close_loop(&mut self, done: Option<super::builder::Merge>, span: Span) -> ValueId {
        let Some(jump) = self.frame.jumps.pop() else { return self.frame.unit() };
        if let Some(head) = jump.again {
            self.frame.back_edge(head, &jump.carried);
        }
        self.frame.loop_depth = self.frame.loop_depth.saturating_sub(1);
        let mut exit = jump.exit;
        if let Some(done) = done {
            self.frame.enter(done, span);
            self.frame.goto(&mut exit, None);
        }
        self.enter_with_value(exit, span)
    }

    pub(super) fn loop_(&mut self, of: &syn::ExprLoop) -> ValueId {
        let span = self.place.span(of.loop_token.span);
        self.open_loop(&of.body, None, of.label.as_ref(), span);
        self.block(&of.body);
        self.close_loop(None, span)
    }

    pub(super) fn while_(&mut self, of: &syn::ExprWhile) -> ValueId {
        let span = self.place.span(of.while_token.span);
        self.open_loop(&of.body, Some(&of.cond), of.label.as_ref(), span);
        let mut body = self.frame.merge();
        let mut done = self.frame.merge();
        self.open();
        self.condition(&of.cond, &mut body, &mut done);
        self.frame.enter(body, span);
        self.block(&of.body);
        let end = self.block_end(&of.body);
        self.close(end);
        self.close_loop(Some(done), span)
    }

    pub(super) fn for_loop(&mut self, of: &syn::ExprForLoop) -> ValueId {
        let span = self.place.span(of.for_token.span);
        let iterable = self.operand(&of.expr);
        self.open_loop(&of.body, None, of.label.as_ref(), span);
        let mut body = self.frame.merge();
        let mut done = self.frame.merge();
        let place = self.span_of(&of.expr);
        self.frame.branch(Test::Opaque(vec![iterable]), &mut body, &mut done, place);
        self.frame.enter(body, span);
        self.open();
        let item = self.pattern_span(&of.pat);
        let item = self.value(ValueKind::Element { base: iterable, index: None }, item);
        self.bind(&of.pat, item, false);
        self.block(&of.body);
        let end = self.block_end(&of.body);
        self.close(end);
        self.close_loop(Some(done), span)
    }

    pub(super) fn labelled_block(&mut self, of: &syn::ExprBlock) -> ValueId {
        let Some(label) = &of.label else { return self.block(&of.block) };
        let exit = self.frame.merge();
        self.frame.jumps.push(Jump {
            label: Some(label.name.ident.to_string()),
            again: None,
            exit,
            scopes: self.frame.scopes.len(),
            carried: Vec::new(),
        });
        let value = self.block(&of.block);
        let span = self.block_end(&of.block);
        let Some(mut jump) = self.frame.jumps.pop() else { return value };
        self.frame.goto(&mut jump.exit, Some(value));
        self.enter_with_value(jump.exit, span)
    }

    /// The open loop or block that a jump is for.
    fn target(&self, label: Option<&syn::Lifetime>) -> Option<usize> {
        let label = label.map(|label| label.ident.to_string());
        self.frame.jumps.iter().rposition(|jump| match &label {
            Some(label) => jump.label.as_ref() == Some(label),
            None => jump.again.is_some(),
        })
    }

    pub(super) fn break_(&mut self, of: &syn::ExprBreak) -> ValueId {
        let value = match &of.expr {
            Some(value) => self.operand(value),
            None => self.frame.unit(),
        };
        let span = self.place.span(of.break_token.span);
        self.jump(self.target(of.label.as_ref()), Some(value), span)
    }

    pub(super) fn continue_(&mut self, of: &syn::ExprContinue) -> ValueId {
        let span = self.place.span(of.continue_token.span);
        self.jump(self.target(of.label.as_ref()), None, span)
    }

    /// Jumps out of a loop with a value, or back to its head without one.
    fn jump(&mut self, target: Option<usize>, value: Option<ValueId>, span: Span) -> ValueId {
        let depth = target.and_then(|at| self.frame.jumps.get(at)).map(|jump| jump.scopes);
        if let (Some(at), Some(depth)) = (target, depth) {
            self.frame.leave(depth, span);
            self.frame.jump(at, value);
        }
        if self.frame.live() {
            self.frame.end(Terminator::Unreachable);
        }
        self.frame.unit()
    }
}

/// Whether an expression can do more than give a value: call, wait, leave, or assign.
pub(super) fn acts(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) | Expr::Closure(_) => false,
        Expr::Field(of) => acts(&of.base),
        Expr::Paren(of) => acts(&of.expr),
        Expr::Reference(of) => acts(&of.expr),
        Expr::Unary(of) => acts(&of.expr),
        Expr::Cast(of) => acts(&of.expr),
        Expr::Binary(of) => acts(&of.left) || acts(&of.right),
        Expr::Index(of) => acts(&of.expr) || acts(&of.index),
        _ => true,
    }
}
