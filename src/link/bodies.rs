//! The stages of a build: index every file, lower items, number bodies, link their calls. Work is
//! done in parallel and put together in file order, so that numbers never depend on threads.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::calls::{InScope, Resolved, Targets, matching, passed, unresolved};
use super::names::{Named, Namespace, NodeId, Resolution, Scope};
use super::types::Ty;
use super::types::infer::Group;
use super::{Program, ProgramBody};
use crate::ir::body::{Body, Call, Callee, Lowered, OpId, OpKind};
use crate::ir::effect::BodyId;
use crate::ir::index::{FileIndex, ItemId, Path, Role};
use crate::lang;
use crate::source::{FileId, Language};

/// What linking finds of one item, by body.
struct Linked {
    /// Types, by value.
    types: Vec<Vec<Ty>>,
    /// Targets, by operation.
    targets: Vec<BTreeMap<OpId, Targets>>,
    /// Why there are none, by operation.
    unresolved: Vec<unresolved::ByOperation>,
}

impl Program {
    /// Indexes every file that has a front-end.
    pub(super) fn index_files(&mut self) {
        let tree = &self.tree;
        self.files = tree
            .files()
            .par_iter()
            .map(|file| lang::frontend(file.language).map(|front| front.index(file, tree)))
            .collect();
        super::roles::spread(tree, &mut self.files);
        self.needed = match self.settings.no_prefilter {
            true => Vec::new(),
            false => super::needed::files(tree, &self.files, self.catalog),
        };
        self.macros = super::macros::Definitions::of(tree, &self.files);
        self.expand_items();
        for index in self.files.iter().flatten() {
            self.problems.extend(index.problems.iter().cloned());
            let modules = index.tables.iter().filter_map(|table| table.module.last());
            self.tables.extend(modules.map(str::to_owned));
        }
    }

    /// Adds to the indexes what the macro calls among the items make.
    fn expand_items(&mut self) {
        let mut files = std::mem::take(&mut self.files);
        let around = self.surroundings();
        let called = |index: &&mut FileIndex| {
            (around.tests || index.role == Role::Product)
                && self.is_needed(index.file)
                && index.calls.iter().any(|it| self.macros.may_define(index.file, &it.path))
        };
        files.par_iter_mut().flatten().filter(called).for_each(|index| {
            let Some(source) = self.tree.file(index.file) else { return };
            if let Some(front) = lang::frontend(source.language) {
                front.expand(source, index, &around);
            }
        });
        self.files = files;
    }

    /// Whether the items of a file can matter.
    fn is_needed(&self, file: FileId) -> bool {
        self.needed.get(file.0 as usize).is_none_or(|needed| *needed)
    }

    /// Lowers the items of all files that can matter and numbers their bodies: by file, item and nesting.
    pub(super) fn lower_bodies(&mut self) {
        let tests = self.settings.include_tests;
        let items: Vec<(FileId, ItemId)> = self
            .files
            .iter()
            .flatten()
            .filter(|index| self.is_needed(index.file))
            .flat_map(|index| items(index, tests).map(|item| (index.file, item)))
            .collect();
        let lowered: Vec<Lowered> =
            items.par_iter().map(|(file, item)| self.lower_item(*file, *item)).collect();
        for ((file, item), lowered) in items.into_iter().zip(lowered) {
            if let Some(first) = self.add_bodies(file, Some(item), lowered) {
                self.calls.first_bodies.insert((file, item), first);
            }
        }
    }

    fn lower_item(&self, file: FileId, item: ItemId) -> Lowered {
        let Some(source) = self.tree.file(file) else { return Lowered::default() };
        match (lang::frontend(source.language), self.index(file)) {
            (Some(front), Some(index)) => front.lower(source, index, item, &self.surroundings()),
            _ => Lowered::default(),
        }
    }

    /// Adds the bodies of one lowered item, or of an embedded script. Gives the number of the first;
    /// `None` when there are none.
    pub(crate) fn add_bodies(
        &mut self,
        file: FileId,
        item: Option<ItemId>,
        lowered: Lowered,
    ) -> Option<BodyId> {
        let base = u32::try_from(self.bodies.len()).ok()?;
        self.problems.extend(lowered.problems);
        if !lowered.macros.is_empty() {
            self.macro_notes.entry(file).or_default().extend(lowered.macros);
        }
        let empty = lowered.bodies.is_empty();
        for (at, body) in (0_u32..).zip(lowered.bodies) {
            let parent = body.parent.map(|parent| BodyId(base.saturating_add(parent.0)));
            self.bodies.push(ProgramBody {
                id: BodyId(base.saturating_add(at)),
                file,
                item,
                index: crate::ir::body::BodyIndex(at),
                parent,
                body,
            });
        }
        (!empty).then_some(BodyId(base))
    }

