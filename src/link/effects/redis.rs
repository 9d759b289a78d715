//! Redis commands: methods of command traits, `cmd(…)` chains, and commands inside scripts.

use super::chain::{self, Chain};
use super::context::{Context, Run};
use super::store;
use super::words::{Piece, expand, expand_link};
use super::{Draft, options, script};
use crate::catalog::redis as table;
use crate::catalog::{Api, Place, Wire};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::{Batch, EffectKind, Key, RedisCommand, Store};
use crate::ir::index::TypeRef;
use crate::ir::value::ValueId;
use crate::link::Program;
use crate::source::Span;

/// Methods that send a command and throw its reply away.
const WITHOUT_REPLY: [&str; 3] = ["exec", "exec_async", "execute"];

/// What a command is made of, before it is known where it is sent.
#[derive(Clone, Debug)]
pub(super) struct Built {
    /// Upper case.
    pub name: String,
    /// Words after the name.
    pub pieces: Vec<Piece>,
    /// The command's name, or the method's.
    pub span: Span,
}

/// A method of a command trait, called on a connection: sent where it is awaited.
pub(super) fn direct(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let Some(run) = context.run_of(op, call, api) else { return };
    // `AsyncCommands::set(&mut con, k, v)` has its connection first.
    let shift = usize::from(call.receiver.is_none());
    let connection = call.receiver.or_else(|| Context::argument(call, 0));
    let built = if api.command.as_deref() == Some("from_arg") {
        named_by_argument(context, call, api)
    } else {
        of_method(context, call, api, shift)
    };
    let Some(built) = built else { return };
    let store = store::of(context, connection);
    let reply_type = turbofish(call, api).or_else(|| context.reply_type(run.reply));
    let sent = Sent { run, store, batch: None, reply: Some(run.reply), reply_type };
    out.extend(effect(context, op, &built, &sent, api));
}

/// Where a command goes and what comes back.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Where it runs.
    pub run: Run,
    /// The server.
    pub store: Store,
    /// The batch it leaves in.
    pub batch: Option<Batch>,
    /// Its reply.
    pub reply: Option<ValueId>,
    /// The type the reply is read as.
    pub reply_type: Option<TypeRef>,
}

/// The effect of a command: a command, or a script call when the command runs one.
pub(super) fn effect(
    context: &Context<'_>,
    op: OpId,
    built: &Built,
    sent: &Sent,
    api: &Api,
) -> Option<Draft> {
    let (kind, texts) = match script::of_command(context, built, sent) {
        Some((call, texts)) => (EffectKind::Script(call), texts),
        None => {
            let command = command(context.program, built, sent);
            (EffectKind::Redis(command), Vec::new())
        }
    };
    Some(Draft { texts, ..Draft::sent(op, built.span, sent, api, kind) })
}

/// The reply type of a full turbofish: the last of its arguments.
fn turbofish(call: &Call, api: &Api) -> Option<TypeRef> {
    let count = call.type_arguments.len();
    let full = api.generics.is_none_or(|generics| generics == count);
    let last = call.type_arguments.last().filter(|_| full)?;
    (*last != TypeRef::Unknown).then(|| last.clone())
}

/// The words of a method: in the order that its row says, or in that of its arguments.
pub(super) fn of_method(
    context: &Context<'_>,
    call: &Call,
    api: &Api,
    shift: usize,
) -> Option<Built> {
    let words = |index: usize| match Context::argument(call, index + shift) {
        Some(value) => expand(context.program, &context.at(value)),
        None => Vec::new(),
    };
    let span = call.name_span;
    let mut pieces = by_wire(api, span, words);
    if !pieces.is_empty() {
        let name = pieces.remove(0).text?;
        return Some(Built { name, pieces, span });
    }
    let name = (*api.commands().first()?).to_owned();
    let pieces = by_roles(context.program, api, span, words);
    Some(Built { name, pieces, span })
}

