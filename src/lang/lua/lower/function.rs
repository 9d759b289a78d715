//! Local functions: inlined where they are called, or lowered to a nested body.

use tree_sitter::Node;

use super::flow::{Flow, UNSET};
use super::variable::{FieldWrite, VariableId};
use super::{Lowerer, MAXIMUM_VALUES, cursor};
use crate::ir::body::{Argument, BlockId, Body, BodyIndex, BodyKind, Call, Callee, Exit, OpKind};
use crate::ir::given::GivenId;
use crate::ir::index::Path;
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// How many functions are inlined in one another.
const MAXIMUM_INLINED: usize = 8;
/// Source bytes of a function that is inlined.
const MAXIMUM_LENGTH: usize = 16_000;

/// A function of the script.
pub(super) struct Function<'t> {
    node: Node<'t>,
    /// The scope it was declared in.
    scope: Option<usize>,
    /// Variables outside itself that it may assign.
    pub assigns: Vec<VariableId>,
    /// Fields of tables outside itself that it may write.
    pub writes: Vec<FieldWrite>,
    /// Whether its text calls a function of its own name.
    recursive: bool,
    /// The value that it is, and that value's body.
    home: (usize, ValueId),
    /// Its nested body, once one was needed.
    body: Option<usize>,
    /// Whether it is declared with a colon: its first argument is `self`.
    method: bool,
}

/// A function that is being inlined.
pub(super) struct Inlined {
    function: usize,
    exit: BlockId,
    returns: Vec<Returned>,
}

/// What one `return` of a function gives, and what was decided on the way to it.
type Returned = (Vec<ValueId>, Option<GivenId>);

