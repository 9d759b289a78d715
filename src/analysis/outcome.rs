//! What a value is under an assumption about one operation: "if this acquire won, that test holds".
//!
//! An [`Abstract`] value is just enough to follow a reply through `?`, `map`, `is_some`,
//! comparisons and wrappers to the branch that tests it. [`Assumption::test`] then says which edge
//! is taken, and a walk that follows only possible edges is a walk over the runs in which the
//! assumption holds. It never claims more than it knows: an undecided test leaves both edges open.

use std::collections::BTreeSet;

use crate::ir::body::{BlockId, Body, OpId, Terminator, Test};
use crate::ir::effect::BodyId;
use crate::ir::value::{Adapter, Literal, Operator, Pattern, SUCCESS, ValueId, ValueKind};
use crate::link::Program;

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Abstract {
    /// Nothing.
    Unknown,
    /// The reply of a conditional command, in whatever form it is read: `Some`, `true`, `1`, `OK`
    /// when won; `None`, `false`, `0`, nil when lost.
    Reply(bool),
    /// A truth value.
    Truth(bool),
    /// A whole number.
    Number(i128),
    /// A text.
    Text(String),
    /// A unit variant or constant by its last name.
    Named(String),
    /// None, nil, null.
    Nothing,
    /// An option that holds this.
    Some(Box<Abstract>),
    /// A result that succeeded with this.
    Ok(Box<Abstract>),
    /// A result that failed.
    Err,
    /// Some value that is there.
    Present,
}

/// One assumption: the result of an operation.
pub struct Assumption<'p> {
    program: &'p Program,
    body: BodyId,
    op: OpId,
    result: Abstract,
}

/// How deep values are followed.
const DEEPEST: usize = 48;

impl<'p> Assumption<'p> {
    /// Assumes that the call at `op` gives `result`.
    #[must_use]
    pub fn new(program: &'p Program, body: BodyId, op: OpId, result: Abstract) -> Self {
        Self { program, body, op, result }
    }

    /// Whether a test holds; `None` when the assumption does not decide it.
    #[must_use]
    pub fn test(&self, test: &Test) -> Option<bool> {
        let body = &self.program.body(self.body)?.body;
        match test {
            Test::True(value) => truth(&self.value(body, *value)),
            Test::Matches { value, pattern } => matches(&self.value(body, *value), pattern),
            Test::Opaque(_) => None,
        }
    }

    /// The blocks a block can go to under the assumption.
    #[must_use]
    pub fn successors(&self, end: &Terminator) -> Vec<BlockId> {
        match end {
            Terminator::Branch { test, then, otherwise, .. } => match self.test(test) {
                Some(true) => vec![*then],
                Some(false) => vec![*otherwise],
                None => vec![*then, *otherwise],
            },
            end => end.successors(),
        }
    }

    /// What the body gives back when it runs on from the assumed operation: the common value of all
    /// returns that can be reached, `None` when none can.
    #[must_use]
    pub fn returned(&self, from: BlockId) -> Option<Abstract> {
        let body = &self.program.body(self.body)?.body;
        let mut all: Option<Abstract> = None;
        for block in self.reachable(body, from) {
            let Some(Terminator::Return { value, .. }) = body.block(block).map(|block| &block.end)
            else {
                continue;
            };
            let returned = value.map_or(Abstract::Unknown, |value| self.value(body, value));
            all = match all {
                None => Some(returned),
                Some(before) => Some(join(before, returned)),
            };
        }
        all
    }

