//! Expressions: which kind goes where, and the small ones.

use syn::{Expr, Member};

use super::super::types;
use super::{Lowerer, MAX_DEPTH};
use crate::ir::body::OpKind;
use crate::ir::index::Path;
use crate::ir::value::{Conversion, Literal, ValueId, ValueKind};
use crate::source::Span;

impl Lowerer<'_> {
    /// Lowers an expression and gives its value; `()` for what has none.
    pub(super) fn expression(&mut self, expr: &Expr) -> ValueId {
        if self.depth >= MAX_DEPTH {
            let span = self.span_of(expr);
            self.limit(span, "this expression nests too deep; what is inside was not linted");
            return self.unknown(span);
        }
        self.depth += 1;
        let value = self.dispatch(expr);
        self.depth -= 1;
        value
    }

    /// Lowers an expression whose value goes on to somewhere else: a variable named alone is moved.
    pub(super) fn operand(&mut self, expr: &Expr) -> ValueId {
        let value = self.expression(expr);
        self.move_out(expr);
        value
    }

    fn dispatch(&mut self, expr: &Expr) -> ValueId {
        match expr {
            Expr::Array(of) => self.list(of.elems.iter(), expr),
            Expr::Assign(of) => self.assign(of),
            Expr::Async(of) => self.async_block(of),
            Expr::Await(of) => self.await_(of),
            Expr::Binary(of) => self.binary(of),
            Expr::Block(of) => self.labelled_block(of),
            Expr::Break(of) => self.break_(of),
            Expr::Call(of) => self.call(of),
            Expr::Cast(of) => self.cast(of),
            Expr::Closure(of) => self.closure(of),
            Expr::Const(of) => self.block(&of.block),
            Expr::Continue(of) => self.continue_(of),
            Expr::Field(of) => self.field_access(of),
            Expr::ForLoop(of) => self.for_loop(of),
            Expr::Group(of) => self.expression(&of.expr),
            Expr::If(of) => self.if_(of),
            Expr::Index(of) => self.index(of),
            Expr::Let(_) => self.boolean(expr),
            Expr::Lit(of) => self.literal(&of.lit),
            Expr::Loop(of) => self.loop_(of),
            Expr::Macro(of) => self.macro_call(&of.mac, false),
            Expr::Match(of) => self.match_(of),
            Expr::MethodCall(of) => self.method_call(of),
            Expr::Paren(of) => self.expression(&of.expr),
            _ => self.dispatch_rest(expr),
        }
    }

    fn dispatch_rest(&mut self, expr: &Expr) -> ValueId {
        match expr {
            Expr::Path(of) => self.path(of),
            Expr::Range(of) => self.range(of),
            Expr::RawAddr(of) => self.expression(&of.expr),
            Expr::Reference(of) => self.reference(of),
            Expr::Repeat(of) => self.list(std::iter::once(&*of.expr), expr),
            Expr::Return(of) => self.return_(of),
            Expr::Struct(of) => self.struct_literal(of),
            Expr::Try(of) => self.try_(of),
            Expr::TryBlock(of) => self.block(&of.block),
            Expr::Tuple(of) if of.elems.is_empty() => self.frame.unit(),
            Expr::Tuple(of) => self.list(of.elems.iter(), expr),
            Expr::Unary(of) => self.unary(of),
            Expr::Unsafe(of) => self.block(&of.block),
            Expr::While(of) => self.while_(of),
            Expr::Yield(of) => {
                if let Some(value) = &of.expr {
                    self.operand(value);
                }
                self.frame.unit()
            }
            other => {
                let span = self.span_of(other);
                self.unknown(span)
            }
        }
    }

    /// A tuple, array or vector.
    pub(super) fn list<'e>(
        &mut self,
        elements: impl Iterator<Item = &'e Expr>,
        whole: &Expr,
    ) -> ValueId {
        let values = elements.map(|element| self.operand(element)).collect();
        let span = self.span_of(whole);
        self.value(ValueKind::List(values), span)
    }

    fn path(&mut self, of: &syn::ExprPath) -> ValueId {
        if of.qself.is_none()
            && let Some(ident) = of.path.get_ident()
            && let Some(value) = self.variable(&types::name(ident))
        {
            return value;
        }
        let span = self.path_span(&of.path);
        let path = self.qualified(of.qself.as_ref(), &of.path);
        let kind = match path.last() {
            Some("None") => ValueKind::Literal(Literal::Nothing),
            _ => ValueKind::Path(path),
        };
        self.value(kind, span)
    }

    /// A path with its `<T as Trait>::` part: the type is named when it has a name.
    pub(super) fn qualified(&self, qself: Option<&syn::QSelf>, path: &syn::Path) -> Path {
        let names = types::path(path);
        let Some(qself) = qself else { return names };
        let crate::ir::index::TypeRef::Named { path: owner, .. } = types::type_ref(&qself.ty)
        else {
            return names;
        };
        let rest = names.0.into_iter().skip(qself.position);
        Path(owner.0.into_iter().chain(rest).collect())
    }

    fn field_access(&mut self, of: &syn::ExprField) -> ValueId {
        let base = self.expression(&of.base);
        let (name, mark) = match &of.member {
            Member::Named(ident) => (types::name(ident), ident.span()),
            Member::Unnamed(index) => (index.index.to_string(), index.span),
        };
        let span = self.place.join(self.span_of(&of.base), self.place.span(mark));
        self.field(base, &name, span)
    }

    /// A field of a value; an element of a tuple that is known.
    pub(super) fn field(&mut self, base: ValueId, name: &str, span: Span) -> ValueId {
        if let ValueKind::List(elements) = self.frame.body.kind(base)
            && let Some(element) = name.parse::<usize>().ok().and_then(|at| elements.get(at))
        {
            return *element;
        }
        self.value(ValueKind::Field { base, name: name.to_owned() }, span)
    }

    fn index(&mut self, of: &syn::ExprIndex) -> ValueId {
        let base = self.expression(&of.expr);
        let span =
            self.place.join(self.span_of(&of.expr), self.place.span(of.bracket_token.span.close()));
        if let Expr::Range(range) = &*of.index {
            self.range(range);
            return self.converted(base, Conversion::Shaped, span);
        }
        let index = self.expression(&of.index);
        self.value(ValueKind::Element { base, index: Some(index) }, span)
    }

    fn range(&mut self, of: &syn::ExprRange) -> ValueId {
        let mut fields = Vec::new();
        for (name, bound) in [("start", &of.start), ("end", &of.end)] {
            if let Some(bound) = bound {
                fields.push((name.to_owned(), self.expression(bound)));
            }
        }
        let path = Path::single(match of.limits {
            syn::RangeLimits::HalfOpen(_) => "Range",
            syn::RangeLimits::Closed(_) => "RangeInclusive",
        });
        let span = self.place.node(&of.limits);
        self.value(ValueKind::Aggregate { path, fields, base: None }, span)
    }

    fn reference(&mut self, of: &syn::ExprReference) -> ValueId {
        let value = self.expression(&of.expr);
        let span = self.place.join(self.place.span(of.and_token.spans[0]), self.span_of(&of.expr));
        if of.mutability.is_some() {
            self.changed(&of.expr, None, span);
            self.lend(value);
        }
        self.borrowed(value, span)
    }

    /// The same value, only borrowed.
    pub(super) fn borrowed(&mut self, value: ValueId, span: Span) -> ValueId {
        let borrowed = self.converted(value, Conversion::Same, span);
        self.frame.borrows.insert(borrowed);
        borrowed
    }

    /// A value in another form.
    pub(super) fn converted(
        &mut self,
        value: ValueId,
        conversion: Conversion,
        span: Span,
    ) -> ValueId {
        self.value(ValueKind::Converted { value, conversion }, span)
    }

    fn cast(&mut self, of: &syn::ExprCast) -> ValueId {
        let value = self.expression(&of.expr);
        let span = self.place.join(self.span_of(&of.expr), self.place.node(&of.ty));
        let cast = self.converted(value, Conversion::Number, span);
        self.annotate(cast, &of.ty);
        cast
    }

    fn struct_literal(&mut self, of: &syn::ExprStruct) -> ValueId {
        let mut fields = Vec::new();
        for field in &of.fields {
            let name = match &field.member {
                Member::Named(ident) => types::name(ident),
                Member::Unnamed(index) => index.index.to_string(),
            };
            fields.push((name, self.operand(&field.expr)));
        }
        let base = of.rest.as_ref().map(|rest| self.operand(rest));
        let path = self.qualified(of.qself.as_ref(), &of.path);
        let span =
            self.place.join(self.path_span(&of.path), self.place.span(of.brace_token.span.close()));
        self.value(ValueKind::Aggregate { path, fields, base }, span)
    }

    fn await_(&mut self, of: &syn::ExprAwait) -> ValueId {
        let value = self.operand(&of.base);
        let span = self.place.span(of.await_token.span);
        let whole = self.place.join(self.span_of(&of.base), span);
        self.wait(value, whole, span)
    }

    /// Waits for a future; gives what comes out.
    pub(super) fn wait(&mut self, value: ValueId, whole: Span, span: Span) -> ValueId {
        let result = self.value(ValueKind::Awaited(value), whole);
        self.frame.op(OpKind::Await { value, result }, span);
        result
    }
}