    /// Finds types and targets of all bodies from `from` on; those before it are linked already.
    pub(crate) fn link_bodies(&mut self, from: usize) {
        if from == 0 {
            self.calls.in_scope = self.imports_by_node();
        }
        let groups = self.groups(from);
        let linked: Vec<Linked> =
            groups.par_iter().map(|group| self.link_group(group.clone())).collect();
        for linked in linked {
            self.types.extend(linked.types);
            self.calls.targets.extend(linked.targets);
            self.calls.unresolved.extend(linked.unresolved);
        }
        passed::finish(self, from);
    }

    /// Links once more if values of libraries without rows turned out to be Redis clients.
    pub(crate) fn link_foreign(&mut self) {
        self.foreign = super::calls::foreign::kinds(self);
        if !self.foreign.is_empty() {
            self.types.clear();
            self.calls.targets.clear();
            self.calls.unresolved.clear();
            self.link_bodies(0);
        }
    }

    /// Makes methods of library calls that are written `Trait::method(receiver, …)`, so that nobody
    /// after this has to tell the two apart. Done once, when nothing is linked anew.
    pub(crate) fn receivers_first(&mut self) {
        for (own, targets) in self.bodies.iter_mut().zip(&self.calls.targets) {
            for (op, targets) in targets {
                let (Some(row), Some(path)) = (targets.apis.first(), &targets.path) else {
                    continue;
                };
                let op = own.body.ops.get_mut(op.0 as usize);
                let Some(OpKind::Call(call)) = op.map(|op| &mut op.kind) else { continue };
                if call.receiver.is_none()
                    && !call.arguments.is_empty()
                    && matching::by_receiver(self.catalog, row, path)
                {
                    call.receiver = Some(call.arguments.remove(0).value);
                    call.callee = Callee::Method(path.last().unwrap_or_default().to_owned());
                }
            }
        }
    }

    /// What is in scope in each node of the module tree from libraries.
    fn imports_by_node(&self) -> Vec<Arc<InScope>> {
        let count = u32::try_from(self.names.nodes.len()).unwrap_or(u32::MAX);
        let own: Vec<InScope> =
            (0..count).into_par_iter().map(|node| self.imports_of(NodeId(node))).collect();
        let merged = (0..count).map(|node| {
            let mut all = InScope::default();
            for node in self.names.lexical(NodeId(node)) {
                let Some(own) = own.get(node.0 as usize) else { continue };
                all.items.extend(own.items.iter().cloned());
                all.globs.extend(own.globs.iter().cloned());
            }
            Arc::new(all)
        });
        merged.collect()
    }

    fn imports_of(&self, node: NodeId) -> InScope {
        let mut all =
            InScope { items: Vec::new(), globs: self.names.external_globs(node).to_vec() };
        for node in self.names.with_globs(node) {
            let Some(own) = self.names.node(node) else { continue };
            let scope = Scope::of(node);
            for import in own.imports.iter().filter(|import| import.name != "*") {
                let (named, _) = self.names.resolve(scope, &import.path, Namespace::Type);
                if let Named::External(path) = named
                    && !all.items.contains(&path)
                {
                    all.items.push(path);
                }
            }
        }
        for path in all.items.iter_mut().chain(&mut all.globs) {
            *path = Path(self.catalog.canonical(&path.0).to_vec());
        }
        all
    }

    /// Runs of bodies that belong to one item.
    fn groups(&self, from: usize) -> Vec<Range<usize>> {
        let mut groups: Vec<Range<usize>> = Vec::new();
        for (at, own) in self.bodies.iter().enumerate().skip(from) {
            match groups.last_mut() {
                Some(last) if own.index.0 > 0 => last.end = at + 1,
                _ => groups.push(at..at + 1),
            }
        }
        groups
    }

