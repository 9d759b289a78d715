//! Which catalog rows a call can be, by the receiver's type, the traits in scope and the shape of
//! the call.

use super::InScope;
use crate::catalog::{Api, ApiEffect, Catalog, Receiver, TypeName};
use crate::ir::index::Path;
use crate::link::types::{Bound, Ty};

/// Crates that share types and traits: a value of one has the methods that a trait of the other
/// adds.
const FAMILIES: [&[&str]; 3] = [
    &[
        "redis",
        "deadpool_redis",
        "bb8_redis",
        "mobc_redis",
        "r2d2_redis",
        "bb8",
        "mobc",
        "r2d2",
        "deadpool",
        "redis_test",
    ],
    &["diesel", "diesel_async"],
    &["sea_orm", "sea_query"],
];

/// Aliases that libraries export of their own types.
const ALIASES: [(&str, &str, &str); 6] = [
    ("sqlx", "PgPool", "Pool"),
    ("sqlx", "MySqlPool", "Pool"),
    ("sqlx", "SqlitePool", "Pool"),
    ("sqlx", "AnyPool", "Pool"),
    ("deadpool_redis", "ClusterPool", "Pool"),
    ("bb8_redis", "RedisPool", "Pool"),
];

/// A method call, as far as matching needs it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    /// The method.
    pub name: &'a str,
    /// How many arguments.
    pub arguments: usize,
    /// How many type arguments are written.
    pub type_arguments: usize,
}

/// Rows with a rank: the lower, the surer.
struct Ranked {
    rows: Vec<(u32, &'static Api)>,
}

impl Ranked {
    fn push(&mut self, rank: u32, row: &'static Api) {
        self.rows.push((rank, row));
    }

    /// The rows, the surest first; ties in table order. Rows that are much less sure than the best
    /// are no candidates.
    fn finish(mut self) -> Vec<&'static Api> {
        self.rows.sort_by_key(|(rank, _)| *rank);
        let best = self.rows.first().map_or(0, |(rank, _)| *rank);
        let near =
            self.rows.into_iter().take_while(|(rank, _)| *rank <= best + u32::from(best > 0));
        near.map(|(_, row)| row).collect()
    }
}

