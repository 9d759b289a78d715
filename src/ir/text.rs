//! The readable form of a lowered body: what `leaselint ir` prints and what lowering tests compare.
//!
//! One line an operation, one line the end of a block. A value is written where it is first used:
//! small ones (literals, paths, borrows) in place, others on a line of their own as
//! `name#number = …`. The same body always gives the same text.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::body::{
    Body, BodyKind, Call, Callee, Exit, Lowered, MacroNote, OpKind, Terminator, Test,
};
use super::value::{Adapter, Conversion, TemplatePart, ValueId, ValueKind};
use names::{conversion_name, literal_text, operator_name, pattern_text, position};

mod names;

pub use names::type_name;

/// How deep values are followed when they are written.
const DEPTH: u32 = 64;

/// The text of all bodies of an item, and of what could not be read.
#[must_use]
pub fn lowered(lowered: &Lowered) -> String {
    let mut out = String::new();
    for (index, body) in lowered.bodies.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let kind = kind_name(body.kind);
        let parent = body.parent.map(|parent| format!(" in {}", parent.0)).unwrap_or_default();
        let _ = write!(out, "body {index} {kind}{parent} ");
        out.push_str(&self::body(body));
    }
    for note in &lowered.macros {
        let _ = writeln!(out, "{}", macro_note(note));
    }
    for problem in &lowered.problems {
        let _ = writeln!(out, "problem: {}", problem.message);
    }
    out
}

/// What a macro call stands for, in one line.
#[must_use]
pub fn macro_note(note: &MacroNote) -> String {
    match &note.made {
        Ok(text) => format!("macro {}! = {text}", note.name),
        Err(reason) => format!("unknown macro {}!: {reason}", note.name),
    }
}

fn kind_name(kind: BodyKind) -> &'static str {
    match kind {
        BodyKind::Function => "function",
        BodyKind::Closure => "closure",
        BodyKind::Async => "async",
        BodyKind::Script => "script",
        BodyKind::Initialiser => "initialiser",
    }
}

/// The text of one body: its parameters, then its blocks.
#[must_use]
pub fn body(body: &Body) -> String {
    let mut writer =
        Writer { body, out: String::new(), written: BTreeSet::new(), later: Vec::new() };
    writer.parameters();
    for (index, block) in body.blocks.iter().enumerate() {
        let depth = match block.loop_depth {
            0 => String::new(),
            depth => format!(" loop {depth}"),
        };
        let _ = writeln!(writer.out, "b{index}:{depth}");
        for op in &block.ops {
            if let Some(op) = body.op(*op) {
                writer.op(&op.kind);
            }
        }
        writer.end(&block.end);
    }
    writer.rest();
    writer.out
}

struct Writer<'b> {
    body: &'b Body,
    out: String,
    written: BTreeSet<ValueId>,
    later: Vec<ValueId>,
}

