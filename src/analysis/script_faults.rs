//! What is wrong with what a script does with replies: tests that can never be, or always are, true.
//!
//! A function that is called from several places stands in the script several times; what is wrong in
//! it is told where it is wrong at each of them. All of this is *must*: a value that may be something
//! else says nothing.

use std::collections::BTreeMap;

use super::Analysis;
use super::script_values::{Kinds, ScriptValues};
use crate::finding::Step;
use crate::ir::body::OpId;
use crate::ir::effect::BodyId;
use crate::ir::value::{Literal, Operator, ValueId, ValueKind};
use crate::source::Span;

mod comparison;
mod truth;

pub use comparison::NumberFault;

/// A reply that is used as what it is not.
#[derive(Clone, Debug)]
pub struct ReplyFault<T> {
    /// The script.
    pub body: BodyId,
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub fault: T,
    /// The commands whose replies are meant: their names and where they are sent.
    pub replies: Vec<(String, Span)>,
    /// The name of the variable that is meant, or what it is made of.
    pub subject: String,
}

impl<T> ReplyFault<T> {
    /// How a message names the replies: `GET`, or `GET` and `HGET`.
    #[must_use]
    pub fn commands(&self) -> String {
        let mut names: Vec<String> =
            self.replies.iter().map(|(name, _)| format!("`{name}`")).collect();
        names.sort_unstable();
        names.dedup();
        names.join(" and ")
    }

    /// Where the replies come from.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let step = |(name, span): &(String, Span)| Step {
            span: *span,
            message: format!("the reply of `{name}` comes from here"),
        };
        self.replies.iter().take(3).map(step).collect()
    }
}

/// What one place of a script is judged to be.
pub(super) enum Verdict<T> {
    /// Nothing that is asked for, or never reached.
    None,
    /// In order, or not known.
    Fine,
    /// Wrong, with the value that is meant.
    Wrong(T, ValueId),
}

/// What is wrong at every instance of a place, in the order of the places.
pub(super) fn at_all_instances<T>(
    body: BodyId,
    values: &ScriptValues<'_>,
    judged: impl Iterator<Item = (Span, Verdict<T>)>,
) -> Vec<ReplyFault<T>> {
    let mut places: BTreeMap<Span, Option<(T, ValueId)>> = BTreeMap::new();
    for (span, verdict) in judged {
        match verdict {
            Verdict::None => {}
            Verdict::Fine => {
                places.insert(span, None);
            }
            Verdict::Wrong(fault, value) => {
                places.entry(span).or_insert(Some((fault, value)));
            }
        }
    }
    let wrong = places.into_iter().filter_map(|(span, fault)| Some((span, fault?)));
    wrong
        .map(|(span, (fault, value))| ReplyFault {
            body,
            span,
            fault,
            replies: commands(values, &values.replies(value)),
            subject: named(values, value),
        })
        .collect()
}

/// The names and places of commands.
fn commands(values: &ScriptValues<'_>, ops: &[OpId]) -> Vec<(String, Span)> {
    let command = |op: &OpId| Some((values.command(*op)?.name.clone(), values.effect(*op)?.span));
    ops.iter().filter_map(command).collect()
}

/// The variable of a value, or the command that gives it.
fn named(values: &ScriptValues<'_>, value: ValueId) -> String {
    let mut next = Some(value);
    for _ in 0..8 {
        let Some(value) = next else { break };
        if let Some(name) = values.body.value(value).and_then(|value| value.name.clone()) {
            return name;
        }
        match values.body.kind(value) {
            ValueKind::Converted { value, .. } | ValueKind::Element { base: value, .. } => {
                next = Some(*value);
            }
            ValueKind::ScriptArgument(Some(number)) => return format!("ARGV[{number}]"),
            ValueKind::ScriptKey(Some(number)) => return format!("KEYS[{number}]"),
            ValueKind::Binary { operator: Operator::Or, left, .. } => next = Some(*left),
            ValueKind::Result(op) => {
                return values.command(*op).map(|command| command.name.clone()).unwrap_or_default();
            }
            _ => break,
        }
    }
    String::new()
}

/// The comparisons of a script: the value, its place, its operator and its sides.
pub(super) fn comparisons<'a>(
    values: &'a ScriptValues<'_>,
) -> impl Iterator<Item = (ValueId, Span, Operator, [ValueId; 2])> + 'a {
    let ids = (0_u32..).map(ValueId).zip(&values.body.values);
    ids.filter_map(|(id, value)| match &value.kind {
        ValueKind::Binary { operator, left, right } => {
            Some((id, value.span, *operator, [*left, *right]))
        }
        _ => None,
    })
}

/// Whether a value is the literal `nil`.
pub(super) fn is_nil(values: &ScriptValues<'_>, value: ValueId) -> bool {
    matches!(values.body.kind(values.body.peel(value)), ValueKind::Literal(Literal::Nothing))
}

impl Analysis<'_> {
    /// Comparisons of a reply with `nil` where a missing reply is `false`. The test that the reply is
    /// `false` may stand right behind it.
    #[must_use]
    pub fn nil_comparisons(&self) -> Vec<ReplyFault<bool>> {
        self.in_scripts(comparison::with_nil)
    }

    /// Text that is compared as if it were a number, and numbers that may be none.
    #[must_use]
    pub fn text_as_number(&self) -> Vec<ReplyFault<NumberFault>> {
        self.in_scripts(comparison::as_number)
    }

    /// Status replies, which are tables, compared with text, and types that a reply never has.
    #[must_use]
    pub fn status_comparisons(&self) -> Vec<ReplyFault<&'static str>> {
        self.in_scripts(comparison::of_status)
    }

    /// Numbers that are tested for truth: zero is true.
    #[must_use]
    pub fn zero_tests(&self) -> Vec<ReplyFault<bool>> {
        self.in_scripts(truth::of_numbers)
    }

    fn in_scripts<T>(
        &self,
        judge: impl Fn(&ScriptValues<'_>) -> Vec<(Span, Verdict<T>)>,
    ) -> Vec<ReplyFault<T>> {
        let found = self
            .scripts()
            .flat_map(|(body, values)| at_all_instances(body, values, judge(values).into_iter()));
        found.collect()
    }
}

/// The kinds that stand for a missing value.
pub(super) const MISSING: Kinds = Kinds::NIL.or(Kinds::ABSENT).or(Kinds::FALSE);

#[cfg(test)]
mod tests;
