//! Statements.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::variable::{FieldWrite, VariableId};
use super::{Lowerer, Test, cursor};
use crate::ir::body::{BlockId, Exit, OpKind, Terminator};
use crate::ir::given::GivenId;
use crate::ir::value::{Conversion, ValueId, ValueKind};
use crate::source::Span;

impl<'t> Lowerer<'t> {
    /// The statements of a chunk or block; what it declares is out of scope after it.
    pub(super) fn block(&mut self, node: Node<'t>) {
        let scope = self.bindings.head;
        self.open_block(node);
        self.bindings.head = scope;
    }

    /// The statements of a block whose locals stay in scope.
    pub(super) fn open_block(&mut self, node: Node<'t>) {
        for statement in cursor::children(node) {
            if node.parent().is_none() && statement.kind() != "comment" {
                self.begin_again();
            }
            self.deeper(statement, |_| (), |lowerer| lowerer.statement(statement));
        }
    }

    /// Goes on behind a `return` of the whole chunk: a file that collects several scripts. Each
    /// begins with a block of its own that nothing leads to.
    fn begin_again(&mut self) {
        let own = self.inlined.is_empty() && self.loop_depth == 0;
        if !self.flow.reachable && own {
            self.flow.block = self.new_block();
            self.flow.reachable = true;
            self.flow.given = None;
        }
    }

