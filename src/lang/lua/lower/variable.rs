//! Names to variables, variables to values, fields of local tables included.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::flow::UNSET;
use super::{Lowerer, cursor};
use crate::ir::body::OpKind;
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// Lua's compiler allows 200 locals a function; beyond this many in one script, names are unknown.
const MAXIMUM_VARIABLES: usize = 1_000;

/// A variable of one script: every declaration makes another one.
pub(super) type VariableId = usize;

/// A local table and the field of it that is written; `None` for one that is computed.
pub(super) type FieldWrite = (VariableId, Option<String>);

/// Which names are visible: an immutable chain, so that a function can keep the scope it was
/// declared in.
#[derive(Default)]
pub(super) struct Bindings {
    chain: Vec<(String, VariableId, Option<usize>)>,
    /// The innermost binding in scope.
    pub head: Option<usize>,
    /// How many variables there are.
    pub count: usize,
}

impl Bindings {
    /// Binds a name from here on.
    fn bind(&mut self, name: &str) -> VariableId {
        let variable = self.count;
        self.count += 1;
        self.chain.push((name.to_owned(), variable, self.head));
        self.head = Some(self.chain.len() - 1);
        variable
    }

    /// The variable a name means here.
    pub fn find(&self, name: &str) -> Option<VariableId> {
        let mut at = self.head;
        while let Some((bound, variable, outer)) = at.and_then(|index| self.chain.get(index)) {
            if bound == name {
                return Some(*variable);
            }
            at = *outer;
        }
        None
    }
}

impl<'t> Lowerer<'t> {
    /// Declares a local variable with a value.
    pub(super) fn declare(&mut self, name: &str, value: ValueId) -> Option<VariableId> {
        if self.bindings.count >= MAXIMUM_VARIABLES {
            return None;
        }
        let variable = self.bindings.bind(name);
        self.set(variable, value);
        self.name(value, Some(name));
        Some(variable)
    }

    /// The value of a variable here, when it has one.
    pub(super) fn get(&self, variable: VariableId) -> Option<ValueId> {
        self.flow.values.get(variable).copied().filter(|value| *value != UNSET)
    }

    /// Gives a variable a value; what was known of its fields is forgotten.
    pub(super) fn set(&mut self, variable: VariableId, value: ValueId) {
        if self.flow.values.len() <= variable {
            self.flow.values.resize(variable + 1, UNSET);
        }
        if let Some(slot) = self.flow.values.get_mut(variable) {
            *slot = value;
        }
        for field in self.fields_of(variable) {
            if let Some(slot) = self.flow.values.get_mut(field) {
                *slot = UNSET;
            }
        }
    }

    fn fields_of(&self, table: VariableId) -> Vec<VariableId> {
        let range = (table, String::new())..(table + 1, String::new());
        self.fields.range(range).map(|(_, field)| *field).collect()
    }

    /// The functions that a local table holds here, by field name.
    pub(super) fn functions_in(&self, table: VariableId) -> Vec<(ValueId, usize)> {
        let mut values: Vec<ValueId> =
            self.fields_of(table).into_iter().filter_map(|field| self.get(field)).collect();
        if let Some(ValueKind::Aggregate { fields, .. }) =
            self.get(table).map(|table| self.kind(table))
        {
            values.extend(fields.iter().map(|(_, value)| *value));
        }
        values.into_iter().filter_map(|value| Some((value, self.function_of(value)?))).collect()
    }

    /// Gives a field of a local table a value.
    pub(super) fn set_field(&mut self, table: VariableId, field: &str, value: ValueId) {
        if self.bindings.count >= MAXIMUM_VARIABLES {
            return;
        }
        let count = &mut self.bindings.count;
        let variable = *self.fields.entry((table, field.to_owned())).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        self.set(variable, value);
    }

    /// Some field of a local table is given a value; functions in it stay what they are.
    pub(super) fn set_some_field(&mut self, table: VariableId, span: Span) {
        for field in self.fields_of(table) {
            if self.get(field).is_some_and(|value| self.function_of(value).is_none()) {
                let value = self.add(ValueKind::Unknown, span);
                self.set(field, value);
            }
        }
    }

