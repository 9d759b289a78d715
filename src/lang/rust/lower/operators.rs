//! Operators and assignment.

use syn::{BinOp, Expr, UnOp};

use super::super::types;
use super::Lowerer;
use super::assigned::assigning;
use super::control::acts;
use super::scopes::Within;
use crate::ir::body::OpKind;
use crate::ir::value::{Conversion, Literal, Operator, ValueId, ValueKind};
use crate::source::Span;

impl Lowerer<'_> {
    pub(super) fn unary(&mut self, of: &syn::ExprUnary) -> ValueId {
        let value = self.expression(&of.expr);
        let inner = self.span_of(&of.expr);
        match &of.op {
            UnOp::Deref(star) => {
                let span = self.place.join(self.place.span(star.spans[0]), inner);
                self.borrowed(value, span)
            }
            UnOp::Not(not) => {
                let span = self.place.join(self.place.span(not.spans[0]), inner);
                self.value(ValueKind::Not(value), span)
            }
            UnOp::Neg(minus) => {
                let span = self.place.join(self.place.span(minus.spans[0]), inner);
                self.negative(value, span)
            }
            _ => self.unknown(inner),
        }
    }

    fn negative(&mut self, value: ValueId, span: Span) -> ValueId {
        let literal = match self.frame.body.kind(value) {
            ValueKind::Literal(Literal::Integer(number)) => {
                Some(Literal::Integer(number.saturating_neg()))
            }
            ValueKind::Literal(Literal::Float(number)) => Some(Literal::Float(-number)),
            _ => None,
        };
        if let Some(literal) = literal {
            return self.value(ValueKind::Literal(literal), span);
        }
        let left = self.value(ValueKind::Literal(Literal::Integer(0)), span);
        let operator = Operator::Subtract;
        self.value(ValueKind::Binary { operator, left, right: value }, span)
    }

    pub(super) fn binary(&mut self, of: &syn::ExprBinary) -> ValueId {
        if assigning(&of.op) {
            return self.compound_assign(of);
        }
        let left = self.expression(&of.left);
        let span = self.place.join(self.span_of(&of.left), self.span_of(&of.right));
        let operator = operator(&of.op);
        let conditional = matches!(operator, Operator::And | Operator::Or) && acts(&of.right);
        let right = if conditional {
            self.short_circuit(left, operator, &of.right, span)
        } else {
            self.expression(&of.right)
        };
        self.combine(operator, left, right, span)
    }

    /// Evaluates the right side of `&&` or `||` only where the left side leaves it open.
    fn short_circuit(
        &mut self,
        left: ValueId,
        operator: Operator,
        right: &Expr,
        span: Span,
    ) -> ValueId {
        let mut evaluate = self.frame.merge();
        let mut after = self.frame.merge();
        if operator == Operator::And {
            self.decide_value(left, &mut evaluate, &mut after, span);
        } else {
            self.decide_value(left, &mut after, &mut evaluate, span);
        }
        self.frame.enter(evaluate, span);
        let value = self.expression(right);
        self.frame.goto(&mut after, None);
        self.frame.enter(after, span);
        value
    }

    /// An operator applied to two values; `+` on text is a template.
    pub(super) fn combine(
        &mut self,
        operator: Operator,
        left: ValueId,
        right: ValueId,
        span: Span,
    ) -> ValueId {
        if operator == Operator::Add && (self.is_text(left) || self.is_text(right)) {
            return self.concatenated(&[left, right], span);
        }
        self.value(ValueKind::Binary { operator, left, right }, span)
    }

    fn compound_assign(&mut self, of: &syn::ExprBinary) -> ValueId {
        let right = self.operand(&of.right);
        let left = self.expression(&of.left);
        let span = self.place.join(self.span_of(&of.left), self.span_of(&of.right));
        let value = self.combine(operator(&of.op), left, right, span);
        self.write(&of.left, Some(left), value, span);
        self.frame.unit()
    }

    pub(super) fn assign(&mut self, of: &syn::ExprAssign) -> ValueId {
        let value = self.expression(&of.right);
        let span = self.place.join(self.span_of(&of.left), self.span_of(&of.right));
        if matches!(&*of.left, Expr::Infer(_)) {
            self.discard(value, true, span);
            return self.frame.unit();
        }
        self.move_out(&of.right);
        self.destructure(&of.left, value, span);
        self.frame.unit()
    }

    /// Assigns the parts of a tuple one by one.
    fn destructure(&mut self, place: &Expr, value: ValueId, span: Span) {
        match place {
            Expr::Tuple(of) => {
                for (position, element) in of.elems.iter().enumerate() {
                    if matches!(element, Expr::Infer(_)) {
                        continue;
                    }
                    let part = self.field(value, &position.to_string(), span);
                    self.destructure(element, part, span);
                }
            }
            Expr::Paren(of) => self.destructure(&of.expr, value, span),
            place => self.write(place, None, value, span),
        }
    }

    /// Gives a place another value: a local variable is bound anew, anything else is a store.
    /// `known` is the place's value if it was evaluated already.
    fn write(&mut self, place: &Expr, known: Option<ValueId>, value: ValueId, span: Span) {
        if let Expr::Path(of) = place
            && let Some(ident) = of.path.get_ident()
            && self.rebind(&types::name(ident), value)
        {
            let outer = self.frame.captures.get(&types::name(ident)).copied();
            if let Some(place) = outer.filter(|_| self.frame.is_shared(&types::name(ident))) {
                self.frame.op(OpKind::Store { place, value }, span);
            }
            return;
        }
        let written = match known {
            Some(written) => written,
            None => self.expression(place),
        };
        self.changed(place, None, span);
        let place = written;
        self.frame.op(OpKind::Store { place, value }, span);
    }

    /// Binds a local variable anew; false when the name is none of this body's.
    pub(super) fn rebind(&mut self, name: &str, value: ValueId) -> bool {
        let Some(slot) = self.frame.slot(name) else { return false };
        self.label(value, name);
        if let Some(binding) = self.frame.variable(slot) {
            binding.value = value;
            binding.moved = false;
        }
        if self.frame.shared.contains(&slot) {
            self.frame.changed.insert(name.to_owned());
        }
        true
    }

    /// Whether a value is text as far as its expression says.
    pub(super) fn is_text(&self, value: ValueId) -> bool {
        is_text(self.within(), value)
    }
}