/// Rows of a method on a receiver of a library's type.
pub(super) fn on_external(
    catalog: &'static Catalog,
    receiver: &Ty,
    shape: Shape<'_>,
    scope: &InScope,
) -> Vec<&'static Api> {
    let mut ranked = Ranked { rows: Vec::new() };
    let Some((path, arguments)) = receiver.as_external() else { return Vec::new() };
    for row in rows(catalog, shape) {
        if !pool_yields(catalog, row, arguments) {
            continue;
        }
        let ranks = catalog.receivers(row).into_iter().filter_map(|of| match of {
            Receiver::Type(name) => is_type(catalog, name, path, arguments).then_some(0),
            Receiver::Trait(name) if related(catalog, name.root(), path) => {
                in_scope(name, scope).map(|by_glob| 1 + by_glob)
            }
            Receiver::Trait(name) => (unlisted(catalog, path)
                && row.ambiguity == "low"
                && in_scope(name, scope).is_some())
            .then_some(4),
            _ => None,
        });
        if let Some(rank) = ranks.min() {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

/// Rows of a method on some type of a library: a fluent chain stays in its library. What a call
/// outside answered is data more often than a client, so there a name that many types have is none.
pub(super) fn on_derived(
    catalog: &'static Catalog,
    (from, answered): (&Path, bool),
    shape: Shape<'_>,
    scope: &InScope,
) -> Vec<&'static Api> {
    let mut ranked = Ranked { rows: Vec::new() };
    let canonical = catalog.canonical(&from.0);
    for row in rows(catalog, shape) {
        let own = of_library(catalog, row, canonical);
        let receivers = catalog.receivers(row);
        let set = row.receivers.iter().any(|receiver| matches!(receiver, Receiver::Set(_)));
        let ranks = receivers.into_iter().filter_map(|of| match of {
            Receiver::Chain(name) => (name.root() == canonical.first().map_or("", String::as_str)
                && canonical.last().is_some_and(|last| last == name.last()))
            .then_some(0),
            Receiver::Type(_) if own && !(answered && row.ambiguity == "high") => {
                Some(if set { 4 } else { 2 })
            }
            Receiver::Trait(name) if related(catalog, name.root(), from) => {
                in_scope(name, scope).map(|by_glob| 1 + by_glob)
            }
            _ => None,
        });
        if let Some(rank) = ranks.min() {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

/// Rows of a method on something of which only library traits are known.
pub(super) fn on_bounds<'b>(
    catalog: &'static Catalog,
    bounds: impl Iterator<Item = &'b Path> + Clone,
    shape: Shape<'_>,
) -> Vec<&'static Api> {
    let mut ranked = Ranked { rows: Vec::new() };
    for row in rows(catalog, shape) {
        let ranks = catalog.receivers(row).into_iter().filter_map(|of| match of {
            Receiver::Trait(name) => {
                let mut exact = bounds.clone();
                let mut near = bounds.clone();
                if exact.any(|bound| name.names(catalog.canonical(&bound.0))) {
                    Some(0)
                } else if near.any(|bound| related(catalog, name.root(), bound)) {
                    Some(1)
                } else {
                    None
                }
            }
            Receiver::Type(name) => {
                let mut near = bounds.clone();
                near.any(|bound| related(catalog, name.root(), bound)).then_some(2)
            }
            _ => None,
        });
        if let Some(rank) = ranks.min() {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

/// Rows of a method on a receiver of which nothing is known: only what has one meaning and whose
/// crate the scope speaks of.
pub(super) fn on_unknown(
    catalog: &'static Catalog,
    shape: Shape<'_>,
    scope: &InScope,
) -> Vec<&'static Api> {
    let mut ranked = Ranked { rows: Vec::new() };
    for row in rows(catalog, shape) {
        let turbofish = shape.type_arguments >= 2
            && row
                .generics
                .is_some_and(|all| all == shape.type_arguments || all == shape.type_arguments + 1);
        let sure = row.ambiguity == "low" || turbofish;
        let ranks = catalog.receivers(row).into_iter().filter_map(|of| match of {
            Receiver::Trait(name) if sure => in_scope(name, scope).map(|by_glob| 3 + by_glob),
            Receiver::Type(name) if row.ambiguity == "low" => {
                mentioned(catalog, name.root(), scope).then_some(5)
            }
            Receiver::Any => Some(6),
            _ => None,
        });
        if let Some(rank) = ranks.min() {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

/// A row that a method on a receiver of which nothing is known may be, however many types have one of
/// that name: its trait is in scope, or the scope speaks of its crate.
pub(super) fn possible(
    catalog: &'static Catalog,
    shape: Shape<'_>,
    scope: &InScope,
) -> Option<&'static Api> {
    let mut named = catalog.rows_named(shape.name).filter(|row| row.accepts(shape.arguments));
    named.find(|row| {
        catalog.receivers(row).into_iter().any(|of| match of {
            Receiver::Trait(name) => in_scope(name, scope).is_some(),
            Receiver::Type(name) => mentioned(catalog, name.root(), scope),
            _ => false,
        })
    })
}

/// Rows of a function by its full library path.
pub(in crate::link) fn on_path(
    catalog: &'static Catalog,
    path: &Path,
    arguments: usize,
) -> Vec<&'static Api> {
    let Some(method) = path.last() else { return Vec::new() };
    let full = catalog.canonical(&path.0);
    let owner = full.get(..full.len().saturating_sub(1)).unwrap_or_default();
    let mut ranked = Ranked { rows: Vec::new() };
    let named = catalog.rows_named(method).chain(catalog.rows_named("*"));
    for row in named {
        let ranks = catalog.receivers(row).into_iter().filter_map(|of| match of {
            Receiver::Function(name) => name.holds_function(full, method).then_some(0),
            Receiver::Assoc(name) | Receiver::Constructor(name) => name.names(owner).then_some(0),
            // `AsyncCommands::set(&mut con, …)`: the receiver is the first argument.
            Receiver::Trait(name) | Receiver::Type(name) => name.names(owner).then_some(2),
            _ => None,
        });
        if let Some(rank) = ranks.min()
            && (row.accepts(arguments) || rank == 2 && arguments > 0 && row.accepts(arguments - 1))
        {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

/// Whether a row is one of a method whose trait or type the path names: the call's first argument
/// is the receiver.
pub(in crate::link) fn by_receiver(catalog: &Catalog, row: &Api, path: &Path) -> bool {
    let full = catalog.canonical(&path.0);
    let owner = full.get(..full.len().saturating_sub(1)).unwrap_or_default();
    let method = path.last().unwrap_or_default();
    let mut by_method = false;
    for of in catalog.receivers(row) {
        match of {
            Receiver::Function(name) if name.holds_function(full, method) => return false,
            Receiver::Assoc(name) | Receiver::Constructor(name) if name.names(owner) => {
                return false;
            }
            Receiver::Trait(name) | Receiver::Type(name) => by_method |= name.names(owner),
            _ => {}
        }
    }
    by_method
}

/// Rows of a macro; `path` is the full library path, or the name alone when nothing imports it.
pub(super) fn on_macro(catalog: &'static Catalog, path: &Path) -> Vec<&'static Api> {
    let Some(method) = path.last() else { return Vec::new() };
    let full = catalog.canonical(&path.0);
    let mut ranked = Ranked { rows: Vec::new() };
    for row in catalog.rows_named(method) {
        let macros = catalog.receivers(row).into_iter().filter_map(|of| match of {
            Receiver::Macro(name) => Some(name),
            _ => None,
        });
        let ranks = macros.filter_map(|name| match full {
            [_] => Some(1),
            _ => (full.first().map(String::as_str) == Some(name.root())).then_some(0),
        });
        if let Some(rank) = ranks.min() {
            ranked.push(rank, row);
        }
    }
    ranked.finish()
}

fn rows<'s>(
    catalog: &'static Catalog,
    shape: Shape<'s>,
) -> impl Iterator<Item = &'static Api> + use<'s> {
    let all = catalog.rows_named(shape.name).chain(catalog.rows_named("*"));
    all.filter(move |row| row.accepts(shape.arguments))
}

/// Whether a type of a row is the type of this path.
fn is_type(catalog: &Catalog, name: &TypeName, path: &Path, arguments: &[Ty]) -> bool {
    let canonical = catalog.canonical(&path.0);
    let last = canonical.last().map_or("", String::as_str);
    let root = canonical.first().map_or("", String::as_str);
    let alias = ALIASES.iter().find(|(of, alias, _)| *of == root && *alias == last);
    let named = match alias {
        Some((_, _, plain)) => name.root() == root && name.last() == *plain,
        None => name.names(canonical) || reexported(name, canonical),
    };
    named && has_arguments(name, arguments)
}

/// `bb8_redis::bb8::Pool` is `bb8::Pool` although `bb8` has no rows of its own.
fn reexported(name: &TypeName, path: &[String]) -> bool {
    path.len() > 2
        && path.get(1).is_some_and(|root| root == name.root())
        && path.last().is_some_and(|last| last == name.last())
}

fn has_arguments(name: &TypeName, arguments: &[Ty]) -> bool {
    let given: Vec<&str> = arguments.iter().filter_map(Ty::name).collect();
    name.arguments.iter().all(|wanted| given.contains(&wanted.as_str()))
}

/// A generic pool gives what its manager makes: a row whose handle names another manager is not
/// the one. A pool whose manager is not known is any.
fn pool_yields(catalog: &Catalog, row: &Api, arguments: &[Ty]) -> bool {
    let Some(yields) = &row.yields else { return true };
    if row.effect != ApiEffect::Handle || arguments.iter().all(|ty| ty.name().is_none()) {
        return true;
    }
    let members = catalog.members(yields);
    let mut managed =
        members.into_iter().filter_map(Receiver::name).filter(|name| !name.arguments.is_empty());
    match managed.next() {
        Some(first) => {
            has_arguments(first, arguments)
                || managed.any(|name| has_arguments(name, arguments))
                || !arguments.iter().filter_map(Ty::name).any(|name| name.ends_with("Manager"))
        }
        None => true,
    }
}

/// Whether a crate's path belongs with a library root: the same crate, one of the same library, or
/// one that shares its types.
pub(super) fn related(catalog: &Catalog, root: &str, path: &Path) -> bool {
    let Some(own) = path.first() else { return false };
    own == root
        || FAMILIES.iter().any(|family| family.contains(&own) && family.contains(&root))
        || catalog.library_of_root(root).is_some_and(|library| library.has_root(own))
}

fn of_library(catalog: &Catalog, row: &Api, path: &[String]) -> bool {
    let Some(root) = path.first() else { return false };
    let library = catalog.library(&row.library);
    library.is_some_and(|library| {
        library.has_root(root)
            || library.import_roots.iter().any(|own| {
                FAMILIES.iter().any(|f| f.contains(&own.as_str()) && f.contains(&root.as_str()))
            })
    })
}

/// Whether a crate is none that the catalog has, nor the standard library.
pub(in crate::link) fn unlisted(catalog: &Catalog, path: &Path) -> bool {
    path.first().is_some_and(|root| {
        !matches!(root, "std" | "core" | "alloc")
            && catalog.library_of_root(root).is_none()
            && !FAMILIES.iter().any(|family| family.contains(&root))
    })
}

/// Whether a trait is in scope: 0 by name, 1 by a glob that can bring it.
fn in_scope(name: &TypeName, scope: &InScope) -> Option<u32> {
    if scope.items.iter().any(|path| name.names(&path.0)) {
        return Some(0);
    }
    scope.globs.iter().any(|glob| glob.first() == Some(name.root())).then_some(1)
}

/// Whether anything of a crate is imported.
fn mentioned(catalog: &Catalog, root: &str, scope: &InScope) -> bool {
    scope.items.iter().chain(&scope.globs).any(|path| related(catalog, root, path))
}

/// The library traits among bounds.
pub(super) fn external_bounds(bounds: &[Bound]) -> Vec<&Path> {
    bounds
        .iter()
        .filter_map(|bound| match bound {
            Bound::External(path) => Some(path.as_ref()),
            Bound::Workspace(_) => None,
        })
        .collect()
}
