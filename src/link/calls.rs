//! Calls: what each call of the program may run, in the workspace and in libraries.
//!
//! Promises: a workspace function that the receiver's type has wins over any library row; a method
//! of an unknown receiver is a library's only on positive evidence, never by its name alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::{NodeId, Resolution};
use super::types::Ty;
use super::{FunctionId, Program};
use crate::catalog::Api;
use crate::ir::body::{BodyIndex, OpId};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::{ItemId, Path, TypeRef};
use crate::ir::value::ValueId;

pub mod evidence;
pub(crate) mod foreign;
mod flow;
pub mod matching;
pub mod passed;
pub mod resolve;
pub mod unresolved;

/// What a call, or the wait for a future, may run.
#[derive(Clone, Debug)]
pub struct Targets {
    /// Workspace bodies; of a trait's method all implementations, those that ship first. At an
    /// `Await`, the async blocks that run here.
    pub bodies: Vec<BodyId>,
    /// Library rows, the best first.
    pub apis: Vec<&'static Api>,
    /// Closures, async blocks and functions given as arguments that the callee may run now. For a
    /// workspace callee they are found at its own calls of its parameters instead.
    pub runs: Vec<BodyId>,
    /// What runs here runs in a task or thread of its own.
    pub spawned: bool,
    /// The call only makes a future, which another workspace function is given to await: its body
    /// runs there.
    pub deferred: bool,
    /// How it was resolved.
    pub resolution: Resolution,
    /// The full library path, when the callee is a path of a library.
    pub path: Option<Path>,
}

/// What names a module (or function) brings in from libraries, re-exports traced to the library.
#[derive(Clone, Debug, Default)]
pub struct InScope {
    /// Full paths of imported items.
    pub items: Vec<Path>,
    /// Full paths of globs.
    pub globs: Vec<Path>,
}

/// All resolved calls of a program.
#[derive(Debug, Default)]
pub struct Calls {
    pub(super) targets: Vec<BTreeMap<OpId, Targets>>,
    /// Why calls are not resolved, by body.
    pub(super) unresolved: Vec<unresolved::ByOperation>,
    pub(super) callers: Vec<Vec<Site>>,
    /// Where closures and functions are given to workspace bodies.
    pub(super) handed: flow::Handed,
    /// Bodies of functions and constants, by file.
    pub(super) first_bodies: BTreeMap<(crate::source::FileId, ItemId), BodyId>,
    /// What each node of the module tree brings in.
    pub(super) in_scope: Vec<Arc<InScope>>,
}

impl Program {
    /// What an operation may run: a call, or an `Await` of an async block. `None` when nothing is
    /// known of it, or it is neither.
    #[must_use]
    pub fn targets(&self, body: BodyId, op: OpId) -> Option<&Targets> {
        self.calls.targets.get(body.0 as usize)?.get(&op)
    }

    /// Whether a call is only taken for a workspace function because no other has its name.
    #[must_use]
    pub fn is_guess(&self, site: Site) -> bool {
        let targets = self.targets(site.body, site.op);
        targets.is_some_and(|targets| targets.resolution == Resolution::ByName)
    }

