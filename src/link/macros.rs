//! What the name of a macro means where it is called.
//!
//! A definition is seen by the text that follows it: to the end of its module, in the modules
//! declared there, and after a module that hands on its macros. Beyond that it has a path, if it is
//! exported or imported; its name then belongs to the crate. Of two that are seen the last counts,
//! as for the compiler; of two of one crate that only a path can tell apart neither.

use std::collections::{BTreeMap, BTreeSet};

use super::Program;
use crate::ir::body::MacroNote;
use crate::ir::index::{FileIndex, Import, MacroDefinition, Path};
use crate::lang::{MacroName, Macros, Surroundings};
use crate::source::{FileId, Span, Tree};

/// How many modules up a name is looked for, and how deep modules hand on their macros.
const FARTHEST: u32 = 64;

/// Why a name means nothing.
const UNSEEN: &str = "it is not defined in the files read";

/// A module's declaration: the file it stands in, its scope and its place there.
#[derive(Clone, Debug)]
struct Declaration {
    file: FileId,
    scope: Path,
    at: u32,
}

/// Definitions by name, and what decides which of them a call means.
#[derive(Clone, Debug, Default)]
pub(super) struct Definitions {
    /// In the order of files and text.
    by_name: BTreeMap<String, Vec<MacroDefinition>>,
    /// The module that each file is.
    modules: BTreeMap<FileId, Path>,
    /// Where each file is declared.
    declared: BTreeMap<FileId, Declaration>,
    /// Files that hand on their macros and where, by the file that declares them.
    handing_on: BTreeMap<FileId, Vec<(FileId, Declaration)>>,
    /// Imports of names that some macro has.
    imports: BTreeMap<FileId, Vec<Import>>,
}

impl Definitions {
    /// The definitions of all files.
    pub(super) fn of(tree: &Tree, files: &[Option<FileIndex>]) -> Self {
        let mut all = Self::default();
        for definition in files.iter().flatten().flat_map(|index| &index.macros) {
            all.by_name.entry(definition.name.clone()).or_default().push(definition.clone());
        }
        if all.by_name.is_empty() {
            return all;
        }
        for index in files.iter().flatten() {
            all.modules.insert(index.file, index.module.clone());
            for module in &index.modules {
                let child = module.file.as_deref().and_then(|path| tree.at(path));
                let Some(child) = child.filter(|child| child.id != index.file) else { continue };
                let (scope, at) = (module.scope.clone(), module.span.start);
                let declaration = Declaration { file: index.file, scope, at };
                all.declared.entry(child.id).or_insert_with(|| declaration.clone());
                if module.hands_on_macros {
                    let handed = all.handing_on.entry(index.file).or_default();
                    handed.push((child.id, declaration));
                }
            }
        }
        let renamed = |import: &&Import| {
            import.path.last().is_some_and(|name| all.by_name.contains_key(name))
        };
        let names: BTreeSet<&str> = files
            .iter()
            .flatten()
            .flat_map(|index| &index.imports)
            .filter(renamed)
            .map(|import| import.name.as_str())
            .chain(all.by_name.keys().map(String::as_str))
            .collect();
        for index in files.iter().flatten() {
            let named = index.imports.iter().filter(|it| names.contains(it.name.as_str()));
            let named: Vec<Import> = named.cloned().collect();
            if !named.is_empty() {
                all.imports.insert(index.file, named);
            }
        }
        all
    }

    /// Whether a call of this name may mean a definition.
    pub(super) fn may_define(&self, file: FileId, path: &Path) -> bool {
        let Some(name) = path.last() else { return false };
        let imported = || self.imports.get(&file).into_iter().flatten().any(|it| it.name == name);
        self.by_name.contains_key(name) || imported()
    }

    fn crate_of(&self, file: FileId) -> Option<&str> {
        self.modules.get(&file)?.first()
    }

    fn named(&self, name: &str) -> &[MacroDefinition] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The last definition before a place that the text there sees.
    fn seen(&self, name: &str, file: FileId, scope: &Path, at: u32) -> Option<&MacroDefinition> {
        if self.named(name).is_empty() {
            return None;
        }
        let (mut file, mut scope, mut at) = (file, scope, at);
        for _ in 0..FARTHEST {
            if let Some((_, found)) = self.last_before(name, file, scope, at, FARTHEST) {
                return Some(found);
            }
            let declared = self.declared.get(&file)?;
            (file, scope, at) = (declared.file, &declared.scope, declared.at);
        }
        None
    }

    /// The last definition of a file before a place, and what is handed on there. Gives its place in
    /// the file, too.
    fn last_before(
        &self,
        name: &str,
        file: FileId,
        scope: &Path,
        at: u32,
        farthest: u32,
    ) -> Option<(u32, &MacroDefinition)> {
        let own = self.named(name).iter().filter(|definition| {
            definition.rules.file == file
                && definition.rules.start < at
                && scope.0.starts_with(&definition.visible.0)
        });
        let own = own.map(|definition| (definition.rules.start, definition));
        let handed = self.handing_on.get(&file).into_iter().flatten();
        let handed = handed.filter_map(|(child, declared)| {
            let seen = declared.at < at && scope.0.starts_with(&declared.scope.0);
            if !seen || farthest == 0 {
                return None;
            }
            let inside = self.modules.get(child)?;
            let (_, found) = self.last_before(name, *child, inside, u32::MAX, farthest - 1)?;
            Some((declared.at, found))
        });
        own.chain(handed).max_by_key(|(place, _)| *place)
    }

