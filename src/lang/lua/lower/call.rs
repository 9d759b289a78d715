//! Calls: of local functions, of Lua's own library, of anything else.

use tree_sitter::Node;

use super::{Lowerer, Terminator, Test, cursor};
use crate::ir::body::{BlockId, Callee};
use crate::ir::index::Path;
use crate::ir::value::{Conversion, Literal, Pattern, ValueId, ValueKind};
use crate::source::Span;

/// Functions of the string library that are also written as methods of a string.
const STRING_METHODS: [&str; 14] = [
    "byte", "char", "dump", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
    "reverse", "sub", "upper",
];

/// Functions of a table among which a computed name chooses.
const MAXIMUM_CHOICES: usize = 64;

/// A call that is being read.
pub(super) struct Written<'t> {
    /// The whole call.
    pub node: Node<'t>,
    /// Its arguments.
    pub arguments: Vec<Node<'t>>,
    /// The whole call's place.
    pub span: Span,
    /// The place of the name alone.
    pub name_span: Span,
}

impl<'t> Lowerer<'t> {
    /// All values a call gives.
    pub(super) fn call(&mut self, node: Node<'t>) -> Vec<ValueId> {
        let span = self.span(node);
        let (Some(name), Some(list)) =
            (node.child_by_field_name("name"), node.child_by_field_name("arguments"))
        else {
            return vec![self.unknown(span)];
        };
        let last = name.child_by_field_name("method").or(name.child_by_field_name("field"));
        let name_span = self.span(last.unwrap_or(name));
        let written = Written { node, arguments: cursor::children(list), span, name_span };
        if name.kind() == "method_index_expression" {
            return self.method_call(name, &written);
        }
        if let Some(values) = self.dispatch(name, &written) {
            return values;
        }
        let callee = self.expression(name);
        if let Some(function) = self.function_of(callee) {
            let arguments = self.list(&written.arguments);
            return self.call_function(function, callee, arguments, span, name_span);
        }
        match self.kind(callee).clone() {
            ValueKind::Path(path) => self.path_call(&path, &written),
            _ => {
                let arguments = self.list(&written.arguments);
                vec![self.emit(Callee::Value(callee), None, arguments, span, name_span)]
            }
        }
    }

    /// `commands[KEYS[1]](…)`: any function that the local table is known to hold.
    fn dispatch(&mut self, name: Node<'t>, written: &Written<'t>) -> Option<Vec<ValueId>> {
        let field = name
            .child_by_field_name("field")
            .filter(|_| name.kind() == "bracket_index_expression")?;
        if matches!(field.kind(), "string" | "number") {
            return None;
        }
        let table =
            name.child_by_field_name("table").filter(|table| table.kind() == "identifier")?;
        let functions = self.functions_in(self.variable(self.source_of(table))?);
        if functions.is_empty() || functions.len() > MAXIMUM_CHOICES {
            for (value, _) in functions {
                self.function_body(value);
            }
            return None;
        }
        self.expression(field);
        let arguments = self.list(&written.arguments);
        let exit = self.new_block();
        let blocks: Vec<BlockId> = functions.iter().map(|_| self.new_block()).collect();
        self.choose(&blocks);
        let mut incoming = Vec::new();
        for ((value, function), block) in functions.into_iter().zip(blocks) {
            self.enter(block, written.span);
            let values = self.call_function(
                function,
                value,
                arguments.clone(),
                written.span,
                written.name_span,
            );
            let first = values.first().copied();
            if self.flow.reachable {
                let first = first.unwrap_or_else(|| self.nothing(written.span));
                incoming.push((first, self.flow.given));
            }
            self.jump(exit);
        }
        self.enter(exit, written.span);
        (!incoming.is_empty()).then(|| vec![self.join(incoming, written.span)]).or(Some(Vec::new()))
    }

    fn method_call(&mut self, name: Node<'t>, written: &Written<'t>) -> Vec<ValueId> {
        let (Some(table), Some(method)) =
            (name.child_by_field_name("table"), name.child_by_field_name("method"))
        else {
            return vec![self.unknown(written.span)];
        };
        let receiver = self.expression(table);
        let method = self.source_of(method);
        if STRING_METHODS.contains(&method) && !matches!(self.kind(receiver), ValueKind::Path(_)) {
            let mut arguments = vec![receiver];
            arguments.extend(self.list(&written.arguments));
            let path = Path(vec!["string".to_owned(), method.to_owned()]);
            return vec![self.string_call(&path, arguments, written)];
        }
        let local =
            (table.kind() == "identifier").then(|| self.variable(self.source_of(table))).flatten();
        let known = local.and_then(|variable| self.get_field(variable, method));
        let mut arguments = self.list(&written.arguments);
        if let Some((value, function)) =
            known.and_then(|value| Some((value, self.function_of(value)?)))
        {
            arguments.insert(0, receiver);
            return self.call_function(function, value, arguments, written.span, written.name_span);
        }
        let callee = Callee::Method(method.to_owned());
        vec![self.emit(callee, Some(receiver), arguments, written.span, written.name_span)]
    }