/// The words as the row's `wire` says, the name first; empty when it says nothing.
fn by_wire(api: &Api, span: Span, words: impl Fn(usize) -> Vec<Piece>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for wire in &api.wire {
        match wire {
            Wire::Literal(text) => pieces.push(Piece::literal(text.as_str(), span)),
            // The library decides by the argument's type; whole numbers are the rule.
            Wire::Either(names) => {
                pieces.extend(names.last().map(|name| Piece::literal(name.as_str(), span)));
            }
            Wire::Argument(index) => {
                let found = words(*index);
                // An empty list of bytes is a value of no length, not the lack of one.
                let value = api.argument("value") == Some(*index);
                match found.is_empty() && value {
                    true => pieces.push(Piece::literal("", span)),
                    false => pieces.extend(found),
                }
            }
            Wire::Count(index) => {
                let counted = words(*index);
                pieces.push(match counted.iter().any(|piece| piece.many) {
                    true => Piece::made(span),
                    false => Piece::literal(counted.len().to_string(), span),
                });
            }
            Wire::Made => pieces.push(Piece::made(span)),
        }
    }
    pieces
}

/// The words of a client whose arguments are in wire order, options apart.
fn by_roles(
    program: &Program,
    api: &Api,
    span: Span,
    words: impl Fn(usize) -> Vec<Piece>,
) -> Vec<Piece> {
    let mut roles: Vec<(usize, &str)> = Vec::new();
    for (role, place) in &api.args {
        if let Place::Argument(index) | Place::Elements(index) = place {
            roles.push((*index, role));
        }
    }
    roles.sort_unstable();
    let from_options = api.ttl_unit.as_deref() == Some("from_options");
    let mut pieces = Vec::new();
    for (index, role) in roles {
        match role {
            "get" => {
                let wanted = words(index).first().is_some_and(|piece| piece.is("true"));
                pieces.extend(wanted.then(|| Piece::literal("GET", span)));
            }
            "ttl" | "condition" if from_options => {
                let mut own = words(index);
                // An options value from outside: it may be none.
                if let Some(first) = own.first_mut()
                    && first.at.is_some()
                    && first.text.is_none()
                    && !first.optional
                {
                    first.decides = first.decides.or_else(|| first.value(program));
                    first.optional = true;
                }
                pieces.extend(own);
            }
            "connection" | "abort_on_error" | "client" => {}
            _ => pieces.extend(words(index)),
        }
    }
    pieces
}

/// fred's `custom(cmd, args)`, and `redis.call(name, …)` of a script.
fn named_by_argument(context: &Context<'_>, call: &Call, api: &Api) -> Option<Built> {
    let program = context.program;
    let first = context.at(Context::argument(call, api.argument("command").unwrap_or(0))?);
    let name = match first.constant(program) {
        Some(name) => name,
        None => super::follow::sources(program, &first).iter().find_map(|source| {
            let (_, made) = source.call(program)?;
            let argument = made.arguments.first()?;
            source.with(argument.value).constant(program)
        })?,
    };
    let rest = call.arguments.iter().skip(1);
    let pieces = rest.flat_map(|argument| expand(program, &context.at(argument.value))).collect();
    Some(Built { name: name.to_ascii_uppercase(), pieces, span: call.name_span })
}

/// A call of `redis.call` in a script.
pub(super) fn of_script(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let Some(built) = named_by_argument(context, call, api) else { return };
    let sent = Sent {
        run: context.run(op, call),
        store: Store::default(),
        batch: Some(Batch { number: 0, atomic: true }),
        reply: Some(call.result),
        reply_type: None,
    };
    let command = command(context.program, &built, &sent);
    out.push(Draft::sent(op, built.span, &sent, api, EffectKind::Redis(command)));
}

/// `redis::transaction(con, keys, closure)`: the keys are watched before the closure runs.
pub(super) fn watch(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let Some(keys) = api.argument("keys").and_then(|index| Context::argument(call, index)) else {
        return;
    };
    let pieces = expand(context.program, &context.at(keys));
    let built = Built { name: "WATCH".to_owned(), pieces, span: call.name_span };
    let sent = Sent {
        run: context.run(op, call),
        store: store::of(context, Context::argument(call, 0)),
        batch: None,
        reply: None,
        reply_type: None,
    };
    out.extend(effect(context, op, &built, &sent, api));
}

/// The end of a `cmd(…)` chain.
pub(super) fn terminal(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let Some(receiver) = call.receiver else { return };
    let whole = chain::collect(context, receiver, op);
    let Some(mut built) = of_chain(context, &whole) else { return };
    // A command that another function makes is at fault where it is asked for.
    if let Some((asked, _)) = whole.root.entered.first()
        && let Some(asked) = context.body.call(asked.op)
    {
        built.span = asked.name_span;
    }
    let Some(run) = context.run_of(op, call, api) else { return };
    let without = call.callee.name().is_some_and(|name| WITHOUT_REPLY.contains(&name));
    let store = store::of(context, Context::argument(call, 0));
    let reply_type = if without {
        Some(TypeRef::Tuple(Vec::new()))
    } else {
        let written = call.type_arguments.last().filter(|ty| **ty != TypeRef::Unknown).cloned();
        written.or_else(|| context.reply_type(run.reply))
    };
    let reply = (!without).then_some(run.reply);
    let sent = Sent { run, store, batch: None, reply, reply_type };
    out.extend(effect(context, op, &built, &sent, api));
}

