//! What belongs to types and traits: methods, associated constants, implementations.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::numbered;
use super::{Named, Names, Namespace, NodeId, Scope};
use crate::ir::index::{FileIndex, Function, Path, Role, TypeRef};
use crate::link::{ConstantId, FunctionId, TraitId, TypeId};
use crate::source::FileId;

/// What an `impl` block or a method's header is for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Type(TypeId),
    /// A library's type: the full path.
    External(Path),
    /// Every type that meets some bounds: `impl<T: X> Tr for T`.
    Blanket,
    /// A trait object: `impl dyn Tr`.
    Trait(TraitId),
    Unknown,
}

/// A type written in a header and where: to be read when it is asked for.
#[derive(Clone, Debug)]
pub struct WrittenType {
    /// Where names in it are looked up.
    pub node: NodeId,
    /// The type.
    pub ty: TypeRef,
    /// The type it is said of, as written in the header.
    pub owner: TypeRef,
    /// Type parameters of the header and their bounds.
    pub generics: Vec<(String, Vec<TypeRef>)>,
}

/// Methods, associated constants and implementations of a program.
#[derive(Debug, Default)]
pub struct Members {
    methods: BTreeMap<TypeId, BTreeMap<String, Vec<FunctionId>>>,
    constants: BTreeMap<TypeId, BTreeMap<String, ConstantId>>,
    declared: BTreeMap<TraitId, BTreeMap<String, FunctionId>>,
    implemented: BTreeMap<TraitId, BTreeMap<String, Vec<FunctionId>>>,
    supertraits: BTreeMap<TraitId, Vec<Named>>,
    traits_of: BTreeMap<TypeId, BTreeSet<Named>>,
    /// Methods that workspace traits add to library types: type, trait, function.
    extensions: BTreeMap<String, Vec<(Path, Option<TraitId>, FunctionId)>>,
    /// Methods of blanket impls by name.
    blanket: BTreeMap<String, Vec<(Option<TraitId>, FunctionId)>>,
    deref: BTreeMap<TypeId, WrittenType>,
    /// Methods of workspace types by name.
    method_names: BTreeMap<String, Vec<FunctionId>>,
    bodies: BTreeSet<FunctionId>,
    /// Methods of types that stand in the implementation of a trait.
    of_traits: BTreeSet<FunctionId>,
}

impl Members {
    pub(super) fn build(names: &Names, files: &[&FileIndex]) -> Self {
        let mut members = Self::default();
        for index in files {
            members.traits(names, index);
            members.implementations(names, index);
            members.functions(names, index);
            members.constants(names, index);
        }
        let tests: BTreeSet<FunctionId> =
            files.iter().flat_map(|index| test_functions(index)).collect();
        members.product_first(&tests);
        members
    }

    fn traits(&mut self, names: &Names, index: &FileIndex) {
        for (position, declared) in numbered(&index.traits) {
            let id = TraitId { file: index.file, index: position };
            let scope = plain(names, index.file, &declared.scope);
            let bounds = declared.bounds.iter().filter_map(|bound| match bound {
                TypeRef::Named { path, .. } => Some(names.resolve(scope, path, Namespace::Type).0),
                _ => None,
            });
            self.supertraits.insert(id, bounds.filter(|named| *named != Named::Unknown).collect());
        }
    }

    fn implementations(&mut self, names: &Names, index: &FileIndex) {
        for block in &index.implementations {
            let scope =
                Scope { generics: &block.generics, ..plain(names, index.file, &block.scope) };
            let owner = owner(names, scope, &block.owner);
            let Some(TypeRef::Named { path, .. }) = &block.of_trait else { continue };
            let of = names.resolve(scope, path, Namespace::Type).0;
            let Owner::Type(ty) = owner else { continue };
            if path.last() == Some("Deref")
                && let Some((_, target)) = block.types.iter().find(|(name, _)| name == "Target")
            {
                let written = WrittenType {
                    node: scope.node,
                    ty: target.clone(),
                    owner: block.owner.clone(),
                    generics: block.generics.clone(),
                };
                self.deref.entry(ty).or_insert(written);
            }
            self.traits_of.entry(ty).or_default().insert(of);
        }
    }