    /// Whether a field of a local table may be another than the table was made with.
    pub(super) fn is_changed(&self, table: VariableId, field: &str) -> bool {
        self.changed.contains(&(table, None))
            || self.changed.contains(&(table, Some(field.to_owned())))
    }

    /// The fields of local tables that code in a node writes.
    pub(super) fn written_fields(&self, node: Node<'t>) -> Vec<FieldWrite> {
        let assignments =
            cursor::descendants(node).filter(|node| node.kind() == "assignment_statement");
        let targets = assignments.flat_map(|assignment| {
            cursor::children(assignment).first().map(|list| cursor::children(*list))
        });
        let write = |target: Node<'t>| {
            let table = target.child_by_field_name("table")?;
            let field = target.child_by_field_name("field")?;
            let named = target.kind() == "dot_index_expression";
            let name = named.then(|| self.source_of(field).to_owned());
            Some((self.variable(self.source_of(table))?, name))
        };
        targets.flatten().filter_map(write).collect()
    }

    /// What a field of a local table was last given, when that is known.
    pub(super) fn get_field(&self, table: VariableId, field: &str) -> Option<ValueId> {
        self.get(*self.fields.get(&(table, field.to_owned()))?)
    }

    /// Names a value after the first variable that holds it.
    pub(super) fn name(&mut self, value: ValueId, name: Option<&str>) {
        if let Some(value) = self.body().values.get_mut(value.0 as usize)
            && value.name.is_none()
        {
            value.name = name.map(str::to_owned);
        }
    }

    /// Assigns to a name: a local, or a global that is remembered for what follows.
    pub(super) fn assign_name(&mut self, name: &str, value: ValueId, span: Span) {
        if let Some(variable) = self.bindings.find(name) {
            self.set(variable, value);
            self.name(value, Some(name));
            return;
        }
        let place = self.path(&[name], span);
        self.operation(OpKind::Store { place, value }, span);
        let count = &mut self.bindings.count;
        let variable = *self.globals.entry(name.to_owned()).or_insert_with(|| {
            *count += 1;
            *count - 1
        });
        self.set(variable, value);
        self.name(value, Some(name));
    }

    /// The variable a name means here: a local, or a global that was assigned before.
    pub(super) fn variable(&self, name: &str) -> Option<VariableId> {
        self.bindings.find(name).or_else(|| self.globals.get(name).copied())
    }

    /// The variables that code in a node may assign: the names assigned in it, and whatever the
    /// functions declared so far assign outside themselves.
    pub(super) fn assigned(&self, node: Node<'t>) -> BTreeSet<VariableId> {
        let mut variables: BTreeSet<VariableId> =
            self.functions.iter().flat_map(|function| function.assigns.iter().copied()).collect();
        variables.extend(self.assigned_names(node));
        let fields: Vec<VariableId> =
            variables.iter().flat_map(|table| self.fields_of(*table)).collect();
        variables.extend(fields);
        variables
    }

    /// The variables in scope here whose names are assigned in a node.
    pub(super) fn assigned_names(&self, node: Node<'t>) -> BTreeSet<VariableId> {
        let mut variables = BTreeSet::new();
        let mut declarations = BTreeSet::new();
        for statement in cursor::descendants(node) {
            if statement.kind() == "variable_declaration" {
                declarations.extend(statement.named_child(0).map(|inner| inner.id()));
            }
            if statement.kind() != "assignment_statement" || declarations.contains(&statement.id())
            {
                continue;
            }
            for mut target in cursor::children(statement)
                .first()
                .map(|list| cursor::children(*list))
                .unwrap_or_default()
            {
                while let Some(table) = target.child_by_field_name("table") {
                    target = table;
                }
                variables.extend(self.variable(self.source_of(target)));
            }
        }
        variables
    }

    /// Variables that code out of sight may have assigned hold something unknown now.
    pub(super) fn forget(&mut self, variables: &[VariableId], span: Span) {
        for variable in variables {
            if self.get(*variable).is_some() {
                let value = self.add(ValueKind::Unknown, span);
                self.set(*variable, value);
            }
        }
    }
}