    fn path_call(&mut self, path: &Path, written: &Written<'t>) -> Vec<ValueId> {
        let parts: Vec<&str> = path.0.iter().map(String::as_str).collect();
        match parts.as_slice() {
            ["redis" | "server", name @ ("call" | "pcall")] => {
                let words = self.list(&written.arguments);
                vec![self.redis_call(name, words, written)]
            }
            ["pcall" | "xpcall"] => self.protected_call(path, written),
            ["assert"] => self.assertion(written),
            ["error"] => {
                self.list(&written.arguments);
                if self.flow.reachable {
                    self.end(Terminator::Panic(written.span));
                }
                self.unreachable();
                Vec::new()
            }
            ["unpack"] | ["table", "unpack"] => self.spread(written),
            ["setmetatable"] => {
                let arguments = self.list(&written.arguments);
                arguments.into_iter().take(1).collect()
            }
            ["redis", "register_function"] => {
                self.nothing(written.span);
                Vec::new()
            }
            ["string", _] => {
                let arguments = self.list(&written.arguments);
                vec![self.string_call(path, arguments, written)]
            }
            _ => {
                let arguments = self.list(&written.arguments);
                vec![self.plain_call(path, arguments, written)]
            }
        }
    }

    /// Conversions of Lua's library are conversions; everything else is a call.
    fn plain_call(
        &mut self,
        path: &Path,
        arguments: Vec<ValueId>,
        written: &Written<'t>,
    ) -> ValueId {
        let parts: Vec<&str> = path.0.iter().map(String::as_str).collect();
        let conversion = match parts.as_slice() {
            ["tonumber"] | ["math", "floor" | "ceil"] => Some(Conversion::Number),
            ["tostring"] => Some(Conversion::Display),
            ["string", "lower" | "upper" | "sub"] => Some(Conversion::Shaped),
            _ => None,
        };
        match (conversion, arguments.first()) {
            (Some(conversion), Some(value)) => {
                self.add(ValueKind::Converted { value: *value, conversion }, written.span)
            }
            _ => self.emit_path(path.clone(), arguments, written.span, written.name_span),
        }
    }

    fn string_call(
        &mut self,
        path: &Path,
        arguments: Vec<ValueId>,
        written: &Written<'t>,
    ) -> ValueId {
        if path.last() == Some("format") {
            return self.format(path, arguments, written);
        }
        self.plain_call(path, arguments, written)
    }

    /// `pcall(f, …)`: whether it went well, then what `f` gives.
    fn protected_call(&mut self, path: &Path, written: &Written<'t>) -> Vec<ValueId> {
        let Some((first, rest)) = written.arguments.split_first() else {
            return vec![self.unknown(written.span)];
        };
        let rest =
            if path.last() == Some("xpcall") { rest.get(1..).unwrap_or_default() } else { rest };
        let callee = self.expression(*first);
        let of_redis = matches!(self.kind(callee), ValueKind::Path(path)
            if matches!(path.0.as_slice(), [root, name]
                if (root == "redis" || root == "server") && (name == "call" || name == "pcall")));
        let arguments = self.list(rest);
        if of_redis {
            let reply = self.redis_call("call", arguments, written);
            let success = ValueKind::Matches { value: reply, pattern: Pattern::success() };
            return vec![self.add(success, written.span), reply];
        }
        if let Some(function) = self.function_of(callee) {
            // The error path leaves the function somewhere in its middle and comes out here.
            let fails = self.unknown(written.span);
            let (runs, exit) = (self.new_block(), self.new_block());
            self.branch(Test::Opaque(vec![fails]), exit, runs, written.span);
            self.enter(runs, written.span);
            let values =
                self.call_function(function, callee, arguments, written.span, written.name_span);
            self.jump(exit);
            self.enter(exit, written.span);
            let success = self.unknown(written.span);
            return std::iter::once(success).chain(values).collect();
        }
        if let ValueKind::Path(called) = self.kind(callee).clone() {
            // `pcall(cjson.decode, text)`: what the function gives comes second.
            let value = self.emit_path(called, arguments, written.span, written.name_span);
            return vec![self.unknown(written.span), value];
        }
        let mut all = vec![callee];
        all.extend(arguments);
        let result = self.emit_path(path.clone(), all, written.span, written.name_span);
        vec![result]
    }

    fn assertion(&mut self, written: &Written<'t>) -> Vec<ValueId> {
        let values = self.list(&written.arguments);
        if let Some(value) = values.first() {
            let (holds, fails) = (self.new_block(), self.new_block());
            self.branch(Test::True(*value), holds, fails, written.span);
            self.enter(fails, written.span);
            if self.flow.reachable {
                self.end(Terminator::Panic(written.span));
            }
            self.enter(holds, written.span);
        }
        values
    }

    /// `unpack(t)`: the elements of a table that is written out, or "some element".
    fn spread(&mut self, written: &Written<'t>) -> Vec<ValueId> {
        let whole_table = written.arguments.len() == 1;
        let values = self.list(&written.arguments);
        let Some(base) = values.first().copied() else { return Vec::new() };
        let table =
            written.arguments.first().is_some_and(|node| node.kind() == "table_constructor");
        match self.kind(base) {
            ValueKind::List(elements) if whole_table && table => elements.clone(),
            _ => vec![self.add(ValueKind::Element { base, index: None }, written.span)],
        }
    }

    /// The command word of a call, or the place of what stands there.
    pub(super) fn word_place(&self, value: ValueId) -> Option<Span> {
        let value = self.bodies.get(self.current)?.value(value)?;
        match &value.kind {
            ValueKind::Literal(Literal::Text(text)) => Some(text.place(0, text.content.len())),
            _ => Some(value.span),
        }
    }
}
