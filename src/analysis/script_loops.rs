//! Work of a script that grows with the data.

use super::Analysis;
use super::loops;
use super::script_values::ScriptValues;
use crate::catalog::redis::{self as table, Access};
use crate::ir::body::{BlockId, Callee, OpId, Terminator, Test};
use crate::ir::effect::{BodyId, Effect};
use crate::ir::value::{ValueId, ValueKind};
use crate::source::Span;

/// Why the work has no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbounded {
    /// KEYS goes through the whole keyspace.
    Keyspace,
    /// SCAN is repeated to its end.
    Scan,
    /// Everything of a collection is read, and each of it is written.
    Range,
}

/// Work of a script without a bound.
#[derive(Clone, Debug)]
pub struct UnboundedWork<'p> {
    /// The script.
    pub body: BodyId,
    /// The command that reads.
    pub effect: &'p Effect,
    /// Its name.
    pub command: String,
    /// Why.
    pub why: Unbounded,
    /// The write that is repeated.
    pub write: Option<Span>,
}

impl<'p> Analysis<'p> {
    /// The commands of scripts that make them run as long as there is data.
    #[must_use]
    pub fn unbounded_work(&self) -> Vec<UnboundedWork<'p>> {
        let mut found = Vec::new();
        for (body, values) in self.scripts() {
            for (block, op, _) in values.body.calls() {
                let (Some(command), Some(effect)) = (values.command(op), values.effect(op)) else {
                    continue;
                };
                let (why, write) = match command.name.as_str() {
                    "KEYS" => (Unbounded::Keyspace, None),
                    "SCAN" if is_repeated(values, block) => (Unbounded::Scan, None),
                    _ if reads_all(values, op) => match write_of_each(values, op) {
                        Some(write) => (Unbounded::Range, Some(write)),
                        None => continue,
                    },
                    _ => continue,
                };
                let command = command.name.clone();
                found.push(UnboundedWork { body, effect, command, why, write });
            }
        }
        found
    }
}

/// Whether a block is in a loop that is no count.
fn is_repeated(values: &ScriptValues<'_>, block: BlockId) -> bool {
    let around = loops::loops_around(values.body, block);
    around.iter().any(|one| {
        let head = values.body.block(one.head).map(|head| &head.end);
        !matches!(head, Some(Terminator::Branch { test: Test::Opaque(_), .. }))
    })
}

/// Whether a command reads all there is.
fn reads_all(values: &ScriptValues<'_>, op: OpId) -> bool {
    let Some(command) = values.command(op) else { return false };
    let text = |index: usize| command.words.get(index).and_then(|word| word.text.as_deref());
    let has = |option: &str| {
        let mut texts = command.words.iter().filter_map(|word| word.text.as_deref());
        texts.any(|text| text.eq_ignore_ascii_case(option))
    };
    match command.name.as_str() {
        "SMEMBERS" | "HGETALL" | "HKEYS" | "HVALS" => true,
        "LRANGE" => text(1) == Some("0") && text(2) == Some("-1"),
        "ZRANGE" | "ZREVRANGE" => text(1) == Some("0") && text(2) == Some("-1") && !has("LIMIT"),
        "ZRANGEBYSCORE" | "ZREVRANGEBYSCORE" => {
            let open = |index| matches!(text(index), Some("-inf" | "+inf" | "inf" | "0"));
            (open(1) || open(2)) && !has("LIMIT")
        }
        _ => false,
    }
}

/// A write inside the loop that goes through a reply.
fn write_of_each(values: &ScriptValues<'_>, op: OpId) -> Option<Span> {
    let body = values.body;
    let reply = body.call(op)?.result;
    let is_reply = |value: ValueId| body.peel(value) == body.peel(reply);
    let counts = |value: ValueId| match body.kind(body.peel(value)) {
        _ if is_reply(value) => true,
        ValueKind::Result(count) => body.call(*count).is_some_and(|call| {
            let length = matches!(&call.callee, Callee::Path(path) if path.last() == Some("#"));
            length && call.arguments.iter().any(|it| is_reply(it.value))
        }),
        _ => false,
    };
    let heads = body.blocks.iter().filter_map(|block| match &block.end {
        Terminator::Branch { test: Test::Opaque(tested), then, .. }
            if tested.iter().any(|value| counts(*value)) =>
        {
            Some(*then)
        }
        _ => None,
    });
    heads.into_iter().find_map(|first| {
        let around = loops::loops_around(body, first);
        let own = around.first()?;
        own.blocks.iter().filter_map(|id| body.block(*id)).flat_map(|block| &block.ops).find_map(
            |op| {
                let command = values.command(*op)?;
                let writes =
                    table::command(&command.name).is_some_and(|row| row.access == Access::Write);
                writes.then(|| values.effect(*op).map(|effect| effect.span)).flatten()
            },
        )
    })
}
