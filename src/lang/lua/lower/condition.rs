//! Conditions, and `and` and `or` where a value is wanted.

use tree_sitter::Node;

use super::flow::Way;
use super::{Lowerer, Test, cursor};
use crate::ir::body::BlockId;
use crate::ir::value::{Operator, ValueId, ValueKind};

impl<'t> Lowerer<'t> {
    /// `and` and `or` where a value is wanted. Paths part where an operand is a call or where
    /// `a and b or c` chooses; otherwise the operator is a value.
    pub(super) fn logical(&mut self, node: Node<'t>, left: Node<'t>, right: Node<'t>) -> ValueId {
        let span = self.span(node);
        let or = operator(node) == Some("or");
        let chosen = peel(left);
        if or && operator(chosen) == Some("and") {
            let parts = (chosen.child_by_field_name("left"), chosen.child_by_field_name("right"));
            if let (Some(condition), Some(yes)) = parts {
                return self.choice(condition, yes, right, node);
            }
        }
        if !cursor::descendants(right).any(|inner| inner.kind() == "function_call") {
            let operator = if or { Operator::Or } else { Operator::And };
            let left = self.expression(left);
            let given = self.flow.given;
            self.flow.given = self.decided(left, !or);
            let right = self.expression(right);
            self.flow.given = given;
            return self.add(ValueKind::Binary { operator, left, right }, span);
        }
        let (more, exit) = (self.new_block(), self.new_block());
        let first = self.expression(left);
        let reached = self.flow.reachable;
        let (then, otherwise) = if or { (exit, more) } else { (more, exit) };
        let chosen = self.decided(first, or);
        let mut incoming = if reached { vec![(first, chosen)] } else { Vec::new() };
        self.branch(Test::True(first), then, otherwise, self.span(left));
        self.enter(more, span);
        let second = self.expression(right);
        incoming.extend(self.flow.reachable.then_some((second, self.flow.given)));
        self.jump(exit);
        self.enter(exit, span);
        self.joined(incoming, node)
    }

    fn choice(
        &mut self,
        condition: Node<'t>,
        yes: Node<'t>,
        no: Node<'t>,
        node: Node<'t>,
    ) -> ValueId {
        let span = self.span(node);
        let (then, otherwise, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.condition(condition, then, otherwise);
        let mut incoming = Vec::new();
        for (block, side) in [(then, yes), (otherwise, no)] {
            self.enter(block, span);
            let value = self.expression(side);
            incoming.extend(self.flow.reachable.then_some((value, self.flow.given)));
            self.jump(exit);
        }
        self.enter(exit, span);
        self.joined(incoming, node)
    }

    fn joined(&mut self, incoming: Vec<Way>, node: Node<'t>) -> ValueId {
        let span = self.span(node);
        if incoming.is_empty() { self.unknown(span) } else { self.join(incoming, span) }
    }

    /// Goes to one of two blocks, as a condition says.
    pub(super) fn condition(&mut self, node: Node<'t>, then: BlockId, otherwise: BlockId) {
        let span = self.span(node);
        let open = |lowerer: &mut Self| {
            lowerer.branch(Test::Opaque(Vec::new()), then, otherwise, span);
        };
        self.deeper(node, open, |lowerer| lowerer.decide(node, then, otherwise));
    }

    fn decide(&mut self, node: Node<'t>, then: BlockId, otherwise: BlockId) {
        let span = self.span(node);
        let sides = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        match (node.kind(), operator(node), sides) {
            ("parenthesized_expression", ..) => match cursor::children(node).first() {
                Some(inner) => self.condition(*inner, then, otherwise),
                None => self.branch(Test::Opaque(Vec::new()), then, otherwise, span),
            },
            ("unary_expression", Some("not"), _) => match node.child_by_field_name("operand") {
                Some(operand) => self.condition(operand, otherwise, then),
                None => self.branch(Test::Opaque(Vec::new()), then, otherwise, span),
            },
            ("binary_expression", Some("and"), (Some(left), Some(right))) => {
                let more = self.new_block();
                self.condition(left, more, otherwise);
                self.enter(more, span);
                self.condition(right, then, otherwise);
            }
            ("binary_expression", Some("or"), (Some(left), Some(right))) => {
                let more = self.new_block();
                self.condition(left, then, more);
                self.enter(more, span);
                self.condition(right, then, otherwise);
            }
            ("true" | "number" | "string", ..) => self.jump(then),
            ("false" | "nil", ..) => self.jump(otherwise),
            _ => {
                let value = self.expression(node);
                self.branch(Test::True(value), then, otherwise, span);
            }
        }
    }
}

/// The operator of an operation.
fn operator(node: Node<'_>) -> Option<&'static str> {
    let kind = node.child_by_field_name("operator")?.kind();
    ["and", "or", "not"].into_iter().find(|known| *known == kind)
}

/// An expression without the parentheses around it.
fn peel(mut node: Node<'_>) -> Node<'_> {
    for _ in 0..super::MAXIMUM_DEPTH {
        match cursor::children(node).first() {
            Some(inner) if node.kind() == "parenthesized_expression" => node = *inner,
            _ => break,
        }
    }
    node
}
