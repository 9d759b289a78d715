//! What is known of variables beyond their values: whether one does something when it goes out of
//! scope, and whether one can be changed behind the back of its binding.

use syn::Expr;

use super::super::types;
use super::Lowerer;
use super::adapters::NUMBERS;
use super::builder::Frame;
use super::operators::is_text;
use super::scopes::Within;
use crate::ir::index::{Path, TypeRef};
use crate::ir::value::{Adapter, Conversion, Literal, ValueId, ValueKind};
use crate::source::Span;

/// Methods that change what they are called on, and how many arguments they take.
const CHANGES: &[(&str, usize)] = &[
    ("append", 1),
    ("clear", 0),
    ("dedup", 0),
    ("drain", 1),
    ("extend", 1),
    ("extend_from_slice", 1),
    ("get_or_insert", 1),
    ("get_or_insert_with", 1),
    ("insert", 1),
    ("insert", 2),
    ("insert_str", 2),
    ("pop", 0),
    ("push", 1),
    ("push_back", 1),
    ("push_front", 1),
    ("push_str", 1),
    ("remove", 1),
    ("replace", 1),
    ("resize", 2),
    ("retain", 1),
    ("swap_remove", 1),
    ("take", 0),
    ("truncate", 1),
];

/// Whether a method changes what it is called on.
pub(super) fn changes(method: &str, arguments: usize) -> bool {
    CHANGES.contains(&(method, arguments))
}

impl Lowerer<'_> {
    /// Whether something may happen when a variable of this value goes out of scope.
    pub(super) fn droppable(&self, value: ValueId) -> bool {
        let body = &self.frame.body;
        if body.value(value).and_then(|value| value.ty.as_ref()).is_some_and(is_plain) {
            return false;
        }
        match body.kind(value) {
            ValueKind::Literal(_)
            | ValueKind::Template(_)
            | ValueKind::Path(_)
            | ValueKind::Binary { .. }
            | ValueKind::Not(_)
            | ValueKind::Matches { .. }
            | ValueKind::Closure(_)
            | ValueKind::Adapted { adapter: Adapter::TestAnd | Adapter::TestOr, .. } => false,
            ValueKind::Converted { conversion: Conversion::Same, value: inner } => {
                !self.borrowed_from(value) && self.droppable(*inner)
            }
            ValueKind::Converted { .. } => false,
            _ => !self.borrowed_from(value),
        }
    }

    /// Whether a value is a borrow, or a part of what is only borrowed here.
    fn borrowed_from(&self, mut value: ValueId) -> bool {
        for _ in 0..64 {
            if self.frame.borrows.contains(&value) {
                return true;
            }
            value = match self.frame.body.kind(value) {
                ValueKind::Receiver => return true,
                ValueKind::Captured(_) => return !self.frame.owned_captures.contains(&value),
                ValueKind::Payload { of, .. } => *of,
                ValueKind::Field { base, .. } | ValueKind::Element { base, .. } => *base,
                _ => return false,
            };
        }
        false
    }

    /// The variable that an expression names alone.
    fn named(expr: &Expr) -> Option<String> {
        match expr {
            Expr::Path(of) => of.path.get_ident().map(types::name),
            Expr::Paren(of) => Self::named(&of.expr),
            _ => None,
        }
    }

    /// A variable is given out for change, or a method changes it: from here on it may be another
    /// value. `other` says which, if that is known. Only what could mislead is forgotten: literals,
    /// texts, lists and results of operators; an object stays itself whatever is done to it.
    pub(super) fn changed(&mut self, place: &Expr, other: Option<ValueId>, span: Span) {
        let Some(name) = Self::named(place) else { return };
        if let Some(slot) = self.frame.slot(&name) {
            let Some(before) = self.frame.env.get(slot).map(|binding| binding.value) else {
                return;
            };
            if self.frame.is_shared(&name) {
                self.frame.changed.insert(name.clone());
            }
            if changeable(self.within(), before) {
                let other = match other {
                    Some(other) => other,
                    None => self.unknown(span),
                };
                let value = self.frame.join(vec![before, other], span);
                self.rebind(&name, value);
            }
        } else if self.frame.captures.contains_key(&name) {
            self.frame.changed.insert(name);
        }
    }

    /// A field is given out for change, or a method changes it. A copy of it is none.
    pub(super) fn lend(&mut self, place: ValueId) {
        if matches!(self.frame.body.kind(place), ValueKind::Field { .. }) {
            self.frame.body.lent.insert(place);
        }
    }

    /// What a body inside changed of this one's variables is not known any more.
    pub(super) fn changed_by(&mut self, inner: &Frame) {
        if inner.moves {
            return;
        }
        for name in &inner.changed {
            let Some(slot) = self.frame.slot(name) else {
                self.frame.changed.insert(name.clone());
                continue;
            };
            let Some(before) = self.frame.env.get(slot).map(|binding| binding.value) else {
                continue;
            };
            if self.frame.is_shared(name) {
                self.frame.changed.insert(name.clone());
            }
            if changeable(self.within(), before) {
                let unknown = self.unknown(inner.body.span);
                let value = self.frame.join(vec![before, unknown], inner.body.span);
                self.rebind(name, value);
            }
        }
    }

    /// `list.push(element)` on a local list: the variable is bound to the longer list.
    pub(super) fn pushed(&mut self, name: &str, of: &syn::ExprMethodCall) -> Option<ValueId> {
        if name != "push" || of.args.len() != 1 {
            return None;
        }
        let variable = Self::named(&of.receiver)?;
        let slot = self.frame.slot(&variable)?;
        let before = self.frame.env.get(slot)?.value;
        let ValueKind::List(mut elements) = self.frame.body.kind(before).clone() else {
            return None;
        };
        elements.push(self.operand(of.args.first()?));
        let span = self
            .place
            .join(self.span_of(&of.receiver), self.place.span(of.paren_token.span.close()));
        let value = self.value(ValueKind::List(elements), span);
        self.rebind(&variable, value);
        Some(self.frame.unit())
    }

    /// What a list may hold after a method that changed it.
    pub(super) fn after_change(
        &mut self,
        method: &str,
        argument: Option<ValueId>,
        span: Span,
    ) -> Option<ValueId> {
        match method {
            "push" | "push_back" | "push_front" => {
                Some(self.value(ValueKind::List(vec![argument?]), span))
            }
            "extend" | "append" | "extend_from_slice" => argument,
            _ => None,
        }
    }
}

