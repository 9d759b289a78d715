//! Arguments to command words: tuples and lists are several words, options values are the words
//! they stand for, an absent option is none.

use super::chain::{self, Link};
use super::context::Context;
use super::facts;
use super::follow::{At, presence, sources};
use crate::ir::body::{Callee, Test};
use crate::ir::effect::Word;
use crate::ir::value::{Adapter, Literal, ValueId, ValueKind};
use crate::link::Program;
use crate::link::evaluate::{is_success, returned_values};
use crate::source::Span;

/// How deep lists and options may nest.
const MOST_DEPTH: usize = 8;
/// How many words one argument may be.
const MOST_WORDS: usize = 256;

/// Types whose variants are an expiry: the variant's name is the option.
const EXPIRIES: [&str; 3] = ["SetExpiry", "Expiration", "Expiry"];
/// Types whose variants are a condition word.
const CONDITIONS: [&str; 6] = [
    "ExistenceCheck",
    "SetOptions",
    "ExpireOptions",
    "ExpireOption",
    "FieldExistenceCheck",
    "ValueComparison",
];
/// Option builders: links on them are options.
const BUILDERS: [&str; 5] =
    ["SetOptions", "MSetOptions", "HashFieldExpirationOptions", "IncrExOptions", "CopyOptions"];
/// Option words that may stand alone.
const WORDS: [&str; 12] =
    ["EX", "PX", "EXAT", "PXAT", "KEEPTTL", "PERSIST", "NX", "XX", "GT", "LT", "IFEQ", "IFNE"];

/// A word on its way to a command.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    /// The value; `None` for a word the interface adds.
    pub at: Option<At>,
    /// Its text, when constant.
    pub text: Option<String>,
    /// Whether it is only sent on some paths.
    pub optional: bool,
    /// The optional value of the asking body that decides whether it is sent.
    pub decides: Option<ValueId>,
    /// Whether it stands for any number of words.
    pub many: bool,
    /// Where it is written.
    pub span: Span,
}

impl Piece {
    /// A word of the interface's own.
    pub(super) fn literal(text: impl Into<String>, span: Span) -> Self {
        let text = Some(text.into());
        Self { at: None, text, optional: false, decides: None, many: false, span }
    }

    /// A word that the interface makes and nobody sees.
    pub(super) fn made(span: Span) -> Self {
        Self { at: None, text: None, optional: false, decides: None, many: true, span }
    }

    /// Whether its text is this, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.text.as_deref().is_some_and(|text| text.eq_ignore_ascii_case(word))
    }

    /// Its value in the asking body.
    pub(super) fn value(&self, program: &Program) -> Option<ValueId> {
        self.at.as_ref()?.local(program)
    }

    /// The word.
    pub(super) fn word(&self, program: &Program) -> Word {
        Word {
            value: self.value(program),
            text: self.text.clone(),
            optional: self.optional,
            span: self.span,
        }
    }
}

/// The words of an argument.
pub(super) fn expand(program: &Program, at: &At) -> Vec<Piece> {
    let mut pieces = Vec::new();
    expand_into(program, at, 0, &mut pieces);
    pieces
}

/// The words of a chained call's arguments, optional where the call is.
pub(super) fn expand_link(context: &Context<'_>, link: &Link, arguments: &[usize]) -> Vec<Piece> {
    let program = context.program;
    let mut pieces = Vec::new();
    for index in arguments {
        if let Some(at) = link.argument(program, *index) {
            pieces.extend(expand(program, &at));
        }
    }
    if link.optional {
        let decider = deciding(context, link);
        match decider.as_ref().and_then(|at| presence(program, at)) {
            Some(false) => return Vec::new(),
            Some(true) => {}
            None => {
                let decides = decider.and_then(|at| at.local(program));
                for piece in &mut pieces {
                    piece.optional = true;
                    piece.decides = piece.decides.or(decides);
                }
            }
        }
    }
    if link.repeated {
        pieces.iter_mut().for_each(|piece| piece.many = true);
    }
    pieces
}