/// The command that a chain builds.
pub(super) fn of_chain(context: &Context<'_>, chain: &Chain) -> Option<Built> {
    let program = context.program;
    let (site, head) = chain.root.call(program)?;
    let mut pieces = Vec::new();
    let mut built = None;
    if let Some(method) = cmd_method(program, site, head) {
        let inner = Context::new(program, site.body)?;
        built = of_method(&inner, head, method, 0);
        for piece in built.iter_mut().flat_map(|built| built.pieces.iter_mut()) {
            if let Some(at) = &mut piece.at {
                at.entered = chain.root.entered.clone();
                at.detached = chain.root.detached;
            }
        }
    } else {
        for argument in &head.arguments {
            pieces.extend(expand(program, &chain.root.with(argument.value)));
        }
    }
    for link in &chain.links {
        if link.name(program) == Some("arg") {
            pieces.extend(expand_link(context, link, &[0]));
        }
    }
    if let Some(mut built) = built {
        built.pieces.extend(pieces);
        return Some(built);
    }
    if pieces.is_empty() {
        return None;
    }
    let first = pieces.remove(0);
    let name = first.text?.to_ascii_uppercase();
    // `cmd("CONFIG GET")`: one argument, several words.
    let mut parts = name.split_whitespace().map(str::to_owned);
    let name = parts.next()?;
    let rest: Vec<Piece> = parts.map(|part| Piece::literal(part, first.span)).collect();
    pieces.splice(0..0, rest);
    let span = head.name_span.to(first.span);
    Some(Built { name, pieces, span })
}

/// The row of a head like `Cmd::set(k, v)`.
fn cmd_method(
    program: &Program,
    site: crate::ir::effect::Site,
    head: &Call,
) -> Option<&'static Api> {
    let path = super::facts::called_path(program, site, head)?;
    let owner = path.0.len().checked_sub(2).and_then(|index| path.0.get(index))?;
    let rows = super::facts::apis(program, site);
    let row =
        rows.into_iter().find(|row| !row.wire.is_empty() && row.accepts(head.arguments.len()));
    row.filter(|_| owner == "Cmd")
}

/// A command with its keys, condition and expiry read off its words.
pub(super) fn command(program: &Program, built: &Built, sent: &Sent) -> RedisCommand {
    let (keys, value) = keys_and_value(program, built);
    RedisCommand {
        words: built.pieces.iter().map(|piece| piece.word(program)).collect(),
        keys,
        value,
        condition: options::condition(program, built),
        expiry: options::expiry(program, built),
        name: built.name.clone(),
        store: sent.store.clone(),
        batch: sent.batch,
    }
}

fn keys_and_value(program: &Program, built: &Built) -> (Vec<Key>, Option<ValueId>) {
    let row = table::command(&built.name);
    let text = |index: usize| built.pieces.get(index.checked_sub(1)?)?.text.as_deref();
    let places = match row {
        Some(row) => row.key_words(built.pieces.len() + 1, text).unwrap_or_default(),
        // Commands of modules have their key first.
        None if built.name.contains('.') => vec![1],
        None => Vec::new(),
    };
    let pieces = places.iter().filter_map(|place| built.pieces.get(place.checked_sub(1)?));
    let keys = pieces.map(|piece| key(program, piece)).collect();
    let value = row.and_then(|row| row.value).and_then(|place| {
        // HSET of several fields stores several values.
        let several = built.name == "HSET" && built.pieces.len() != 3;
        built.pieces.get(place.checked_sub(1)?).filter(|_| !several)?.value(program)
    });
    (keys, value)
}

/// The key that a word is.
pub(super) fn key(program: &Program, piece: &Piece) -> Key {
    let template = match (&piece.at, &piece.text) {
        (Some(at), _) => at.template(program),
        (None, text) => crate::ir::key::KeyTemplate::text(text.as_deref().unwrap_or_default()),
    };
    Key { value: piece.value(program), template, many: piece.many, span: piece.span }
}
