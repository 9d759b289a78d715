//! Macros: those of the standard library and the few whose meaning is control flow, by name; those
//! of the program by what they stand for; any other as a call with whatever expressions its tokens
//! hold, so that no call inside is lost.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::{Block, Expr};

use super::super::types;
use super::calls::{Places, unnamed};
use super::{Lowerer, MAX_MACRO_DEPTH};
use crate::ir::body::{Argument, BodyKind, Call, Callee, Exit, Terminator};
use crate::ir::index::Path;
use crate::ir::value::{Conversion, Operator, ValueId, ValueKind};
use crate::source::Span;
use arguments::{MacroArgument, MacroArguments};

mod arguments;
mod includes;
mod json;
mod messages;
mod select;

/// A macro call and its places.
pub(super) struct Invocation<'m> {
    pub(super) path: Path,
    pub(super) tokens: &'m TokenStream,
    pub(super) places: Places,
    /// Whether it stands where a statement may.
    pub(super) statement: bool,
}

impl Invocation<'_> {
    fn arguments(&self) -> syn::Result<Vec<MacroArgument>> {
        Ok(syn::parse2::<MacroArguments>(self.tokens.clone())?.0)
    }
}

impl Lowerer<'_> {
    /// A macro call as an expression or as a statement.
    pub(super) fn macro_call(&mut self, of: &syn::Macro, statement: bool) -> ValueId {
        let name = self.name_span(&of.path);
        let whole =
            self.place.join(self.path_span(&of.path), self.place.span(of.delimiter.span().close()));
        if self.macro_depth >= MAX_MACRO_DEPTH {
            self.macro_limit(whole, "macros nest too deep here; what is inside was not linted");
            return self.unknown(whole);
        }
        self.macro_depth += 1;
        let places = Places { name, op: whole, whole };
        let path = types::path(&of.path);
        let value = self.invoke(&Invocation { path, tokens: &of.tokens, places, statement });
        self.macro_depth -= 1;
        value
    }

    fn invoke(&mut self, of: &Invocation<'_>) -> ValueId {
        let known = match of.path.last().unwrap_or_default() {
            "format" | "format_args" => self.format_macro(of),
            "concat" => self.concat(of),
            "include_str" | "include_bytes" => Some(self.include(of)),
            "vec" | "smallvec" => self.vector(of),
            "write" | "writeln" => self.write_macro(of),
            "panic" | "unreachable" | "todo" | "unimplemented" => self.panic(of),
            "assert" | "debug_assert" => self.assertion(of),
            "assert_eq" | "debug_assert_eq" => self.comparison(of, Operator::Equal),
            "assert_ne" | "debug_assert_ne" => self.comparison(of, Operator::NotEqual),
            "matches" => self.matches_value(of),
            "bail" => self.bail(of),
            "ensure" => self.ensure(of),
            "anyhow" | "format_err" | "eyre" => self.error_macro(of),
            "select" | "select_biased" => self.select(of),
            "join" => self.join_macro(of, false),
            "try_join" => self.join_macro(of, true),
            "json" => Some(self.json(of)),
            "dbg" | "pin" | "pin_mut" => self.same(of),
            "stream" | "try_stream" => self.stream(of),
            // Tokens that are data here; they run elsewhere, or nowhere.
            "stringify" | "quote" | "quote_spanned" | "parse_quote" => {
                Some(self.macro_operation(of, Vec::new()))
            }
            name if messages::logs(name) => self.log(of),
            name if is_query(name) => self.query(of),
            _ => None,
        };
        match known.or_else(|| self.expanded(of)) {
            Some(value) => value,
            None => self.other_macro(of),
        }
    }

    /// A call of a macro.
    fn macro_operation(&mut self, of: &Invocation<'_>, arguments: Vec<Argument>) -> ValueId {
        let callee = Callee::Macro(of.path.clone());
        let call = self.new_call(callee, None, Vec::new(), of.places);
        self.emit(Call { arguments, ..call }, of.places)
    }

    /// The values of arguments, with their names.
    fn evaluated(&mut self, arguments: &[MacroArgument]) -> Vec<Argument> {
        arguments
            .iter()
            .map(|argument| Argument {
                name: argument.name.clone(),
                value: self.expression(&argument.expr),
            })
            .collect()
    }

    /// A macro that nothing is known of.
    fn other_macro(&mut self, of: &Invocation<'_>) -> ValueId {
        if let Ok(arguments) = of.arguments() {
            let arguments = self.evaluated(&arguments);
            return self.macro_operation(of, arguments);
        }
        if let Ok(statements) = Block::parse_within.parse2(of.tokens.clone()) {
            self.open();
            let value = self.statements(&statements);
            self.close(of.places.whole);
            return self.macro_operation(of, vec![unnamed(value)]);
        }
        let mut values = Vec::new();
        self.scraps(of.tokens.clone(), 0, &mut values);
        self.macro_operation(of, values.into_iter().map(unnamed).collect())
    }

    /// Whatever expressions can be found in tokens that are no argument list.
    fn scraps(&mut self, tokens: TokenStream, depth: u32, values: &mut Vec<ValueId>) {
        if depth >= MAX_MACRO_DEPTH {
            return;
        }
        for chunk in arguments::chunks(tokens) {
            if let Ok(expr) = syn::parse2::<Expr>(chunk.clone()) {
                values.push(self.expression(&expr));
                continue;
            }
            if let Some(expr) = arguments::after_equals(&chunk) {
                values.push(self.expression(&expr));
                continue;
            }
            for token in chunk {
                if let proc_macro2::TokenTree::Group(group) = token {
                    match Block::parse_within.parse2(group.stream()) {
                        Ok(statements) if group.delimiter() == proc_macro2::Delimiter::Brace => {
                            self.open();
                            values.push(self.statements(&statements));
                            let span = self.place.span(group.span_close());
                            self.close(span);
                        }
                        _ => self.scraps(group.stream(), depth + 1, values),
                    }
                }
            }
        }
    }

    fn vector(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let values = match arguments::repeated(of.tokens) {
            Some((element, length)) => {
                let element = self.operand(&element);
                self.expression(&length);
                vec![element]
            }
            None => {
                let arguments = of.arguments().ok()?;
                arguments.iter().map(|argument| self.operand(&argument.expr)).collect()
            }
        };
        Some(self.value(ValueKind::List(values), of.places.whole))
    }

    /// `dbg!` and `pin!`: the value itself.
    fn same(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        if let Ok([argument]) = of.arguments().as_deref() {
            let value = self.expression(&argument.expr);
            if super::statements::is_place(&argument.expr) && of.path.last() != Some("dbg") {
                return Some(value);
            }
            return Some(self.converted(value, Conversion::Same, of.places.whole));
        }
        // `pin! { let task = …; }` declares in the scope around.
        let statements = Block::parse_within.parse2(of.tokens.clone()).ok()?;
        Some(self.statements(&statements))
    }

    /// A stream of values is made where it is waited for, as an async block is run.
    fn stream(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let statements = Block::parse_within.parse2(of.tokens.clone()).ok()?;
        let span = of.places.whole;
        let index = self.nested(BodyKind::Async, span, true, |lowerer| {
            let value = lowerer.statements(&statements);
            lowerer.tail(value, span);
        });
        Some(self.value(ValueKind::Async(index), span))
    }

    fn panic(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        self.evaluated(&arguments);
        self.frame.end(Terminator::Panic(of.places.whole));
        Some(self.frame.unit())
    }

    fn assertion(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let condition = arguments.first()?;
        let mut held = self.frame.merge();
        let mut failed = self.frame.merge();
        self.condition(&condition.expr, &mut held, &mut failed);
        self.frame.enter(failed, of.places.whole);
        self.frame.end(Terminator::Panic(of.places.whole));
        self.frame.enter(held, of.places.whole);
        Some(self.frame.unit())
    }

    fn comparison(&mut self, of: &Invocation<'_>, operator: Operator) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let (left, right) = (arguments.first()?, arguments.get(1)?);
        let left = self.expression(&left.expr);
        let right = self.expression(&right.expr);
        let span = of.places.whole;
        let value = self.value(ValueKind::Binary { operator, left, right }, span);
        let mut held = self.frame.merge();
        let mut failed = self.frame.merge();
        self.decide_value(value, &mut held, &mut failed, span);
        self.frame.enter(failed, span);
        self.frame.end(Terminator::Panic(span));
        self.frame.enter(held, span);
        Some(self.frame.unit())
    }

    fn bail(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        self.return_error(&arguments, of.places.whole);
        Some(self.frame.unit())
    }

    fn ensure(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let (condition, message) = arguments.split_first()?;
        let mut held = self.frame.merge();
        let mut failed = self.frame.merge();
        self.condition(&condition.expr, &mut held, &mut failed);
        let span = self.span_of(&condition.expr);
        self.frame.enter(failed, span);
        self.return_error(message, of.places.whole);
        self.frame.enter(held, span);
        Some(self.frame.unit())
    }

    /// Returns `Err` of a message.
    fn return_error(&mut self, message: &[MacroArgument], span: Span) {
        let error = match self.message(message, span) {
            Some(error) => error,
            None => self.unknown(span),
        };
        let error = self.failed(error, span);
        self.exit(Some(error), Exit::Return, span);
    }

    /// `query!` and kin: the statement, then its arguments; the type of `query_as!` aside.
    fn query(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let typed = of.path.last().is_some_and(|name| name.contains("_as"));
        let (ty, arguments) = arguments::typed(of.tokens, typed).ok()?;
        let arguments = self.evaluated(&arguments);
        let callee = Callee::Macro(of.path.clone());
        let call = self.new_call(callee, None, Vec::new(), of.places);
        let type_arguments = ty.iter().map(types::type_ref).collect();
        Some(self.emit(Call { arguments, type_arguments, ..call }, of.places))
    }
}

/// Whether a macro checks a statement at compile time.
fn is_query(name: &str) -> bool {
    let name = name.strip_suffix("_unchecked").unwrap_or(name);
    matches!(
        name,
        "query"
            | "query_as"
            | "query_scalar"
            | "query_file"
            | "query_file_as"
            | "query_file_scalar"
    )
}