/// The optional value behind whose presence a call stands.
fn deciding(context: &Context<'_>, link: &Link) -> Option<At> {
    let program = context.program;
    let inner;
    let owner = if link.site.body == context.id {
        context
    } else {
        inner = Context::new(program, link.site.body)?;
        &inner
    };
    let value = match owner.decided_by(link.site.op)? {
        Test::Matches { value, pattern } if pattern.variant().is_some_and(is_success) => *value,
        Test::True(value) => match owner.body.kind(*value) {
            ValueKind::Matches { value, pattern } if pattern.variant().is_some_and(is_success) => {
                *value
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(link.at.with(owner.body.peel(value)))
}

fn expand_into(program: &Program, at: &At, depth: usize, out: &mut Vec<Piece>) {
    if depth > MOST_DEPTH || out.len() > MOST_WORDS {
        out.push(plain(program, at));
        return;
    }
    match at.kind(program) {
        // A list that starts empty is filled later.
        ValueKind::List(values) if values.is_empty() && is_variable(program, at) => {
            out.push(Piece { text: None, many: true, ..plain(program, at) });
        }
        ValueKind::List(values) => {
            values.iter().for_each(|value| expand_into(program, &at.with(*value), depth + 1, out));
        }
        ValueKind::Literal(Literal::Nothing | Literal::Unit) => {}
        ValueKind::Aggregate { path, fields, .. }
            if path.last().is_some_and(is_success) && fields.len() == 1 =>
        {
            let inner = fields.first().map(|(_, value)| at.with(*value));
            inner.into_iter().for_each(|inner| expand_into(program, &inner, depth + 1, out));
        }
        ValueKind::Literal(_) | ValueKind::Template(_) | ValueKind::Parameter(_) => {
            out.push(plain(program, at));
        }
        ValueKind::Adapted {
            value, adapter: Adapter::Map | Adapter::AndThen, argument, ..
        } => match mapped(program, at, *value, *argument, depth) {
            Some(pieces) => out.extend(pieces),
            None => out.push(plain(program, at)),
        },
        _ => match options(program, at, depth) {
            Some(pieces) => out.extend(pieces),
            None => out.push(plain(program, at)),
        },
    }
}

/// Whether a value was bound to a variable.
fn is_variable(program: &Program, at: &At) -> bool {
    let named = |body: &crate::ir::body::Body| {
        body.value(body.peel(at.value)).is_some_and(|value| value.name.is_some())
    };
    at.code(program).is_some_and(named)
}

/// One word.
fn plain(program: &Program, at: &At) -> Piece {
    let span = at.code(program).and_then(|body| body.value(at.value)).map(|value| value.span);
    let span = span.unwrap_or_else(|| facts::start_of(program, at.body));
    Piece {
        text: at.constant(program),
        at: Some(at.clone()),
        optional: false,
        decides: None,
        many: facts::is_collection(program, at.body, at.value),
        span,
    }
}

/// `ttl.map(|ttl| SetExpiry::PX(ttl))`: words that are there when the optional value is.
fn mapped(
    program: &Program,
    at: &At,
    optional: ValueId,
    closure: Option<ValueId>,
    depth: usize,
) -> Option<Vec<Piece>> {
    let closure = at.with(closure?);
    let decides = at.with(at.code(program)?.peel(optional)).local(program);
    let mut pieces = Vec::new();
    match closure.kind(program) {
        ValueKind::Closure(index) => {
            let nested = facts::nested(program, closure.body, *index)?;
            for value in returned_values(&program.body(nested)?.body) {
                let inner = At { body: nested, value, ..closure.clone() };
                pieces.extend(options(program, &inner, depth + 1)?);
            }
        }
        // `ttl.map(SetExpiry::PX)`
        ValueKind::Path(path) => {
            let (name, span) = (path.last()?, plain(program, &closure).span);
            if !EXPIRIES.iter().any(|ty| path.0.iter().any(|part| part == ty)) {
                return None;
            }
            pieces.push(Piece::literal(name.to_ascii_uppercase(), span));
            pieces.push(plain(program, &at.with(optional)));
        }
        _ => return None,
    }
    for piece in &mut pieces {
        piece.optional = true;
        piece.decides = decides;
    }
    Some(pieces)
}

/// The words of an options value; `None` when it is none.
fn options(program: &Program, at: &At, depth: usize) -> Option<Vec<Piece>> {
    let mut ways: Vec<Vec<Piece>> = Vec::new();
    let found = sources(program, at);
    if found.is_empty() || found.len() > 6 {
        return None;
    }
    for source in &found {
        ways.push(match source.kind(program) {
            ValueKind::Literal(Literal::Nothing) if found.len() > 1 => Vec::new(),
            _ => option_words(program, source, depth)?,
        });
    }
    let mut ways = ways.into_iter();
    let mut words = ways.next()?;
    for other in ways {
        words = merged(program, words, other);
    }
    Some(words)
}

/// Words that both ways have stay; words of one way are optional.
fn merged(program: &Program, left: Vec<Piece>, right: Vec<Piece>) -> Vec<Piece> {
    let has = |side: &[Piece], piece: &Piece| {
        side.iter().any(|other| match (&other.text, &piece.text) {
            (Some(text), Some(word)) => text == word,
            _ => other.at == piece.at,
        })
    };
    let shared = |piece: &Piece, other: &[Piece]| {
        let mut piece = piece.clone();
        if !has(other, &piece) {
            piece.optional = true;
            piece.decides = piece.decides.or_else(|| decided_by_amount(program, &piece));
        }
        piece
    };
    let mut all: Vec<Piece> = left.iter().map(|piece| shared(piece, &right)).collect();
    for piece in &right {
        if !has(&left, piece) {
            all.push(shared(piece, &left));
        }
    }
    all
}

/// The optional value that a word's value was taken out of: `ttl` for `ttl.as_millis()` inside
/// `if let Some(ttl) = ttl`.
pub(super) fn decided_by_amount(program: &Program, piece: &Piece) -> Option<ValueId> {
    let mut at = piece.at.clone()?;
    for _ in 0..32 {
        let body = at.code(program)?;
        let next = match body.kind(at.value) {
            ValueKind::Payload { of, variant, .. } if variant == "Some" => {
                return at.with(body.peel(*of)).local(program);
            }
            ValueKind::Adapted { value, adapter: Adapter::Unwrap, .. } => {
                return at.with(body.peel(*value)).local(program);
            }
            ValueKind::Converted { value, .. } => *value,
            ValueKind::Adapted { value, .. } => *value,
            ValueKind::Binary { left, .. } => *left,
            ValueKind::Result(op) => {
                let call = body.call(*op)?;
                call.receiver.or_else(|| call.arguments.first().map(|argument| argument.value))?
            }
            _ => return None,
        };
        at = at.with(next);
    }
    None
}

/// The words of one way an options value is made.
fn option_words(program: &Program, at: &At, depth: usize) -> Option<Vec<Piece>> {
    let span = plain(program, at).span;
    if let Some((path, fields)) = variant(program, at) {
        let last = path.last()?.clone();
        let owner = path.len().checked_sub(2).and_then(|index| path.get(index));
        let owner = owner.map_or("", String::as_str);
        let upper = last.to_ascii_uppercase();
        let upper = if upper == "KEEP_TTL" { "KEEPTTL".to_owned() } else { upper };
        let lone = owner.is_empty() && WORDS.contains(&upper.as_str());
        let known = EXPIRIES.contains(&owner) || CONDITIONS.contains(&owner);
        let is_word =
            upper.chars().all(|c| c.is_ascii_uppercase()) && WORDS.contains(&upper.as_str());
        if (known || lone) && is_word {
            let mut words = vec![Piece::literal(upper, span)];
            for field in &fields {
                expand_into(program, field, depth + 1, &mut words);
            }
            return Some(words);
        }
    }
    if let ValueKind::Aggregate { path, fields, .. } = at.kind(program)
        && path.last().is_some_and(|last| BUILDERS.contains(&last))
    {
        let mut words = Vec::new();
        for (_, value) in fields {
            expand_into(program, &at.with(*value), depth + 1, &mut words);
        }
        return Some(words);
    }
    built(program, at, depth)
}

/// `SetOptions::default().conditional_set(…).with_expiration(…)`.
fn built(program: &Program, at: &At, depth: usize) -> Option<Vec<Piece>> {
    at.call(program)?;
    let context = Context::new(program, at.body)?;
    let root = at.with(chain::root_of(&context, at.value));
    let (_, head) = root.call(program)?;
    let Callee::Path(path) = &head.callee else { return None };
    let owner = path.0.len().checked_sub(2).and_then(|index| path.0.get(index))?;
    if !BUILDERS.contains(&owner.as_str()) {
        return None;
    }
    let whole = chain::behind(&context, at);
    let mut words = Vec::new();
    for link in &whole.links {
        let Some(name) = link.name(program) else { continue };
        let argument = link.argument(program, 0);
        let before = words.len();
        match (name, argument) {
            ("get", Some(flag)) if flag.constant(program).as_deref() != Some("false") => {
                let span = plain(program, &flag).span;
                words.push(Piece::literal("GET", span));
            }
            (
                "conditional_set" | "with_expiration" | "value_comparison" | "set_expiration",
                Some(value),
            )
            | ("set_existence_check" | "expiration", Some(value)) => {
                expand_into(program, &value, depth + 1, &mut words);
            }
            _ => {}
        }
        if link.optional {
            let decider = deciding(&context, link);
            match decider.as_ref().and_then(|at| presence(program, at)) {
                Some(false) => words.truncate(before),
                Some(true) => {}
                None => {
                    let decides = decider.and_then(|at| at.local(program));
                    for piece in words.iter_mut().skip(before) {
                        piece.optional = true;
                        piece.decides = decides;
                    }
                }
            }
        }
    }
    Some(words)
}

/// A variant or tuple constructor and its fields: `SetExpiry::EX(n)`, `ExistenceCheck::NX`,
/// `ValueComparison::ifeq(v)`.
pub(super) fn variant(program: &Program, at: &At) -> Option<(Vec<String>, Vec<At>)> {
    match at.kind(program) {
        ValueKind::Path(path) => Some((path.0.clone(), Vec::new())),
        ValueKind::Aggregate { path, fields, .. } => {
            Some((path.0.clone(), fields.iter().map(|(_, value)| at.with(*value)).collect()))
        }
        ValueKind::Result(_) => {
            let (_, call) = at.call(program)?;
            let Callee::Path(path) = &call.callee else { return None };
            let fields = call.arguments.iter().map(|argument| at.with(argument.value)).collect();
            Some((path.0.clone(), fields))
        }
        _ => None,
    }
}