impl<'t> Lowerer<'t> {
    /// The value of a function that is declared here under a name, or nameless.
    pub(super) fn define(&mut self, node: Node<'t>, name: Option<&str>) -> ValueId {
        let value = self.unknown(self.span(node));
        let calls_itself = |call: Node<'t>| {
            call.kind() == "function_call"
                && call.child_by_field_name("name").map(|callee| self.source_of(callee)) == name
        };
        let recursive = name.is_some() && cursor::descendants(node).any(calls_itself);
        self.functions.push(Function {
            node,
            scope: self.bindings.head,
            assigns: self.assigned_names(node).into_iter().collect(),
            writes: self.written_fields(node),
            recursive,
            home: (self.current, value),
            body: None,
            method: false,
        });
        self.function_values.insert((self.current, value), self.functions.len() - 1);
        self.name(value, name);
        value
    }

    /// `local function name`: the name is visible inside.
    pub(super) fn define_local(&mut self, node: Node<'t>, name: &str) {
        let value = self.define(node, Some(name));
        self.declare(name, value);
        let scope = self.bindings.head;
        if let Some(function) = self.functions.last_mut() {
            function.scope = scope;
        }
    }

    /// The function declared last takes `self`: `function table:name() … end`.
    pub(super) fn mark_method(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.method = true;
        }
    }

    /// Which function a value is.
    pub(super) fn function_of(&self, value: ValueId) -> Option<usize> {
        self.function_values.get(&(self.current, value)).copied()
    }

    /// What a call of a function gives back.
    pub(super) fn call_function(
        &mut self,
        function: usize,
        callee: ValueId,
        arguments: Vec<ValueId>,
        span: Span,
        name_span: Span,
    ) -> Vec<ValueId> {
        let Some(known) = self.functions.get(function) else { return Vec::new() };
        let length = known.node.end_byte() - known.node.start_byte();
        let nested = self.inlined.iter().any(|frame| frame.function == function);
        if known.recursive
            || nested
            || length > MAXIMUM_LENGTH
            || self.inlined.len() >= MAXIMUM_INLINED
        {
            let assigns = known.assigns.clone();
            let result = self.emit(Callee::Value(callee), None, arguments, span, name_span);
            self.forget(&assigns, span);
            return vec![result];
        }
        let node = known.node;
        self.deeper(node, |_| Vec::new(), |lowerer| lowerer.inline(function, arguments, span))
    }

    fn inline(&mut self, function: usize, arguments: Vec<ValueId>, span: Span) -> Vec<ValueId> {
        let Some(known) = self.functions.get(function) else { return Vec::new() };
        let (node, scope, method) = (known.node, known.scope, known.method);
        let outer_scope = std::mem::replace(&mut self.bindings.head, scope);
        let outer_varargs = std::mem::take(&mut self.varargs);
        let outer_breaks = std::mem::take(&mut self.breaks);
        let exit = self.new_block();
        self.inlined.push(Inlined { function, exit, returns: Vec::new() });
        let mut arguments = arguments;
        if method {
            let receiver =
                if arguments.is_empty() { self.nothing(span) } else { arguments.remove(0) };
            self.declare("self", receiver);
        }
        self.bind_parameters(node, arguments);
        self.function_block(node);
        self.return_values(Vec::new(), Exit::Tail, span);
        let returns = self.inlined.pop().map(|frame| frame.returns).unwrap_or_default();
        self.bindings.head = outer_scope;
        self.varargs = outer_varargs;
        self.breaks = outer_breaks;
        self.enter(exit, span);
        self.merge_returns(&returns, span)
    }

    fn merge_returns(&mut self, returns: &[Returned], span: Span) -> Vec<ValueId> {
        let count = returns.iter().map(|(values, _)| values.len()).max().unwrap_or(0);
        let mut merged = Vec::with_capacity(count);
        for position in 0..count {
            let mut incoming = Vec::with_capacity(returns.len());
            for (values, given) in returns {
                let value = values.get(position).copied();
                incoming.push((value.unwrap_or_else(|| self.nothing(span)), *given));
            }
            merged.push(self.join(incoming, span));
        }
        merged
    }

    fn bind_parameters(&mut self, node: Node<'t>, mut arguments: Vec<ValueId>) {
        let span = self.span(node);
        let parameters =
            node.child_by_field_name("parameters").map(cursor::children).unwrap_or_default();
        let names: Vec<Node<'t>> =
            parameters.into_iter().filter(|p| p.kind() == "identifier").collect();
        let rest = arguments.split_off(arguments.len().min(names.len()));
        for (index, name) in names.into_iter().enumerate() {
            let argument = arguments.get(index).copied();
            let value = argument.unwrap_or_else(|| self.nothing(span));
            self.declare(self.source_of(name), value);
        }
        self.varargs = rest;
    }

    fn function_block(&mut self, node: Node<'t>) {
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
    }

    /// `return` in the function being lowered.
    pub(super) fn return_values(&mut self, values: Vec<ValueId>, exit: Exit, span: Span) {
        if let Some(frame) = self.inlined.last_mut() {
            if self.flow.reachable {
                frame.returns.push((values, self.flow.given));
            }
            let target = frame.exit;
            self.jump(target);
            return;
        }
        for value in &values {
            self.function_body(*value);
        }
        let value = match values.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => Some(self.add(ValueKind::List(values), span)),
        };
        self.leave(value, exit, span);
    }

    /// Sees to it that a function that is used as a value has a body of its own.
    pub(super) fn function_body(&mut self, value: ValueId) {
        let Some(function) = self.function_of(value) else { return };
        let Some(known) = self.functions.get(function) else { return };
        if known.body.is_some() {
            return;
        }
        let (node, home) = (known.node, known.home);
        let index = self.bodies.len();
        let parent = BodyIndex(u32::try_from(self.current).unwrap_or(0));
        let span = self.span(node);
        self.bodies.push(Body::new(BodyKind::Closure, Some(parent), span));
        if let Some(known) = self.functions.get_mut(function) {
            known.body = Some(index);
        }
        let closure = ValueKind::Closure(BodyIndex(u32::try_from(index).unwrap_or(0)));
        if let Some(value) =
            self.bodies.get_mut(home.0).and_then(|body| body.values.get_mut(home.1.0 as usize))
        {
            value.kind = closure;
        }
        self.deeper(node, |_| (), |lowerer| lowerer.nested_body(function, index, node));
    }

    fn nested_body(&mut self, function: usize, index: usize, node: Node<'t>) {
        let scope = self.functions.get(function).and_then(|known| known.scope);
        let outer = std::mem::replace(&mut self.current, index);
        let outer_flow = std::mem::replace(&mut self.flow, Flow::new());
        let outer_scope = std::mem::replace(&mut self.bindings.head, scope);
        let outer_breaks = std::mem::take(&mut self.breaks);
        let outer_inlined = std::mem::take(&mut self.inlined);
        let outer_varargs = std::mem::take(&mut self.varargs);
        let outer_loops = std::mem::replace(&mut self.loop_depth, 0);
        self.capture(outer, &outer_flow);
        self.nested_parameters(node);
        self.function_block(node);
        self.return_values(Vec::new(), Exit::Tail, self.span(node));
        self.current = outer;
        self.flow = outer_flow;
        self.bindings.head = outer_scope;
        self.breaks = outer_breaks;
        self.inlined = outer_inlined;
        self.varargs = outer_varargs;
        self.loop_depth = outer_loops;
    }

    /// What the variables around a nested body hold, seen from inside.
    fn capture(&mut self, outer: usize, outer_flow: &Flow) {
        if self.value_count >= MAXIMUM_VALUES {
            return;
        }
        for value in &outer_flow.values {
            let seen = self.bodies.get(outer).and_then(|body| body.value(*value)).cloned();
            let Some(seen) = seen else {
                self.flow.values.push(UNSET);
                continue;
            };
            let kind = match seen.kind {
                ValueKind::Path(_)
                | ValueKind::Literal(_)
                | ValueKind::ScriptKey(_)
                | ValueKind::ScriptArgument(_) => seen.kind,
                _ => ValueKind::Captured(*value),
            };
            let captured = self.add(kind, seen.span);
            self.name(captured, seen.name.as_deref());
            self.flow.values.push(captured);
            if let Some(function) = self.function_values.get(&(outer, *value)).copied() {
                self.function_values.insert((self.current, captured), function);
            }
        }
    }

    fn nested_parameters(&mut self, node: Node<'t>) {
        let parameters =
            node.child_by_field_name("parameters").map(cursor::children).unwrap_or_default();
        for parameter in parameters {
            let span = self.span(parameter);
            if parameter.kind() == "identifier" {
                let index = u32::try_from(self.body().parameters.len()).unwrap_or(u32::MAX);
                let value = self.add(ValueKind::Parameter(index), span);
                self.body().parameters.push(value);
                self.declare(self.source_of(parameter), value);
            } else {
                let base = self.path(&["..."], span);
                self.varargs = vec![self.add(ValueKind::Element { base, index: None }, span)];
            }
        }
    }

    /// The callback of a Redis Function: its two parameters are KEYS and ARGV.
    pub(super) fn callback(&mut self, node: Node<'t>) {
        let span = self.span(node);
        let value = self.expression(node);
        let Some(function) = self.function_of(value) else { return };
        let Some(known) = self.functions.get(function) else { return };
        let (node, scope) = (known.node, known.scope);
        self.bindings.head = scope;
        let arguments = vec![self.path(&["KEYS"], span), self.path(&["ARGV"], span)];
        self.bind_parameters(node, arguments);
        self.function_block(node);
    }

    /// Writes a call and gives its result.
    pub(super) fn emit(
        &mut self,
        callee: Callee,
        receiver: Option<ValueId>,
        arguments: Vec<ValueId>,
        span: Span,
        name_span: Span,
    ) -> ValueId {
        for value in &arguments {
            self.function_body(*value);
        }
        if let Callee::Value(value) = &callee {
            self.function_body(*value);
        }
        let result = self.unknown(span);
        let arguments = arguments.into_iter().map(|value| Argument { name: None, value }).collect();
        let type_arguments = Vec::new();
        let call = Call { callee, receiver, arguments, type_arguments, result, name_span };
        let op = self.operation(OpKind::Call(call), span);
        if let Some(value) = self.body().values.get_mut(result.0 as usize) {
            value.kind = ValueKind::Result(op);
        }
        result
    }

    /// Writes a call of a path.
    pub(super) fn emit_path(
        &mut self,
        path: Path,
        arguments: Vec<ValueId>,
        span: Span,
        name_span: Span,
    ) -> ValueId {
        self.emit(Callee::Path(path), None, arguments, span, name_span)
    }
}
