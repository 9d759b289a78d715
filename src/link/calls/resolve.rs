//! What a callee is: a function of the workspace, rows of the catalog, or not known.

use super::matching::{self, Shape};
use super::{InScope, Resolved};
use crate::ir::body::{Call, Callee};
use crate::ir::effect::BodyId;
use crate::ir::index::{Path, TypeRef};
use crate::ir::value::ValueId;
use crate::link::names::{Named, Namespace, Resolution, Scope};
use crate::link::types::written::Substitution;
use crate::link::types::{Bound, Ty, standard};
use crate::link::{FunctionId, Program, TypeId};

/// Method names that so many types have that one workspace method of the name proves nothing.
const COMMON: [&str; 56] = [
    "new",
    "get",
    "set",
    "insert",
    "remove",
    "push",
    "pop",
    "len",
    "is_empty",
    "iter",
    "next",
    "clone",
    "into",
    "from",
    "send",
    "recv",
    "lock",
    "unlock",
    "read",
    "write",
    "open",
    "close",
    "start",
    "stop",
    "run",
    "build",
    "with",
    "add",
    "del",
    "delete",
    "update",
    "query",
    "execute",
    "exec",
    "fetch",
    "find",
    "keys",
    "values",
    "contains",
    "clear",
    "take",
    "replace",
    "map",
    "filter",
    "name",
    "id",
    "key",
    "value",
    "as_str",
    "to_string",
    "fmt",
    "drop",
    "call",
    "await",
    "poll",
    "join",
];

/// Where a call stands and what is known of values there.
pub(crate) struct Site<'a> {
    /// The body.
    pub body: BodyId,
    /// Its scope.
    pub scope: Scope<'a>,
    /// What the scope brings in from libraries.
    pub in_scope: &'a InScope,
    /// Types of the values of the item's bodies.
    pub ty: &'a dyn Fn(BodyId, ValueId) -> Ty,
}

impl Program {
    /// Resolves a call.
    pub(in crate::link) fn resolve_call(&self, site: &Site<'_>, call: &Call) -> Resolved {
        match &call.callee {
            Callee::Path(path) => self.resolve_path_call(site, path, call),
            Callee::Macro(path) => self.resolve_macro(site, path),
            Callee::Value(value) => resolve_value((site.ty)(site.body, *value)),
            Callee::Method(name) => {
                let receiver =
                    call.receiver.map_or(Ty::Unknown, |value| (site.ty)(site.body, value));
                let shape = Shape {
                    name,
                    arguments: call.arguments.len(),
                    type_arguments: call.type_arguments.len(),
                };
                self.resolve_method(site, &receiver, shape)
            }
        }
    }

    fn resolve_path_call(&self, site: &Site<'_>, path: &Path, call: &Call) -> Resolved {
        let (named, resolution) = self.names.resolve(site.scope, path, Namespace::Value);
        match named {
            Named::Function(id) => {
                let (functions, resolution) = self.implementations(site, path, id, resolution);
                Resolved::functions(functions, resolution, Ty::Unknown)
            }
            Named::Type(id) => Resolved {
                receiver: self.workspace_type(id, &[]),
                resolution,
                ..Resolved::unknown()
            },
            Named::Variant(id, _) => Resolved {
                receiver: Ty::Workspace { id, arguments: [].into() },
                resolution,
                ..Resolved::unknown()
            },
            Named::External(full) => {
                let full = self.behind_alias(site.scope, path).unwrap_or(full);
                let apis = matching::on_path(self.catalog, &full, call.arguments.len());
                Resolved {
                    apis,
                    resolution: Resolution::External,
                    path: Some(full),
                    ..Resolved::unknown()
                }
            }
            Named::Generic(_) => self.resolve_on_parameter(site, path, call),
            _ => match self.behind_alias(site.scope, path) {
                Some(full) => Resolved {
                    apis: matching::on_path(self.catalog, &full, call.arguments.len()),
                    resolution: Resolution::External,
                    path: Some(full),
                    ..Resolved::unknown()
                },
                None => Resolved::unknown(),
            },
        }
    }

    /// `Alias::new(…)` where the alias stands for a library's type: the library's path.
    fn behind_alias(&self, scope: Scope<'_>, path: &Path) -> Option<Path> {
        if path.0.len() < 2 {
            return None;
        }
        let Named::Type(id) = self.names.resolve(scope, &path.parent(), Namespace::Type).0 else {
            return None;
        };
        let (full, _) =
            self.workspace_type(id, &[]).as_external().map(|(p, a)| (p.clone(), a.len()))?;
        Some(full.join(path.last()?))
    }

