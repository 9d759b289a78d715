//! What effects ask of names, types and evaluation, in one place.

use crate::catalog::Api;
use crate::ir::body::{BodyIndex, Call, Callee};
use crate::ir::effect::{BodyId, ExpiryUnit, Site};
use crate::ir::index::{Function, ItemId, Path};
use crate::ir::key::KeyTemplate;
use crate::ir::value::{Text, ValueId};
use crate::link::Program;
use crate::link::evaluate::workspace_type;
use crate::link::names::Named;
use crate::link::types::{Bound, Ty};
use crate::source::Span;

/// Types on which calls build one thing.
const BUILDERS: [&str; 9] = [
    "Cmd",
    "Pipeline",
    "ClusterPipeline",
    "ScriptInvocation",
    "RequestBuilder",
    "ClientRequest",
    "QueryBuilder",
    "SetOptions",
    "CustomCommand",
];
/// Standard types that hold any number of elements.
const COLLECTIONS: [&str; 8] =
    ["Vec", "VecDeque", "HashSet", "BTreeSet", "HashMap", "BTreeMap", "LinkedList", "IndexSet"];

/// The library rows that a call may be, the best first.
pub(super) fn apis(program: &Program, site: Site) -> Vec<&'static Api> {
    program.targets(site.body, site.op).map(|targets| targets.apis.clone()).unwrap_or_default()
}

/// The path of a function that a call names: in full, when it is a library's.
pub(super) fn called_path<'p>(
    program: &'p Program,
    site: Site,
    call: &'p Call,
) -> Option<&'p Path> {
    let Callee::Path(written) = &call.callee else { return None };
    let full = program.targets(site.body, site.op).and_then(|targets| targets.path.as_ref());
    Some(full.unwrap_or(written))
}

/// The workspace bodies that a call may run.
pub(super) fn callee_bodies(program: &Program, site: Site) -> Vec<BodyId> {
    program.targets(site.body, site.op).map(|targets| targets.bodies.clone()).unwrap_or_default()
}

/// A closure or async block of a body.
pub(super) fn nested(program: &Program, body: BodyId, index: BodyIndex) -> Option<BodyId> {
    program.nested(body, index)
}

/// The initialiser of the constant that a path names.
pub(super) fn constant_body(program: &Program, body: BodyId, path: &Path) -> Option<BodyId> {
    match program.resolve(body, path) {
        Named::Constant(id) => program.body_of_item(id.file, ItemId::Constant(id.index)),
        _ => None,
    }
}

/// The body of the function that a path names.
pub(super) fn function_body(program: &Program, body: BodyId, path: &Path) -> Option<BodyId> {
    match program.resolve(body, path) {
        Named::Function(id) => program.body_of(id),
        _ => None,
    }
}

/// The header of the function around a body.
pub(super) fn function_of(program: &Program, body: BodyId) -> Option<&Function> {
    program.function(program.enclosing_function(body)?)
}

/// Everywhere the type of a value is built; empty when it is no type of the workspace.
pub(super) fn constructors(
    program: &Program,
    body: BodyId,
    value: ValueId,
) -> Vec<(BodyId, ValueId)> {
    match workspace_type(&program.type_of(body, value)) {
        Some(ty) => program.constructors(ty).to_vec(),
        None => Vec::new(),
    }
}

/// The full path of a value's library type, or of the first trait it has; empty when unknown.
pub(super) fn type_path(program: &Program, body: BodyId, value: ValueId) -> Vec<String> {
    match program.type_of(body, value).payload() {
        Ty::External { path, .. } => path.0.clone(),
        Ty::Bounds(bounds) => bounds
            .iter()
            .find_map(|bound| match bound {
                Bound::External(path) => Some(path.0.clone()),
                Bound::Workspace(_) => None,
            })
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// All names in a value's type, type arguments included.
pub(super) fn type_words(program: &Program, body: BodyId, value: ValueId) -> Vec<String> {
    let mut words = Vec::new();
    let mut stack = vec![(program.type_of(body, value), 0)];
    while let Some((ty, depth)) = stack.pop() {
        if let Ty::External { path, arguments } = &ty
            && depth < 4
        {
            words.extend(path.0.iter().cloned());
            stack.extend(arguments.iter().map(|argument| (argument.clone(), depth + 1)));
        }
    }
    words
}

/// Whether all calls on a value build one thing.
pub(super) fn is_builder(program: &Program, body: BodyId, value: ValueId) -> bool {
    let path = type_path(program, body, value);
    path.last()
        .is_some_and(|last| BUILDERS.contains(&last.as_str()) || last.ends_with("FluentBuilder"))
}

/// Whether a value holds any number of elements; bytes are one.
pub(super) fn is_collection(program: &Program, body: BodyId, value: ValueId) -> bool {
    match program.type_of(body, value) {
        Ty::List(element) => element.name() != Some("u8"),
        Ty::External { path, arguments } => {
            path.last().is_some_and(|last| COLLECTIONS.contains(&last))
                && arguments.first().is_none_or(|element| element.name() != Some("u8"))
        }
        _ => false,
    }
}

/// The name of a value's type, for messages; empty when unknown.
pub(super) fn owner_name(program: &Program, body: BodyId, value: ValueId) -> String {
    let ty = program.type_of(body, value);
    match workspace_type(&ty).and_then(|id| program.ty(id)) {
        Some(ty) => ty.name.clone(),
        None => ty.name().unwrap_or_default().to_owned(),
    }
}

/// The template of a value in its body's own frame.
pub(super) fn template(program: &Program, body: BodyId, value: ValueId) -> KeyTemplate {
    program.template(body, value)
}

/// The texts that a value may be.
pub(super) fn texts(program: &Program, body: BodyId, value: ValueId) -> Vec<Text> {
    program.texts(body, value)
}

/// The milliseconds that a value means where this unit is wanted, when constant.
pub(super) fn milliseconds(
    program: &Program,
    body: BodyId,
    value: ValueId,
    unit: ExpiryUnit,
) -> Option<u64> {
    program.milliseconds(body, value, unit)
}

/// The empty span at the start of a body.
pub(super) fn start_of(program: &Program, body: BodyId) -> Span {
    let whole = program.body(body).map(|body| body.body.span);
    whole.map_or(Span::new(crate::source::FileId(0), 0, 0), |span| Span { end: span.start, ..span })
}