    /// Where a body is run, as far as calls were resolved, sorted.
    #[must_use]
    pub fn callers(&self, body: BodyId) -> &[Site] {
        self.calls.callers.get(body.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The calls by which a closure, a future or a function (or what it lies in) comes to a workspace
    /// body that may run it, sorted.
    #[must_use]
    pub fn handed_to(&self, given: BodyId, to: BodyId) -> Vec<Site> {
        let around = |body| std::iter::successors(Some(body), |own| self.body(*own)?.parent);
        let found = around(given)
            .find_map(|given| around(to).find_map(|to| self.calls.handed.get(&(given, to))));
        found.into_iter().flatten().copied().collect()
    }

    /// The body of a function; `None` when it has none or was not lowered.
    #[must_use]
    pub fn body_of(&self, function: FunctionId) -> Option<BodyId> {
        self.body_of_item(function.file, ItemId::Function(function.index))
    }

    /// The first body of an item.
    #[must_use]
    pub fn body_of_item(&self, file: crate::source::FileId, item: ItemId) -> Option<BodyId> {
        self.calls.first_bodies.get(&(file, item)).copied()
    }

    /// A nested body of the item that `body` belongs to.
    #[must_use]
    pub fn nested(&self, body: BodyId, index: BodyIndex) -> Option<BodyId> {
        let own = self.body(body)?;
        let id = BodyId((body.0 + index.0).checked_sub(own.index.0)?);
        let found = self.body(id)?;
        (found.index == index && found.file == own.file && found.item == own.item).then_some(id)
    }

    /// The function a body belongs to, or the one around it.
    #[must_use]
    pub fn enclosing_function(&self, body: BodyId) -> Option<FunctionId> {
        let own = self.body(body)?;
        match own.item? {
            ItemId::Function(index) => Some(FunctionId { file: own.file, index }),
            ItemId::Constant(_) => None,
        }
    }

    /// The type that a function or closure is declared to give back; an async one's, once it was waited
    /// for.
    #[must_use]
    pub fn declared_result(&self, body: BodyId) -> Option<&TypeRef> {
        let own = self.body(body)?;
        match own.parent {
            Some(_) => own.body.returns.as_ref(),
            None => Some(&self.function(self.enclosing_function(body)?)?.returns),
        }
    }

    /// The name of a body's function as people say it: `Shop::release`, `release`; the constant's
    /// name for an initialiser; empty for a script without a name.
    #[must_use]
    pub fn qualified_name(&self, body: BodyId) -> String {
        let Some(own) = self.body(body) else { return String::new() };
        match own.item {
            Some(ItemId::Function(index)) => {
                let id = FunctionId { file: own.file, index };
                let Some(function) = self.function(id) else { return String::new() };
                let owner = function.owner.as_ref().and_then(|owner| owner.name());
                let of_trait = function.of_trait.as_ref().and_then(Path::last);
                match owner.or(of_trait) {
                    Some(owner) => format!("{owner}::{}", function.name),
                    None => function.name.clone(),
                }
            }
            Some(ItemId::Constant(index)) => {
                let constant =
                    self.index(own.file).and_then(|file| file.constants.get(index as usize));
                constant.map_or_else(String::new, |constant| constant.name.clone())
            }
            None => String::new(),
        }
    }

    /// What a scope brings in from libraries: its own imports, those of the functions and the
    /// module around it, and those of workspace modules that it takes in by a glob.
    #[must_use]
    pub fn traits_in_scope(&self, node: NodeId) -> Arc<InScope> {
        self.calls.in_scope.get(node.0 as usize).cloned().unwrap_or_default()
    }

    /// Whether a body is that of an async function.
    #[must_use]
    pub fn is_async(&self, body: BodyId) -> bool {
        let own = self.body(body).is_some_and(|own| own.parent.is_none());
        let function = self.enclosing_function(body).and_then(|id| self.function(id));
        own && function.is_some_and(|function| function.is_async)
    }

    /// The value that a value is, after same-content conversions and captures are peeled: in which
    /// body it was made, and its number there.
    #[must_use]
    pub fn root_of(&self, mut body: BodyId, mut value: ValueId) -> (BodyId, ValueId) {
        use crate::ir::value::{Conversion, ValueKind};
        for _ in 0..64 {
            let Some(own) = self.body(body) else { break };
            match own.body.kind(value) {
                ValueKind::Converted { value: of, conversion: Conversion::Same } => value = *of,
                ValueKind::Captured(of) => match own.parent {
                    Some(parent) => (body, value) = (parent, *of),
                    None => break,
                },
                _ => break,
            }
        }
        (body, value)
    }
}

/// What one callee was found to be, before bodies are known.
#[derive(Clone, Debug)]
pub(super) struct Resolved {
    /// Workspace functions.
    pub functions: Vec<FunctionId>,
    /// A closure that is called.
    pub closure: Option<BodyId>,
    /// Library rows, the best first.
    pub apis: Vec<&'static Api>,
    /// How.
    pub resolution: Resolution,
    /// The full library path of a path callee.
    pub path: Option<Path>,
    /// On what the method was found (holders and derefs peeled); the type of a constructor.
    pub receiver: Ty,
}

impl Resolved {
    pub(super) fn unknown() -> Self {
        Self {
            functions: Vec::new(),
            closure: None,
            apis: Vec::new(),
            resolution: Resolution::Unknown,
            path: None,
            receiver: Ty::Unknown,
        }
    }

    pub(super) fn functions(
        functions: Vec<FunctionId>,
        resolution: Resolution,
        receiver: Ty,
    ) -> Self {
        Self { functions, resolution, receiver, ..Self::unknown() }
    }

    pub(super) fn library(apis: Vec<&'static Api>, receiver: Ty) -> Self {
        Self { apis, resolution: Resolution::External, receiver, ..Self::unknown() }
    }
}