    fn functions(&mut self, names: &Names, index: &FileIndex) {
        for (position, function) in numbered(&index.functions) {
            let id = FunctionId { file: index.file, index: position };
            if function.has_body {
                self.bodies.insert(id);
            }
            if function.owner.is_none() && function.of_trait.is_none() {
                continue;
            }
            let scope =
                Scope { generics: &function.generics, ..plain(names, index.file, &function.scope) };
            let of = function
                .of_trait
                .as_ref()
                .map(|path| names.resolve(scope, path, Namespace::Type).0);
            self.function(names, scope, id, function, of);
        }
    }

    fn function(
        &mut self,
        names: &Names,
        scope: Scope<'_>,
        id: FunctionId,
        function: &Function,
        of: Option<Named>,
    ) {
        let name = function.name.clone();
        let of_trait = match &of {
            Some(Named::Trait(id)) => Some(*id),
            _ => None,
        };
        let Some(written) = &function.owner else {
            if let Some(of) = of_trait {
                self.declared.entry(of).or_default().entry(name).or_insert(id);
            }
            return;
        };
        if let Some(of) = of_trait {
            self.implemented.entry(of).or_default().entry(name.clone()).or_default().push(id);
        }
        match owner(names, scope, written) {
            Owner::Type(ty) => {
                self.method_names.entry(name.clone()).or_default().push(id);
                self.methods.entry(ty).or_default().entry(name).or_default().push(id);
                if of.is_some() {
                    self.of_traits.insert(id);
                }
                if let Some(of) = of {
                    self.traits_of.entry(ty).or_default().insert(of);
                }
            }
            Owner::External(path) => {
                self.extensions.entry(name).or_default().push((path, of_trait, id));
            }
            Owner::Blanket => self.blanket.entry(name).or_default().push((of_trait, id)),
            Owner::Trait(of) => {
                self.implemented.entry(of).or_default().entry(name).or_default().push(id);
            }
            Owner::Unknown => {}
        }
    }

    fn constants(&mut self, names: &Names, index: &FileIndex) {
        for (position, constant) in numbered(&index.constants) {
            let Some(written) = &constant.owner else { continue };
            let scope = plain(names, index.file, &constant.scope);
            if let Owner::Type(ty) = owner(names, scope, written) {
                let id = ConstantId { file: index.file, index: position };
                self.constants.entry(ty).or_default().entry(constant.name.clone()).or_insert(id);
            }
        }
    }

    /// Implementations that ship come before those of tests, else in the order of ids.
    fn product_first(&mut self, tests: &BTreeSet<FunctionId>) {
        for all in self.implemented.values_mut().flat_map(BTreeMap::values_mut) {
            all.sort_by_key(|id| (tests.contains(id), *id));
            all.dedup();
        }
        for all in self.methods.values_mut().flat_map(BTreeMap::values_mut) {
            // Inherent methods win over a trait's; of configured twins the first.
            all.sort_by_key(|id| (tests.contains(id), self.of_traits.contains(id)));
        }
    }

    /// The associated function or constant of a type.
    pub(super) fn of_type(&self, ty: TypeId, name: &str) -> Named {
        if let Some(id) = self.methods_of(ty, name).first() {
            return Named::Function(*id);
        }
        if let Some(id) = self.constants.get(&ty).and_then(|all| all.get(name)) {
            return Named::Constant(*id);
        }
        // A default method of a trait that the type has.
        let traits = self.traits_of.get(&ty).into_iter().flatten();
        let mut found = traits.map(|of| match of {
            Named::Trait(id) => self.of_trait(*id, name),
            _ => Named::Unknown,
        });
        found.find(|named| *named != Named::Unknown).unwrap_or(Named::Unknown)
    }

    /// The function that a trait declares.
    pub(super) fn of_trait(&self, id: TraitId, name: &str) -> Named {
        match self.declared_in(id, name) {
            Some(id) => Named::Function(id),
            None => Named::Unknown,
        }
    }

