//! Types of all values of one item's bodies: a few passes in the order of values, so that the
//! answer depends on nothing but the item and the headers of the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Ty;
use super::parts;
use super::written::Substitution;
use crate::ir::body::{Body, BodyIndex, Exit, Terminator};
use crate::ir::effect::BodyId;
use crate::ir::index::{Path, TypeRef};
use crate::ir::value::{Adapter, Conversion, Literal, Operator, ValueId, ValueKind};
use crate::link::calls::InScope;
use crate::link::calls::resolve::Site;
use crate::link::names::{Named, Namespace, Scope};
use crate::link::{Program, ProgramBody};

/// How often values are looked at: twice for loops, once more for closures that feed each other.
const PASSES: usize = 3;

/// The bodies of one item and what is known of their values.
pub(crate) struct Group<'p> {
    pub(crate) program: &'p Program,
    /// The number of the item's own body.
    pub(crate) base: BodyId,
    /// All bodies of the item.
    pub(crate) bodies: &'p [ProgramBody],
    pub(crate) scope: Scope<'p>,
    pub(crate) in_scope: Arc<InScope>,
    /// Types by body and value.
    pub(crate) types: Vec<Vec<Ty>>,
    /// Parameter types of closures, from the calls they are given to.
    pub(crate) closure_parameters: BTreeMap<BodyIndex, Vec<Ty>>,
    /// What other uses of a value prove: by body and value.
    pub(crate) proven: BTreeMap<(BodyId, ValueId), Ty>,
}

impl<'p> Group<'p> {
    /// The group of an item's bodies, with all types found.
    pub(crate) fn infer(program: &'p Program, base: BodyId, bodies: &'p [ProgramBody]) -> Self {
        let scope = program.scope_of(base);
        let mut group = Self {
            program,
            base,
            bodies,
            scope,
            in_scope: program.traits_in_scope(scope.node),
            types: Vec::new(),
            closure_parameters: BTreeMap::new(),
            proven: BTreeMap::new(),
        };
        group.run();
        let mut proven = crate::link::calls::evidence::connections(&group);
        proven.extend(crate::link::calls::foreign::connections(&group));
        if !proven.is_empty() {
            group.proven = proven;
            group.run();
        }
        group
    }

    fn run(&mut self) {
        self.types =
            self.bodies.iter().map(|own| vec![Ty::Unknown; own.body.values.len()]).collect();
        for _ in 0..PASSES {
            for (at, own) in self.bodies.iter().enumerate() {
                for value in 0..own.body.values.len() {
                    let id = ValueId(u32::try_from(value).unwrap_or(u32::MAX));
                    let ty = self.value(own, id);
                    if let Some(place) = self.types.get_mut(at).and_then(|all| all.get_mut(value)) {
                        *place = ty;
                    }
                }
            }
        }
    }

    /// The type found for a value of one of the item's bodies.
    pub(crate) fn ty(&self, body: BodyId, value: ValueId) -> Ty {
        let at = body.0.wrapping_sub(self.base.0) as usize;
        self.types.get(at).and_then(|all| all.get(value.0 as usize)).cloned().unwrap_or_default()
    }

