//! How types, literals, patterns and signs are written in the readable form.

use crate::ir::index::TypeRef;
use crate::ir::value::{Conversion, Literal, Operator, Pattern};

/// A type as one would write it.
#[must_use]
pub fn type_name(ty: &TypeRef) -> String {
    let list = |types: &[TypeRef], separator: &str| {
        types.iter().map(type_name).collect::<Vec<_>>().join(separator)
    };
    match ty {
        TypeRef::Named { path, arguments } if arguments.is_empty() => path.to_string(),
        TypeRef::Named { path, arguments } => format!("{path}<{}>", list(arguments, ", ")),
        TypeRef::Bounds(bounds) => format!("impl {}", list(bounds, " + ")),
        TypeRef::Tuple(parts) => format!("({})", list(parts, ", ")),
        TypeRef::Slice(element) => format!("[{}]", type_name(element)),
        TypeRef::Function { parameters, returns } => {
            format!("fn({}) -> {}", list(parameters, ", "), type_name(returns))
        }
        TypeRef::Unknown => "_".to_owned(),
    }
}

/// A number counted from 1, or `?`.
pub(super) fn position(number: Option<u32>) -> String {
    number.map_or_else(|| "?".to_owned(), |number| number.to_string())
}

/// A literal as one would write it.
pub(super) fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Text(text) => format!("{:?}", text.content),
        Literal::Integer(number) => number.to_string(),
        Literal::Float(number) => format!("{number:?}"),
        Literal::Boolean(truth) => truth.to_string(),
        Literal::Nothing => "nothing".to_owned(),
        Literal::Unit => "()".to_owned(),
    }
}

/// One word for a conversion.
pub(super) fn conversion_name(conversion: Conversion) -> &'static str {
    match conversion {
        Conversion::Same => "same",
        Conversion::Display => "display",
        Conversion::Debug => "debug",
        Conversion::Shaped => "shaped",
        Conversion::Number => "number",
        Conversion::Bytes => "bytes",
    }
}

/// The sign of an operator.
pub(super) fn operator_name(operator: Operator) -> &'static str {
    match operator {
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
        Operator::And => "and",
        Operator::Or => "or",
        Operator::Other => "?",
    }
}

/// A pattern as one would write it.
pub(super) fn pattern_text(pattern: &Pattern) -> String {
    let list = |patterns: &[Pattern], separator: &str| {
        patterns.iter().map(pattern_text).collect::<Vec<_>>().join(separator)
    };
    match pattern {
        Pattern::Any => "_".to_owned(),
        Pattern::Variant { path, fields } if fields.is_empty() => path.to_string(),
        Pattern::Variant { path, fields } => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, pattern)| match name.parse::<usize>() {
                    Ok(_) => pattern_text(pattern),
                    Err(_) => format!("{name}: {}", pattern_text(pattern)),
                })
                .collect();
            format!("{path}({})", fields.join(", "))
        }
        Pattern::Literal(literal) => literal_text(literal),
        Pattern::Constant(path) => format!("constant {path}"),
        Pattern::Or(patterns) => list(patterns, " | "),
        Pattern::Tuple(patterns) => format!("({})", list(patterns, ", ")),
        Pattern::Other => "other".to_owned(),
    }
}
