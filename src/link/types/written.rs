//! Written types to [`Ty`]: paths resolved, aliases expanded, type parameters filled in.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Bound, Ty};
use crate::ir::index::{Path, Type, TypeRef};
use crate::link::names::{Named, Namespace, Scope};
use crate::link::{Program, TypeId};

/// How deep a written type is followed through aliases and arguments.
const DEPTH: u32 = 12;

/// How many parts of written types one question looks at: an alias of a pair of itself has many.
const STEPS: u32 = 2_000;

/// Traits that say nothing of what a value is.
const MARKERS: [&str; 9] =
    ["Send", "Sync", "Sized", "Unpin", "Clone", "Copy", "Debug", "UnwindSafe", "RefUnwindSafe"];

/// What type parameters stand for.
pub type Substitution = BTreeMap<String, Ty>;

/// How far one question has come.
#[derive(Clone, Copy)]
struct Way<'w> {
    depth: u32,
    steps: &'w Cell<u32>,
}

impl Way<'_> {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    /// Counts a step; whether it was one too many.
    fn ends(self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.depth > DEPTH || self.steps.get() > STEPS
    }
}

impl Program {
    /// A written type in a scope; type parameters that `known` lacks become their bounds.
    #[must_use]
    pub fn written_type(&self, scope: Scope<'_>, ty: &TypeRef, known: &Substitution) -> Ty {
        self.lower(scope, ty, known, Way { depth: 0, steps: &Cell::new(0) })
    }

    fn lower(&self, scope: Scope<'_>, ty: &TypeRef, known: &Substitution, way: Way<'_>) -> Ty {
        if way.ends() {
            return Ty::Unknown;
        }
        let all = |list: &[TypeRef]| -> Vec<Ty> {
            list.iter().map(|ty| self.lower(scope, ty, known, way.deeper())).collect()
        };
        match ty {
            TypeRef::Unknown => Ty::Unknown,
            TypeRef::Tuple(parts) => Ty::Tuple(all(parts).into()),
            TypeRef::Slice(of) => Ty::List(Arc::new(self.lower(scope, of, known, way.deeper()))),
            TypeRef::Function { parameters, returns } => Ty::Function {
                parameters: all(parameters).into(),
                returns: Arc::new(self.lower(scope, returns, known, way.deeper())),
            },
            TypeRef::Bounds(bounds) => self.bounded(scope, bounds, known, way),
            TypeRef::Named { path, arguments } => {
                self.named(scope, path, &all(arguments), known, way)
            }
        }
    }

    fn named(
        &self,
        scope: Scope<'_>,
        path: &Path,
        arguments: &[Ty],
        known: &Substitution,
        way: Way<'_>,
    ) -> Ty {
        if path.0.len() == 1
            && let Some(ty) = path.first().and_then(|name| known.get(name))
        {
            return ty.clone();
        }
        if path.0.len() == 1 && path.first() == Some("Self") {
            return match scope.owner {
                Some(TypeRef::Named { path, .. }) if path.first() == Some("Self") => Ty::Unknown,
                Some(owner) => {
                    self.lower(Scope { owner: None, ..scope }, owner, known, way.deeper())
                }
                None => match self.names.resolve(scope, path, Namespace::Type).0 {
                    Named::Trait(id) => Ty::Bounds(Arc::from([Bound::Workspace(id)])),
                    _ => Ty::Unknown,
                },
            };
        }
        match self.names.resolve(scope, path, Namespace::Type).0 {
            Named::Type(id) => self.unaliased(id, arguments, way),
            Named::Trait(id) => Ty::Bounds(Arc::from([Bound::Workspace(id)])),
            Named::Generic(name) if path.0.len() == 1 => {
                let bounds = scope.generics.iter().filter(|(own, _)| *own == name);
                let bounds: Vec<TypeRef> =
                    bounds.flat_map(|(_, all)| all.iter().cloned()).collect();
                // The parameter itself may stand in its own bounds.
                let generics: Vec<_> =
                    scope.generics.iter().filter(|(own, _)| *own != name).cloned().collect();
                self.bounded(Scope { generics: &generics, ..scope }, &bounds, known, way)
            }
            Named::External(path) => external(&path, arguments),
            _ => Ty::Unknown,
        }
    }

    /// A type of the workspace, aliases expanded.
    pub(crate) fn workspace_type(&self, id: TypeId, arguments: &[Ty]) -> Ty {
        self.unaliased(id, arguments, Way { depth: 0, steps: &Cell::new(0) })
    }

