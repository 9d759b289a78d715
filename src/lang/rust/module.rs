//! Where a file stands in the module tree, and where the files of its modules stand.

use crate::ir::index::Path;
use crate::source::{SourceFile, Tree};

/// The module a file is: package name (`-` as `_`), then the path under `src/`; without a manifest,
/// the folders and the name of the file.
pub(crate) fn module_path(file: &SourceFile, tree: &Tree) -> Path {
    let parts: Vec<&str> = file.path.split('/').collect();
    let named = |(folder, manifest): (&str, &SourceFile)| {
        let name = package_name(&manifest.text)?.replace('-', "_");
        Some((name, folder.split('/').filter(|part| !part.is_empty()).count()))
    };
    let package = tree.manifests(&file.path).find_map(named);
    let inside = package.as_ref().map_or(0, |(_, folders)| *folders);
    let mut names: Vec<String> = package.into_iter().map(|(name, _)| name).collect();
    let mut rest = parts.get(inside..).unwrap_or_default();
    if !names.is_empty() && rest.first() == Some(&"src") {
        rest = rest.get(1..).unwrap_or_default();
    }
    for (at, part) in rest.iter().enumerate() {
        let last = at + 1 == rest.len();
        let name = if last { part.strip_suffix(".rs").unwrap_or(part) } else { part };
        let root = matches!(name, "mod") || (at == 0 && matches!(name, "lib" | "main"));
        if !(last && root) {
            names.push(name.replace('-', "_"));
        }
    }
    Path(names)
}

/// The name other crates use for the library of a manifest: `[lib] name`, else `[package] name`.
/// Read line by line: a file is asked for it once per source file.
fn package_name(manifest: &str) -> Option<&str> {
    let mut section = "";
    let mut package = None;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.split('#').next().unwrap_or(line).trim();
        } else if matches!(section, "[package]" | "[lib]")
            && let Some(name) = string_value(line, "name")
        {
            if section == "[lib]" {
                return Some(name);
            }
            package = Some(name);
        }
    }
    package
}

/// The text of `key = "text"`.
fn string_value<'m>(line: &'m str, key: &str) -> Option<&'m str> {
    let value = line.strip_prefix(key)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.get(1..)?.split(quote).next().filter(|name| !name.is_empty())
}

/// The file of `mod name;`: `inline` are the inline modules around the declaration, `path` what
/// `#[path = "…"]` says. `None` when no such file is in the tree.
pub(crate) fn module_file(
    file: &SourceFile,
    tree: &Tree,
    inline: &[String],
    name: &str,
    path: Option<&str>,
) -> Option<String> {
    let (folder, last) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let stem = last.strip_suffix(".rs").unwrap_or(last);
    let mut own = vec![folder.to_owned()];
    if !matches!(stem, "mod" | "lib" | "main") {
        own.insert(0, format!("{folder}/{stem}"));
    }
    let candidates: Vec<String> = match path {
        Some(path) if inline.is_empty() => vec![format!("{folder}/{path}")],
        Some(path) => own.iter().map(|own| format!("{own}/{}/{path}", inline.join("/"))).collect(),
        None => own
            .iter()
            .flat_map(|own| {
                let parts = std::iter::once(own.as_str()).chain(inline.iter().map(String::as_str));
                let base = parts.chain([name]).collect::<Vec<_>>().join("/");
                [format!("{base}.rs"), format!("{base}/mod.rs")]
            })
            .collect(),
    };
    let found = candidates.iter().filter_map(|candidate| tree.at(candidate));
    found.map(|found| found.path.clone()).find(|found| *found != file.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Language;

    fn tree(paths: &[&str]) -> Tree {
        let text = |path: &&str| {
            let manifest = "[package]\nname = \"shop-core\" # ours\n";
            let (language, text) = match path.ends_with(".toml") {
                true => (Language::Other, manifest),
                false => (Language::Rust, ""),
            };
            ((*path).to_owned(), language, text.to_owned())
        };
        Tree::from_texts(paths.iter().map(text).collect())
    }

    #[test]
    fn the_package_and_the_path_under_src_make_the_module() {
        let tree =
            tree(&["a/Cargo.toml", "a/src/lib.rs", "a/src/x/mod.rs", "a/src/x/y.rs", "b/c.rs"]);
        let module = |path: &str| module_path(tree.at(path).unwrap(), &tree).to_string();
        assert_eq!(module("a/src/lib.rs"), "shop_core");
        assert_eq!(module("a/src/x/mod.rs"), "shop_core::x");
        assert_eq!(module("a/src/x/y.rs"), "shop_core::x::y");
        assert_eq!(module("b/c.rs"), "b::c");
    }

    #[test]
    fn module_files_are_found_where_the_compiler_looks() {
        let tree = tree(&["src/lib.rs", "src/a.rs", "src/a/b.rs", "src/c/mod.rs", "src/odd.rs"]);
        let at = |path: &str| tree.at(path).unwrap();
        let find = |from: &str, inline: &[String], name: &str, path: Option<&str>| {
            module_file(at(from), &tree, inline, name, path)
        };
        assert_eq!(find("src/lib.rs", &[], "a", None).as_deref(), Some("src/a.rs"));
        assert_eq!(find("src/a.rs", &[], "b", None).as_deref(), Some("src/a/b.rs"));
        assert_eq!(find("src/lib.rs", &[], "c", None).as_deref(), Some("src/c/mod.rs"));
        assert_eq!(find("src/lib.rs", &["a".into()], "b", None).as_deref(), Some("src/a/b.rs"));
        assert_eq!(find("src/lib.rs", &[], "x", Some("odd.rs")).as_deref(), Some("src/odd.rs"));
        assert_eq!(find("src/lib.rs", &[], "none", None), None);
    }
}