    fn statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "variable_declaration" => self.local(node),
            "assignment_statement" => self.assignment(node),
            "function_declaration" => self.function_declaration(node),
            "function_call" => self.call_statement(node),
            "if_statement" => self.if_statement(node),
            "while_statement" => self.while_statement(node),
            "repeat_statement" => self.repeat_statement(node),
            "for_statement" => self.for_statement(node),
            "do_statement" => self.body_of(node),
            "return_statement" => {
                let list = cursor::children(node).first().map(|list| cursor::children(*list));
                let values = self.list(&list.unwrap_or_default());
                self.return_values(values, Exit::Return, self.span(node));
            }
            "break_statement" => {
                if let Some(exit) = self.breaks.last().copied() {
                    self.jump(exit);
                }
            }
            // What the parser could make out inside source that does not parse.
            "ERROR" => self.open_block(node),
            _ => {}
        }
    }

    fn body_of(&mut self, node: Node<'t>) {
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
    }

    fn call_statement(&mut self, node: Node<'t>) {
        let values = self.call(node);
        let Some(value) = values.first().copied() else { return };
        if matches!(self.kind(value), ValueKind::Result(_) | ValueKind::Join(_)) {
            let span = self.span(node);
            self.operation(OpKind::Discard { value, explicit: false }, span);
        }
    }

    /// `local a, b = x, y`; `local a`.
    fn local(&mut self, node: Node<'t>) {
        let Some(inner) = cursor::children(node).first().copied() else { return };
        let (names, values) = if inner.kind() == "assignment_statement" {
            let lists = cursor::children(inner);
            let names = lists.first().map(|list| cursor::children(*list)).unwrap_or_default();
            (names, lists.get(1).map(|list| cursor::children(*list)).unwrap_or_default())
        } else {
            (cursor::children(inner), Vec::new())
        };
        let names: Vec<Node<'t>> = names.into_iter().filter(|n| n.kind() == "identifier").collect();
        let values = self.spread_over(&values, names.len(), node);
        for (name, value) in names.into_iter().zip(values) {
            let text = self.source_of(name);
            if text == "_" && matches!(self.kind(value), ValueKind::Result(_)) {
                let span = self.span(name);
                self.operation(OpKind::Discard { value, explicit: true }, span);
            }
            self.declare(text, value);
        }
    }

    /// As many values as there are targets: extra results of a last call are its fields.
    fn spread_over(
        &mut self,
        nodes: &[Node<'t>],
        count: usize,
        statement: Node<'t>,
    ) -> Vec<ValueId> {
        let span = self.span(statement);
        let mut values = self.list(nodes);
        let last_is_call = nodes.last().is_some_and(|node| node.kind() == "function_call");
        let last = values.last().copied();
        let mut extra = 0_usize;
        while values.len() < count {
            let opaque = last.filter(|value| {
                last_is_call
                    && matches!(self.kind(*value), ValueKind::Result(_) | ValueKind::Element { .. })
            });
            extra += 1;
            let value = match opaque {
                Some(base) => self.add(ValueKind::Field { base, name: extra.to_string() }, span),
                None => self.nothing(span),
            };
            values.push(value);
        }
        values
    }

    fn assignment(&mut self, node: Node<'t>) {
        let lists = cursor::children(node);
        let targets = lists.first().map(|list| cursor::children(*list)).unwrap_or_default();
        let sources = lists.get(1).map(|list| cursor::children(*list)).unwrap_or_default();
        let values = self.spread_over(&sources, targets.len(), node);
        for (target, value) in targets.into_iter().zip(values) {
            self.assign(target, value, node);
        }
    }

    fn assign(&mut self, target: Node<'t>, value: ValueId, statement: Node<'t>) {
        if target.kind() == "identifier" {
            let name = self.source_of(target);
            self.assign_name(name, value, self.span(target));
            return;
        }
        let parts = (target.child_by_field_name("table"), target.child_by_field_name("field"));
        let (Some(table), Some(field)) = parts else { return };
        let local =
            (table.kind() == "identifier").then(|| self.variable(self.source_of(table))).flatten();
        let base = self.expression(table);
        let (name, key) = if target.kind() == "dot_index_expression" {
            (Some(self.source_of(field).to_owned()), None)
        } else {
            let key = self.expression(field);
            (self.key_text(key), Some(key))
        };
        let place = match &name {
            Some(name) => self.field_place(base, name.clone(), self.span(target)),
            None => self.add(ValueKind::Element { base, index: key }, self.span(target)),
        };
        self.function_body_unless_local(local, name.as_deref(), value);
        let span = self.span(statement);
        self.operation(OpKind::Store { place, value }, span);
        let Some(local) = local else { return };
        self.changed.insert((local, name.clone()));
        match name {
            Some(name) => self.set_field(local, &name, value),
            None => self.set_some_field(local, span),
        }
    }

    /// A function stored in a field that is followed is inlined at its calls; elsewhere it needs a
    /// body.
    fn function_body_unless_local(
        &mut self,
        local: Option<VariableId>,
        name: Option<&str>,
        value: ValueId,
    ) {
        if local.is_none() || name.is_none() {
            self.function_body(value);
        }
    }

    fn function_declaration(&mut self, node: Node<'t>) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let text = self.source_of(name);
        if cursor::has_token(node, "local") {
            self.define_local(node, text);
            return;
        }
        let value = self.define(node, Some(text));
        if name.kind() == "method_index_expression" {
            let parts = (name.child_by_field_name("table"), name.child_by_field_name("method"));
            if let (Some(table), Some(method)) = parts
                && let Some(local) = self.variable(self.source_of(table))
            {
                let method = self.source_of(method).to_owned();
                self.mark_method();
                self.set_field(local, &method, value);
            }
            return;
        }
        self.assign(name, value, node);
    }

    fn if_statement(&mut self, node: Node<'t>) {
        let exit = self.new_block();
        let span = self.span(node);
        let mut clause = Some(node);
        let alternatives: Vec<Node<'t>> =
            node.children_by_field_name("alternative", &mut node.walk()).collect();
        let mut alternatives = alternatives.into_iter();
        while let Some(current) = clause.take() {
            let (then, otherwise) = (self.new_block(), self.new_block());
            match current.child_by_field_name("condition") {
                Some(condition) => self.condition(condition, then, otherwise),
                None => self.branch(Test::Opaque(Vec::new()), then, otherwise, span),
            }
            self.enter(then, span);
            if let Some(body) = current.child_by_field_name("consequence") {
                self.block(body);
            }
            self.jump(exit);
            self.enter(otherwise, span);
            match alternatives.next() {
                Some(next) if next.kind() == "elseif_statement" => clause = Some(next),
                Some(next) => self.body_of(next),
                None => {}
            }
        }
        self.jump(exit);
        self.enter(exit, span);
    }

    /// Begins the head of a loop: every variable the loop may assign is a join from here on.
    fn loop_head(&mut self, node: Node<'t>) -> LoopHead {
        let span = self.span(node);
        let assigned = self.assigned(node);
        let written = self.functions.iter().flat_map(|function| function.writes.iter().cloned());
        let written: Vec<FieldWrite> = written.chain(self.written_fields(node)).collect();
        self.changed.extend(written);
        self.loop_depth += 1;
        let head = self.new_block();
        self.jump(head);
        self.enter(head, span);
        self.flow.met.clear();
        let mut joins = BTreeMap::new();
        for variable in assigned {
            if let Some(before) = self.get(variable) {
                let join = self.add(ValueKind::Join(vec![before]), span);
                let name =
                    self.bodies.get(self.current).and_then(|body| body.value(before)?.name.clone());
                self.name(join, name.as_deref());
                joins.insert(variable, (before, join));
            }
        }
        for (variable, (_, join)) in &joins {
            if let Some(slot) = self.flow.values.get_mut(*variable) {
                *slot = *join;
            }
        }
        LoopHead { block: head, joins, given: self.flow.given }
    }

    /// Goes back to the head of a loop, with what the variables hold now.
    fn loop_back(&mut self, head: &LoopHead) {
        let reachable = self.flow.reachable;
        if reachable {
            self.end(Terminator::Goto(head.block));
        }
        for (variable, (before, join)) in &head.joins {
            let now = self.get(*variable).filter(|_| reachable);
            let kind = match now {
                Some(now) if now != *join => ValueKind::Join(vec![*before, now]),
                None if reachable => ValueKind::Unknown,
                _ => ValueKind::Converted { value: *before, conversion: Conversion::Same },
            };
            let ways = vec![head.given, self.flow.given];
            self.body().givens.joined(*join, ways);
            if let Some(value) = self.body().values.get_mut(join.0 as usize) {
                value.kind = kind;
            }
        }
        self.unreachable();
    }

    /// Runs a loop's body, `break` going to `exit`, and goes back to the head.
    fn loop_body(&mut self, node: Node<'t>, exit: BlockId) {
        self.breaks.push(exit);
        self.body_of(node);
        self.breaks.pop();
    }

    fn exit_block(&mut self) -> BlockId {
        let depth = self.loop_depth.saturating_sub(1);
        self.body().add_block(depth)
    }

    fn leave_loop(&mut self, exit: BlockId, span: Span) {
        self.loop_depth = self.loop_depth.saturating_sub(1);
        self.enter(exit, span);
    }

    fn while_statement(&mut self, node: Node<'t>) {
        let span = self.span(node);
        let head = self.loop_head(node);
        let (body, exit) = (self.new_block(), self.exit_block());
        match node.child_by_field_name("condition") {
            Some(condition) => self.condition(condition, body, exit),
            None => self.branch(Test::Opaque(Vec::new()), body, exit, span),
        }
        self.enter(body, span);
        self.loop_body(node, exit);
        self.loop_back(&head);
        self.leave_loop(exit, span);
    }

    /// `repeat … until condition`: the condition sees the body's locals.
    fn repeat_statement(&mut self, node: Node<'t>) {
        let span = self.span(node);
        let head = self.loop_head(node);
        let (again, exit) = (self.new_block(), self.exit_block());
        let scope = self.bindings.head;
        self.breaks.push(exit);
        if let Some(body) = node.child_by_field_name("body") {
            self.open_block(body);
        }
        self.breaks.pop();
        match node.child_by_field_name("condition") {
            Some(condition) if self.flow.reachable => self.condition(condition, exit, again),
            _ => {}
        }
        self.bindings.head = scope;
        self.enter(again, span);
        self.loop_back(&head);
        self.leave_loop(exit, span);
    }

    fn for_statement(&mut self, node: Node<'t>) {
        let span = self.span(node);
        let Some(clause) = node.child_by_field_name("clause") else { return };
        let numeric = clause.kind() == "for_numeric_clause";
        let (names, bounds) = for_parts(clause, numeric);
        let iterated = if numeric { None } else { self.iterated(&bounds) };
        let tested = match iterated {
            Some(table) => vec![table],
            None => self.list(&bounds),
        };
        let head = self.loop_head(node);
        let (body, exit) = (self.new_block(), self.exit_block());
        self.branch(Test::Opaque(tested.clone()), body, exit, self.span(clause));
        self.enter(body, span);
        let scope = self.bindings.head;
        for (index, name) in names.into_iter().enumerate() {
            let value = self.iteration_value(index, iterated, self.span(name));
            self.declare(self.source_of(name), value);
        }
        self.loop_body(node, exit);
        self.bindings.head = scope;
        self.loop_back(&head);
        self.leave_loop(exit, span);
    }

    /// The table of `ipairs(t)` or `pairs(t)`.
    fn iterated(&mut self, bounds: &[Node<'t>]) -> Option<ValueId> {
        let [call] = bounds else { return None };
        let name = self.source_of(call.child_by_field_name("name")?);
        if call.kind() != "function_call" || !matches!(name, "ipairs" | "pairs") {
            return None;
        }
        let arguments = cursor::children(call.child_by_field_name("arguments")?);
        Some(self.expression(*arguments.first()?))
    }

    /// What the n-th variable of a `for` holds.
    fn iteration_value(&mut self, index: usize, iterated: Option<ValueId>, span: Span) -> ValueId {
        let kind = match iterated {
            Some(base) if index == 1 => match self.kind(base) {
                ValueKind::Path(path) if path.0 == ["KEYS"] => ValueKind::ScriptKey(None),
                ValueKind::Path(path) if path.0 == ["ARGV"] => ValueKind::ScriptArgument(None),
                _ => ValueKind::Element { base, index: None },
            },
            _ => ValueKind::Unknown,
        };
        self.add(kind, span)
    }
}

/// The head of a loop, and its joins: variable, value before, join.
struct LoopHead {
    block: BlockId,
    joins: BTreeMap<VariableId, (ValueId, ValueId)>,
    /// What was decided before it.
    given: Option<GivenId>,
}

/// The variables and the expressions of a `for` clause.
fn for_parts<'t>(clause: Node<'t>, numeric: bool) -> (Vec<Node<'t>>, Vec<Node<'t>>) {
    if numeric {
        let part = |name: &str| clause.child_by_field_name(name);
        let bounds = ["start", "end", "step"].into_iter().filter_map(part).collect();
        return (part("name").into_iter().collect(), bounds);
    }
    let lists = cursor::children(clause);
    let list =
        |index: usize| lists.get(index).map(|list| cursor::children(*list)).unwrap_or_default();
    (list(0), list(1))
}