    /// A trait's declaration stands for all implementations; any other function for itself.
    fn implementations(
        &self,
        site: &Site<'_>,
        path: &Path,
        id: FunctionId,
        resolution: Resolution,
    ) -> (Vec<FunctionId>, Resolution) {
        let Some(function) = self.function(id) else { return (vec![id], resolution) };
        if function.owner.is_some() || function.of_trait.is_none() {
            return (vec![id], resolution);
        }
        let parent = self.names.resolve(site.scope, &path.parent(), Namespace::Type).0;
        match parent {
            // A default method called on a type that has the trait.
            Named::Type(_) => (vec![id], resolution),
            Named::Trait(of) => {
                (self.names.members().dispatch(of, &function.name), Resolution::Dispatch)
            }
            _ => (vec![id], resolution),
        }
    }

    /// `C::connect(…)` where `C` is a type parameter.
    fn resolve_on_parameter(&self, site: &Site<'_>, path: &Path, call: &Call) -> Resolved {
        let Some(name) = path.last() else { return Resolved::unknown() };
        let parameter = TypeRef::Named { path: path.parent(), arguments: Vec::new() };
        let ty = self.written_type(site.scope, &parameter, &Substitution::new());
        let shape = Shape { name, arguments: call.arguments.len(), type_arguments: 0 };
        self.on_bounds(&ty, shape).unwrap_or_else(Resolved::unknown)
    }

    fn resolve_macro(&self, site: &Site<'_>, path: &Path) -> Resolved {
        let full = match self.names.resolve(site.scope, path, Namespace::Value).0 {
            Named::External(full) => full,
            _ => path.clone(),
        };
        let mut apis = matching::on_macro(self.catalog, &full);
        if apis.is_empty() && full != *path {
            // A glob was guessed to bring the macro; the name alone may know better.
            apis = matching::on_macro(self.catalog, path);
        }
        Resolved { apis, resolution: Resolution::External, path: Some(full), ..Resolved::unknown() }
    }

    /// A method on a receiver, with holders, derefs and bounds looked through.
    pub(super) fn resolve_method(
        &self,
        site: &Site<'_>,
        receiver: &Ty,
        shape: Shape<'_>,
    ) -> Resolved {
        let mut ty = receiver.clone();
        for _ in 0..8 {
            match &ty {
                Ty::Workspace { id, .. } => match self.on_workspace(*id, &ty, shape) {
                    Some(found) => return found,
                    None => match self.deref_of(*id, &ty) {
                        Some(target) => ty = target,
                        None => return Resolved { receiver: ty, ..Resolved::unknown() },
                    },
                },
                Ty::Bounds(_) => {
                    let found = self.on_bounds(&ty, shape);
                    return found
                        .unwrap_or_else(|| Resolved { receiver: ty, ..Resolved::unknown() });
                }
                Ty::External { path, .. } => {
                    if let Some(found) = self.extension(Some(path), shape) {
                        return found;
                    }
                    let apis = matching::on_external(self.catalog, &ty, shape, site.in_scope);
                    if !apis.is_empty() {
                        return Resolved::library(apis, ty);
                    }
                    match standard::held(&ty) {
                        Some(held) if standard::method(&ty, shape.name).is_none() => ty = held,
                        _ => return Resolved { receiver: ty, ..Resolved::unknown() },
                    }
                }
                Ty::Derived { from, answered } => {
                    if let Some(found) = self.extension(None, shape) {
                        return found;
                    }
                    let apis =
                        matching::on_derived(self.catalog, (from, *answered), shape, site.in_scope);
                    return match apis.is_empty() {
                        true => Resolved { receiver: ty, ..Resolved::unknown() },
                        false => Resolved::library(apis, ty),
                    };
                }
                Ty::Unknown => return self.on_unknown(site, shape),
                _ => {
                    let found = self.extension(None, shape);
                    return found
                        .unwrap_or_else(|| Resolved { receiver: ty, ..Resolved::unknown() });
                }
            }
        }
        Resolved::unknown()
    }

    fn on_workspace(&self, id: TypeId, ty: &Ty, shape: Shape<'_>) -> Option<Resolved> {
        let members = self.names.members();
        if let Some(first) = members.methods_of(id, shape.name).first() {
            return Some(Resolved::functions(vec![*first], Resolution::Exact, ty.clone()));
        }
        for of in members.traits_of(id) {
            if let Named::Trait(of) = of
                && let Some(declared) = members.declared_in(*of, shape.name)
            {
                return Some(Resolved::functions(vec![declared], Resolution::Exact, ty.clone()));
            }
        }
        if let [(_, only)] = members.blanket(shape.name) {
            return Some(Resolved::functions(vec![*only], Resolution::Dispatch, ty.clone()));
        }
        // A wrapper that is a connection itself has the methods of the library's blanket impls.
        let external: Vec<&Path> = members
            .traits_of(id)
            .filter_map(|of| match of {
                Named::External(path) if path.first() != Some("std") => Some(path),
                _ => None,
            })
            .collect();
        let apis = matching::on_bounds(self.catalog, external.into_iter(), shape);
        (!apis.is_empty()).then(|| Resolved::library(apis, ty.clone()))
    }