    fn link_group(&self, range: Range<usize>) -> Linked {
        let bodies = self.bodies.get(range).unwrap_or_default();
        let nothing = Linked { types: Vec::new(), targets: Vec::new(), unresolved: Vec::new() };
        let Some(first) = bodies.first() else { return nothing };
        let language = self.tree.file(first.file).map(|file| file.language);
        if first.item.is_none() || language != Some(Language::Rust) {
            let types = bodies.iter().map(|own| vec![Ty::Unknown; own.body.values.len()]).collect();
            let targets = bodies.iter().map(|own| self.script_targets(&own.body)).collect();
            let unresolved = bodies.iter().map(|_| BTreeMap::new()).collect();
            return Linked { types, targets, unresolved };
        }
        let group = Group::infer(self, first.id, bodies);
        let found = bodies.iter().map(|own| self.targets_of(&group, own));
        let (targets, unresolved) = found.unzip();
        Linked { types: group.types, targets, unresolved }
    }

    fn targets_of(
        &self,
        group: &Group<'_>,
        own: &ProgramBody,
    ) -> (BTreeMap<OpId, Targets>, unresolved::ByOperation) {
        let types = |body: BodyId, value| group.ty(body, value);
        let site = group.site(own.id, &types);
        let mut targets = BTreeMap::new();
        let mut unresolved = BTreeMap::new();
        for (_, op, call) in own.body.calls() {
            let resolved = self.resolve_call(&site, call);
            let why = self.why_unresolved(call, &resolved, site.in_scope);
            match (self.targets_from(resolved), why) {
                (Some(found), _) => drop(targets.insert(op, found)),
                (None, Some(why)) => drop(unresolved.insert(op, why)),
                (None, None) => {}
            }
        }
        (targets, unresolved)
    }

    fn targets_from(&self, resolved: Resolved) -> Option<Targets> {
        let mut bodies: Vec<BodyId> =
            resolved.functions.iter().filter_map(|id| self.body_of(*id)).collect();
        bodies.extend(resolved.closure);
        if bodies.is_empty() && resolved.apis.is_empty() && resolved.path.is_none() {
            return None;
        }
        Some(Targets {
            bodies,
            apis: resolved.apis,
            runs: Vec::new(),
            spawned: false,
            deferred: false,
            resolution: resolved.resolution,
            path: resolved.path,
        })
    }

    /// Scripts call the server's functions by path; their own functions are values.
    fn script_targets(&self, body: &Body) -> BTreeMap<OpId, Targets> {
        let target = |call: &Call| match &call.callee {
            Callee::Path(path) => {
                let mut apis = matching::on_path(self.catalog, path, call.arguments.len());
                apis.retain(|row| row.library == "lua");
                let path = Some(path.clone());
                self.targets_from(Resolved {
                    apis,
                    path,
                    resolution: Resolution::External,
                    ..Resolved::unknown()
                })
            }
            _ => None,
        };
        body.calls().filter_map(|(_, op, call)| Some((op, target(call)?))).collect()
    }

    /// The type of a value; unknown for a number of another body.
    #[must_use]
    pub fn type_of(&self, body: BodyId, value: crate::ir::value::ValueId) -> Ty {
        let all = self.types.get(body.0 as usize);
        all.and_then(|all| all.get(value.0 as usize)).cloned().unwrap_or_default()
    }

    /// What a path means in a body, where a value is wanted.
    #[must_use]
    pub fn resolve(&self, body: BodyId, path: &crate::ir::index::Path) -> Named {
        let scope = self.scope_of(body);
        match self.names.resolve(scope, path, Namespace::Value).0 {
            Named::Unknown => self.names.resolve(scope, path, Namespace::Type).0,
            named => named,
        }
    }
}

/// What is lowered: whatever has a body and ships. Test code says nothing of the program (a test
/// may well call with no expiry), so it is read only when it is linted itself.
fn items(index: &FileIndex, tests: bool) -> impl Iterator<Item = ItemId> {
    let wanted = move |role: Role| tests || role == Role::Product;
    let functions = (0_u32..).zip(&index.functions);
    let functions = functions
        .filter(move |(_, function)| function.has_body && wanted(function.role))
        .map(|(at, _)| ItemId::Function(at));
    let constants = (0_u32..).zip(&index.constants);
    let constants = constants
        .filter(move |(_, constant)| wanted(constant.role))
        .map(|(at, _)| ItemId::Constant(at));
    functions.chain(constants)
}
