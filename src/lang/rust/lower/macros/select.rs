//! Several futures at once: `select!`, `join!`, `try_join!`; and `matches!`.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, Pat, Token};

use super::super::Lowerer;
use super::super::builder::Merge;
use super::super::control::acts;
use super::Invocation;
use crate::ir::body::Terminator;
use crate::ir::index::Path;
use crate::ir::value::{Operator, Pattern, SUCCESS, ValueId, ValueKind};
use crate::source::Span;

/// An arm of `select!`.
struct Arm {
    /// Pattern, future and condition; `None` for `else`, `complete` and `default`.
    branch: Option<(Pat, Expr, Option<Expr>)>,
    handler: Expr,
}

struct Arms(Vec<Arm>);

impl Parse for Arms {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Ident) && input.peek2(Token![;]) {
            input.parse::<Ident>()?;
            input.parse::<Token![;]>()?;
        }
        let mut arms = Vec::new();
        while !input.is_empty() {
            arms.push(arm(input)?);
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Self(arms))
    }
}

fn arm(input: ParseStream<'_>) -> syn::Result<Arm> {
    let branch = if input.peek(Ident::peek_any) && input.peek2(Token![=>]) {
        Ident::parse_any(input)?;
        None
    } else {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=]>()?;
        let future = input.parse()?;
        let mut condition = None;
        if input.peek(Token![,]) && input.peek2(Token![if]) {
            input.parse::<Token![,]>()?;
            input.parse::<Token![if]>()?;
            condition = Some(input.parse()?);
        }
        Some((pattern, future, condition))
    };
    input.parse::<Token![=>]>()?;
    let handler = Expr::parse_with_earlier_boundary_rule(input)?;
    Ok(Arm { branch, handler })
}

/// The parts of `matches!`.
struct Matched {
    value: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

fn matched(tokens: &TokenStream) -> syn::Result<Matched> {
    let parser = |input: ParseStream<'_>| {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let mut guard = None;
        if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            guard = Some(input.parse()?);
        }
        input.parse::<Option<Token![,]>>()?;
        Ok(Matched { value, pattern, guard })
    };
    parser.parse2(tokens.clone())
}

