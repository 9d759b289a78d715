//! The grammar's recovering tree: reads the clauses of a statement that no parser takes whole.
//!
//! The tree says where clauses and conjuncts are; each conjunct is then parsed for itself, and one
//! that can't be is known by its columns alone.

use tree_sitter::Node;

use super::condition::predicates;
use super::expression::expression;
use super::normalise::{HOLE_NAME, Normalised};
use super::reader::{Lines, Places, Session, parse_expression};
use super::token::Token;
use crate::ir::sql::{
    Assignment, Delete, Expression, Fidelity, Insert, Predicate, PredicateKind, Select, Statement,
    StatementKind, TableName, Update,
};
use crate::lang::cursor;

/// Longer statements are left to the scan: recovery is costly.
const LONGEST: usize = 32_768;
/// How many nodes of one list are looked at.
const NODES: usize = 400;

/// Reads a statement from its partial tree; `None` when its main clauses are not in it.
pub(super) fn read(
    session: &Session<'_>,
    tokens: &[Token],
    normalised: &Normalised,
) -> Option<Statement> {
    let verbs = ["update", "delete", "insert", "select"];
    let written = tokens.iter().any(|token| token.is_any(session.content(), &verbs));
    if normalised.text.len() > LONGEST || !written {
        return None;
    }
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_sql::LANGUAGE.into()).ok()?;
    let tree = parser.parse(&normalised.text, None)?;
    let reader = Reader { session, normalised, tokens };
    let kind = reader.statement(tree.root_node())?;
    Some(session.statement(tokens, kind, Fidelity::Recovered))
}

struct Reader<'a> {
    session: &'a Session<'a>,
    normalised: &'a Normalised,
    tokens: &'a [Token],
}

/// The children of a node, as many as are looked at.
fn children<'t>(node: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    cursor::children(node).into_iter().take(NODES)
}

fn child<'t>(node: Node<'t>, kind: &str) -> Option<Node<'t>> {
    children(node).find(|child| child.kind() == kind)
}

impl Reader<'_> {
    fn text(&self, node: Node<'_>) -> &str {
        self.normalised.text.get(node.byte_range()).unwrap_or("")
    }

    fn says(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| token.is(self.session.content(), word))
    }

    fn statement(&self, root: Node<'_>) -> Option<StatementKind> {
        let statement = child(root, "statement")?;
        let main = children(statement)
            .find(|node| matches!(node.kind(), "update" | "delete" | "insert" | "select"))?;
        let from = child(statement, "from");
        let place = from.unwrap_or(main);
        let returning = child(statement, "returning").or_else(|| child(main, "returning"));
        let returning = returning.map(|node| self.names(node)).unwrap_or_default();
        let conditions = child(main, "where").or_else(|| child(place, "where"));
        if self.says("where") && conditions.is_none() {
            return None;
        }
        let predicates = conditions.map(|node| self.conditions(node)).unwrap_or_default();
        Some(match main.kind() {
            "update" => {
                StatementKind::Update(Update { predicates, returning, ..self.update(main)? })
            }
            "delete" => StatementKind::Delete(Delete {
                table: self.table(place)?,
                predicates,
                returning,
                ..Delete::default()
            }),
            "insert" => StatementKind::Insert(Insert {
                table: self.table(main)?,
                columns: child(main, "list").map(|list| self.names(list)).unwrap_or_default(),
                returning,
                ..Insert::default()
            }),
            _ => StatementKind::Select(Select {
                tables: from.map(|from| self.tables(from)).unwrap_or_default(),
                columns: child(main, "select_expression")
                    .map(|list| self.names(list))
                    .unwrap_or_default(),
                predicates,
                ..Select::default()
            }),
        })
    }

    /// Table and assignments of an UPDATE; `None` when one of them is not in the tree.
    fn update(&self, main: Node<'_>) -> Option<Update> {
        let sets: Vec<_> = children(main).filter_map(|node| self.assignment(node)).collect();
        let table = self.table(main).filter(|_| !sets.is_empty())?;
        Some(Update { table, sets, ..Update::default() })
    }

    fn name(&self, node: Node<'_>) -> String {
        let text = self.text(node);
        if text.contains(HOLE_NAME) {
            String::new()
        } else if text.starts_with(['"', '`']) {
            text.trim_matches(['"', '`']).to_owned()
        } else {
            text.to_lowercase()
        }
    }

    fn reference(&self, node: Node<'_>) -> TableName {
        let mut parts: Vec<String> = children(node)
            .filter(|part| part.kind() == "identifier")
            .map(|part| self.name(part))
            .collect();
        let name = parts.pop().unwrap_or_default();
        TableName { schema: parts.pop(), name }
    }

    fn table(&self, node: Node<'_>) -> Option<TableName> {
        let holder = child(node, "relation").unwrap_or(node);
        child(holder, "object_reference").map(|reference| self.reference(reference))
    }

    fn tables(&self, from: Node<'_>) -> Vec<TableName> {
        let relations = children(from).map(|node| child(node, "relation").unwrap_or(node));
        relations
            .filter_map(|node| child(node, "object_reference"))
            .map(|reference| self.reference(reference))
            .collect()
    }

    /// The names of a list: the last identifier of each part.
    fn names(&self, node: Node<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let mut waiting = vec![node];
        while let Some(next) = waiting.pop() {
            if found.len() > NODES {
                break;
            }
            if matches!(next.kind(), "field" | "column") {
                found.extend(
                    children(next)
                        .filter(|part| part.kind() == "identifier")
                        .last()
                        .map(|part| self.name(part)),
                );
            } else {
                let parts: Vec<Node<'_>> = children(next).collect();
                waiting.extend(parts.into_iter().rev());
            }
        }
        found
    }

    fn assignment(&self, node: Node<'_>) -> Option<Assignment> {
        if node.kind() != "assignment" {
            return None;
        }
        let column = self.names(child(node, "field")?.parent()?).into_iter().next()?;
        let value = self
            .text(node)
            .split_once('=')
            .and_then(|(_, value)| parse_expression(self.session.dialect, value));
        let value =
            value.map_or_else(|| Expression::Other(self.names(node)), |expr| expression(&expr));
        Some(Assignment { column, value })
    }

    fn conditions(&self, node: Node<'_>) -> Vec<Predicate> {
        let mut found = Vec::new();
        let mut waiting: Vec<Node<'_>> =
            children(node).filter(|part| part.kind() != "keyword_where").collect();
        waiting.reverse();
        while let Some(next) = waiting.pop() {
            let parts: Vec<Node<'_>> = children(next).collect();
            let conjunction = next.kind() == "binary_expression"
                && parts.iter().any(|part| part.kind() == "keyword_and");
            if conjunction {
                waiting.extend(parts.into_iter().rev().filter(|part| part.kind() != "keyword_and"));
            } else {
                found.extend(self.condition(next));
            }
        }
        found
    }

    fn condition(&self, node: Node<'_>) -> Vec<Predicate> {
        let (start, end) = self.normalised.source(node.start_byte(), node.end_byte());
        let span = self.session.place(start, end);
        let Some(expr) =
            parse_expression(self.session.dialect, self.text(node)).filter(|_| !node.is_error())
        else {
            let columns = self.names(node);
            return vec![Predicate { kind: PredicateKind::Other(columns), span }];
        };
        let lines = Lines::new("");
        let places = Places {
            text: self.session.text,
            normalised: self.normalised,
            lines: &lines,
            whole: span,
        };
        let mut found = predicates(&expr, places);
        found.iter_mut().for_each(|predicate| predicate.span = span);
        found
    }
}
