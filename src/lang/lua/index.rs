//! What a `.lua` file holds: a script, Redis Functions, strings with scripts, or nothing.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::{include, literal, looks_like_script, parse};
use crate::ir::body::{Problem, ProblemKind};
use crate::ir::index::{FileIndex, Function, Path, Receiver, Role, TypeRef, is_test_folder};
use crate::ir::value::Text;
use crate::lang::cursor;
use crate::source::{Language, SourceFile, Span, Tree};

/// Functions of one library that are read: each is lowered with the whole file around it.
const MAXIMUM_FUNCTIONS: usize = 128;
/// Names that only other hosts of Lua define.
const OTHER_HOSTS: [&str; 6] = ["ngx", "require", "module", "package", "vim", "io"];
/// Folders of files that are put into others.
const FRAGMENT_FOLDERS: [&str; 4] = ["includes", "include", "shared", "partials"];

/// The index of a file.
#[must_use]
pub fn index(file: &SourceFile, tree: &Tree) -> FileIndex {
    let mut index = FileIndex::new(file.id);
    index.role = role(&file.path);
    if !file.text.contains("redis")
        && !file.text.contains("server")
        && !file.text.contains("include")
    {
        return index;
    }
    let text = include::expand(file, tree);
    if !mentions_redis(&text.content) {
        return index;
    }
    let Some(script) = parse::parse(&text.content) else {
        index.problems = super::unread(&text).problems;
        return index;
    };
    let root = script.tree.root_node();
    let mut items = items(&file.path, root, &script.source, &text);
    if let Some(first) = items.get(MAXIMUM_FUNCTIONS).filter(|_| items_are_functions(&items)) {
        let span = text.place(first.node.start_byte(), first.node.end_byte());
        let message = "the library has too many functions to be read from here on".to_owned();
        index.problems.push(Problem { span, message, kind: ProblemKind::Limit });
        items.truncate(MAXIMUM_FUNCTIONS);
    }
    index.functions =
        items.into_iter().map(|item| function(file, &text, &item, index.role)).collect();
    index
}

/// Whether it is worth parsing: a script's calls, or the Redis table under another name.
fn mentions_redis(content: &str) -> bool {
    let renamed = |text: &str| {
        text.match_indices("redis").chain(text.match_indices("server")).any(|(at, name)| {
            let before = text.get(..at).unwrap_or_default().trim_end();
            let after = text.get(at + name.len()..).and_then(|rest| rest.chars().next());
            before.ends_with('=') && after.is_none_or(|c| c.is_whitespace() || c == ';' || c == ',')
        })
    };
    looks_like_script(content) || renamed(content)
}

/// The callback that a function of an index of the same text is; `None` for a script.
#[must_use]
pub fn callback<'t>(
    text: &Text,
    script: &'t parse::Script,
    function: &Function,
) -> Option<Node<'t>> {
    let root = script.tree.root_node();
    let registrations =
        cursor::descendants(root).filter_map(|node| registration(node, &script.source));
    let named = |found: &Registration<'t>| {
        text.place(found.name.start_byte(), found.name.end_byte()) == function.name_span
    };
    registrations.into_iter().find(named).map(|found| found.callback)
}

/// The script that stands in a string of the file, read from that string alone; `None` for an item
/// that is no string.
#[must_use]
pub fn embedded_text(file: &SourceFile, function: &Function) -> Option<Text> {
    if function.span.file != file.id || function.span == file.whole() {
        return None;
    }
    let written = file.slice(function.span);
    // An expression alone is no chunk.
    let mut text = Text::default();
    text.push("return ", Span { end: function.span.start, ..function.span });
    text.push(written, function.span);
    let script = parse::parse(&text.content)?;
    let whole = text.content.len() - written.len()..text.content.len();
    let node = cursor::descendants(script.tree.root_node())
        .find(|node| node.byte_range() == whole && is_text(*node))?;
    Some(self::written(&text, node))
}

/// Whether an expression is a string, or strings joined by `..`.
fn is_text(node: Node<'_>) -> bool {
    node.kind() == "string" || node.kind() == "binary_expression" && cursor::has_token(node, "..")
}

