//! What the tree-sitter front-ends share: children without comments, and what a tree says of
//! source that does not fit its grammar.
//!
//! Nothing here recurses: a tree may be as deep as its source is long.

use tree_sitter::Node;

/// A place where the source does not fit the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// What the grammar wanted here (`end`, `)`); `None` when it could do nothing with the source.
    pub missing: Option<String>,
}

/// The named children of a node, comments left out, in source order.
#[must_use]
pub fn children<'t>(node: Node<'t>) -> Vec<Node<'t>> {
    node.named_children(&mut node.walk())
        .filter(|child| !child.is_extra() || child.is_error())
        .collect()
}

/// Whether a token without a name (`local`, `..`) is among a node's children.
#[must_use]
pub fn has_token(node: Node<'_>, token: &str) -> bool {
    node.children(&mut node.walk()).any(|child| !child.is_named() && child.kind() == token)
}

/// Every node of a tree in source order, parents first.
pub fn descendants<'t>(root: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    let mut cursor = root.walk();
    let mut depth = 0_usize;
    let mut next = Some(root);
    std::iter::from_fn(move || {
        let node = next.take()?;
        if cursor.goto_first_child() {
            depth += 1;
            next = Some(cursor.node());
            return Some(node);
        }
        while depth > 0 {
            if cursor.goto_next_sibling() {
                next = Some(cursor.node());
                break;
            }
            cursor.goto_parent();
            depth -= 1;
        }
        Some(node)
    })
}

/// The first `limit` places where a tree's source does not fit the grammar, in source order.
#[must_use]
pub fn faults(root: Node<'_>, limit: usize) -> Vec<Fault> {
    if !root.has_error() {
        return Vec::new();
    }
    let fault = |node: Node<'_>| {
        let (start, end) = (node.start_byte(), node.end_byte());
        if node.is_missing() {
            return Some(Fault { start, end, missing: Some(node.kind().to_owned()) });
        }
        node.is_error().then_some(Fault { start, end, missing: None })
    };
    descendants(root).filter_map(fault).take(limit).collect()
}
