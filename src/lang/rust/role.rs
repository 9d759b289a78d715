//! Which code only serves tests: by path, by attribute, by name.

use syn::punctuated::Punctuated;
use syn::{Meta, Token};

use crate::ir::index::{Role, is_test_folder};
use crate::source::Language;

/// The role of a whole file, by its path.
pub(crate) fn of_path(path: &str) -> Role {
    let mut parts: Vec<&str> = path.split('/').collect();
    let name = parts.pop().unwrap_or("");
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let folder = parts.iter().any(|part| is_test_folder(part, Language::Rust));
    test_if(folder || is_test_module(stem))
}

/// The role of a module, by its name.
pub(crate) fn of_module(name: &str) -> Role {
    test_if(is_test_module(name))
}

/// The role of a type, by its name: `MockStore`, `RedisFake`.
pub(crate) fn of_type(name: &str) -> Role {
    let is = |word: &str| {
        let after = |rest: &str| rest.is_empty() || rest.starts_with(|c: char| c.is_uppercase());
        name.strip_prefix(word).is_some_and(after) || name.ends_with(word)
    };
    test_if(["Mock", "Fake", "Stub"].into_iter().any(is))
}

/// The role that attributes give: `#[test]`, `#[tokio::test]`, `#[cfg(test)]`.
pub(crate) fn of_attributes(attributes: &[(String, String)]) -> Role {
    test_if(attributes.iter().any(|(name, arguments)| match name.as_str() {
        "cfg" => asks_for_test(arguments),
        "bench" | "test_case" | "rstest" => true,
        name => name.ends_with("test"),
    }))
}

/// The stronger of two roles: what is inside test code is test code.
pub(crate) fn either(one: Role, other: Role) -> Role {
    test_if(one == Role::Test || other == Role::Test)
}

fn test_if(test: bool) -> Role {
    if test { Role::Test } else { Role::Product }
}

fn is_test_module(name: &str) -> bool {
    const NAMES: [&str; 10] = [
        "test",
        "tests",
        "testing",
        "testutil",
        "testutils",
        "mock",
        "mocks",
        "fakes",
        "stub",
        "stubs",
    ];
    NAMES.contains(&name)
        || ["test_", "tests_", "mock_", "fake_"].into_iter().any(|word| name.starts_with(word))
        || ["_test", "_tests", "_mock", "_mocks", "_fake", "_bench"]
            .into_iter()
            .any(|word| name.ends_with(word))
}

/// Whether a `cfg` predicate holds only (or also) for tests: `test` stands in it, not negated.
fn asks_for_test(predicate: &str) -> bool {
    syn::parse_str::<Meta>(predicate).is_ok_and(|meta| asks(&meta, false))
}

fn asks(meta: &Meta, negated: bool) -> bool {
    let Meta::List(list) = meta else { return !negated && meta.path().is_ident("test") };
    let negated = negated != list.path.is_ident("not");
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    parts.is_ok_and(|parts| parts.iter().any(|part| asks(part, negated)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_names_and_attributes_tell_test_code() {
        for path in ["tests/a.rs", "a/src/lock_test.rs", "src/tests.rs", "src/test_kit.rs"] {
            assert_eq!(of_path(path), Role::Test, "{path}");
        }
        for path in ["src/latest.rs", "src/attestation.rs", "src/contest/mod.rs"] {
            assert_eq!(of_path(path), Role::Product, "{path}");
        }
        assert_eq!(of_type("MockStore"), Role::Test);
        assert_eq!(of_type("Mocking"), Role::Product);
        let attribute = |name: &str, raw: &str| of_attributes(&[(name.into(), raw.into())]);
        assert_eq!(attribute("cfg", "any(test, feature = \"x\")"), Role::Test);
        assert_eq!(attribute("cfg", "not(test)"), Role::Product);
        let mock = "not(any(test, feature = \"mock\"))";
        assert_eq!(attribute("cfg", mock), Role::Product);
        assert_eq!(attribute("cfg", "all(not(loom), test)"), Role::Test);
        assert_eq!(attribute("cfg", "not(all(unix, not(test)))"), Role::Test);
        assert_eq!(attribute("cfg", "feature = \"test\""), Role::Product);
        assert_eq!(attribute("test", ""), Role::Test);
    }
}