    /// What a workspace type derefs to, by its `impl Deref`: the type parameters of the header are
    /// what stands in their place in the type at hand.
    pub(in crate::link) fn deref_of(&self, id: TypeId, ty: &Ty) -> Option<Ty> {
        let written = self.names.members().deref(id)?;
        let scope = Scope {
            owner: Some(&written.owner),
            generics: &written.generics,
            ..Scope::of(written.node)
        };
        let arguments = match &written.owner {
            TypeRef::Named { arguments, .. } => arguments.as_slice(),
            _ => &[],
        };
        let parameter = |argument: &TypeRef| match argument {
            TypeRef::Named { path, .. } if path.0.len() == 1 => path.first().map(str::to_owned),
            _ => None,
        };
        let known = arguments.iter().enumerate().filter_map(|(at, argument)| {
            let name = parameter(argument)?;
            let own = written.generics.iter().any(|(generic, _)| *generic == name);
            let ty = ty.argument(at);
            (own && !ty.is_unknown()).then_some((name, ty))
        });
        let target = self.written_type(scope, &written.ty, &known.collect::<Substitution>());
        (target != *ty && !target.is_unknown()).then_some(target)
    }

    fn on_bounds(&self, ty: &Ty, shape: Shape<'_>) -> Option<Resolved> {
        let members = self.names.members();
        for bound in ty.bounds() {
            let Bound::Workspace(id) = bound else { continue };
            if members.declared_in(*id, shape.name).is_some() {
                let all = members.dispatch(*id, shape.name);
                return Some(Resolved::functions(all, Resolution::Dispatch, ty.clone()));
            }
        }
        if let [(Some(_), only)] = members.blanket(shape.name) {
            return Some(Resolved::functions(vec![*only], Resolution::Dispatch, ty.clone()));
        }
        let mut paths = matching::external_bounds(ty.bounds());
        for bound in ty.bounds() {
            if let Bound::Workspace(id) = bound {
                paths.extend(members.external_supertraits(*id));
            }
        }
        let apis = matching::on_bounds(self.catalog, paths.into_iter(), shape);
        (!apis.is_empty()).then(|| Resolved::library(apis, ty.clone()))
    }

    /// A method that a workspace trait adds to a library's type.
    fn extension(&self, path: Option<&Path>, shape: Shape<'_>) -> Option<Resolved> {
        let members = self.names.members();
        let fits = |of: &Path| {
            path.is_some_and(|path| {
                of.last() == path.last()
                    && matching::related(self.catalog, of.first().unwrap_or_default(), path)
            })
        };
        let found = members.extensions(shape.name).iter().find(|(of, _, _)| fits(of));
        if let Some((_, _, id)) = found {
            return Some(Resolved::functions(vec![*id], Resolution::Exact, Ty::Unknown));
        }
        match members.blanket(shape.name) {
            [(Some(_), id)] if self.takes(*id, shape) && !self.is_catalog_name(shape) => {
                Some(Resolved::functions(vec![*id], Resolution::Dispatch, Ty::Unknown))
            }
            _ => None,
        }
    }

    fn is_catalog_name(&self, shape: Shape<'_>) -> bool {
        self.catalog.rows_named(shape.name).next().is_some()
    }

    fn takes(&self, id: FunctionId, shape: Shape<'_>) -> bool {
        self.function(id).is_some_and(|function| function.parameters.len() == shape.arguments)
    }

    /// A method on a receiver of which nothing is known.
    fn on_unknown(&self, site: &Site<'_>, shape: Shape<'_>) -> Resolved {
        let apis = matching::on_unknown(self.catalog, shape, site.in_scope);
        if !apis.is_empty() {
            return Resolved::library(apis, Ty::Unknown);
        }
        if COMMON.contains(&shape.name) || self.is_catalog_name(shape) {
            return Resolved::unknown();
        }
        match self.names.members().only_method(shape.name) {
            Some(id) if self.takes(id, shape) => {
                Resolved::functions(vec![id], Resolution::ByName, Ty::Unknown)
            }
            _ => Resolved::unknown(),
        }
    }
}

fn resolve_value(ty: Ty) -> Resolved {
    match ty {
        Ty::Closure(body) => {
            Resolved { closure: Some(body), resolution: Resolution::Exact, ..Resolved::unknown() }
        }
        Ty::Item(id) => Resolved::functions(vec![id], Resolution::Exact, Ty::Unknown),
        receiver => Resolved { receiver, ..Resolved::unknown() },
    }
}
