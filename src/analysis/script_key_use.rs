//! What a script does with an element of KEYS: a key, or something else.

use std::collections::{BTreeMap, BTreeSet};

use super::Analysis;
use super::script_values::ScriptValues;
use crate::catalog::redis as table;
use crate::ir::body::OpKind;
use crate::ir::effect::{BodyId, EffectKind};
use crate::ir::value::{Conversion, Operator, TemplatePart, ValueId, ValueKind};
use crate::source::Span;

/// An element of KEYS that no command touches as a key.
#[derive(Clone, Debug)]
pub struct NoKey {
    /// The script.
    pub body: BodyId,
    /// Where it is used as something else.
    pub span: Span,
    /// As it is written: `KEYS[2]`.
    pub name: String,
    /// What it is used as.
    pub used_as: &'static str,
    /// Where calls pass it.
    pub passed: Vec<Span>,
}

/// The uses of one element.
#[derive(Default)]
struct Uses {
    number: Option<u32>,
    key: bool,
    unknown: bool,
    other: Option<(Span, &'static str)>,
}

impl Analysis<'_> {
    /// The elements of KEYS that a script uses, and never as a key.
    #[must_use]
    pub fn keys_that_are_none(&self) -> Vec<NoKey> {
        let mut found = Vec::new();
        for (body, values) in self.scripts() {
            for (name, uses) in self.key_uses(values) {
                let Some((span, used_as)) = uses.other.filter(|_| !uses.key && !uses.unknown)
                else {
                    continue;
                };
                let passed = uses.number.map(|number| self.spans_passed(body, number));
                let passed = passed.unwrap_or_default();
                found.push(NoKey { body, span, name, used_as, passed });
            }
        }
        found
    }

    /// Where the calls of a script pass the n-th key.
    fn spans_passed(&self, script: BodyId, number: u32) -> Vec<Span> {
        let sites = self.program.script_callers(script).iter();
        let effects = sites.flat_map(|site| {
            self.program.effects(site.body).iter().filter(move |effect| effect.site == *site)
        });
        let key = |kind: &EffectKind| match kind {
            EffectKind::Script(call) => {
                let at = usize::try_from(number.checked_sub(1)?).ok()?;
                Some(call.keys.as_ref()?.get(at)?.span)
            }
            _ => None,
        };
        effects.filter_map(|effect| key(&effect.kind)).take(3).collect()
    }

    fn key_uses(&self, values: &ScriptValues<'_>) -> BTreeMap<String, Uses> {
        let body = values.body;
        let mut all: BTreeMap<String, Uses> = BTreeMap::new();
        let mut elements: BTreeMap<String, BTreeSet<ValueId>> = BTreeMap::new();
        for (index, value) in (0_u32..).zip(&body.values) {
            let ValueKind::ScriptKey(number) = &value.kind else { continue };
            let written =
                self.program.tree.file(value.span.file).map(|file| file.slice(value.span));
            let Some(written) = written else { continue };
            let name = match number {
                Some(number) => format!("KEYS[{number}]"),
                None => written.split_whitespace().collect::<String>(),
            };
            all.entry(name.clone()).or_default().number = *number;
            elements.entry(name).or_default().insert(ValueId(index));
        }
        for (name, uses) in &mut all {
            if let Some(own) = elements.get(name) {
                collect(values, own, uses);
            }
        }
        all
    }
}

/// The uses of an element, which is any of these values.
fn collect(values: &ScriptValues<'_>, own: &BTreeSet<ValueId>, uses: &mut Uses) {
    let body = values.body;
    let is = |value: ValueId| own.contains(&body.peel(value));
    for (_, op, operation) in body.operations() {
        match &operation.kind {
            OpKind::Call(call) => match values.command(op) {
                // Which words of a command are keys is known of those in the table.
                Some(command) if table::command(&command.name).is_none() => {
                    uses.unknown |= call.arguments.iter().any(|it| is(it.value));
                }
                Some(command) => {
                    let as_key = command.keys.iter().any(|key| key.value.is_some_and(is));
                    let place = values.effect(op).map_or(operation.span, |effect| effect.span);
                    uses.key |= as_key || command.is(&["PUBLISH", "SPUBLISH"]);
                    let pattern = command.is(&["KEYS", "SCAN"]);
                    for word in command.words.iter().filter(|word| word.value.is_some_and(is)) {
                        let keyed = command.keys.iter().any(|key| key.value == word.value);
                        let used_as = if pattern { "a pattern" } else { "a value or field" };
                        if !keyed {
                            uses.other.get_or_insert((place, used_as));
                        }
                    }
                }
                None => uses.unknown |= call.arguments.iter().any(|it| is(it.value)),
            },
            OpKind::Store { value, place } => {
                uses.unknown |= is(*value);
                if let ValueKind::Element { index: Some(index), .. } = body.kind(*place)
                    && is(*index)
                {
                    uses.other.get_or_insert((operation.span, "a name"));
                }
            }
            _ => {}
        }
    }
    for value in &body.values {
        let as_number = match &value.kind {
            ValueKind::Converted { value: of, conversion: Conversion::Number } => is(*of),
            ValueKind::Binary { operator, left, right } => {
                let sum = matches!(
                    operator,
                    Operator::Add
                        | Operator::Subtract
                        | Operator::Multiply
                        | Operator::Divide
                        | Operator::Less
                        | Operator::LessOrEqual
                        | Operator::Greater
                        | Operator::GreaterOrEqual
                );
                sum && (is(*left) || is(*right))
            }
            // What becomes of a part, of one of several, or of a list is not followed.
            ValueKind::Template(parts) => {
                uses.unknown |=
                    parts.iter().any(|part| matches!(part, TemplatePart::Hole(hole) if is(*hole)));
                false
            }
            ValueKind::Join(all) | ValueKind::List(all) => {
                uses.unknown |= all.iter().any(|it| is(*it));
                false
            }
            ValueKind::Aggregate { fields, .. } => {
                uses.unknown |= fields.iter().any(|(_, it)| is(*it));
                false
            }
            _ => false,
        };
        if as_number {
            uses.other.get_or_insert((value.span, "a number"));
        }
    }
}