/// An item and its names.
struct Found<'t> {
    name: String,
    /// The node of the name alone; `None` for a script.
    name_node: Option<Node<'t>>,
    /// The node of the whole item.
    node: Node<'t>,
}

fn items<'t>(path: &str, root: Node<'t>, source: &str, text: &Text) -> Vec<Found<'t>> {
    let registrations: Vec<Found<'t>> = cursor::descendants(root)
        .filter_map(|node| registration(node, source))
        .map(|found| Found {
            name: content(text, found.name),
            name_node: Some(found.name),
            node: definition(root, found.callback, source).unwrap_or(found.call),
        })
        .collect();
    if !registrations.is_empty() {
        return registrations;
    }
    let code = Code::of(root, source);
    if code.other_host || !code.redis {
        return embedded(path, root, source, text);
    }
    if is_fragment(path, root, &code) {
        return Vec::new();
    }
    let name = file_name(path).to_owned();
    vec![Found { name, name_node: None, node: root }]
}

/// Whether items are registered functions; strings are read one by one, whatever their number.
fn items_are_functions(items: &[Found<'_>]) -> bool {
    items.first().is_some_and(|first| first.name_node.is_some() && !is_text(first.node))
}

/// What the names in a file's code (not in its strings) say of its host.
struct Code {
    redis: bool,
    other_host: bool,
    keys: bool,
}

impl Code {
    fn of(root: Node<'_>, source: &str) -> Self {
        let mut code = Self { redis: false, other_host: false, keys: false };
        let mut members = BTreeSet::new();
        for node in cursor::descendants(root) {
            let member = match node.kind() {
                "dot_index_expression" => node.child_by_field_name("field"),
                "method_index_expression" => node.child_by_field_name("method"),
                "field" if !cursor::has_token(node, "[") => node.child_by_field_name("name"),
                _ => None,
            };
            members.extend(member.map(|member| member.id()));
            if node.kind() != "identifier" || members.contains(&node.id()) {
                continue;
            }
            let name = source.get(node.byte_range()).unwrap_or_default();
            code.redis |= name == "redis" || name == "server";
            code.other_host |= OTHER_HOSTS.contains(&name);
            code.keys |= name == "KEYS" || name == "ARGV";
        }
        code
    }
}

/// Whether a file is only a part of others: it lies in a folder of parts, or defines functions and
/// does nothing.
fn is_fragment(path: &str, root: Node<'_>, code: &Code) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let includes = folder == "includes" || file_name(path).starts_with('_');
    let shared = FRAGMENT_FOLDERS.contains(&folder) && !code.keys;
    let defines = |node: &Node<'_>| match node.kind() {
        "function_declaration" => true,
        "variable_declaration" => {
            let calls = |node: Node<'_>| node.kind() == "function_call";
            !cursor::descendants(*node).any(calls)
                || cursor::descendants(*node).any(|node| node.kind() == "function_definition")
        }
        _ => false,
    };
    includes || shared || (!code.keys && cursor::children(root).iter().all(defines))
}

/// Strings of another program that are scripts, pieces joined by `..` included.
fn embedded<'t>(path: &str, root: Node<'t>, source: &str, text: &Text) -> Vec<Found<'t>> {
    let mut read = 0;
    let mut found = Vec::new();
    for node in cursor::descendants(root) {
        if node.start_byte() < read || !is_text(node) {
            continue;
        }
        read = node.end_byte();
        if !looks_like_script(&written(text, node).content) {
            continue;
        }
        let name = bound_name(node);
        let name_node = name.unwrap_or(node);
        let name = name.and_then(|name| source.get(name.byte_range())).unwrap_or(file_name(path));
        found.push(Found { name: name.to_owned(), name_node: Some(name_node), node });
    }
    found
}