    /// Where a call of a body stands.
    pub(crate) fn site<'s>(
        &'s self,
        body: BodyId,
        ty: &'s dyn Fn(BodyId, ValueId) -> Ty,
    ) -> Site<'s> {
        Site { body, scope: self.scope, in_scope: &self.in_scope, ty }
    }

    /// The body of a nested index.
    pub(crate) fn nested(&self, index: BodyIndex) -> BodyId {
        BodyId(self.base.0.saturating_add(index.0))
    }

    pub(crate) fn body(&self, id: BodyId) -> Option<&'p Body> {
        self.bodies.get(id.0.wrapping_sub(self.base.0) as usize).map(|own| &own.body)
    }

    pub(crate) fn written(&self, ty: &TypeRef) -> Ty {
        self.program.written_type(self.scope, ty, &Substitution::new())
    }

    fn value(&mut self, own: &'p ProgramBody, id: ValueId) -> Ty {
        if let Some(ty) = self.proven.get(&(own.id, id)) {
            return ty.clone();
        }
        let Some(value) = own.body.value(id) else { return Ty::Unknown };
        let inferred = self.kind(own, &value.kind);
        match &value.ty {
            Some(written) => {
                let ty = self.written(written);
                if ty.is_unknown() { inferred } else { ty }
            }
            None => inferred,
        }
    }

    fn kind(&mut self, own: &'p ProgramBody, kind: &'p ValueKind) -> Ty {
        let of = |value: &ValueId| self.ty(own.id, *value);
        match kind {
            ValueKind::Parameter(at) => self.parameter(own, *at as usize),
            ValueKind::Receiver => self.receiver(),
            ValueKind::Literal(literal) => literal_type(literal),
            ValueKind::Template(_) => Ty::standard("String", Vec::new()),
            ValueKind::Path(path) => self.path(path),
            ValueKind::Field { base, name } => self.field(&of(base), name),
            ValueKind::Element { base, .. } => parts::element(&of(base)),
            ValueKind::Result(op) => match own.body.call(*op) {
                Some(call) => self.call(own, call),
                None => Ty::Unknown,
            },
            ValueKind::Adapted { value, adapter, argument, .. } => {
                let ty = of(value);
                self.adapted(own, &ty, *adapter, *argument)
            }
            ValueKind::Awaited(value) => of(value),
            ValueKind::Payload { of: value, variant, field } => {
                self.payload(&of(value), variant, field)
            }
            ValueKind::Converted { value, conversion } => match conversion {
                Conversion::Same => of(value),
                Conversion::Display | Conversion::Debug | Conversion::Shaped => {
                    Ty::standard("String", Vec::new())
                }
                Conversion::Number => Ty::standard("integer", Vec::new()),
                Conversion::Bytes => Ty::List(Arc::new(Ty::standard("u8", Vec::new()))),
            },
            ValueKind::Aggregate { path, fields, .. } => {
                let first = fields.first().map_or(Ty::Unknown, |(_, value)| of(value));
                self.aggregate(path, first)
            }
            ValueKind::List(items) => Ty::Tuple(items.iter().map(of).collect()),
            ValueKind::Join(incoming) => {
                incoming.iter().map(of).find(|ty| !ty.is_unknown()).unwrap_or_default()
            }
            ValueKind::Closure(index) => Ty::Closure(self.nested(*index)),
            ValueKind::Async(index) => self.returned(self.nested(*index)),
            ValueKind::Captured(value) => {
                own.parent.map_or(Ty::Unknown, |parent| self.ty(parent, *value))
            }
            ValueKind::Binary { operator, left, .. } => {
                if operator.compares() || matches!(operator, Operator::And | Operator::Or) {
                    Ty::standard("bool", Vec::new())
                } else {
                    of(left)
                }
            }
            ValueKind::Not(_) | ValueKind::Matches { .. } => Ty::standard("bool", Vec::new()),
            ValueKind::Unknown | ValueKind::ScriptKey(_) | ValueKind::ScriptArgument(_) => {
                Ty::Unknown
            }
        }
    }

    fn parameter(&self, own: &ProgramBody, at: usize) -> Ty {
        if own.parent.is_some() {
            let types = self.closure_parameters.get(&own.index);
            return types.and_then(|all| all.get(at)).cloned().unwrap_or_default();
        }
        let Some(function) = self.program.enclosing_function(own.id) else { return Ty::Unknown };
        let header = self.program.function(function);
        let parameter = header.and_then(|function| function.parameters.get(at));
        parameter.map_or(Ty::Unknown, |parameter| self.written(&parameter.ty))
    }

    pub(super) fn receiver(&self) -> Ty {
        self.written(&TypeRef::Named { path: Path::single("Self"), arguments: Vec::new() })
    }

    fn path(&self, path: &Path) -> Ty {
        match self.program.names.resolve(self.scope, path, Namespace::Value).0 {
            Named::Constant(id) => {
                let Some(constant) = self.program.constant(id) else { return Ty::Unknown };
                let scope = Scope {
                    node: self.program.names.node_of(id.file, &constant.scope),
                    owner: constant.owner.as_ref(),
                    of_trait: None,
                    generics: &[],
                };
                self.program.written_type(scope, &constant.ty, &Substitution::new())
            }
            Named::Function(id) => Ty::Item(id),
            Named::Type(id) => self.program.workspace_type(id, &[]),
            Named::Variant(id, _) => Ty::Workspace { id, arguments: [].into() },
            Named::External(full) => match full.last() {
                Some("None") => Ty::standard("Option", Vec::new()),
                _ => self.library_path(&full),
            },
            _ => self.library_path(path),
        }
    }

    /// A path value of a library: a table of a macro, a variant or constant of a type.
    fn library_path(&self, path: &Path) -> Ty {
        if let Some(root) = self.program.table_library(path) {
            return Ty::derived(Path(vec![root.to_owned(), "table".to_owned()]));
        }
        let parent = path.parent();
        match parent.last() {
            Some(owner) if owner.starts_with(char::is_uppercase) => Ty::external(parent),
            _ => Ty::Unknown,
        }
    }

    fn adapted(
        &mut self,
        own: &ProgramBody,
        ty: &Ty,
        adapter: Adapter,
        argument: Option<ValueId>,
    ) -> Ty {
        let given = argument.map_or(Ty::Unknown, |argument| self.ty(own.id, argument));
        if let Ty::Closure(closure) = &given {
            let parameter = match adapter {
                Adapter::MapFailure | Adapter::OrElse => ty.argument(1),
                Adapter::UnwrapOr if ty.name() != Some("Option") => ty.argument(1),
                Adapter::Then | Adapter::OkOr | Adapter::UnwrapOr => Ty::Unknown,
                _ => ty.payload(),
            };
            self.give(*closure, vec![parameter]);
        }
        let made = match &given {
            Ty::Closure(closure) => self.returned(*closure),
            Ty::Item(_) => Ty::Unknown,
            other => other.clone(),
        };
        match adapter {
            Adapter::MapFailure | Adapter::Filter | Adapter::Inspect | Adapter::OrElse => {
                ty.clone()
            }
            Adapter::Ok => Ty::standard("Option", vec![ty.payload()]),
            Adapter::OkOr => Ty::standard("Result", vec![ty.payload(), made]),
            Adapter::Map if ty.is_fallible() => ty.with_payload(made),
            Adapter::Map => made,
            Adapter::AndThen => made,
            Adapter::UnwrapOr | Adapter::UnwrapOrDefault | Adapter::Unwrap => ty.payload(),
            Adapter::Then => Ty::standard("Option", vec![made]),
            Adapter::TestAnd | Adapter::TestOr => Ty::standard("bool", Vec::new()),
            Adapter::Reshape => {
                let inner = ty.payload();
                if inner.is_fallible() { inner } else { ty.clone() }
            }
        }
    }

    /// Notes the parameter types of a closure of this item.
    pub(super) fn give(&mut self, closure: BodyId, types: Vec<Ty>) {
        let index = BodyIndex(closure.0.wrapping_sub(self.base.0));
        let known = self.closure_parameters.entry(index).or_default();
        if types.iter().any(|ty| !ty.is_unknown()) {
            *known = types;
        }
    }

    /// What a body of the item gives back.
    pub(super) fn returned(&self, body: BodyId) -> Ty {
        let Some(own) = self.body(body) else { return Ty::Unknown };
        let declared = own.returns.as_ref().map(|ty| self.written(ty));
        if let Some(declared) = declared.filter(|ty| !ty.is_unknown()) {
            return declared;
        }
        let values = own.blocks.iter().filter_map(|block| match &block.end {
            Terminator::Return { value, exit: Exit::Tail | Exit::Return, .. } => *value,
            _ => None,
        });
        values.map(|value| self.ty(body, value)).find(|ty| !ty.is_unknown()).unwrap_or_default()
    }
}

fn literal_type(literal: &Literal) -> Ty {
    match literal {
        Literal::Text(_) => Ty::standard("str", Vec::new()),
        Literal::Integer(_) => Ty::standard("integer", Vec::new()),
        Literal::Float(_) => Ty::standard("f64", Vec::new()),
        Literal::Boolean(_) => Ty::standard("bool", Vec::new()),
        Literal::Nothing => Ty::standard("Option", Vec::new()),
        Literal::Unit => Ty::Tuple([].into()),
    }
}
