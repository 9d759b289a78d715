//! What the alternatives of a text have in common: `shop:lock:7` with and without a prefix before it is
//! still the lock of 7. The parts that all share at the start and at the end stay, and one hole stands
//! for what lies between.

use crate::ir::key::{Hole, KeyPart, KeyTemplate};

/// One template for several; `between` stands for the part that they don't share.
pub(super) fn common(all: &[KeyTemplate], between: Hole) -> KeyTemplate {
    let between = [KeyPart::Hole(between)];
    let Some((first, others)) = all.split_first() else { return KeyTemplate::new(between) };
    let mut start = first.parts.clone();
    let mut end = first.parts.clone();
    for other in others {
        start = shared(&start, &other.parts, Side::Start);
        end = shared(&end, &other.parts, Side::End);
    }
    let shortest = all.iter().map(length).min().unwrap_or(0);
    // In the shortest text the two may overlap: the start has the first say.
    if length_of(&start) + length_of(&end) > shortest {
        end.clear();
    }
    KeyTemplate::new(start.into_iter().chain(between).chain(end))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

/// The parts that two runs share from one side on, in their order.
fn shared(left: &[KeyPart], right: &[KeyPart], side: Side) -> Vec<KeyPart> {
    let from = |parts: &[KeyPart]| -> Vec<KeyPart> {
        match side {
            Side::Start => parts.to_vec(),
            Side::End => parts.iter().rev().cloned().collect(),
        }
    };
    let mut found = Vec::new();
    for (left, right) in from(left).iter().zip(&from(right)) {
        match (left, right) {
            _ if left.same_text(right) => found.push(left.clone()),
            (KeyPart::Text(left), KeyPart::Text(right)) => {
                found.extend(shared_text(left, right, side).map(KeyPart::Text));
                break;
            }
            _ => break,
        }
    }
    if side == Side::End {
        found.reverse();
    }
    found
}

/// What two texts share from one side on, whole words only: `lock:` is no part of `block:`.
fn shared_text(left: &str, right: &str, side: Side) -> Option<String> {
    let from = |text: &str| -> Vec<char> {
        match side {
            Side::Start => text.chars().collect(),
            Side::End => text.chars().rev().collect(),
        }
    };
    let (left, right) = (from(left), from(right));
    let count = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let in_word = |text: &[char], at: usize| text.get(at).is_some_and(|it| it.is_alphanumeric());
    let splits_word =
        |at: usize| in_word(&left, at - 1) && (in_word(&left, at) || in_word(&right, at));
    let cut = (1..=count).rev().find(|at| !splits_word(*at))?;
    let mut text: Vec<char> = left.into_iter().take(cut).collect();
    if side == Side::End {
        text.reverse();
    }
    Some(text.into_iter().collect())
}

fn length(template: &KeyTemplate) -> usize {
    length_of(&template.parts)
}

/// A measure of parts: characters, and a hole as one.
fn length_of(parts: &[KeyPart]) -> usize {
    let of = |part: &KeyPart| match part {
        KeyPart::Text(text) => text.chars().count(),
        KeyPart::Hole(_) => 1,
    };
    parts.iter().map(of).sum()
}