impl Writer<'_> {
    fn parameters(&mut self) {
        let mut parts = Vec::new();
        for id in &self.body.parameters {
            self.written.insert(*id);
            parts.push(self.typed(*id));
        }
        let _ = writeln!(self.out, "({})", parts.join(", "));
    }

    /// `name#number`.
    fn id(&self, id: ValueId) -> String {
        let name = self.body.value(id).and_then(|value| value.name.as_deref()).unwrap_or_default();
        format!("{name}#{}", id.0)
    }

    /// `name#number: type`.
    fn typed(&self, id: ValueId) -> String {
        let name = self.id(id);
        match self.body.value(id).and_then(|value| value.ty.as_ref()) {
            Some(ty) => format!("{name}: {}", type_name(ty)),
            None => name,
        }
    }

    /// Writes the lines that a use of the value needs, and gives how it is written in place.
    fn use_of(&mut self, id: ValueId, depth: u32) -> String {
        let kind = self.body.kind(id);
        if depth >= DEPTH {
            return self.id(id);
        }
        if let Some(text) = self.in_place(id, kind, depth) {
            return text;
        }
        if self.written.insert(id)
            && let Some(text) = self.definition(id, kind, depth + 1)
        {
            let name = self.typed(id);
            let _ = writeln!(self.out, "  {name} = {text}");
        }
        self.id(id)
    }

    fn uses(&mut self, ids: &[ValueId], depth: u32) -> String {
        ids.iter().map(|id| self.use_of(*id, depth)).collect::<Vec<_>>().join(", ")
    }

    /// Values that are written where they are used.
    fn in_place(&mut self, id: ValueId, kind: &ValueKind, depth: u32) -> Option<String> {
        let value = self.body.value(id)?;
        match kind {
            ValueKind::Receiver => Some("self".to_owned()),
            ValueKind::ScriptKey(number) => Some(format!("KEYS[{}]", position(*number))),
            ValueKind::ScriptArgument(number) => Some(format!("ARGV[{}]", position(*number))),
            ValueKind::Literal(literal) if value.name.is_none() => Some(literal_text(literal)),
            ValueKind::Path(path) if value.name.is_none() => Some(path.to_string()),
            ValueKind::Converted { value: inner, conversion: Conversion::Same }
                if value.name.is_none() && value.ty.is_none() =>
            {
                Some(format!("&{}", self.use_of(*inner, depth + 1)))
            }
            ValueKind::Field { base, name } if value.name.is_none() => {
                Some(format!("{}.{}", self.use_of(*base, depth + 1), name.escape_debug()))
            }
            _ => None,
        }
    }

    /// What a value is; `None` for what an operation defines on its own line.
    fn definition(&mut self, id: ValueId, kind: &ValueKind, depth: u32) -> Option<String> {
        Some(match kind {
            ValueKind::Unknown => "unknown".to_owned(),
            ValueKind::Parameter(number) => format!("parameter {number}"),
            ValueKind::Receiver => "self".to_owned(),
            ValueKind::ScriptKey(number) => format!("KEYS[{}]", position(*number)),
            ValueKind::ScriptArgument(number) => format!("ARGV[{}]", position(*number)),
            ValueKind::Literal(literal) => literal_text(literal),
            ValueKind::Template(parts) => self.template(parts, depth),
            ValueKind::Path(path) => path.to_string(),
            // A Lua field may have any name: it stays on its line.
            ValueKind::Field { base, name } => {
                format!("{}.{}", self.use_of(*base, depth), name.escape_debug())
            }
            ValueKind::Element { base, index } => {
                let index = index.map(|index| self.use_of(index, depth)).unwrap_or_default();
                format!("{}[{index}]", self.use_of(*base, depth))
            }
            ValueKind::Result(_) | ValueKind::Awaited(_) => return None,
            ValueKind::Adapted { call: Some(_), .. } => return None,
            ValueKind::Adapted { value, adapter, argument, call: None } => {
                self.adapted(*value, *adapter, *argument, depth)
            }
            ValueKind::Closure(body) => format!("closure body {}", body.0),
            ValueKind::Async(body) => format!("async body {}", body.0),
            ValueKind::Captured(outer) => format!("captured #{}", outer.0),
            other => self.composed(id, other, depth),
        })
    }

    fn composed(&mut self, id: ValueId, kind: &ValueKind, depth: u32) -> String {
        match kind {
            ValueKind::Payload { of, variant, field } => {
                format!("{} as {variant}.{field}", self.use_of(*of, depth))
            }
            ValueKind::Converted { value, conversion } => {
                format!("{} {}", conversion_name(*conversion), self.use_of(*value, depth))
            }
            ValueKind::Aggregate { path, fields, base } => {
                let mut parts: Vec<String> = Vec::new();
                for (name, value) in fields {
                    parts.push(format!("{}: {}", name.escape_debug(), self.use_of(*value, depth)));
                }
                if let Some(base) = base {
                    parts.push(format!("..{}", self.use_of(*base, depth)));
                }
                format!("{path} {{ {} }}", parts.join(", "))
            }
            ValueKind::List(elements) => format!("[{}]", self.uses(elements, depth)),
            ValueKind::Join(ways) => {
                let ways: Vec<String> = ways.iter().map(|way| self.way(id, *way, depth)).collect();
                format!("join({})", ways.join(", "))
            }
            ValueKind::Binary { operator, left, right } => {
                let left = self.use_of(*left, depth);
                format!("{left} {} {}", operator_name(*operator), self.use_of(*right, depth))
            }
            ValueKind::Not(value) => format!("not {}", self.use_of(*value, depth)),
            ValueKind::Matches { value, pattern } => {
                format!("{} is {}", self.use_of(*value, depth), pattern_text(pattern))
            }
            _ => "unknown".to_owned(),
        }
    }

    /// A way into a join: written out before the join, unless it is defined further down.
    fn way(&mut self, join: ValueId, id: ValueId, depth: u32) -> String {
        if id < join {
            return self.use_of(id, depth);
        }
        self.later.push(id);
        self.id(id)
    }

    /// Ways into joins that no line has used.
    fn rest(&mut self) {
        while let Some(id) = self.later.pop() {
            self.use_of(id, 0);
        }
    }

    fn template(&mut self, parts: &[TemplatePart], depth: u32) -> String {
        let mut out = Vec::new();
        for part in parts {
            out.push(match part {
                TemplatePart::Text(text) => format!("{:?}", text.content),
                TemplatePart::Hole(value) => format!("{{{}}}", self.use_of(*value, depth)),
            });
        }
        format!("template {}", out.join(" "))
    }

    fn adapted(
        &mut self,
        value: ValueId,
        adapter: Adapter,
        argument: Option<ValueId>,
        depth: u32,
    ) -> String {
        let value = self.use_of(value, depth);
        let argument = argument.map(|argument| self.use_of(argument, depth)).unwrap_or_default();
        format!("{adapter:?}({value}; {argument})")
    }

    fn op(&mut self, kind: &OpKind) {
        let line = match kind {
            OpKind::Call(call) => self.call(call),
            OpKind::Await { value, result } => {
                let value = self.use_of(*value, 0);
                self.written.insert(*result);
                format!("{} = await {value}", self.typed(*result))
            }
            OpKind::Store { place, value } => {
                let place = self.use_of(*place, 0);
                format!("store {place} = {}", self.use_of(*value, 0))
            }
            OpKind::ScopeEnd(values) => format!("scope end {}", self.uses(values, 0)),
            OpKind::Discard { value, explicit } => {
                let how = if *explicit { "discard explicitly" } else { "discard" };
                format!("{how} {}", self.use_of(*value, 0))
            }
        };
        let _ = writeln!(self.out, "  {line}");
    }

    fn call(&mut self, call: &Call) -> String {
        let receiver = call.receiver.map(|receiver| self.use_of(receiver, 0) + ".");
        let name = match &call.callee {
            Callee::Path(path) => path.to_string(),
            Callee::Method(name) => name.clone(),
            Callee::Macro(path) => format!("{path}!"),
            Callee::Value(value) => format!("({})", self.use_of(*value, 0)),
        };
        let mut arguments = Vec::new();
        for argument in &call.arguments {
            let value = self.use_of(argument.value, 0);
            arguments.push(match &argument.name {
                Some(name) => format!("{name}: {value}"),
                None => value,
            });
        }
        let types: Vec<String> = call.type_arguments.iter().map(type_name).collect();
        let types =
            if types.is_empty() { String::new() } else { format!("::<{}>", types.join(", ")) };
        self.written.insert(call.result);
        let adapter = match self.body.kind(call.result) {
            ValueKind::Adapted { adapter, .. } => format!(" as {adapter:?}"),
            _ => String::new(),
        };
        format!(
            "{} = call {}{name}{types}({}){adapter}",
            self.typed(call.result),
            receiver.unwrap_or_default(),
            arguments.join(", ")
        )
    }

    fn end(&mut self, end: &Terminator) {
        let line = match end {
            Terminator::Goto(block) => format!("-> b{}", block.0),
            Terminator::Branch { test, then, otherwise, .. } => {
                let test = match test {
                    Test::True(value) => self.use_of(*value, 0),
                    Test::Matches { value, pattern } => {
                        format!("{} is {}", self.use_of(*value, 0), pattern_text(pattern))
                    }
                    Test::Opaque(values) => format!("more of {}", self.uses(values, 0)),
                };
                format!("if {test} -> b{} else b{}", then.0, otherwise.0)
            }
            Terminator::Choice(blocks) => {
                let blocks: Vec<String> =
                    blocks.iter().map(|block| format!("b{}", block.0)).collect();
                format!("one of {}", blocks.join(", "))
            }
            Terminator::Return { value, exit, .. } => {
                let value = value.map(|value| format!(" {}", self.use_of(value, 0)));
                let how = match exit {
                    Exit::Tail => "tail",
                    Exit::Return => "return",
                    Exit::Propagated => "propagate",
                };
                format!("{how}{}", value.unwrap_or_default())
            }
            Terminator::Panic(_) => "panic".to_owned(),
            Terminator::Unreachable => "unreachable".to_owned(),
        };
        let _ = writeln!(self.out, "  {line}");
    }
}