impl Lowerer<'_> {
    pub(super) fn select(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let Arms(arms) = syn::parse2(of.tokens.clone()).ok()?;
        let span = of.places.name;
        let mut futures = Vec::new();
        for arm in &arms {
            futures.push(arm.branch.as_ref().map(|(_, future, condition)| {
                let value = self.expression(future);
                if let Some(condition) = condition {
                    self.expression(condition);
                }
                value
            }));
        }
        let waits = self.waits_on(&arms);
        let has_rest = arms.iter().any(|arm| arm.branch.is_none());
        let mut after = self.frame.merge();
        let (head, _) = self.frame.loop_head(&[], span);
        let mut starts: Vec<Merge> = arms.iter().map(|_| self.frame.merge()).collect();
        if waits && !has_rest {
            starts.push(self.frame.merge());
        }
        self.frame.choose(&mut starts);
        let mut starts = starts.into_iter();
        for ((arm, future), start) in arms.iter().zip(futures).zip(starts.by_ref()) {
            self.frame.enter(start, span);
            match (&arm.branch, future) {
                (Some((pattern, future_expr, _)), Some(future)) => {
                    let whole = self.span_of(future_expr);
                    let value = self.wait(future, whole, whole);
                    let mut missed = self.frame.merge();
                    self.arm(pattern, value, &arm.handler, &mut missed, &mut after);
                    // Its branch is disabled, and the others are waited for.
                    self.frame.enter(missed, span);
                    self.frame.back_edge(head, &[]);
                }
                _ => {
                    let value = self.operand(&arm.handler);
                    self.frame.goto(&mut after, Some(value));
                }
            }
        }
        if let Some(none_left) = starts.next() {
            // Without `else`, no branch left to wait for is a panic.
            self.frame.enter(none_left, span);
            self.frame.end(Terminator::Panic(span));
        }
        Some(match self.frame.enter(after, span) {
            Some(value) => value,
            None => self.frame.unit(),
        })
    }

    /// Whether a branch may be disabled: by its condition, or because its pattern does not match.
    fn waits_on(&mut self, arms: &[Arm]) -> bool {
        arms.iter().any(|arm| match &arm.branch {
            Some((pattern, _, condition)) => condition.is_some() || !self.pattern(pattern).always(),
            None => false,
        })
    }

    fn arm(
        &mut self,
        pattern: &Pat,
        value: ValueId,
        handler: &Expr,
        missed: &mut Merge,
        after: &mut Merge,
    ) {
        let span = self.pattern_span(pattern);
        let mut matched = self.frame.merge();
        self.open();
        self.test(value, pattern, &mut matched, missed);
        self.frame.enter(matched, span);
        self.bind(pattern, value, true);
        let result = self.operand(handler);
        let end = self.span_of(handler);
        self.close(end);
        self.frame.goto(after, Some(result));
    }

    /// `join!` and `try_join!`: all futures are made, then each is waited for.
    pub(super) fn join_macro(&mut self, of: &Invocation<'_>, tries: bool) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let mut futures = Vec::new();
        for argument in &arguments {
            futures.push((self.operand(&argument.expr), self.span_of(&argument.expr)));
        }
        let mut values = Vec::new();
        for (future, span) in futures {
            let value = self.wait(future, span, span);
            values.push(if tries { self.payload(value, SUCCESS, "0", span) } else { value });
        }
        let whole = of.places.whole;
        let list = self.value(ValueKind::List(values), whole);
        if !tries {
            return Some(list);
        }
        let fields = vec![("0".to_owned(), list)];
        Some(
            self.value(
                ValueKind::Aggregate { path: Path::single("Ok"), fields, base: None },
                whole,
            ),
        )
    }

    /// `matches!` as a condition.
    pub(in super::super) fn matches_condition(
        &mut self,
        of: &syn::Macro,
        yes: &mut Merge,
        no: &mut Merge,
    ) {
        let Ok(parts) = matched(&of.tokens) else {
            let value = self.macro_call(of, false);
            let span = self.path_span(&of.path);
            return self.decide_value(value, yes, no, span);
        };
        let value = self.expression(&parts.value);
        let span = self.pattern_span(&parts.pattern);
        let mut holds = self.frame.merge();
        self.test(value, &parts.pattern, &mut holds, no);
        self.frame.enter(holds, span);
        let Some(guard) = &parts.guard else { return self.frame.goto(yes, None) };
        self.open();
        self.bind(&parts.pattern, value, true);
        self.condition(guard, yes, no);
        self.frame.scopes.pop();
    }

    /// `matches!` as a value.
    pub(super) fn matches_value(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let parts = matched(of.tokens).ok()?;
        let span = of.places.whole;
        let value = self.expression(&parts.value);
        let pattern = self.pattern(&parts.pattern);
        let matches = self.value(ValueKind::Matches { value, pattern }, span);
        let Some(guard) = &parts.guard else { return Some(matches) };
        let right = self.guarded(matches, &parts.pattern, value, guard, span);
        let kind = ValueKind::Binary { operator: Operator::And, left: matches, right };
        Some(self.value(kind, span))
    }

    /// The value of a guard, evaluated only where the pattern matched.
    fn guarded(
        &mut self,
        matches: ValueId,
        pattern: &Pat,
        value: ValueId,
        guard: &Expr,
        span: Span,
    ) -> ValueId {
        let mut held = self.frame.merge();
        let mut after = self.frame.merge();
        if acts(guard) && !matches!(self.pattern(pattern), Pattern::Any) {
            self.decide_value(matches, &mut held, &mut after, span);
        } else {
            self.frame.goto(&mut held, None);
        }
        self.frame.enter(held, span);
        self.open();
        self.bind(pattern, value, true);
        let result = self.expression(guard);
        self.frame.scopes.pop();
        self.frame.goto(&mut after, None);
        self.frame.enter(after, span);
        result
    }
}