    /// What a path means, written in a file.
    fn by_path(&self, path: &Path, file: FileId) -> Result<&MacroDefinition, &'static str> {
        let (Some(first), Some(last)) = (path.first(), path.last()) else { return Err(UNSEEN) };
        let own = self.crate_of(file);
        if matches!(first, "crate" | "$crate" | "self" | "super") {
            return self.of_crate(own, last, Some(path));
        }
        let of = |definition: &MacroDefinition, name| self.crate_of(definition.rules.file) == name;
        if self.named(last).iter().any(|it| of(it, Some(first))) {
            return self.of_crate(Some(first), last, Some(path));
        }
        // A module of this crate, named without `crate`.
        let inside = |it: &MacroDefinition| it.scope.0.iter().any(|module| module == first);
        match self.named(last).iter().any(|it| of(it, own) && inside(it)) {
            true => self.of_crate(own, last, Some(path)),
            false => Err(UNSEEN),
        }
    }

    /// The definition that a crate has under a name: the only one, the one of the module named, or
    /// the exported one.
    fn of_crate(
        &self,
        name: Option<&str>,
        last: &str,
        path: Option<&Path>,
    ) -> Result<&MacroDefinition, &'static str> {
        let all: Vec<&MacroDefinition> = self
            .named(last)
            .iter()
            .filter(|definition| self.crate_of(definition.rules.file) == name)
            .collect();
        let modules =
            path.map_or(&[][..], |path| path.0.get(1..path.0.len() - 1).unwrap_or_default());
        let in_module: Vec<&MacroDefinition> = all
            .iter()
            .copied()
            .filter(|it| !modules.is_empty() && it.scope.0.ends_with(modules))
            .collect();
        let exported: Vec<&MacroDefinition> =
            all.iter().copied().filter(|it| it.exported).collect();
        match (&all[..], &in_module[..], &exported[..]) {
            ([only], ..) | (_, [only], _) | (_, _, [only]) => Ok(only),
            ([], ..) => Err(UNSEEN),
            _ => Err("more than one definition has its name"),
        }
    }
}

impl Macros for Definitions {
    fn find(&self, name: MacroName<'_>) -> Result<&MacroDefinition, &'static str> {
        let MacroName { path, file, scope, at } = name;
        let Some(last) = path.last() else { return Err(UNSEEN) };
        if path.0.len() > 1 {
            return self.by_path(path, file);
        }
        if let Some(found) = self.seen(last, file, scope, at) {
            return Ok(found);
        }
        let mut imports = self.imports.get(&file).into_iter().flatten().rev();
        let imported = imports.find(|it| it.name == last && scope.0.starts_with(&it.scope.0));
        match imported {
            Some(import) => self.by_path(&import.path, file),
            None => self.of_crate(self.crate_of(file), last, None),
        }
    }
}

impl Program {
    /// What the macro calls of a file are, those apart that a front-end knows by name, in the order of
    /// the text.
    #[must_use]
    pub fn macro_notes(&self, file: FileId) -> Vec<MacroNote> {
        let mut notes = self.macro_notes.get(&file).cloned().unwrap_or_default();
        let index = self.index(file);
        notes.extend(index.into_iter().flat_map(|index| index.macro_notes.iter().cloned()));
        let looked_at: BTreeSet<Span> = notes.iter().map(|note| note.span).collect();
        for call in index.into_iter().flat_map(|index| &index.calls) {
            let name = MacroName { path: &call.path, file, scope: &call.scope, at: call.at };
            if let Err(reason) = self.macros.find(name)
                && !looked_at.contains(&call.span)
            {
                let (span, name) = (call.span, call.path.clone());
                notes.push(MacroNote { span, name, definition: None, made: Err(reason) });
            }
        }
        notes.sort_by_key(|note| (note.span.file != file, note.span));
        notes
    }

    /// The calls that a part of a macro's definition was expanded for, in order, and the macro's name;
    /// empty for a place in no definition. A call may stand in a definition itself.
    #[must_use]
    pub fn macro_calls(&self, place: Span) -> Vec<(Span, String)> {
        let before = Span { end: u32::MAX, ..place };
        let mut around = self.expanded.range(..=before).rev();
        let mut around = around.by_ref().take_while(|(rules, _)| rules.file == place.file);
        match around.find(|(rules, _)| rules.covers(place)) {
            Some((_, calls)) => calls.iter().cloned().collect(),
            None => Vec::new(),
        }
    }

    /// Collects which definitions were expanded, and where.
    pub(super) fn note_expansions(&mut self) {
        let of_items = self.files.iter().flatten().flat_map(|index| &index.macro_notes);
        let notes = self.macro_notes.values().flatten().chain(of_items);
        let mut expanded: BTreeMap<Span, BTreeSet<(Span, String)>> = BTreeMap::new();
        for note in notes {
            let (Some(rules), Some(name)) = (note.definition, note.name.last()) else { continue };
            expanded.entry(rules).or_default().insert((note.span, name.to_owned()));
        }
        self.expanded = expanded;
    }

    /// What a front-end may ask of this program.
    #[must_use]
    pub fn surroundings(&self) -> Surroundings<'_> {
        let tests = self.settings.include_tests;
        Surroundings { tree: &self.tree, macros: &self.macros, tests }
    }
}

#[cfg(test)]
mod tests;
