//! What a library's call gives back, as a type.

use std::sync::Arc;

use super::{Ty, written};
use crate::catalog::{Api, ApiEffect, Catalog, Receiver, TypeName};
use crate::ir::index::Path;

/// Associated functions that make a value of their own type.
const CONSTRUCTORS: [&str; 16] = [
    "new",
    "default",
    "open",
    "connect",
    "create",
    "build",
    "init",
    "start",
    "try_new",
    "parse",
    "get",
    "now",
    "with_capacity",
    "max",
    "nil",
    "random",
];

/// Smart pointers and the like whose constructor gives what it was given.
const TRANSPARENT: [&str; 12] = [
    "Box",
    "Arc",
    "Rc",
    "Cow",
    "Pin",
    "Ok",
    "Some",
    "Reverse",
    "Wrapping",
    "AssertSqlSafe",
    "black_box",
    "identity",
];

/// What a row's handle is; `None` when the row does not say.
#[must_use]
pub fn yielded(catalog: &Catalog, row: &Api, receiver: &Ty) -> Option<Ty> {
    let yields = row.yields.as_ref()?;
    let members = catalog.members(yields);
    let names: Vec<&TypeName> = members.into_iter().filter_map(Receiver::name).collect();
    let (root, cluster) = match receiver {
        Ty::External { path, .. } | Ty::Derived { from: path, .. } => (
            path.first().unwrap_or_default(),
            path.0.iter().any(|part| part.to_lowercase().contains("cluster")),
        ),
        _ => ("", false),
    };
    let is_cluster =
        |name: &TypeName| name.path.iter().any(|part| part.to_lowercase().contains("cluster"));
    let connection = |name: &&&TypeName| name.last().ends_with("Connection") || names.len() == 1;
    let mut same_kind = names.iter().filter(|name| is_cluster(name) == cluster);
    let best = names
        .iter()
        .filter(|name| is_cluster(name) == cluster && name.root() == root)
        .find(connection)
        .or_else(|| same_kind.find(connection))
        .or_else(|| names.first())?;
    let arguments: Vec<Ty> = best
        .arguments
        .iter()
        .map(|name| Ty::external(Path(vec![best.root().to_owned(), name.clone()])))
        .collect();
    Some(Ty::External { path: Arc::new(Path(best.path.clone())), arguments: arguments.into() })
}

/// What a method of a library's value gives, by the row it is.
#[must_use]
pub fn method(catalog: &Catalog, row: Option<&Api>, receiver: &Ty, reply: Option<Ty>) -> Ty {
    let answered = row.is_some_and(|row| row.effect == ApiEffect::HttpCall);
    let chain = || match receiver {
        Ty::External { path, .. } => Ty::Derived { from: Arc::clone(path), answered },
        Ty::Derived { from, answered: before } => {
            Ty::Derived { from: Arc::clone(from), answered: answered || *before }
        }
        _ => Ty::Unknown,
    };
    let Some(row) = row else {
        // A chain through a method that no row knows; the standard library's are known or nothing.
        return if receiver.is_standard() { Ty::Unknown } else { chain() };
    };
    if let Some(ty) = yielded(catalog, row, receiver) {
        return ty;
    }
    match row.effect {
        ApiEffect::RedisCommand if is_pipeline(receiver) => receiver.clone(),
        ApiEffect::RedisCommand => reply.unwrap_or_default(),
        ApiEffect::TxBegin | ApiEffect::Outcome if is_pipeline(receiver) => receiver.clone(),
        ApiEffect::Modifier => match receiver.name() {
            Some("Script") if receiver.root() == Some("redis") => {
                Ty::external(Path::parse("redis::ScriptInvocation"))
            }
            _ => receiver.clone(),
        },
        ApiEffect::ScriptInvoke | ApiEffect::Outcome | ApiEffect::RowCount => {
            reply.unwrap_or_default()
        }
        ApiEffect::TxBegin if row.library == "sqlx" => {
            Ty::external(Path::parse("sqlx::Transaction"))
        }
        _ => chain(),
    }
}

/// Commands on a pipeline queue and give the pipeline back.
fn is_pipeline(receiver: &Ty) -> bool {
    receiver.root() == Some("redis")
        && matches!(receiver.name(), Some("Pipeline" | "ClusterPipeline"))
}

/// What a library's function or associated function gives.
#[must_use]
pub fn function(catalog: &Catalog, path: &Path, row: Option<&Api>, arguments: &[Ty]) -> Ty {
    if let Some(row) = row {
        let owner = Ty::external(path.parent());
        if let Some(ty) = yielded(catalog, row, &owner) {
            return ty;
        }
        let canonical = catalog.canonical(&path.0);
        if canonical.first().is_some_and(|root| root == "redis")
            && path.parent().last() == Some("Cmd")
            && row.effect == ApiEffect::RedisCommand
        {
            return Ty::external(Path::parse("redis::Cmd"));
        }
    }
    let answered = row.is_some_and(|row| row.effect == ApiEffect::HttpCall);
    let Some(last) = path.last() else { return Ty::Unknown };
    let first = || arguments.first().cloned().unwrap_or_default();
    let parent = path.parent();
    let owner = parent.last().unwrap_or_default();
    match (owner, last) {
        (_, "Some") => return Ty::standard("Option", vec![first()]),
        (_, "Ok") => return Ty::standard("Result", vec![first()]),
        (_, "Err") => return Ty::standard("Result", vec![Ty::Unknown, first()]),
        ("Box" | "Arc" | "Rc" | "Pin", "new" | "pin" | "clone" | "from") => return first(),
        (
            "Mutex" | "RwLock" | "RefCell" | "OnceCell" | "LazyLock" | "Lazy" | "Cell",
            "new" | "const_new",
        ) => {
            let held = match first() {
                Ty::Closure(_) | Ty::Item(_) => Ty::Unknown,
                ty => ty,
            };
            return Ty::External { path: Arc::new(parent), arguments: [held].into() };
        }
        ("Arc" | "Rc", _) => return first(),
        (_, "timeout" | "timeout_at") => return arguments.get(1).cloned().unwrap_or_default(),
        _ => {}
    }
    if TRANSPARENT.contains(&last) {
        return first();
    }
    let type_like = owner.starts_with(char::is_uppercase);
    let makes = CONSTRUCTORS.contains(&last)
        || ["from_", "with_", "new_", "connect_", "open_", "try_from", "try_new"]
            .iter()
            .any(|start| last.starts_with(start))
        || last == "from";
    if type_like && makes {
        return written::external(&parent, &[]);
    }
    if last.starts_with(char::is_uppercase) {
        // A tuple struct or variant of a library.
        return if type_like { Ty::external(parent) } else { Ty::external(path.clone()) };
    }
    match path.first() {
        Some("std" | "core" | "alloc") => Ty::Unknown,
        _ => Ty::Derived { from: Arc::new(path.clone()), answered },
    }
}
