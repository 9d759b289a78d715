//! The options of a Redis command: under which condition it writes, and which expiry it sets.

use super::redis::Built;
use super::words::{Piece, decided_by_amount};
use crate::catalog::redis::{self as table, ExpiryPlace};
use crate::ir::effect::{Condition, Expiry, ExpiryUnit};
use crate::link::Program;

/// Commands that give a key an expiry and do nothing else.
const EXPIRES: [&str; 4] = ["EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"];

/// The words that may be options, with their index: those after key and value.
fn option_words(built: &Built) -> impl Iterator<Item = (usize, &Piece)> {
    let fixed = match built.name.as_str() {
        "SET" => 2,
        name if EXPIRES.contains(&name) => 2,
        "GETEX" | "DELEX" => 1,
        "MSETEX" | "HSETEX" | "INCREX" => 1,
        _ => usize::MAX,
    };
    built.pieces.iter().enumerate().skip(fixed)
}

/// NX, XX, IFEQ and kin of a command.
pub(super) fn condition(program: &Program, built: &Built) -> Condition {
    match built.name.as_str() {
        "SETNX" | "MSETNX" | "HSETNX" | "RENAMENX" => return Condition::IfAbsent,
        "DELIFEQ" => {
            let value = built.pieces.get(1).and_then(|piece| piece.value(program));
            return Condition::IfEqual(value);
        }
        "ZADD" => return of_member(built),
        name if EXPIRES.contains(&name) => return of_expiry(built),
        _ => {}
    }
    for (index, piece) in option_words(built) {
        if piece.is("NX") || piece.is("FNX") {
            return if piece.optional { Condition::MaybeIfAbsent } else { Condition::IfAbsent };
        }
        // What is sent on some paths only holds on none.
        if piece.optional {
            continue;
        }
        if piece.is("XX") || piece.is("FXX") {
            return Condition::IfPresent;
        }
        if piece.is("IFEQ") {
            let value = built.pieces.get(index + 1).and_then(|piece| piece.value(program));
            return Condition::IfEqual(value);
        }
        // A digest of the stored value: of which value, the digest does not say.
        if piece.is("IFDEQ") {
            return Condition::IfEqual(None);
        }
    }
    Condition::None
}

/// NX and XX of ZADD, which stand between its key and the first score.
fn of_member(built: &Built) -> Condition {
    let options = built.pieces.iter().skip(1);
    let mut options = options.take_while(|piece| {
        ["NX", "XX", "GT", "LT", "CH", "INCR"].iter().any(|option| piece.is(option))
    });
    options
        .find_map(|piece| match () {
            () if piece.is("NX") => Some(Condition::IfAbsent),
            () if piece.is("XX") => Some(Condition::IfPresent),
            () => None,
        })
        .unwrap_or(Condition::None)
}

/// NX, XX, GT and LT of EXPIRE and its kin: they ask for the expiry that there is.
fn of_expiry(built: &Built) -> Condition {
    let of = |(_, piece): (usize, &Piece)| match () {
        () if piece.optional => None,
        () if piece.is("NX") => Some(Condition::IfPersistent),
        () if piece.is("XX") => Some(Condition::IfExpiring),
        () if piece.is("GT") => Some(Condition::IfLater),
        () if piece.is("LT") => Some(Condition::IfSooner),
        () => None,
    };
    option_words(built).find_map(of).unwrap_or(Condition::None)
}

/// The expiry that a command sets.
pub(super) fn expiry(program: &Program, built: &Built) -> Expiry {
    match table::command(&built.name).and_then(|row| row.expiry) {
        Some(ExpiryPlace::Word(place, unit)) => {
            let amount = place.checked_sub(1).and_then(|index| built.pieces.get(index));
            set_to(program, amount, unit)
        }
        Some(ExpiryPlace::Options) => expiry_option(program, built),
        None => Expiry::None,
    }
}

fn expiry_option(program: &Program, built: &Built) -> Expiry {
    let mut unread = None;
    let mut skipped = usize::MAX;
    for (index, piece) in option_words(built) {
        if index == skipped {
            continue;
        }
        if ["IFEQ", "IFNE", "IFDEQ", "IFDNE", "FIELDS"].iter().any(|option| piece.is(option)) {
            skipped = index + 1;
        }
        let unit = match piece.text.as_deref().map(str::to_ascii_uppercase).as_deref() {
            Some("EX") => ExpiryUnit::Seconds,
            Some("PX") => ExpiryUnit::Milliseconds,
            Some("EXAT") => ExpiryUnit::UnixSeconds,
            Some("PXAT") => ExpiryUnit::UnixMilliseconds,
            Some("KEEPTTL") if !piece.optional => return Expiry::Keep,
            Some(_) => continue,
            None => {
                unread = unread.or(Some(piece));
                continue;
            }
        };
        let amount = built.pieces.get(index + 1);
        if !piece.optional {
            return set_to(program, amount, unit);
        }
        let decides = piece.decides.or_else(|| amount.and_then(|amount| amount.decides));
        let decides = decides.or_else(|| decided_by_amount(program, amount?));
        return decides.map_or(Expiry::Maybe, |decides| Expiry::WhenPresent { decides });
    }
    // A word that could not be read where options stand may be any option.
    match unread {
        Some(Piece { decides: Some(decides), .. }) => Expiry::WhenPresent { decides: *decides },
        Some(_) => Expiry::Maybe,
        None => Expiry::None,
    }
}

fn set_to(program: &Program, amount: Option<&Piece>, unit: ExpiryUnit) -> Expiry {
    let at = amount.and_then(|amount| amount.at.as_ref());
    let milliseconds =
        at.and_then(|at| super::facts::milliseconds(program, at.body, at.value, unit));
    Expiry::Set { amount: amount.and_then(|amount| amount.value(program)), unit, milliseconds }
}
