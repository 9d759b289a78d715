//! The standard adapters: which method or function of the language's own library is which
//! conversion, test or adapter. Recognised by name and number of arguments; a method of another
//! type that bears the name of an adapter that runs a closure is still seen as a call.

use crate::ir::index::Path;
use crate::ir::value::{Adapter, Conversion};

/// What a call of the standard library says about its receiver or only argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standard {
    /// The same thing in another form; `true` when it only borrows or copies.
    Converted(Conversion, bool),
    /// Whether it is of a variant.
    Is(&'static str),
    /// An adapter that runs nothing.
    Adapted(Adapter),
    /// An adapter that may run a closure: a call as well.
    Runs(Adapter),
    /// `map_or(default, closure)`: [`Adapter::Map`] by the last argument, then
    /// [`Adapter::UnwrapOr`] with the first.
    MapsOr,
}

/// Methods without arguments.
const PLAIN: &[(&str, Standard)] = &[
    ("as_bytes", Standard::Converted(Conversion::Bytes, true)),
    ("as_deref", Standard::Converted(Conversion::Same, true)),
    ("as_deref_mut", Standard::Converted(Conversion::Same, true)),
    ("as_mut", Standard::Converted(Conversion::Same, true)),
    ("as_mut_str", Standard::Converted(Conversion::Same, true)),
    ("as_ref", Standard::Converted(Conversion::Same, true)),
    ("as_slice", Standard::Converted(Conversion::Same, true)),
    ("as_str", Standard::Converted(Conversion::Same, true)),
    ("borrow", Standard::Converted(Conversion::Same, true)),
    ("borrow_mut", Standard::Converted(Conversion::Same, true)),
    ("by_ref", Standard::Converted(Conversion::Same, true)),
    ("clone", Standard::Converted(Conversion::Same, true)),
    ("cloned", Standard::Converted(Conversion::Same, true)),
    ("copied", Standard::Converted(Conversion::Same, true)),
    ("deref", Standard::Converted(Conversion::Same, true)),
    ("deref_mut", Standard::Converted(Conversion::Same, true)),
    ("flatten", Standard::Adapted(Adapter::Reshape)),
    ("into", Standard::Converted(Conversion::Same, false)),
    ("into_boxed_str", Standard::Converted(Conversion::Same, false)),
    ("into_bytes", Standard::Converted(Conversion::Bytes, false)),
    ("into_owned", Standard::Converted(Conversion::Same, false)),
    ("into_string", Standard::Converted(Conversion::Same, false)),
    ("is_err", Standard::Is("Err")),
    ("is_none", Standard::Is("None")),
    ("is_ok", Standard::Is("Ok")),
    ("is_some", Standard::Is("Some")),
    ("ok", Standard::Adapted(Adapter::Ok)),
    ("to_ascii_lowercase", Standard::Converted(Conversion::Shaped, false)),
    ("to_ascii_uppercase", Standard::Converted(Conversion::Shaped, false)),
    ("to_be_bytes", Standard::Converted(Conversion::Bytes, false)),
    ("to_le_bytes", Standard::Converted(Conversion::Bytes, false)),
    ("to_lowercase", Standard::Converted(Conversion::Shaped, false)),
    ("to_ne_bytes", Standard::Converted(Conversion::Bytes, false)),
    ("to_owned", Standard::Converted(Conversion::Same, true)),
    ("to_string", Standard::Converted(Conversion::Display, false)),
    ("to_string_lossy", Standard::Converted(Conversion::Bytes, true)),
    ("to_uppercase", Standard::Converted(Conversion::Shaped, false)),
    ("to_vec", Standard::Converted(Conversion::Same, true)),
    ("transpose", Standard::Adapted(Adapter::Reshape)),
    ("trim", Standard::Converted(Conversion::Shaped, true)),
    ("trim_end", Standard::Converted(Conversion::Shaped, true)),
    ("trim_start", Standard::Converted(Conversion::Shaped, true)),
    ("try_into", Standard::Converted(Conversion::Number, false)),
    ("unwrap", Standard::Adapted(Adapter::Unwrap)),
    ("unwrap_or_default", Standard::Adapted(Adapter::UnwrapOrDefault)),
];

