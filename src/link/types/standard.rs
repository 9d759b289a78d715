//! What methods of the standard library, and of types like them, give back.

use std::sync::Arc;

use super::Ty;

/// Types that hold one value and lend it: a lock, a cell, a lazily made value.
const HOLDERS: [&str; 22] = [
    "Mutex",
    "RwLock",
    "ReentrantMutex",
    "FairMutex",
    "RefCell",
    "Cell",
    "OnceCell",
    "OnceLock",
    "LazyLock",
    "LazyCell",
    "Lazy",
    "AsyncOnce",
    "ManuallyDrop",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "OwnedMutexGuard",
    "ArcSwap",
    "Data",
    "State",
    "Extension",
    "Weak",
];

/// Methods that give what a holder holds.
const LENDING: [&str; 40] = [
    "lock",
    "lock_owned",
    "try_lock",
    "blocking_lock",
    "read",
    "write",
    "try_read",
    "try_write",
    "blocking_read",
    "blocking_write",
    "borrow",
    "borrow_mut",
    "get",
    "get_mut",
    "get_ref",
    "into_inner",
    "load",
    "load_full",
    "get_or_init",
    "get_or_try_init",
    "get_unchecked",
    "upgrade",
    "clone",
    "as_ref",
    "as_mut",
    "deref",
    "deref_mut",
    "force",
    "wait",
    "to_owned",
    "borrow_and_update",
    "as_deref",
    "as_deref_mut",
    "take",
    "replace",
    "read_owned",
    "write_owned",
    "lock_arc",
    "inner",
    "into_future",
];

/// Methods that take the next of something, another one each time.
const NEXT: [&str; 14] = [
    "next",
    "next_back",
    "pop",
    "pop_front",
    "pop_back",
    "pop_first",
    "pop_last",
    "take",
    "recv",
    "try_recv",
    "blocking_recv",
    "try_next",
    "next_line",
    "tick",
];

/// Whether a method takes the next value from what it is called on.
#[must_use]
pub fn takes_next(name: &str) -> bool {
    NEXT.contains(&name)
}

/// The value inside a holder (`Mutex<T>`, `LazyLock<T>`, `web::Data<T>`); `None` for other types.
#[must_use]
pub fn held(ty: &Ty) -> Option<Ty> {
    let (path, arguments) = ty.as_external()?;
    let holder = path.last().is_some_and(|name| HOLDERS.contains(&name));
    // A library's own `State` or `Data` of something is a holder as well; one without arguments is not.
    (holder && !arguments.is_empty()).then(|| ty.argument(0))
}

/// What a method on a standard type gives; `None` when the type is none of the standard library's
/// or the method is not known.
#[must_use]
pub fn method(receiver: &Ty, name: &str) -> Option<Ty> {
    if let Some(held) = held(receiver) {
        return LENDING.contains(&name).then_some(held);
    }
    match receiver {
        Ty::List(of) => list_method(receiver, of, name),
        Ty::External { .. } if receiver.is_fallible() => fallible_method(receiver, name),
        Ty::External { .. } => match receiver.name()? {
            "Receiver" | "UnboundedReceiver" => match name {
                "recv" | "try_recv" | "blocking_recv" | "recv_timeout" => {
                    Some(Ty::standard("Option", vec![receiver.argument(0)]))
                }
                "borrow" | "borrow_and_update" => Some(receiver.argument(0)),
                _ => None,
            },
            "HashMap" | "BTreeMap" | "IndexMap" | "DashMap" | "FxHashMap" => {
                map_method(receiver, name)
            }
            _ => None,
        },
        _ => None,
    }
}

fn list_method(receiver: &Ty, of: &Arc<Ty>, name: &str) -> Option<Ty> {
    let optional = || Ty::standard("Option", vec![Ty::clone(of)]);
    Some(match name {
        "first" | "last" | "get" | "pop" | "next" | "first_mut" | "last_mut" | "get_mut"
        | "pop_front" | "pop_back" | "nth" | "find" | "max" | "min" | "max_by_key"
        | "min_by_key" | "front" | "back" | "choose" | "peek" => optional(),
        "iter" | "iter_mut" | "into_iter" | "drain" | "rev" | "filter" | "skip" | "take"
        | "cloned" | "copied" | "by_ref" | "as_slice" | "as_mut_slice" | "to_vec" | "clone"
        | "skip_while" | "take_while" | "step_by" | "chain" | "inspect" | "into_par_iter"
        | "par_iter" | "peekable" | "as_ref" | "as_mut" | "to_owned" | "collect" => {
            receiver.clone()
        }
        "swap_remove" | "remove" => Ty::clone(of),
        _ => return None,
    })
}

fn map_method(receiver: &Ty, name: &str) -> Option<Ty> {
    let value = receiver.argument(1);
    Some(match name {
        "get" | "get_mut" | "remove" | "insert" | "take" => Ty::standard("Option", vec![value]),
        "values" | "values_mut" | "into_values" => Ty::List(Arc::new(value)),
        "keys" | "into_keys" => Ty::List(Arc::new(receiver.argument(0))),
        "iter" | "iter_mut" | "into_iter" | "drain" => {
            Ty::List(Arc::new(Ty::Tuple([receiver.argument(0), value].into())))
        }
        "clone" => receiver.clone(),
        _ => return None,
    })
}

/// Methods of options and results that a front-end left as calls.
fn fallible_method(receiver: &Ty, name: &str) -> Option<Ty> {
    Some(match name {
        "as_ref" | "as_mut" | "as_deref" | "as_deref_mut" | "cloned" | "copied" | "clone"
        | "take" | "replace" | "iter" | "map_err" | "filter" | "or_else" | "or" | "inspect"
        | "context" | "with_context" => receiver.clone(),
        "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default" | "insert"
        | "get_or_insert" | "get_or_insert_with" => receiver.payload(),
        "ok" | "ok_or" | "ok_or_else" => receiver.with_payload(receiver.payload()),
        _ => return None,
    })
}

/// The types of a closure's parameters when a method of a standard type takes it.
#[must_use]
pub fn closure_parameters(receiver: &Ty, name: &str) -> Vec<Ty> {
    match receiver {
        Ty::List(of) => match name {
            "fold" | "try_fold" => vec![Ty::Unknown, Ty::clone(of)],
            _ => vec![Ty::clone(of)],
        },
        _ if receiver.is_fallible() => match name {
            "map_err" | "or_else" | "unwrap_or_else" if receiver.name() != Some("Option") => {
                vec![receiver.argument(1)]
            }
            _ => vec![receiver.payload()],
        },
        _ => held(receiver).map_or_else(Vec::new, |held| vec![held]),
    }
}

/// What `items.map(closure)` makes of the closure's result; `None` for other methods.
#[must_use]
pub fn mapped(receiver: &Ty, name: &str, returns: &Ty) -> Option<Ty> {
    match (receiver, name) {
        (Ty::List(_), "map" | "filter_map" | "flat_map" | "then" | "map_while") => {
            let item =
                if name == "map" || name == "then" { returns.clone() } else { returns.payload() };
            Some(Ty::List(Arc::new(item)))
        }
        (Ty::List(_), "find_map") => Some(Ty::standard("Option", vec![returns.payload()])),
        _ => None,
    }
}
