//! Which files only serve tests because only tests declare them: `#[cfg(test)] mod scenario;` makes
//! test code of another file, and of what that file declares in turn.

use std::collections::BTreeMap;

use crate::ir::index::{FileIndex, Role};
use crate::source::{FileId, Tree};

/// Makes test code of every file whose every declaration is test code or stands in such a file.
pub(super) fn spread(tree: &Tree, files: &mut [Option<FileIndex>]) {
    let mut declared: BTreeMap<FileId, Vec<(FileId, Role)>> = BTreeMap::new();
    for index in files.iter().flatten() {
        for module in &index.modules {
            let child = module.file.as_deref().and_then(|path| tree.at(path));
            if let Some(child) = child {
                declared.entry(child.id).or_default().push((index.file, module.role));
            }
        }
    }
    let mut waiting: Vec<FileId> = declared.keys().copied().collect();
    loop {
        let role = |file: FileId| {
            let index = files.get(file.0 as usize).and_then(Option::as_ref);
            index.map(|index| index.role).unwrap_or_default()
        };
        let is_test = |file: &FileId| {
            let declarations = declared.get(file).map(Vec::as_slice).unwrap_or_default();
            declarations.iter().all(|(from, own)| *own == Role::Test || role(*from) == Role::Test)
        };
        let (found, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(is_test);
        if found.is_empty() {
            return;
        }
        for file in found {
            if let Some(Some(index)) = files.get_mut(file.0 as usize) {
                index.role = Role::Test;
                index.functions.iter_mut().for_each(|function| function.role = Role::Test);
                index.constants.iter_mut().for_each(|constant| constant.role = Role::Test);
            }
        }
        waiting = others;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::config::Settings;
    use crate::ir::index::Role;
    use crate::link::Program;
    use crate::source::{Language, Tree};

    #[test]
    fn what_only_tests_declare_is_test_code() {
        let rust = |path: &str, text: &str| (path.to_owned(), Language::Rust, text.to_owned());
        let tree = Tree::from_texts(vec![
            rust("src/lib.rs", "mod lock;\n#[cfg(test)]\nmod scenario;\n#[cfg(test)]\nmod both;"),
            rust("src/main.rs", "mod both;"),
            rust("src/both.rs", ""),
            rust("src/lock.rs", ""),
            rust("src/scenario.rs", "mod orders;"),
            rust("src/scenario/orders.rs", "fn clean() {}"),
        ]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let of = |path: &str| {
            let index = program.index(program.tree.at(path).unwrap().id).unwrap();
            (index.role, index.functions.first().map(|function| function.role))
        };
        assert_eq!(of("src/scenario/orders.rs"), (Role::Test, Some(Role::Test)));
        assert_eq!(of("src/scenario.rs").0, Role::Test);
        assert_eq!(of("src/both.rs").0, Role::Product);
        assert_eq!(of("src/lock.rs").0, Role::Product);
    }
}