    fn unaliased(&self, id: TypeId, arguments: &[Ty], way: Way<'_>) -> Ty {
        let Some(declared) = self.ty(id) else { return Ty::Unknown };
        match &declared.alias {
            Some(alias) => {
                let scope = Scope {
                    node: self.names.node_of(id.file, &declared.scope),
                    owner: None,
                    of_trait: None,
                    generics: &declared.generics,
                };
                self.lower(scope, alias, &filled(declared, arguments), way.deeper())
            }
            None => Ty::Workspace { id, arguments: arguments.into() },
        }
    }

    /// What bounds say: a function, a future's output, the elements of an iterator, or traits.
    fn bounded(
        &self,
        scope: Scope<'_>,
        bounds: &[TypeRef],
        known: &Substitution,
        way: Way<'_>,
    ) -> Ty {
        if way.ends() {
            return Ty::Unknown;
        }
        let mut traits = Vec::new();
        for bound in bounds {
            match bound {
                TypeRef::Function { .. } => return self.lower(scope, bound, known, way.deeper()),
                TypeRef::Named { path, arguments } => {
                    let first = || {
                        arguments
                            .first()
                            .map_or(Ty::Unknown, |ty| self.lower(scope, ty, known, way.deeper()))
                    };
                    match path.last() {
                        Some("Future" | "IntoFuture") => return first(),
                        Some("Iterator" | "IntoIterator" | "Stream" | "TryStream") => {
                            return Ty::List(Arc::new(first()));
                        }
                        Some("AsRef" | "Borrow" | "Into" | "Deref" | "DerefMut" | "AsMut") => {
                            return first();
                        }
                        Some(name) if MARKERS.contains(&name) => {}
                        _ => match self.names.resolve(scope, path, Namespace::Type).0 {
                            Named::Trait(id) => traits.push(Bound::Workspace(id)),
                            Named::External(path) => traits.push(Bound::External(Arc::new(path))),
                            _ => {}
                        },
                    }
                }
                _ => {}
            }
        }
        if traits.is_empty() { Ty::Unknown } else { Ty::Bounds(traits.into()) }
    }

    /// The type of a field of a workspace type.
    #[must_use]
    pub fn field_type(&self, id: TypeId, arguments: &[Ty], field: &str) -> Ty {
        let Some(declared) = self.ty(id) else { return Ty::Unknown };
        let Some((_, ty)) = declared.fields.iter().find(|(name, _)| name == field) else {
            return Ty::Unknown;
        };
        self.declared_type(id, declared, arguments, ty)
    }

    /// The type of a field of an enum's variant.
    #[must_use]
    pub fn variant_field_type(
        &self,
        id: TypeId,
        arguments: &[Ty],
        variant: &str,
        field: &str,
    ) -> Ty {
        let Some(declared) = self.ty(id) else { return Ty::Unknown };
        let fields = declared.variants.iter().find(|(name, _)| name == variant).map(|(_, all)| all);
        match fields.and_then(|all| all.iter().find(|(name, _)| name == field)) {
            Some((_, ty)) => self.declared_type(id, declared, arguments, ty),
            None => Ty::Unknown,
        }
    }

    fn declared_type(&self, id: TypeId, declared: &Type, arguments: &[Ty], ty: &TypeRef) -> Ty {
        let owner =
            TypeRef::Named { path: Path::single(declared.name.clone()), arguments: Vec::new() };
        let scope = Scope {
            node: self.names.node_of(id.file, &declared.scope),
            owner: Some(&owner),
            of_trait: None,
            generics: &declared.generics,
        };
        self.written_type(scope, ty, &filled(declared, arguments))
    }
}

/// A library's type; containers of one element type become lists.
pub(super) fn external(path: &Path, arguments: &[Ty]) -> Ty {
    let list = matches!(
        path.last(),
        Some("Vec" | "VecDeque" | "HashSet" | "BTreeSet" | "BinaryHeap" | "SmallVec" | "IndexSet")
    );
    match (path.last(), arguments) {
        (_, [of]) if list => Ty::List(Arc::new(of.clone())),
        (_, []) if list => Ty::List(Arc::new(Ty::Unknown)),
        (Some("BoxFuture" | "LocalBoxFuture"), [output]) => output.clone(),
        (Some("BoxStream" | "LocalBoxStream"), [item]) => Ty::List(Arc::new(item.clone())),
        (Some("Box" | "Arc" | "Rc" | "Cow" | "Pin"), [of]) => of.clone(),
        _ => Ty::External { path: Arc::new(path.clone()), arguments: arguments.into() },
    }
}

/// Type parameters of a declared type and what they are here; those not known are left out.
fn filled(declared: &Type, arguments: &[Ty]) -> Substitution {
    let names = declared.generics.iter().map(|(name, _)| name.clone());
    let pairs = names.zip(arguments.iter().cloned());
    pairs.filter(|(_, ty)| !ty.is_unknown()).collect()
}
