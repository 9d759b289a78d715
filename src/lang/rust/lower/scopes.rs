//! Variables of a body under construction: declared, captured, moved, and dropped where their scope
//! is left.

use std::rc::Rc;

use super::Lowerer;
use super::builder::{Binding, Frame, Slot};
use crate::ir::body::{BodyKind, OpKind};
use crate::ir::index::TypeRef;
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// Variables that all ways out of one body name.
const MOST_ENDED: usize = 1_000_000;

/// A variable as a nested body sees it.
#[derive(Debug)]
pub(super) struct Seen {
    /// Its value in the body that declares it.
    pub value: ValueId,
    /// Whether that body would have to drop it.
    pub owned: bool,
    name: Option<String>,
    ty: Option<TypeRef>,
    span: Span,
}

/// A body under construction and those around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<'f> {
    /// The body.
    pub frame: &'f Frame,
    /// The bodies around it, outermost first.
    outer: &'f [Frame],
}

impl<'f> Within<'f> {
    /// The body around; `None` for an item's own.
    pub fn outwards(self) -> Option<Self> {
        let (frame, outer) = self.outer.split_last()?;
        Some(Self { frame, outer })
    }
}

impl Lowerer<'_> {
    /// The body that is being built, and those around it.
    pub(super) fn within(&self) -> Within<'_> {
        Within { frame: &self.frame, outer: &self.outer }
    }
}

impl Frame {
    /// Declares a variable in the innermost scope.
    pub fn declare(&mut self, name: &str, value: ValueId, owned: bool) {
        let slot = self.env.len();
        Rc::make_mut(&mut self.env).push(Binding { value, moved: false });
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.push((name.to_owned(), slot));
            if owned {
                scope.owned.push(slot);
            }
        }
    }

    /// Declares a variable of an outer body that this one gives another value.
    pub fn share(&mut self, name: &str, captured: ValueId) {
        self.shared.push(self.env.len());
        self.declare(name, captured, false);
    }

    /// Whether a name means a variable of an outer body that this one gives another value.
    pub fn is_shared(&self, name: &str) -> bool {
        self.slot(name).is_some_and(|slot| self.shared.contains(&slot))
    }

    /// The slot of a name that this body declares.
    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.scopes.iter().rev().find_map(|scope| {
            scope.names.iter().rev().find(|(known, _)| known == name).map(|(_, slot)| *slot)
        })
    }

    /// A variable that this body declares or captures, as a body inside sees it.
    pub fn seen(&self, name: &str) -> Option<Seen> {
        let (value, owned) = match self.slot(name) {
            Some(slot) if self.shared.contains(&slot) => {
                let taken = self.captures.get(name).is_some_and(|it| self.taken.contains(it));
                (self.env.get(slot)?.value, taken)
            }
            Some(slot) => {
                let owned = self.scopes.iter().any(|scope| scope.owned.contains(&slot));
                (self.env.get(slot)?.value, owned)
            }
            None => {
                let value = *self.captures.get(name)?;
                (value, self.taken.contains(&value))
            }
        };
        let known = self.body.value(value)?;
        let (name, ty, span) = (known.name.clone(), known.ty.clone(), known.span);
        Some(Seen { value, owned, name, ty, span })
    }

    /// Makes a variable of the body around known here. `owned` says that it is this body's to drop.
    pub fn captured(&mut self, name: &str, outer: ValueId, seen: &Seen, owned: bool) -> ValueId {
        let captured = self.value(ValueKind::Captured(outer), seen.span);
        if let Some(value) = self.body.values.get_mut(captured.0 as usize) {
            value.name.clone_from(&seen.name);
            value.ty.clone_from(&seen.ty);
        }
        self.captures.insert(name.to_owned(), captured);
        // A closure drops what it took when it is dropped itself, not when it ends.
        if owned && self.body.kind == BodyKind::Async {
            self.taken.push(captured);
            self.owned_captures.insert(captured);
        }
        captured
    }

    /// The variable of this name is moved out here.
    pub fn take(&mut self, name: &str) {
        if let Some(slot) = self.slot(name) {
            if let Some(binding) = self.variable(slot) {
                binding.moved = true;
            }
            if !self.shared.contains(&slot) {
                return;
            }
        }
        if let Some(captured) = self.captures.get(name) {
            self.taken.retain(|value| value != captured);
        }
    }

    /// What the scopes from `depth` on have to drop here, last declared first.
    pub fn leaving(&self, depth: usize) -> Vec<ValueId> {
        let mut values = Vec::new();
        let mut seen = vec![false; self.body.values.len()];
        for scope in self.scopes.iter().skip(depth).rev() {
            for slot in scope.owned.iter().rev() {
                if let Some(binding) = self.env.get(*slot)
                    && !binding.moved
                    && let Some(seen) = seen.get_mut(binding.value.0 as usize)
                    && !std::mem::replace(seen, true)
                {
                    values.push(binding.value);
                }
            }
        }
        if depth == 0 {
            values.extend(&self.taken);
        }
        values
    }

    /// Says that the scopes from `depth` on are left here. Every way out names every variable:
    /// beyond a number of them no more are named.
    pub fn leave(&mut self, depth: usize, span: Span) {
        if !self.live() || self.ended_variables > MOST_ENDED {
            return;
        }
        let values = self.leaving(depth);
        self.ended_variables += values.len();
        if !values.is_empty() {
            self.op(OpKind::ScopeEnd(values), span);
        }
    }

    /// Whether variables that go out of scope are no longer named.
    pub fn is_exhausted(&self) -> bool {
        self.ended_variables > MOST_ENDED
    }
}