/// Methods with one argument.
const WITH_ARGUMENT: &[(&str, Standard)] = &[
    ("and_then", Standard::Runs(Adapter::AndThen)),
    ("change_context", Standard::Adapted(Adapter::MapFailure)),
    ("context", Standard::Adapted(Adapter::MapFailure)),
    ("expect", Standard::Adapted(Adapter::Unwrap)),
    ("filter", Standard::Runs(Adapter::Filter)),
    ("inspect", Standard::Runs(Adapter::Inspect)),
    ("inspect_err", Standard::Runs(Adapter::MapFailure)),
    ("is_none_or", Standard::Runs(Adapter::TestOr)),
    ("is_ok_and", Standard::Runs(Adapter::TestAnd)),
    ("is_some_and", Standard::Runs(Adapter::TestAnd)),
    ("map", Standard::Runs(Adapter::Map)),
    ("map_err", Standard::Runs(Adapter::MapFailure)),
    ("ok_or", Standard::Adapted(Adapter::OkOr)),
    ("ok_or_else", Standard::Runs(Adapter::OkOr)),
    ("or", Standard::Adapted(Adapter::OrElse)),
    ("or_else", Standard::Runs(Adapter::OrElse)),
    ("then", Standard::Runs(Adapter::Then)),
    ("then_some", Standard::Adapted(Adapter::Then)),
    ("trim_end_matches", Standard::Converted(Conversion::Shaped, true)),
    ("trim_matches", Standard::Converted(Conversion::Shaped, true)),
    ("trim_start_matches", Standard::Converted(Conversion::Shaped, true)),
    ("unwrap_or", Standard::Adapted(Adapter::UnwrapOr)),
    ("unwrap_or_else", Standard::Runs(Adapter::UnwrapOr)),
    ("with_context", Standard::Runs(Adapter::MapFailure)),
    ("wrap_err", Standard::Adapted(Adapter::MapFailure)),
    ("wrap_err_with", Standard::Runs(Adapter::MapFailure)),
];

/// What a method is by its name and number of arguments.
pub(super) fn method(name: &str, arguments: usize) -> Option<Standard> {
    let table = match arguments {
        0 => PLAIN,
        1 => WITH_ARGUMENT,
        2 if matches!(name, "map_or" | "map_or_else") => return Some(Standard::MapsOr),
        _ => return None,
    };
    let at = table.binary_search_by_key(&name, |(known, _)| known).ok()?;
    table.get(at).map(|(_, standard)| *standard)
}

/// Types of numbers.
pub(super) const NUMBERS: [&str; 14] = [
    "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "u128", "u16", "u32", "u64", "u8",
    "usize",
];

/// What a function of one argument is, by the last two parts of its path.
pub(super) fn function(path: &Path) -> Option<Standard> {
    let name = path.last()?;
    let parent = path.parent();
    let owner = parent.last().unwrap_or_default();
    let same = |borrows| Some(Standard::Converted(Conversion::Same, borrows));
    match (owner, name) {
        ("Arc" | "Rc" | "Box" | "Pin", "new" | "from") | ("Box" | "Arc" | "Rc", "pin") => {
            same(false)
        }
        ("String" | "Vec" | "Cow" | "PathBuf", "from") => same(false),
        ("Cow", "Borrowed" | "Owned") => same(false),
        ("Arc" | "Rc" | "Clone", "clone") | ("ToOwned", "to_owned") => same(true),
        ("Into", "into") | ("From", "from") | ("convert", "identity") => same(false),
        ("ToString", "to_string") => Some(Standard::Converted(Conversion::Display, false)),
        ("str" | "String", "from_utf8" | "from_utf8_lossy" | "from_utf8_unchecked") => {
            Some(Standard::Converted(Conversion::Bytes, false))
        }
        (number, "from" | "try_from") if NUMBERS.contains(&number) => {
            Some(Standard::Converted(Conversion::Number, false))
        }
        _ => None,
    }
}

/// Whether a function's only argument is a closure that makes the value once, at first use.
pub(super) fn is_lazy(path: &Path) -> bool {
    let parent = path.parent();
    path.last() == Some("new")
        && matches!(parent.last(), Some("LazyLock" | "LazyCell" | "Lazy" | "AsyncLazy"))
}

/// Whether a function never comes back.
pub(super) fn never_returns(path: &Path) -> bool {
    let parent = path.parent();
    parent.last() == Some("process") && matches!(path.last(), Some("exit" | "abort"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(PLAIN.is_sorted_by_key(|(name, _)| *name));
        assert!(WITH_ARGUMENT.is_sorted_by_key(|(name, _)| *name));
    }

    #[test]
    fn names_alone_do_not_make_an_adapter() {
        assert_eq!(method("ok", 0), Some(Standard::Adapted(Adapter::Ok)));
        assert_eq!(method("ok", 1), None);
        assert_eq!(function(&Path::parse("Email::from")), None);
    }
}
