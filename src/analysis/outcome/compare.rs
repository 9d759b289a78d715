//! Tests of values of which something is known: patterns, comparisons, orders.
//!
//! `None` is the answer wherever the two could be equal and could differ.

use super::{Abstract, of_literal, truth};
use crate::ir::value::{Operator, Pattern, SUCCESS};

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
        (SUCCESS, Abstract::Err | Abstract::Nothing) => Some(false),
        // Which failure it is, is not known.
        ("Err", Abstract::Err | Abstract::Nothing) => inside(&Abstract::Unknown),
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

/// Whether two answers to "was it won?" say the same; `None` when that is not known. Of two successes
/// that hold something, what they hold is not known.
#[must_use]
pub fn alike(left: &Abstract, right: &Abstract) -> Option<bool> {
    match (left, right) {
        (Abstract::Unknown, _) | (_, Abstract::Unknown) => None,
        (Abstract::Err, Abstract::Err) => Some(true),
        (Abstract::Err, _) | (_, Abstract::Err) => Some(false),
        (Abstract::Ok(left), Abstract::Ok(right)) => alike(left, right),
        (Abstract::Some(left), Abstract::Some(right)) => Some(alike(left, right).unwrap_or(true)),
        (Abstract::Some(_), Abstract::Nothing) | (Abstract::Nothing, Abstract::Some(_)) => {
            Some(false)
        }
        (Abstract::Present, _) | (_, Abstract::Present) => None,
        (left, right) => match (truth(left), truth(right)) {
            (Some(left), Some(right)) => Some(left == right),
            _ => equal(left, right),
        },
    }
}

pub(super) fn compare(operator: Operator, left: &Abstract, right: &Abstract) -> Abstract {
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
        // A constant may stand for any text or number, and what is wrapped is no bare value.
        (Abstract::Named(left), Abstract::Named(right)) => {
            (left == right).then_some(true).or_else(|| differ(left, right).then_some(false))
        }
        (Abstract::Named(_), Abstract::Number(_) | Abstract::Text(_) | Abstract::Truth(_))
        | (Abstract::Number(_) | Abstract::Text(_) | Abstract::Truth(_), Abstract::Named(_)) => {
            None
        }
        (Abstract::Some(_) | Abstract::Ok(_), Abstract::Nothing | Abstract::Err)
        | (Abstract::Nothing | Abstract::Err, Abstract::Some(_) | Abstract::Ok(_)) => Some(false),
        (Abstract::Some(_) | Abstract::Ok(_), _) | (_, Abstract::Some(_) | Abstract::Ok(_)) => None,
        (left, right) => Some(left == right),
    }
}

/// Whether two names are two variants: constants of two names (`TAKEN`, `WON`) may be equal.
fn differ(left: &str, right: &str) -> bool {
    let variant = |name: &str| name.contains(char::is_lowercase);
    variant(left) && variant(right)
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
    use super::super::join;
    use super::*;
    use crate::ir::index::Path;
    use crate::ir::value::Literal;

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
        let busy = variant("Err", Some(variant("Busy", None)));
        assert_eq!(matches(&Abstract::Err, &busy), None);
        assert_eq!(matches(&Abstract::Err, &variant("Err", Some(Pattern::Any))), Some(true));
        // `Ok(_)` holds whoever won: the mistake of acquire-error-as-success.
        assert_eq!(matches(&lost, &variant("Ok", Some(Pattern::Any))), Some(true));
    }

    #[test]
    fn undecided_stays_open() {
        assert_eq!(matches(&Abstract::Unknown, &variant("Some", None)), None);
        assert_eq!(truth(&Abstract::Present), None);
        // `const TAKEN: i32 = 1;` of another crate.
        assert_eq!(equal(&Abstract::Named("TAKEN".into()), &Abstract::Number(1)), None);
        let (taken, won) = (Abstract::Named("TAKEN".into()), Abstract::Named("WON".into()));
        assert_eq!(equal(&taken, &won), None);
        let (busy, held) = (Abstract::Named("Busy".into()), Abstract::Named("Held".into()));
        assert_eq!(equal(&busy, &held), Some(false));
        assert_eq!(equal(&Abstract::Ok(Box::new(Abstract::Number(1))), &Abstract::Number(1)), None);
        assert_eq!(
            join(Abstract::Nothing, Abstract::Some(Box::new(Abstract::Present))),
            Abstract::Unknown
        );
    }
}
