//! Calls of functions, methods and values, and what the standard library's own calls stand for.

use syn::punctuated::Punctuated;
use syn::{Expr, Token};

use super::super::types;
use super::Lowerer;
use super::adapters::{self, Standard};
use super::assigned::APPENDS;
use super::variables::{changes, makes_list};
use crate::ir::body::{Argument, Call, Callee, OpKind, Terminator};
use crate::ir::index::{Path, TypeRef};
use crate::ir::value::{Adapter, Conversion, Literal, Text, ValueId, ValueKind};
use crate::source::Span;

/// The places of a call.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// The name alone.
    pub name: Span,
    /// The operation.
    pub op: Span,
    /// The whole expression, receiver included.
    pub whole: Span,
}

impl Lowerer<'_> {
    /// Adds a call; its result is its own value.
    pub(super) fn emit(&mut self, call: Call, places: Places) -> ValueId {
        let result = call.result;
        let op = self.frame.op(OpKind::Call(call), places.op);
        if let Some(value) = self.frame.body.values.get_mut(result.0 as usize)
            && matches!(value.kind, ValueKind::Unknown)
        {
            value.kind = ValueKind::Result(op);
        }
        result
    }

    /// A call that is not made yet, with a fresh value for its result.
    pub(super) fn new_call(
        &mut self,
        callee: Callee,
        receiver: Option<ValueId>,
        arguments: Vec<ValueId>,
        places: Places,
    ) -> Call {
        let result = self.unknown(places.whole);
        Call {
            callee,
            receiver,
            arguments: arguments.into_iter().map(unnamed).collect(),
            type_arguments: Vec::new(),
            result,
            name_span: places.name,
        }
    }

    fn operands(&mut self, arguments: &Punctuated<Expr, Token![,]>) -> Vec<ValueId> {
        arguments.iter().map(|argument| self.operand(argument)).collect()
    }

    pub(super) fn call(&mut self, of: &syn::ExprCall) -> ValueId {
        let whole =
            self.place.join(self.span_of(&of.func), self.place.span(of.paren_token.span.close()));
        if let Expr::Path(function) = &*of.func {
            let local = match (&function.qself, function.path.get_ident()) {
                (None, Some(ident)) => self.variable(&types::name(ident)),
                _ => None,
            };
            match local {
                Some(value) => self.call_value(value, of, whole),
                None => self.call_path(function, of, whole),
            }
        } else {
            let value = self.expression(&of.func);
            self.call_value(value, of, whole)
        }
    }

    fn call_value(&mut self, value: ValueId, of: &syn::ExprCall, whole: Span) -> ValueId {
        let places = Places { name: self.span_of(&of.func), op: whole, whole };
        let arguments = self.operands(&of.args);
        let call = self.new_call(Callee::Value(value), None, arguments, places);
        self.emit(call, places)
    }

    fn call_path(&mut self, function: &syn::ExprPath, of: &syn::ExprCall, whole: Span) -> ValueId {
        let path = self.qualified(function.qself.as_ref(), &function.path);
        if let Some(value) = self.standard_function(&path, of, whole) {
            return value;
        }
        let arguments = self.operands(&of.args);
        if path.last().is_some_and(|name| name.starts_with(char::is_uppercase)) {
            let fields = arguments.into_iter().enumerate();
            let fields = fields.map(|(position, value)| (position.to_string(), value)).collect();
            return self.value(ValueKind::Aggregate { path, fields, base: None }, whole);
        }
        let places = Places { name: self.name_span(&function.path), op: whole, whole };
        let never_returns = adapters::never_returns(&path);
        let mut call = self.new_call(Callee::Path(path), None, arguments, places);
        call.type_arguments = type_arguments(&function.path);
        let drops = call.callee.name() == Some("drop");
        let result = self.emit(call, places);
        if never_returns {
            self.frame.end(Terminator::Panic(whole));
        }
        // What `drop` gives back says nothing: no statement throws it away.
        if drops { self.frame.unit() } else { result }
    }

    /// Functions of the standard library that are conversions, and lazily made values.
    fn standard_function(
        &mut self,
        path: &Path,
        of: &syn::ExprCall,
        whole: Span,
    ) -> Option<ValueId> {
        if makes_list(path, of.args.len()) {
            self.operands(&of.args);
            return Some(self.value(ValueKind::List(Vec::new()), whole));
        }
        let Some(first) = of.args.first() else {
            let empty = path.parent().last() == Some("String")
                && matches!(path.last(), Some("new" | "default"));
            let text = || ValueKind::Literal(Literal::Text(Text::verbatim("", whole)));
            return empty.then(|| self.value(text(), whole));
        };
        if of.args.len() != 1 {
            return None;
        }
        if adapters::is_lazy(path) {
            return self.made_by(first);
        }
        let Some(Standard::Converted(conversion, borrows)) = adapters::function(path) else {
            return None;
        };
        let value = if borrows { self.expression(first) } else { self.operand(first) };
        let converted = self.converted(value, conversion, whole);
        if borrows {
            self.frame.borrows.insert(converted);
        }
        Some(converted)
    }

    /// The value that a closure without parameters makes, lowered where it stands; `None` when it
    /// is no such closure, or leaves early.
    fn made_by(&mut self, expr: &Expr) -> Option<ValueId> {
        let Expr::Closure(closure) = expr else { return None };
        if !closure.inputs.is_empty() || closure.asyncness.is_some() || leaves(&closure.body) {
            return None;
        }
        Some(self.operand(&closure.body))
    }

    pub(super) fn method_call(&mut self, of: &syn::ExprMethodCall) -> ValueId {
        let name = types::name(&of.method);
        if let Some(value) = self.appended(&name, of).or_else(|| self.pushed(&name, of)) {
            return value;
        }
        let receiver = self.expression(&of.receiver);
        let start = self.place.span(of.method.span());
        let op = self.place.join(start, self.place.span(of.paren_token.span.close()));
        let whole = self.place.join(self.span_of(&of.receiver), op);
        let places = Places { name: start, op, whole };
        if name == "get_or_init"
            && let Some(value) = of.args.first().and_then(|first| self.made_by(first))
        {
            return value;
        }
        if let Some(value) = self.joined(&name, receiver, of, whole) {
            return value;
        }
        match adapters::method(&name, of.args.len()) {
            Some(standard) => self.standard_method(standard, receiver, of, places),
            None => {
                let call = self.written(receiver, of, places);
                let argument = call.arguments.first().map(|argument| argument.value);
                let value = self.emit(call, places);
                if changes(&name, of.args.len()) {
                    let after = self.after_change(&name, argument, places.whole);
                    self.changed(&of.receiver, after, places.whole);
                    self.lend(receiver);
                }
                value
            }
        }
    }

    /// A method call as it is written, its arguments evaluated.
    fn written(&mut self, receiver: ValueId, of: &syn::ExprMethodCall, places: Places) -> Call {
        let arguments = self.operands(&of.args);
        let callee = Callee::Method(types::name(&of.method));
        let mut call = self.new_call(callee, Some(receiver), arguments, places);
        if let Some(turbofish) = &of.turbofish {
            call.type_arguments = types::arguments(turbofish);
        }
        call
    }

    /// A call on `receiver` that is an adapter of `value`, by its first argument.
    fn running(
        &mut self,
        receiver: ValueId,
        value: ValueId,
        adapter: Adapter,
        of: &syn::ExprMethodCall,
        places: Places,
    ) -> ValueId {
        let call = self.written(receiver, of, places);
        let argument = call.arguments.first().map(|argument| argument.value);
        let result = call.result;
        let op = self.frame.op(OpKind::Call(call), places.op);
        if let Some(slot) = self.frame.body.values.get_mut(result.0 as usize) {
            slot.kind = ValueKind::Adapted { value, adapter, argument, call: Some(op) };
        }
        result
    }

    fn standard_method(
        &mut self,
        standard: Standard,
        value: ValueId,
        of: &syn::ExprMethodCall,
        places: Places,
    ) -> ValueId {
        match standard {
            Standard::Converted(conversion, borrows) => {
                self.operands(&of.args);
                let converted = self.converted(value, conversion, places.whole);
                if borrows {
                    self.frame.borrows.insert(converted);
                }
                converted
            }
            Standard::Is(variant) => self.is_variant(value, variant, places.whole),
            Standard::Adapted(adapter) => {
                let argument = self.operands(&of.args).first().copied();
                let kind = ValueKind::Adapted { value, adapter, argument, call: None };
                self.value(kind, places.whole)
            }
            Standard::Runs(adapter) => self.running(value, value, adapter, of, places),
            Standard::MapsOr => {
                let mapped = self.value(ValueKind::Unknown, places.whole);
                let result = self.running(value, mapped, Adapter::UnwrapOr, of, places);
                let ValueKind::Adapted { call: Some(op), .. } = *self.frame.body.kind(result)
                else {
                    return result;
                };
                let closure = self.frame.body.call(op).and_then(|call| call.arguments.last());
                let argument = closure.map(|argument| argument.value);
                if let Some(slot) = self.frame.body.values.get_mut(mapped.0 as usize) {
                    let adapter = Adapter::Map;
                    slot.kind = ValueKind::Adapted { value, adapter, argument, call: None };
                }
                result
            }
        }
    }

    /// `text.push_str(more)` on a local text: the variable is bound to the longer text.
    fn appended(&mut self, name: &str, of: &syn::ExprMethodCall) -> Option<ValueId> {
        if !APPENDS.contains(&name) || of.args.len() != 1 {
            return None;
        }
        let Expr::Path(path) = &*of.receiver else { return None };
        let variable = types::name(path.path.get_ident()?);
        let slot = self.frame.slot(&variable)?;
        let before = self.frame.env.get(slot)?.value;
        if !self.is_text(before) {
            return None;
        }
        let more = self.expression(of.args.first()?);
        let span = self
            .place
            .join(self.span_of(&of.receiver), self.place.span(of.paren_token.span.close()));
        let value = self.concatenated(&[before, more], span);
        self.rebind(&variable, value);
        Some(self.frame.unit())
    }

    /// `[a, b].join(":")` and `[a, b].concat()` of texts.
    fn joined(
        &mut self,
        name: &str,
        receiver: ValueId,
        of: &syn::ExprMethodCall,
        whole: Span,
    ) -> Option<ValueId> {
        let ValueKind::List(elements) =
            self.frame.body.kind(self.frame.body.peel(receiver)).clone()
        else {
            return None;
        };
        let separator = match (name, of.args.len()) {
            ("concat", 0) => None,
            ("join", 1) => Some(self.expression(of.args.first()?)),
            _ => return None,
        };
        if separator.is_some_and(|separator| !self.is_text(separator)) {
            return None;
        }
        let mut parts = Vec::new();
        for element in elements {
            if let (Some(separator), false) = (separator, parts.is_empty()) {
                parts.push(separator);
            }
            parts.push(element);
        }
        Some(self.concatenated(&parts, whole))
    }

    /// The display form of a value, when it is not text already.
    pub(super) fn displayed(&mut self, value: ValueId, span: Span) -> ValueId {
        if self.is_text(value) { value } else { self.converted(value, Conversion::Display, span) }
    }
}

/// An argument without a keyword.
pub(super) fn unnamed(value: ValueId) -> Argument {
    Argument { name: None, value }
}

/// Type arguments written at the last name, or at the type before it (`Hmac::<Sha256>::new`).
pub(super) fn type_arguments(path: &syn::Path) -> Vec<TypeRef> {
    let written = path.segments.iter().rev().take(2).find_map(|segment| match &segment.arguments {
        syn::PathArguments::AngleBracketed(list) => Some(types::arguments(list)),
        _ => None,
    });
    written.unwrap_or_default()
}

/// Whether `return` or `?` stands in an expression, closures inside left out.
fn leaves(expr: &Expr) -> bool {
    use syn::visit::{self, Visit};
    struct Leaves(bool);
    impl<'ast> Visit<'ast> for Leaves {
        fn visit_expr_return(&mut self, _: &'ast syn::ExprReturn) {
            self.0 = true;
        }
        fn visit_expr_try(&mut self, _: &'ast syn::ExprTry) {
            self.0 = true;
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
        fn visit_item(&mut self, _: &'ast syn::Item) {}
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if !self.0 {
                visit::visit_expr(self, expr);
            }
        }
    }
    let mut found = Leaves(false);
    found.visit_expr(expr);
    found.0
}
