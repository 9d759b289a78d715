//! Frames: in which body a value is seen, and how that body was entered.

use crate::ir::body::{Call, OpId};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::Receiver;
use crate::ir::value::ValueId;
use crate::link::Program;

/// The frame a value is seen in: a body, and how it was entered.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'f> {
    /// The body.
    pub(crate) body: BodyId,
    /// The frame and call that entered it; `None` at the root.
    pub(crate) entered: Option<Entry<'f>>,
    /// How deep.
    pub(crate) depth: usize,
}

/// How a frame was entered. Arguments and receiver are values of the outer frame.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'f> {
    /// The frame around it.
    pub(crate) outer: &'f Frame<'f>,
    /// The call; `None` for what an adapter runs.
    pub(crate) call: Option<OpId>,
    /// What it is called on; `None` for closures and functions without one.
    pub(crate) receiver: Option<ValueId>,
    /// What its parameters are.
    pub(crate) arguments: &'f [ValueId],
}

impl<'f> Frame<'f> {
    /// A body that nothing entered.
    pub(crate) fn root(body: BodyId) -> Self {
        Self { body, entered: None, depth: 0 }
    }

    /// Another body that nothing entered, seen from here.
    pub(crate) fn apart(&self, body: BodyId) -> Self {
        Self { body, entered: None, depth: self.depth + 1 }
    }

    /// A body that a call enters.
    pub(crate) fn called(
        &'f self,
        body: BodyId,
        call: Option<OpId>,
        receiver: Option<ValueId>,
        arguments: &'f [ValueId],
    ) -> Self {
        let entered = Some(Entry { outer: self, call, receiver, arguments });
        Self { body, entered, depth: self.depth + 1 }
    }

    /// A closure or block that runs here.
    pub(crate) fn nested(&'f self, body: BodyId, arguments: &'f [ValueId]) -> Self {
        self.called(body, None, None, arguments)
    }

    /// The frame of the body around a closure: the nearest one that runs it, else its root.
    pub(crate) fn around(&self, parent: BodyId) -> Self {
        let mut next = self.entered;
        while let Some(entry) = next {
            if entry.outer.body == parent {
                return *entry.outer;
            }
            next = entry.outer.entered;
        }
        Self { depth: self.depth, ..Frame::root(parent) }
    }

    /// A number of this frame's body, told apart by the calls that entered it.
    pub(crate) fn number(&self, number: u64) -> u64 {
        let (mut number, mut frame) = (number, *self);
        while let Some(entry) = frame.entered {
            if let Some(op) = entry.call {
                number = seen_through(number, Site { body: entry.outer.body, op });
            }
            frame = *entry.outer;
        }
        number
    }
}

/// A number of a callee, as one call of it sees it: another call sees another.
pub(crate) fn seen_through(number: u64, call: Site) -> u64 {
    mixed(number, (u64::from(call.body.0) << 32) | u64::from(call.op.0))
}

/// One number of two; nothing (0) changes nothing.
pub(crate) fn mixed(left: u64, right: u64) -> u64 {
    if left == 0 || right == 0 {
        return left | right;
    }
    let bytes = left.to_le_bytes().into_iter().chain(right.to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Program {
    /// The arguments, in the callee's order, and the receiver that a call binds in a callee: a
    /// method called by path (`Lock::key(&lock)`) has its receiver first. A closure has none, even
    /// inside a method.
    #[must_use]
    pub fn bound_arguments(&self, callee: BodyId, call: &Call) -> (Vec<ValueId>, Option<ValueId>) {
        let mut arguments: Vec<ValueId> =
            call.arguments.iter().map(|argument| argument.value).collect();
        if call.receiver.is_none() && self.takes_receiver(callee) && !arguments.is_empty() {
            let receiver = arguments.remove(0);
            return (arguments, Some(receiver));
        }
        (arguments, call.receiver)
    }

    /// Whether a body is that of a method.
    #[must_use]
    pub fn takes_receiver(&self, body: BodyId) -> bool {
        let own = self.body(body).is_some_and(|own| own.parent.is_none());
        let function = self.enclosing_function(body).and_then(|id| self.function(id));
        own && function.is_some_and(|function| function.receiver != Receiver::None)
    }
}
