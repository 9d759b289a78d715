//! What evaluation asks of the workspace's own types: constructors, fields, trait methods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use super::fields::Constructors;
use crate::ir::body::OpKind;
use crate::ir::effect::BodyId;
use crate::ir::index::{ItemId, TypeRef};
use crate::ir::value::ValueKind;
use crate::link::names::{Named, Namespace, Scope};
use crate::link::types::Ty;
use crate::link::{ConstantId, FunctionId, Program, TypeId};

/// What is looked up once a program, on first demand.
#[derive(Debug, Default)]
pub struct Caches {
    pub(super) constructors: OnceLock<Constructors>,
    methods: OnceLock<BTreeMap<(TypeId, String, String), FunctionId>>,
    /// Fields that are written to, or given out for that, after they were made: of a type, or of one that is not known.
    assigned: OnceLock<BTreeSet<(Option<TypeId>, String)>>,
}

/// The workspace type of a value's type.
#[must_use]
pub fn workspace_type(ty: &Ty) -> Option<TypeId> {
    match ty {
        Ty::Workspace { id, .. } => Some(*id),
        _ => None,
    }
}

/// The type that an aggregate of this path builds.
pub(super) fn built_type(named: &Named) -> Option<TypeId> {
    match named {
        Named::Type(id) | Named::Variant(id, _) => Some(*id),
        _ => None,
    }
}

impl Program {
    /// The body of a function; `None` when it has none or was not lowered.
    #[must_use]
    pub fn function_body(&self, id: FunctionId) -> Option<BodyId> {
        self.body_of(id)
    }

    /// The body of a constant's initialiser.
    #[must_use]
    pub fn constant_body(&self, id: ConstantId) -> Option<BodyId> {
        self.body_of_item(id.file, ItemId::Constant(id.index))
    }

    /// The closures and async blocks written directly in a body.
    pub fn nested_bodies(&self, body: BodyId) -> impl Iterator<Item = BodyId> {
        let all = self.bodies.iter().skip(body.0 as usize + 1);
        let own = self.body(body).map(|own| (own.file, own.item));
        let same = all.take_while(move |it| Some((it.file, it.item)) == own && it.item.is_some());
        same.filter(move |it| it.parent == Some(body)).map(|it| it.id)
    }

    /// The method of a trait, by the trait's last name, that a type implements.
    #[must_use]
    pub fn trait_method(&self, ty: TypeId, trait_name: &str, method: &str) -> Option<FunctionId> {
        let all = self.evaluated.methods.get_or_init(|| self.find_trait_methods());
        all.get(&(ty, trait_name.to_owned(), method.to_owned())).copied()
    }

    /// Whether some code writes to a field of a type after a constructor has set it.
    #[must_use]
    pub fn is_assigned(&self, ty: TypeId, field: &str) -> bool {
        let all = self.evaluated.assigned.get_or_init(|| self.find_assigned());
        [Some(ty), None].into_iter().any(|owner| all.contains(&(owner, field.to_owned())))
    }

    fn find_assigned(&self) -> BTreeSet<(Option<TypeId>, String)> {
        let mut all = BTreeSet::new();
        for own in &self.bodies {
            let stored = own.body.operations().filter_map(|(_, _, op)| match op.kind {
                OpKind::Store { place, .. } => Some(own.body.peel(place)),
                _ => None,
            });
            for place in stored.chain(own.body.lent.iter().copied()) {
                let ValueKind::Field { base, name } = own.body.kind(place) else { continue };
                match self.type_of(own.id, *base) {
                    Ty::Unknown => all.insert((None, name.clone())),
                    ty => {
                        workspace_type(&ty).is_some_and(|id| all.insert((Some(id), name.clone())))
                    }
                };
            }
        }
        all
    }

    fn find_trait_methods(&self) -> BTreeMap<(TypeId, String, String), FunctionId> {
        let mut all = BTreeMap::new();
        for index in self.files.iter().flatten() {
            for (at, function) in (0_u32..).zip(&index.functions) {
                let id = FunctionId { file: index.file, index: at };
                let (Some(owner), Some(of)) = (&function.owner, &function.of_trait) else {
                    continue;
                };
                let (Some(ty), Some(name)) = (self.type_named(id, owner), of.last()) else {
                    continue;
                };
                all.entry((ty, name.to_owned(), function.name.clone())).or_insert(id);
            }
        }
        all
    }

    /// The workspace type that a written type names in the scope of a function.
    #[must_use]
    pub fn type_named(&self, function: FunctionId, written: &TypeRef) -> Option<TypeId> {
        let header = self.function(function)?;
        let scope = self.scope_of_function(function, header);
        self.type_in(scope, written, 0)
    }

    fn type_in(&self, scope: Scope<'_>, written: &TypeRef, depth: u32) -> Option<TypeId> {
        let TypeRef::Named { path, arguments } = written else { return None };
        if depth < 4
            && matches!(path.last(), Some("Option" | "Mutex" | "RwLock"))
            && let [inner] = arguments.as_slice()
        {
            return self.type_in(scope, inner, depth + 1);
        }
        if path.last() == Some("Self") && path.0.len() == 1 {
            // `impl Lock for Self {}` has no end.
            return self.type_in(Scope { owner: None, ..scope }, scope.owner?, depth + 1);
        }
        match self.names.resolve(scope, path, Namespace::Type).0 {
            Named::Type(id) => Some(id),
            _ => None,
        }
    }

    /// The workspace type whose method a body belongs to.
    #[must_use]
    pub fn owner_of(&self, body: BodyId) -> Option<TypeId> {
        let function = self.enclosing_function(body)?;
        self.type_named(function, self.function(function)?.owner.as_ref()?)
    }

    /// The type of a field of a type that is written in the scope of a body's function.
    #[must_use]
    pub fn written_field(&self, body: BodyId, owner: &TypeRef, field: &str) -> Option<TypeRef> {
        let id = self.type_named(self.enclosing_function(body)?, owner)?;
        let found = self.ty(id)?.fields.iter().find(|(name, _)| name == field)?;
        Some(found.1.clone())
    }
}
