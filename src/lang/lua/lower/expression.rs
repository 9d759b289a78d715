//! Expressions and conditions.

use tree_sitter::Node;

use super::super::literal;
use super::{Lowerer, cursor};
use crate::catalog::sandbox;
use crate::ir::index::Path;
use crate::ir::value::{
    HOLE, LARGEST_TEXT, Literal, Operator, TemplatePart, Text, ValueId, ValueKind,
};
use crate::source::Span;

impl<'t> Lowerer<'t> {
    /// The first value of an expression.
    pub(super) fn expression(&mut self, node: Node<'t>) -> ValueId {
        let otherwise = |lowerer: &mut Self| lowerer.unknown(lowerer.span(node));
        self.deeper(node, otherwise, |lowerer| lowerer.one(node))
    }

    fn one(&mut self, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        match node.kind() {
            "nil" => self.nothing(span),
            "true" => self.add(ValueKind::Literal(Literal::Boolean(true)), span),
            "false" => self.add(ValueKind::Literal(Literal::Boolean(false)), span),
            "number" => self.number(node),
            "string" => self.string(node),
            "identifier" => self.identifier(node),
            "parenthesized_expression" => match cursor::children(node).first() {
                Some(inner) => self.expression(*inner),
                None => self.unknown(span),
            },
            "function_definition" => self.define(node, None),
            "function_call" | "vararg_expression" => {
                let values = self.many(node);
                values.first().copied().unwrap_or_else(|| self.nothing(span))
            }
            "dot_index_expression" | "bracket_index_expression" => self.index(node),
            "table_constructor" => self.table(node),
            "binary_expression" => self.binary(node),
            "unary_expression" => self.unary(node),
            _ => self.unknown(span),
        }
    }

    /// All values of an expression: calls and `...` may have any number.
    pub(super) fn many(&mut self, node: Node<'t>) -> Vec<ValueId> {
        match node.kind() {
            "function_call" => self.deeper(node, |_| Vec::new(), |lowerer| lowerer.call(node)),
            "vararg_expression" => self.varargs.clone(),
            _ => vec![self.expression(node)],
        }
    }