/// Whether a binding would say something wrong once the variable is changed in place. A variable of a
/// body around is what it is there.
pub(super) fn changeable(within: Within<'_>, value: ValueId) -> bool {
    if is_text(within, value) {
        return true;
    }
    let mut pending = vec![(within, value)];
    // A bound for joins of joins, which may go round.
    for _ in 0..32 {
        let Some((within, value)) = pending.pop() else { return false };
        let body = &within.frame.body;
        match body.kind(body.peel(value)) {
            ValueKind::Literal(literal) if *literal != Literal::Unit => return true,
            ValueKind::Template(_) | ValueKind::List(_) | ValueKind::Binary { .. } => return true,
            ValueKind::Not(_) | ValueKind::Matches { .. } => return true,
            ValueKind::Aggregate { path, .. } if path.last() == Some("Some") => return true,
            ValueKind::Join(ways) => pending.extend(ways.iter().map(|way| (within, *way))),
            ValueKind::Captured(outer) => {
                pending.extend(within.outwards().map(|around| (around, *outer)));
            }
            _ => {}
        }
    }
    true
}

/// Whether a function makes an empty list.
pub(super) fn makes_list(path: &Path, arguments: usize) -> bool {
    let parent = path.parent();
    parent.last() == Some("Vec")
        && matches!((path.last(), arguments), (Some("new"), 0) | (Some("with_capacity"), 1))
}

/// Types whose values do nothing when they go out of scope.
fn is_plain(ty: &TypeRef) -> bool {
    const PLAIN: [&str; 7] = ["bool", "char", "str", "String", "Duration", "Instant", "SystemTime"];
    match ty {
        TypeRef::Named { path, arguments } => match path.last() {
            Some("Option" | "Vec") => arguments.first().is_some_and(is_plain),
            // A library's own, too: `io::Result<T>`, `PoolResult<T>`.
            Some(last) if last.ends_with("Result") => arguments.first().is_some_and(is_plain),
            Some(last) => PLAIN.contains(&last) || NUMBERS.contains(&last),
            None => false,
        },
        TypeRef::Tuple(parts) => parts.iter().all(is_plain),
        TypeRef::Slice(element) => is_plain(element),
        _ => false,
    }
}
