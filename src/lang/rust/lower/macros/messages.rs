//! Macros around a message: format, log, write, error.

use syn::{Expr, Lit};

use super::super::Lowerer;
use super::super::calls::unnamed;
use super::super::templates::FormatArguments;
use super::Invocation;
use super::arguments::MacroArgument;
use crate::ir::body::Argument;
use crate::ir::value::{Conversion, Literal, Text, ValueId, ValueKind};
use crate::source::Span;

/// Macros that print or log, and give nothing back.
const LOGS: [&str; 11] = [
    "debug", "eprint", "eprintln", "error", "event", "info", "log", "print", "println", "trace",
    "warn",
];

/// Whether a macro logs or makes a span of a log.
pub(super) fn logs(name: &str) -> bool {
    LOGS.contains(&name) || is_span(name)
}

fn is_span(name: &str) -> bool {
    name == "span" || name.strip_suffix("_span").is_some_and(|level| LOGS.contains(&level))
}

impl Lowerer<'_> {
    pub(super) fn format_macro(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        self.message(&arguments, of.places.whole)
    }

    /// The text of a format string and what follows it. One expression that is no literal is the
    /// message itself.
    pub(super) fn message(&mut self, arguments: &[MacroArgument], span: Span) -> Option<ValueId> {
        let arguments: Vec<&MacroArgument> = arguments.iter().collect();
        self.message_of(&arguments, span)
    }

    fn message_of(&mut self, arguments: &[&MacroArgument], span: Span) -> Option<ValueId> {
        let (format, rest) = arguments.split_first()?;
        let first = self.expression(&format.expr);
        let Some(text) = self.literal_text(first) else {
            let rest: Vec<ValueId> =
                rest.iter().map(|argument| self.expression(&argument.expr)).collect();
            if rest.is_empty() {
                return Some(first);
            }
            let parts: Vec<ValueId> = std::iter::once(first).chain(rest).collect();
            return Some(self.concatenated(&parts, span));
        };
        let mut values = FormatArguments::default();
        for argument in rest {
            let value = self.expression(&argument.expr);
            match &argument.name {
                Some(name) => values.named.push((name.clone(), value)),
                None => values.positional.push(value),
            }
        }
        Some(self.formatted(&text, &values, span))
    }

    pub(super) fn concat(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let mut parts = Vec::new();
        for argument in &arguments {
            let value = self.expression(&argument.expr);
            let literal = match self.frame.body.kind(value) {
                ValueKind::Literal(Literal::Integer(number)) => Some(number.to_string()),
                ValueKind::Literal(Literal::Boolean(truth)) => Some(truth.to_string()),
                ValueKind::Literal(Literal::Float(number)) => Some(number.to_string()),
                _ => None,
            };
            parts.push(match literal {
                Some(content) => {
                    let span = self.span_of(&argument.expr);
                    let text = Text::verbatim(content, span);
                    self.value(ValueKind::Literal(Literal::Text(text)), span)
                }
                None => value,
            });
        }
        Some(self.concatenated(&parts, of.places.whole))
    }

    pub(super) fn write_macro(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let (target, message) = arguments.split_first()?;
        let place = self.expression(&target.expr);
        let mut values = vec![place];
        if let Some(text) = self.message(message, of.places.whole) {
            values.push(text);
            self.appended_to(&target.expr, place, text, of.places.whole);
        }
        Some(self.macro_operation(of, values.into_iter().map(unnamed).collect()))
    }

    /// `write!` to a local text binds the variable to the longer text.
    fn appended_to(&mut self, target: &Expr, place: ValueId, text: ValueId, span: Span) {
        let target = match target {
            Expr::Reference(of) => &*of.expr,
            other => other,
        };
        let Expr::Path(path) = target else { return };
        let Some(ident) = path.path.get_ident() else { return };
        let name = super::super::super::types::name(ident);
        if self.frame.slot(&name).is_some() && self.is_text(place) {
            let longer = self.concatenated(&[place, text], span);
            self.rebind(&name, longer);
        }
    }

    /// An error made of a message.
    pub(super) fn error_macro(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let message = self.message(&arguments, of.places.whole);
        Some(self.macro_operation(of, message.into_iter().map(unnamed).collect()))
    }

    /// Log macros: the message, then each field by name.
    pub(super) fn log(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let arguments = of.arguments().ok()?;
        let at = arguments.iter().position(is_message).unwrap_or(arguments.len());
        let (fields, message) = arguments.split_at_checked(at)?;
        let gives = of.path.last().is_some_and(is_span);
        let mut values: Vec<Argument> = fields.iter().map(|field| self.log_field(field)).collect();
        // After the message: what fills its holes; fields again for a span, and in some libraries.
        let (holes, after): (Vec<_>, Vec<_>) = message.iter().enumerate().partition(|(at, of)| {
            *at == 0 || !gives && (of.name.is_none() || is_named_in(message, of))
        });
        let holes: Vec<&MacroArgument> = holes.into_iter().map(|(_, argument)| argument).collect();
        if let Some(message) = self.message_of(&holes, of.places.whole) {
            values.insert(0, unnamed(message));
        }
        values.extend(after.into_iter().map(|(_, field)| self.log_field(field)));
        let value = self.macro_operation(of, values);
        Some(if gives { value } else { self.frame.unit() })
    }

    fn log_field(&mut self, field: &MacroArgument) -> Argument {
        let value = self.expression(&field.expr);
        let span = self.span_of(&field.expr);
        let name = field.name.clone().or_else(|| Some(self.source(span).to_owned()));
        let value = match field.sign {
            Some('?') => self.converted(value, Conversion::Debug, span),
            Some(_) => self.displayed(value, span),
            None => value,
        };
        Argument { name, value }
    }
}

/// Whether the format string names an argument.
fn is_named_in(message: &[MacroArgument], argument: &MacroArgument) -> bool {
    let (Some(format), Some(name)) = (message.first(), &argument.name) else { return false };
    match &format.expr {
        Expr::Lit(of) => match &of.lit {
            Lit::Str(text) => text.value().contains(&format!("{{{name}")),
            _ => false,
        },
        _ => true,
    }
}

/// Whether an argument is the message: text without a name.
fn is_message(argument: &MacroArgument) -> bool {
    let literal = match &argument.expr {
        Expr::Lit(of) => matches!(of.lit, Lit::Str(_)),
        Expr::Macro(of) => of.mac.path.is_ident("concat") || of.mac.path.is_ident("format"),
        _ => false,
    };
    literal && argument.name.is_none() && argument.sign.is_none()
}