    /// The values of a list of expressions: one each, all of the last.
    pub(super) fn list(&mut self, nodes: &[Node<'t>]) -> Vec<ValueId> {
        let Some((last, first)) = nodes.split_last() else { return Vec::new() };
        let mut values: Vec<ValueId> = first.iter().map(|node| self.expression(*node)).collect();
        values.extend(self.many(*last));
        values
    }

    fn number(&mut self, node: Node<'t>) -> ValueId {
        let text = self.source_of(node);
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        let written = self.text.content.get(node.byte_range()) == Some(text);
        let integer = match hexadecimal {
            Some(digits) => i128::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let kind = match (written, integer, text.parse::<f64>()) {
            (false, ..) => ValueKind::Unknown,
            (_, Some(number), _) => ValueKind::Literal(Literal::Integer(number)),
            (_, None, Ok(number)) => ValueKind::Literal(Literal::Float(number)),
            _ => ValueKind::Unknown,
        };
        self.add(kind, self.span(node))
    }

    fn string(&mut self, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        let text = literal::decode(self.text, node.start_byte(), node.end_byte());
        if !text.content.contains(HOLE) {
            return self.add(ValueKind::Literal(Literal::Text(text)), span);
        }
        let mut parts = Vec::new();
        let mut at = 0;
        for (found, hole) in text.content.match_indices(HOLE) {
            if found > at {
                parts.push(TemplatePart::Text(text.part(at, found)));
            }
            at = found + hole.len();
            let place = text.place(found, at);
            parts.push(TemplatePart::Hole(self.unknown(place)));
        }
        if at < text.content.len() {
            parts.push(TemplatePart::Text(text.part(at, text.content.len())));
        }
        self.add(ValueKind::Template(parts), span)
    }

    fn identifier(&mut self, node: Node<'t>) -> ValueId {
        let (name, span) = (self.source_of(node), self.span(node));
        if name.contains(HOLE) || self.text.content.get(node.byte_range()) != Some(name) {
            return self.unknown(span);
        }
        let known = self.variable(name).and_then(|variable| self.get(variable));
        match known {
            Some(value) => value,
            None if self.bindings.find(name).is_some() => self.unknown(span),
            None if self.has_holes && !sandbox::defines(name) => self.unknown(span),
            None => self.path(&[name], span),
        }
    }

    fn index(&mut self, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        let (Some(table), Some(field)) =
            (node.child_by_field_name("table"), node.child_by_field_name("field"))
        else {
            return self.unknown(span);
        };
        let base = self.expression(table);
        if node.kind() == "dot_index_expression" {
            let name = self.source_of(field).to_owned();
            return self.field(table, base, name, node);
        }
        let key = self.expression(field);
        let integer = self.integer(key);
        let script = |name: &str, kind: &ValueKind| matches!(kind, ValueKind::Path(path) if path.0 == [name]);
        let position = integer.and_then(|number| u32::try_from(number).ok());
        let kind = self.kind(base).clone();
        if script("KEYS", &kind) {
            return self.add(ValueKind::ScriptKey(position), span);
        }
        if script("ARGV", &kind) {
            return self.add(ValueKind::ScriptArgument(position), span);
        }
        match self.key_text(key) {
            Some(name) => self.field(table, base, name, node),
            None => self.add(ValueKind::Element { base, index: Some(key) }, span),
        }
    }

    /// The field that a key in brackets names: `t['k']` is `t.k`, and `t[1]` has the name `1`.
    pub(super) fn key_text(&self, key: ValueId) -> Option<String> {
        match self.kind(key) {
            ValueKind::Literal(Literal::Text(text)) => Some(text.content.clone()),
            ValueKind::Literal(Literal::Integer(number)) => Some(number.to_string()),
            _ => None,
        }
    }

    /// What a field of a table is, as far as its name alone says.
    pub(super) fn field_place(&mut self, base: ValueId, name: String, span: Span) -> ValueId {
        let kind = match (self.kind(base), position(&name)) {
            (ValueKind::Path(path), _) => ValueKind::Path(path.join(name)),
            (_, Some(position)) => {
                let number = i128::try_from(position).unwrap_or(i128::MAX);
                let index = self.add(ValueKind::Literal(Literal::Integer(number)), span);
                ValueKind::Element { base, index: Some(index) }
            }
            _ => ValueKind::Field { base, name },
        };
        self.add(kind, span)
    }

    fn field(&mut self, table: Node<'t>, base: ValueId, name: String, node: Node<'t>) -> ValueId {
        let local =
            (table.kind() == "identifier").then(|| self.variable(self.source_of(table))).flatten();
        if let Some(value) = local.and_then(|variable| self.get_field(variable, &name)) {
            return value;
        }
        let span = self.span(node);
        let made = self.made_with(base, &name);
        let changed = local.is_some_and(|variable| self.is_changed(variable, &name));
        match made {
            Some(_) if changed => self.unknown(span),
            Some(Some(value)) => value,
            _ => self.field_place(base, name, span),
        }
    }

    /// What a table was given under a name where it was made, `Some(None)` when that is not known;
    /// `None` when the value is no table that is made in sight.
    fn made_with(&self, base: ValueId, name: &str) -> Option<Option<ValueId>> {
        match self.kind(base) {
            ValueKind::Aggregate { fields, .. } => {
                Some(fields.iter().find(|(field, _)| field == name).map(|(_, value)| *value))
            }
            ValueKind::List(values) => {
                let value = position(name).and_then(|position| values.get(position)).copied();
                // `unpack(t)` stands for any number of elements.
                let one = |value: &ValueId| {
                    !matches!(self.kind(*value), ValueKind::Element { index: None, .. })
                };
                Some(value.filter(one))
            }
            _ => None,
        }
    }

    fn table(&mut self, node: Node<'t>) -> ValueId {
        let mut fields = Vec::new();
        let mut named = false;
        let mut position = 0_usize;
        let written = cursor::children(node);
        let last = written.last().copied();
        for field in written {
            let Some(value) = field.child_by_field_name("value") else { continue };
            if let Some(name) = field.child_by_field_name("name") {
                named = true;
                let key = self.key_name(name, field);
                fields.push((key, self.expression(value)));
                continue;
            }
            // Only the last expression gives all its values.
            let values = match last == Some(field) {
                true => self.many(value),
                false => vec![self.expression(value)],
            };
            for value in values {
                position += 1;
                fields.push((position.to_string(), value));
            }
        }
        let kind = if named {
            ValueKind::Aggregate { path: Path::single("table"), fields, base: None }
        } else {
            ValueKind::List(fields.into_iter().map(|(_, value)| value).collect())
        };
        self.add(kind, self.span(node))
    }

    /// The name of a table field: `name = …`, `['name'] = …`; `?` for one that is computed.
    fn key_name(&mut self, name: Node<'t>, field: Node<'t>) -> String {
        if !cursor::has_token(field, "[") {
            return self.source_of(name).to_owned();
        }
        let key = self.expression(name);
        self.key_text(key).unwrap_or_else(|| "?".to_owned())
    }

    fn unary(&mut self, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        let operand = node.child_by_field_name("operand");
        let (Some(operand), operator) = (operand, node.child_by_field_name("operator")) else {
            return self.unknown(span);
        };
        let value = self.expression(operand);
        match operator.map_or("", |operator| operator.kind()) {
            "not" => self.add(ValueKind::Not(value), span),
            "#" => {
                let name_span = operator.map_or(span, |operator| self.span(operator));
                self.emit_path(Path::single("#"), vec![value], span, name_span)
            }
            "-" => {
                let kind = match (self.integer(value), self.kind(value)) {
                    (Some(number), _) => {
                        ValueKind::Literal(Literal::Integer(number.saturating_neg()))
                    }
                    (_, ValueKind::Literal(Literal::Float(number))) => {
                        ValueKind::Literal(Literal::Float(-number))
                    }
                    _ => {
                        let left = self.add(ValueKind::Literal(Literal::Integer(0)), span);
                        ValueKind::Binary { operator: Operator::Subtract, left, right: value }
                    }
                };
                self.add(kind, span)
            }
            _ => self.unknown(span),
        }
    }

    fn binary(&mut self, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        let operands = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        let (Some(left), Some(right)) = operands else { return self.unknown(span) };
        let operator = match node.child_by_field_name("operator").map_or("", |token| token.kind()) {
            "and" | "or" => return self.logical(node, left, right),
            ".." => return self.concatenation(node),
            "==" => Operator::Equal,
            "~=" => Operator::NotEqual,
            "<" => Operator::Less,
            "<=" => Operator::LessOrEqual,
            ">" => Operator::Greater,
            ">=" => Operator::GreaterOrEqual,
            "+" => Operator::Add,
            "-" => Operator::Subtract,
            "*" => Operator::Multiply,
            "/" => Operator::Divide,
            "%" => Operator::Remainder,
            _ => Operator::Other,
        };
        let (left, right) = (self.expression(left), self.expression(right));
        let folded = match (self.integer(left), self.integer(right), operator) {
            (Some(a), Some(b), Operator::Add) => a.checked_add(b),
            (Some(a), Some(b), Operator::Subtract) => a.checked_sub(b),
            (Some(a), Some(b), Operator::Multiply) => a.checked_mul(b),
            _ => None,
        };
        let kind = match folded {
            Some(number) => ValueKind::Literal(Literal::Integer(number)),
            None => ValueKind::Binary { operator, left, right },
        };
        self.add(kind, span)
    }

    /// A whole number that a value is known to be.
    pub(super) fn integer(&self, value: ValueId) -> Option<i128> {
        match self.kind(value) {
            ValueKind::Literal(Literal::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// `a .. b .. c`, read from left to right as one template.
    fn concatenation(&mut self, node: Node<'t>) -> ValueId {
        let mut parts = Vec::new();
        let mut rest = Some(node);
        while let Some(next) = rest.take() {
            let operator = next.child_by_field_name("operator").map(|operator| operator.kind());
            let joined = next.kind() == "binary_expression" && operator == Some("..");
            let operand = if joined { next.child_by_field_name("left") } else { Some(next) };
            if let Some(operand) = operand {
                let value = self.expression(operand);
                self.append_part(&mut parts, value);
            }
            rest = if joined { next.child_by_field_name("right") } else { None };
        }
        self.template(parts, node)
    }

    fn append_part(&mut self, parts: &mut Vec<TemplatePart>, value: ValueId) {
        let span = self
            .bodies
            .get(self.current)
            .and_then(|body| body.value(value))
            .map(|value| value.span);
        // A text that is joined to itself again and again grows without bound: past a size that
        // no key has, what was joined before is one hole.
        if parts.iter().map(TemplatePart::size).sum::<usize>() + self.text_size(value)
            > LARGEST_TEXT
        {
            parts.push(TemplatePart::Hole(value));
            return;
        }
        match (self.kind(value).clone(), span) {
            (ValueKind::Literal(Literal::Text(text)), _) => parts.push(TemplatePart::Text(text)),
            (ValueKind::Literal(Literal::Integer(number)), Some(span)) => {
                parts.push(TemplatePart::Text(Text::verbatim(number.to_string(), span)));
            }
            (ValueKind::Template(inner), _) => parts.extend(inner),
            _ => parts.push(TemplatePart::Hole(value)),
        }
    }

    /// The bytes and parts that joining a value brings.
    fn text_size(&self, value: ValueId) -> usize {
        match self.kind(value) {
            ValueKind::Literal(Literal::Text(text)) => text.size(),
            ValueKind::Template(parts) => parts.iter().map(TemplatePart::size).sum(),
            _ => TemplatePart::Hole(value).size(),
        }
    }

    /// A template, or a literal when no part is a hole.
    pub(super) fn template(&mut self, parts: Vec<TemplatePart>, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        let mut whole = Text::default();
        for part in &parts {
            let TemplatePart::Text(text) = part else {
                return self.add(ValueKind::Template(parts), span);
            };
            whole.append(text);
        }
        self.add(ValueKind::Literal(Literal::Text(whole.or_at(span))), span)
    }
}

/// The position in a list, from 0, that a field's name means: Lua counts from 1.
fn position(name: &str) -> Option<usize> {
    name.parse::<usize>().ok()?.checked_sub(1)
}