/// Whether a value of a body is text as far as its expression says, or that of the variable of a body
/// around that it is.
pub(super) fn is_text(mut within: Within<'_>, mut value: ValueId) -> bool {
    for _ in 0..64 {
        let Some(known) = within.frame.body.value(value) else { return false };
        if known.ty.as_ref().and_then(|ty| ty.name()).is_some_and(is_text_type) {
            return true;
        }
        value = match known.kind {
            ValueKind::Literal(Literal::Text(_)) | ValueKind::Template(_) => return true,
            ValueKind::Converted {
                conversion: Conversion::Display | Conversion::Debug, ..
            } => {
                return true;
            }
            ValueKind::Converted { value, conversion: Conversion::Same | Conversion::Shaped } => {
                value
            }
            // The first way in: a loop's placeholder names itself further on.
            ValueKind::Join(ref ways) => match ways.first() {
                Some(first) if *first != value => *first,
                _ => return false,
            },
            ValueKind::Captured(outer) => match within.outwards() {
                Some(around) => {
                    within = around;
                    outer
                }
                None => return false,
            },
            _ => return false,
        };
    }
    false
}

fn is_text_type(name: &str) -> bool {
    matches!(name, "String" | "str")
}

fn operator(operator: &BinOp) -> Operator {
    match operator {
        BinOp::Eq(_) => Operator::Equal,
        BinOp::Ne(_) => Operator::NotEqual,
        BinOp::Lt(_) => Operator::Less,
        BinOp::Le(_) => Operator::LessOrEqual,
        BinOp::Gt(_) => Operator::Greater,
        BinOp::Ge(_) => Operator::GreaterOrEqual,
        BinOp::Add(_) | BinOp::AddAssign(_) => Operator::Add,
        BinOp::Sub(_) | BinOp::SubAssign(_) => Operator::Subtract,
        BinOp::Mul(_) | BinOp::MulAssign(_) => Operator::Multiply,
        BinOp::Div(_) | BinOp::DivAssign(_) => Operator::Divide,
        BinOp::Rem(_) | BinOp::RemAssign(_) => Operator::Remainder,
        BinOp::And(_) => Operator::And,
        BinOp::Or(_) => Operator::Or,
        _ => Operator::Other,
    }
}