    /// All blocks reached from a block under the assumption, that block first.
    #[must_use]
    pub fn reachable(&self, body: &Body, from: BlockId) -> BTreeSet<BlockId> {
        let mut seen = BTreeSet::from([from]);
        let mut waiting = vec![from];
        while let Some(block) = waiting.pop() {
            let Some(block) = body.block(block) else { continue };
            for next in self.successors(&block.end) {
                if seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        seen
    }

    /// What a value of the body is.
    #[must_use]
    pub fn value(&self, body: &Body, value: ValueId) -> Abstract {
        self.value_within(body, value, &[], DEEPEST)
    }

    /// `parameters` are known in a closure's body.
    fn value_within(
        &self,
        body: &Body,
        value: ValueId,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let Some(depth) = depth.checked_sub(1) else { return Abstract::Unknown };
        let inner = |value: ValueId| self.value_within(body, value, parameters, depth);
        match body.kind(value) {
            ValueKind::Result(op) if *op == self.op && self.is_own(body) => self.result.clone(),
            ValueKind::Parameter(index) => {
                parameters.get(*index as usize).cloned().unwrap_or(Abstract::Unknown)
            }
            ValueKind::Literal(literal) => of_literal(literal),
            ValueKind::Path(path) => match path.last() {
                Some("None") => Abstract::Nothing,
                Some(name) => Abstract::Named(name.to_owned()),
                None => Abstract::Unknown,
            },
            ValueKind::Awaited(value) | ValueKind::Converted { value, .. } => inner(*value),
            ValueKind::Payload { of, variant, field } if field == "0" => {
                payload(inner(*of), variant)
            }
            ValueKind::Adapted { value, adapter, argument, .. } => {
                self.adapted(body, inner(*value), *adapter, *argument, parameters, depth)
            }
            ValueKind::Matches { value, pattern } => {
                matches(&inner(*value), pattern).map_or(Abstract::Unknown, Abstract::Truth)
            }
            ValueKind::Not(value) => {
                truth(&inner(*value)).map_or(Abstract::Unknown, |truth| Abstract::Truth(!truth))
            }
            ValueKind::Binary { operator, left, right } => {
                compare(*operator, &inner(*left), &inner(*right))
            }
            ValueKind::Aggregate { path, fields, .. } => {
                let content = fields.first().map_or(Abstract::Present, |(_, value)| inner(*value));
                match path.last() {
                    Some("Some") => Abstract::Some(Box::new(content)),
                    Some("Ok") => Abstract::Ok(Box::new(content)),
                    Some("Err") => Abstract::Err,
                    _ => Abstract::Present,
                }
            }
            ValueKind::Join(values) => {
                let mut all = values.iter().map(|value| inner(*value));
                let first = all.next().unwrap_or(Abstract::Unknown);
                all.fold(first, join)
            }
            ValueKind::Captured(outer) => self.captured(body, *outer, depth),
            ValueKind::Template(_)
            | ValueKind::List(_)
            | ValueKind::ScriptKey(_)
            | ValueKind::ScriptArgument(_) => Abstract::Present,
            _ => Abstract::Unknown,
        }
    }

    fn is_own(&self, body: &Body) -> bool {
        self.program.body(self.body).is_some_and(|own| std::ptr::eq(&raw const own.body, body))
    }

    /// A value of the enclosing body, seen in a closure.
    fn captured(&self, body: &Body, outer: ValueId, depth: usize) -> Abstract {
        let own = self.program.body(self.body).map(|own| &own.body);
        match own {
            Some(own) if !std::ptr::eq(own, body) => self.value_within(own, outer, &[], depth),
            _ => Abstract::Unknown,
        }
    }

    fn adapted(
        &self,
        body: &Body,
        value: Abstract,
        adapter: Adapter,
        argument: Option<ValueId>,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let argument_value = |given: Option<Abstract>| match argument {
            Some(argument) => self.applied(body, argument, given, parameters, depth),
            None => Abstract::Unknown,
        };
        match (adapter, value) {
            (Adapter::MapFailure | Adapter::Inspect, value) => value,
            (Adapter::Ok, Abstract::Ok(inner)) => Abstract::Some(inner),
            (Adapter::Ok, Abstract::Err) => Abstract::Nothing,
            (Adapter::OkOr, Abstract::Some(inner)) => Abstract::Ok(inner),
            (Adapter::OkOr, Abstract::Reply(true)) => Abstract::Ok(Box::new(Abstract::Present)),
            (Adapter::OkOr, Abstract::Nothing | Abstract::Reply(false)) => Abstract::Err,
            (Adapter::Map, Abstract::Ok(inner)) => {
                Abstract::Ok(Box::new(argument_value(Some(*inner))))
            }
            (Adapter::Map, Abstract::Some(inner)) => {
                Abstract::Some(Box::new(argument_value(Some(*inner))))
            }
            (Adapter::Map, Abstract::Reply(true)) => {
                Abstract::Some(Box::new(argument_value(Some(Abstract::Present))))
            }
            (Adapter::AndThen, Abstract::Ok(inner) | Abstract::Some(inner)) => {
                argument_value(Some(*inner))
            }
            (Adapter::AndThen, Abstract::Reply(true)) => argument_value(Some(Abstract::Present)),
            (Adapter::Map | Adapter::AndThen, Abstract::Reply(false)) => Abstract::Nothing,
            (Adapter::Map | Adapter::AndThen, failed @ (Abstract::Err | Abstract::Nothing)) => {
                failed
            }
            (
                Adapter::UnwrapOr | Adapter::UnwrapOrDefault | Adapter::Unwrap,
                Abstract::Ok(inner) | Abstract::Some(inner),
            ) => *inner,
            (Adapter::UnwrapOr, Abstract::Err | Abstract::Nothing) => argument_value(None),
            (Adapter::UnwrapOrDefault, Abstract::Err | Abstract::Nothing) => Abstract::Reply(false),
            (Adapter::OrElse, value @ (Abstract::Ok(_) | Abstract::Some(_))) => value,
            (Adapter::OrElse, Abstract::Err | Abstract::Nothing) => argument_value(None),
            (Adapter::Then, value) => match truth(&value) {
                Some(true) => Abstract::Some(Box::new(argument_value(None))),
                Some(false) => Abstract::Nothing,
                None => Abstract::Unknown,
            },
            (Adapter::TestAnd, Abstract::Ok(inner) | Abstract::Some(inner)) => {
                argument_value(Some(*inner))
            }
            (Adapter::TestAnd, Abstract::Err | Abstract::Nothing | Abstract::Reply(false)) => {
                Abstract::Truth(false)
            }
            (Adapter::Reshape, Abstract::Some(inner) | Abstract::Ok(inner)) => reshaped(*inner),
            _ => Abstract::Unknown,
        }
    }

    /// An adapter's argument: what a closure makes of the given value, or the value itself.
    fn applied(
        &self,
        body: &Body,
        argument: ValueId,
        given: Option<Abstract>,
        parameters: &[Abstract],
        depth: usize,
    ) -> Abstract {
        let ValueKind::Closure(index) = body.kind(argument) else {
            return self.value_within(body, argument, parameters, depth);
        };
        let nested = self.program.nested(self.body, *index).and_then(|id| self.program.body(id));
        let Some(nested) = nested.map(|nested| &nested.body) else { return Abstract::Unknown };
        let given: Vec<Abstract> = given.into_iter().collect();
        let mut all: Option<Abstract> = None;
        for block in &nested.blocks {
            if let Terminator::Return { value: Some(value), .. } = &block.end {
                let returned = self.value_within(nested, *value, &given, depth);
                all = Some(all.map_or(returned.clone(), |before| join(before, returned)));
            }
        }
        all.unwrap_or(Abstract::Unknown)
    }
}

fn reshaped(inner: Abstract) -> Abstract {
    match inner {
        Abstract::Nothing => Abstract::Nothing,
        Abstract::Err => Abstract::Err,
        inner @ (Abstract::Some(_) | Abstract::Ok(_)) => inner,
        _ => Abstract::Unknown,
    }
}

/// What is common to two values.
#[must_use]
pub fn join(left: Abstract, right: Abstract) -> Abstract {
    match (left, right) {
        (left, right) if left == right => left,
        (Abstract::Some(left), Abstract::Some(right)) => {
            Abstract::Some(Box::new(join(*left, *right)))
        }
        (Abstract::Ok(left), Abstract::Ok(right)) => Abstract::Ok(Box::new(join(*left, *right))),
        _ => Abstract::Unknown,
    }
}

fn of_literal(literal: &Literal) -> Abstract {
    match literal {
        Literal::Text(text) => Abstract::Text(text.content.clone()),
        Literal::Integer(number) => Abstract::Number(*number),
        Literal::Boolean(truth) => Abstract::Truth(*truth),
        Literal::Nothing => Abstract::Nothing,
        Literal::Unit | Literal::Float(_) => Abstract::Present,
    }
}

/// Whether a value counts as true.
fn truth(value: &Abstract) -> Option<bool> {
    match value {
        Abstract::Truth(truth) | Abstract::Reply(truth) => Some(*truth),
        Abstract::Nothing => Some(false),
        Abstract::Some(inner) | Abstract::Ok(inner) => truth(inner),
        _ => None,
    }
}

/// What a variant's payload is once it matched.
fn payload(value: Abstract, variant: &str) -> Abstract {
    match (value, variant) {
        (Abstract::Ok(inner), "Ok" | SUCCESS) | (Abstract::Some(inner), "Some" | SUCCESS) => *inner,
        (Abstract::Reply(true), "Some" | SUCCESS) => Abstract::Present,
        _ => Abstract::Unknown,
    }
}

/// Whether a value matches a pattern; `None` when not known.
#[must_use]
pub fn matches(value: &Abstract, pattern: &Pattern) -> Option<bool> {
    match pattern {
        Pattern::Any => Some(true),
        Pattern::Or(any) => {
            let all: Vec<Option<bool>> =
                any.iter().map(|pattern| matches(value, pattern)).collect();
            if all.contains(&Some(true)) {
                return Some(true);
            }
            all.iter().all(|one| *one == Some(false)).then_some(false)
        }
        Pattern::Literal(literal) => equal(value, &of_literal(literal)),
        Pattern::Constant(path) => equal(value, &named(path.last()?)),
        Pattern::Variant { path, fields } => {
            matches_variant(value, path.last()?, fields.first().map(|(_, pattern)| pattern))
        }
        Pattern::Tuple(_) | Pattern::Other => None,
    }
}

fn named(name: &str) -> Abstract {
    if name == "None" { Abstract::Nothing } else { Abstract::Named(name.to_owned()) }
}

fn matches_variant(value: &Abstract, variant: &str, inside: Option<&Pattern>) -> Option<bool> {
    let inside = |inner: &Abstract| inside.map_or(Some(true), |pattern| matches(inner, pattern));
    match (variant, value) {
        (_, Abstract::Unknown) => None,
        ("Ok", Abstract::Ok(inner)) | ("Some", Abstract::Some(inner)) => inside(inner),
        (SUCCESS, Abstract::Ok(_) | Abstract::Some(_)) => Some(true),
        ("Err" | SUCCESS, Abstract::Err | Abstract::Nothing) => Some(variant == "Err"),
        ("Ok", Abstract::Err) | ("Err", Abstract::Ok(_)) => Some(false),
        ("Some", Abstract::Nothing) | ("None", Abstract::Some(_)) => Some(false),
        ("None", Abstract::Nothing) => Some(true),
        ("Some" | SUCCESS, Abstract::Reply(won)) => match won {
            true => inside(&Abstract::Unknown),
            false => Some(false),
        },
        ("None", Abstract::Reply(won)) => Some(!won),
        (name, value) => equal(value, &Abstract::Named(name.to_owned())),
    }
}

fn compare(operator: Operator, left: &Abstract, right: &Abstract) -> Abstract {
    let equal = equal(left, right);
    let result = match operator {
        Operator::Equal => equal,
        Operator::NotEqual => equal.map(|equal| !equal),
        Operator::And => both(truth(left), truth(right)),
        Operator::Or => both(truth(left).map(|t| !t), truth(right).map(|t| !t)).map(|t| !t),
        _ => ordered(operator, left, right),
    };
    result.map_or(Abstract::Unknown, Abstract::Truth)
}

fn both(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn ordered(operator: Operator, left: &Abstract, right: &Abstract) -> Option<bool> {
    let number = |value: &Abstract| match value {
        Abstract::Number(number) => Some(*number),
        Abstract::Reply(won) => Some(i128::from(*won)),
        _ => None,
    };
    let (left, right) = (number(left)?, number(right)?);
    match operator {
        Operator::Less => Some(left < right),
        Operator::LessOrEqual => Some(left <= right),
        Operator::Greater => Some(left > right),
        Operator::GreaterOrEqual => Some(left >= right),
        _ => None,
    }
}

/// Texts and names by which a reply says that it was won, and that it was lost.
const WON: [&str; 4] = ["OK", "Okay", "ok", "Ok"];
const LOST: [&str; 2] = ["Nil", "Null"];

fn equal(left: &Abstract, right: &Abstract) -> Option<bool> {
    match (left, right) {
        // A reply that is not there is no text.
        (Abstract::Reply(false), Abstract::Present)
        | (Abstract::Present, Abstract::Reply(false)) => Some(false),
        (Abstract::Unknown | Abstract::Present, _) | (_, Abstract::Unknown | Abstract::Present) => {
            None
        }
        (Abstract::Reply(won), other) | (other, Abstract::Reply(won)) => reply_equal(*won, other),
        (Abstract::Some(left), Abstract::Some(right))
        | (Abstract::Ok(left), Abstract::Ok(right)) => equal(left, right),
        (left, right) => Some(left == right),
    }
}

fn reply_equal(won: bool, other: &Abstract) -> Option<bool> {
    match other {
        Abstract::Reply(other) | Abstract::Truth(other) => Some(won == *other),
        Abstract::Number(1) => Some(won),
        Abstract::Number(0) | Abstract::Nothing => Some(!won),
        Abstract::Text(text) | Abstract::Named(text) if WON.contains(&text.as_str()) => Some(won),
        Abstract::Named(text) if LOST.contains(&text.as_str()) => Some(!won),
        Abstract::Some(inner) => match reply_equal(won, inner) {
            Some(true) if won => Some(true),
            _ if !won => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::index::Path;

    fn variant(name: &str, inside: Option<Pattern>) -> Pattern {
        let fields = inside.into_iter().map(|pattern| ("0".to_owned(), pattern)).collect();
        Pattern::Variant { path: Path::single(name), fields }
    }

    #[test]
    fn a_won_reply_is_some_and_true_and_one_and_ok() {
        let won = Abstract::Ok(Box::new(Abstract::Reply(true)));
        let lost = Abstract::Ok(Box::new(Abstract::Reply(false)));
        let some = variant("Ok", Some(variant("Some", Some(Pattern::Any))));
        assert_eq!(matches(&won, &some), Some(true));
        assert_eq!(matches(&lost, &some), Some(false));
        let truth = variant("Ok", Some(Pattern::Literal(Literal::Boolean(true))));
        assert_eq!(matches(&won, &truth), Some(true));
        assert_eq!(matches(&lost, &truth), Some(false));
        assert_eq!(equal(&Abstract::Reply(true), &Abstract::Number(1)), Some(true));
        assert_eq!(equal(&Abstract::Reply(false), &Abstract::Text("OK".into())), Some(false));
        // `Ok(_)` holds whoever won: the mistake of acquire-error-as-success.
        assert_eq!(matches(&lost, &variant("Ok", Some(Pattern::Any))), Some(true));
    }

    #[test]
    fn undecided_stays_open() {
        assert_eq!(matches(&Abstract::Unknown, &variant("Some", None)), None);
        assert_eq!(truth(&Abstract::Present), None);
        assert_eq!(
            join(Abstract::Nothing, Abstract::Some(Box::new(Abstract::Present))),
            Abstract::Unknown
        );
    }
}