    /// Methods and associated functions that a type has by its own `impl` blocks.
    #[must_use]
    pub fn methods_of(&self, ty: TypeId, name: &str) -> &[FunctionId] {
        self.methods.get(&ty).and_then(|all| all.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The declaration of a method in a trait or the traits it builds on.
    #[must_use]
    pub fn declared_in(&self, id: TraitId, name: &str) -> Option<FunctionId> {
        let mut open = vec![id];
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(found) = self.declared.get(&id).and_then(|all| all.get(name)) {
                return Some(*found);
            }
            let supertraits = self.supertraits.get(&id).into_iter().flatten();
            open.extend(supertraits.filter_map(|named| match named {
                Named::Trait(id) => Some(*id),
                _ => None,
            }));
        }
        None
    }

    /// What a call of a trait's method may run: all implementations, and the default if it has one.
    #[must_use]
    pub fn dispatch(&self, id: TraitId, name: &str) -> Vec<FunctionId> {
        let mut all = Vec::new();
        for id in self.with_supertraits(id) {
            let own = self.implemented.get(&id).and_then(|all| all.get(name));
            all.extend(own.into_iter().flatten().copied());
        }
        all.extend(self.declared_in(id, name).filter(|id| self.bodies.contains(id)));
        all
    }

    fn with_supertraits(&self, id: TraitId) -> Vec<TraitId> {
        let mut all = vec![id];
        let mut at = 0;
        while let Some(id) = all.get(at).copied() {
            for named in self.supertraits.get(&id).into_iter().flatten() {
                match named {
                    Named::Trait(id) if !all.contains(id) => all.push(*id),
                    _ => {}
                }
            }
            at += 1;
        }
        all
    }

    /// Traits that a type is known to have; library traits as their full path.
    pub fn traits_of(&self, ty: TypeId) -> impl Iterator<Item = &Named> {
        self.traits_of.get(&ty).into_iter().flatten()
    }

    /// The library traits that a trait builds on.
    #[must_use]
    pub fn external_supertraits(&self, id: TraitId) -> Vec<&Path> {
        let all = self.with_supertraits(id);
        let named = all.iter().filter_map(|id| self.supertraits.get(id)).flatten();
        named
            .filter_map(|named| match named {
                Named::External(path) => Some(path),
                _ => None,
            })
            .collect()
    }

    /// What a workspace type derefs to.
    #[must_use]
    pub fn deref(&self, ty: TypeId) -> Option<&WrittenType> {
        self.deref.get(&ty)
    }

    /// Methods that the workspace adds to library types: the type, the trait, the function.
    #[must_use]
    pub fn extensions(&self, name: &str) -> &[(Path, Option<TraitId>, FunctionId)] {
        self.extensions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Methods that blanket impls add to every type that meets their bounds.
    #[must_use]
    pub fn blanket(&self, name: &str) -> &[(Option<TraitId>, FunctionId)] {
        self.blanket.get(name).map_or(&[], Vec::as_slice)
    }

    /// The only workspace method of a name, whatever the type; `None` when there are several.
    #[must_use]
    pub fn only_method(&self, name: &str) -> Option<FunctionId> {
        match self.method_names.get(name).map(Vec::as_slice) {
            Some([only]) => Some(*only),
            _ => None,
        }
    }
}

fn plain<'a>(names: &Names, file: FileId, scope: &Path) -> Scope<'a> {
    Scope::of(names.node_of(file, scope))
}

fn owner(names: &Names, scope: Scope<'_>, written: &TypeRef) -> Owner {
    match written {
        TypeRef::Named { path, .. } => match names.resolve(scope, path, Namespace::Type).0 {
            Named::Type(id) => aliased(names, id, 0),
            Named::External(path) => Owner::External(path),
            Named::Generic(_) => Owner::Blanket,
            Named::Trait(id) => Owner::Trait(id),
            _ => Owner::Unknown,
        },
        TypeRef::Bounds(bounds) => match bounds.first() {
            Some(TypeRef::Named { path, .. }) => {
                match names.resolve(scope, path, Namespace::Type).0 {
                    Named::Trait(id) => Owner::Trait(id),
                    _ => Owner::Unknown,
                }
            }
            _ => Owner::Unknown,
        },
        _ => Owner::Unknown,
    }
}

/// The owner behind an alias.
fn aliased(names: &Names, id: TypeId, depth: u32) -> Owner {
    match names.aliases.get(&id) {
        Some((node, TypeRef::Named { path, .. })) if depth < 16 => {
            match names.resolve(Scope::of(*node), path, Namespace::Type).0 {
                Named::Type(id) => aliased(names, id, depth + 1),
                Named::External(path) => Owner::External(path),
                _ => Owner::Unknown,
            }
        }
        Some(_) => Owner::Unknown,
        None => Owner::Type(id),
    }
}

fn test_functions(index: &FileIndex) -> Vec<FunctionId> {
    let all = numbered(&index.functions);
    all.filter(|(_, function)| index.role == Role::Test || function.role == Role::Test)
        .map(|(position, _)| FunctionId { file: index.file, index: position })
        .collect()
}