/// What a string, or strings joined by `..`, say; a hole where something else is joined.
pub fn written(text: &Text, node: Node<'_>) -> Text {
    if node.kind() == "string" {
        return literal::decode(text, node.start_byte(), node.end_byte());
    }
    let mut whole = Text::default();
    let mut rest = Some(node);
    while let Some(next) = rest.take() {
        let joined = next.kind() == "binary_expression" && cursor::has_token(next, "..");
        let piece = if joined { next.child_by_field_name("left") } else { Some(next) };
        rest = if joined { next.child_by_field_name("right") } else { None };
        let Some(piece) = piece else { continue };
        let (start, end) = (piece.start_byte(), piece.end_byte());
        match piece.kind() {
            "string" => whole.append(&literal::decode(text, start, end)),
            _ => whole.push_hole(text.place(start, end)),
        }
    }
    whole.or_at(text.place(node.start_byte(), node.start_byte()))
}

/// The variable or field that a string is assigned to.
fn bound_name(string: Node<'_>) -> Option<Node<'_>> {
    let list = string.parent()?;
    if list.kind() == "field" {
        return list.child_by_field_name("name").filter(|name| name.kind() == "identifier");
    }
    let assignment = list.parent().filter(|node| node.kind() == "assignment_statement")?;
    let position = cursor::children(list).iter().position(|node| *node == string)?;
    let names = cursor::children(*cursor::children(assignment).first()?);
    let target = *names.get(position)?;
    Some(target.child_by_field_name("field").unwrap_or(target))
}

/// `redis.register_function('name', callback)`, or its form with named fields.
struct Registration<'t> {
    call: Node<'t>,
    name: Node<'t>,
    callback: Node<'t>,
}

fn registration<'t>(node: Node<'t>, source: &str) -> Option<Registration<'t>> {
    if node.kind() != "function_call" {
        return None;
    }
    let callee = source.get(node.child_by_field_name("name")?.byte_range())?;
    if !matches!(callee, "redis.register_function" | "server.register_function") {
        return None;
    }
    let arguments = cursor::children(node.child_by_field_name("arguments")?);
    let first = *arguments.first()?;
    if first.kind() == "string" {
        return Some(Registration { call: node, name: first, callback: *arguments.get(1)? });
    }
    let field = |wanted: &str| {
        let fields = cursor::children(first);
        let field = fields.into_iter().find(|field| {
            let name = field.child_by_field_name("name").and_then(|n| source.get(n.byte_range()));
            name == Some(wanted)
        })?;
        field.child_by_field_name("value")
    };
    Some(Registration { call: node, name: field("function_name")?, callback: field("callback")? })
}

/// The definition of a callback that is given by name.
fn definition<'t>(root: Node<'t>, callback: Node<'t>, source: &str) -> Option<Node<'t>> {
    if callback.kind() == "function_definition" {
        return Some(callback);
    }
    let wanted = source.get(callback.byte_range())?;
    cursor::children(root).into_iter().find(|node| {
        let name = node.child_by_field_name("name").and_then(|name| source.get(name.byte_range()));
        node.kind() == "function_declaration" && name == Some(wanted)
    })
}

fn content(text: &Text, node: Node<'_>) -> String {
    literal::decode(text, node.start_byte(), node.end_byte()).content
}

fn function(file: &SourceFile, text: &Text, found: &Found<'_>, role: Role) -> Function {
    let place = |node: Node<'_>| text.place(node.start_byte(), node.end_byte());
    let (span, name_span) = match found.name_node {
        Some(name) => (place(found.node), place(name)),
        None => (file.whole(), Span::new(file.id, 0, 0)),
    };
    Function {
        name: found.name.clone(),
        scope: Path::default(),
        owner: None,
        of_trait: None,
        receiver: Receiver::None,
        parameters: Vec::new(),
        returns: TypeRef::Unknown,
        generics: Vec::new(),
        is_async: false,
        has_body: true,
        role,
        span,
        made: None,
        name_span,
    }
}

fn role(path: &str) -> Role {
    let name = file_name(path);
    let stem = name.strip_suffix(".lua").unwrap_or(name);
    let mut folders = path.split('/').rev().skip(1);
    let in_folder = folders.any(|folder| is_test_folder(folder, Language::Lua));
    let by_name = stem.ends_with("_spec") || stem.ends_with("_test") || stem.starts_with("test_");
    if in_folder || by_name { Role::Test } else { Role::Product }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
