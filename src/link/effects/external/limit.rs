//! The time limit of a call that leaves the process: around it, on the request, on the client, or
//! the library's own.

use super::Request;
use crate::catalog::{Api, ApiEffect, Bounds};
use crate::ir::body::Call;
use crate::ir::effect::{ExpiryUnit, Site, Timeout};
use crate::ir::value::{Literal, ValueKind};
use crate::link::Program;
use crate::link::effects::chain::{self, Chain, Link};
use crate::link::effects::context::Context;
use crate::link::effects::facts;
use crate::link::effects::follow::{At, sources};

/// Methods that take over the limits of what they are given.
const CARRIES: [&str; 3] = ["timeout_config", "new_with_config", "with_config"];
/// Functions of libraries that make a client, channel or configuration and set no limit themselves.
const MAKERS: [&str; 19] = [
    "new",
    "default",
    "agent",
    "builder",
    "connect",
    "connect_lazy",
    "with_interceptor",
    "with_origin",
    "from_static",
    "from_shared",
    "from_conf",
    "from_env",
    "load_from_env",
    "load_defaults",
    "defaults",
    "relay",
    "starttls_relay",
    "new_with_config",
    "new_with_defaults",
];
/// How many objects are looked through: the client, its channel, its endpoint.
const DEEPEST: usize = 4;

/// What the code that makes an object says of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    /// It sets this one.
    Limit(Timeout),
    /// It bounds parts of a call.
    Partly,
    /// It is in sight and sets none.
    Nothing,
    /// It is not in sight.
    Hidden,
}

/// The time limit of a request.
pub(super) fn of(request: &Request<'_, '_>) -> Timeout {
    let context = request.context;
    let program = context.program;
    if let Some(around) = context.enclosing_timeout(request.call.result) {
        return limit(program, &context.at(around));
    }
    let bounds = |link: &&Link| bounds(program, link) == Some(Bounds::Call);
    let set = request.links().rev().find(bounds);
    if let Some(at) = set.and_then(|link| link.argument(program, 0)) {
        return limit(program, &at);
    }
    match client(request).map(|client| set_on(context, &client, 0)) {
        Some(Setting::Limit(limit)) => limit,
        Some(Setting::Partly | Setting::Hidden) => Timeout::Unknown,
        Some(Setting::Nothing) | None => by_default(request),
    }
}

/// The client that sends a request.
fn client(request: &Request<'_, '_>) -> Option<At> {
    let program = request.context.program;
    // A function that is given the client: its receiver, if any, is no client.
    if let Some(index) = request.api.argument("client") {
        return Context::argument(request.call, index).map(|client| request.context.at(client));
    }
    let of_builder = request.whole.as_ref().and_then(|whole| {
        let (site, head) = whole.root.call(program)?;
        match maker_row(program, site) {
            Some(_) => Some(whole.root.clone()),
            None => Some(whole.root.with(head.receiver?)),
        }
    });
    of_builder.or_else(|| request.call.receiver.map(|receiver| request.context.at(receiver)))
}

/// What an object was made with; where it may be several, what all of them say.
fn set_on(context: &Context<'_>, object: &At, depth: usize) -> Setting {
    let program = context.program;
    let made = sources(program, object);
    let mut found = made.iter().map(|source| set_by(program, source, depth));
    let Some(first) = found.next() else { return Setting::Hidden };
    if found.all(|other| other == first) { first } else { Setting::Hidden }
}

/// What the call that makes an object says.
fn set_by(program: &Program, source: &At, depth: usize) -> Setting {
    if is_plain(program, source) {
        return Setting::Nothing;
    }
    let Some((site, maker)) = source.call(program) else { return Setting::Hidden };
    let Some(owner) = Context::of(program, source).filter(|_| depth < DEEPEST) else {
        return Setting::Hidden;
    };
    match set_by_arguments(&owner, source, (site, maker), depth) {
        Setting::Nothing => {}
        said => return said,
    }
    let Some(receiver) = maker.receiver else {
        return set_by_maker(&owner, source, maker.callee.name(), depth);
    };
    let whole = chain::collect(&owner, receiver, site.op);
    match set_on_chain(&owner, &whole, depth) {
        Setting::Nothing => match whole.root.call(program) {
            Some((_, first)) => match first.receiver {
                Some(client) => set_on(&owner, &whole.root.with(client), depth + 1),
                None => set_by_maker(&owner, &whole.root, first.callee.name(), depth),
            },
            // It is made of something that is given: what that is has set its limits.
            None => set_on(&owner, &whole.root, depth + 1),
        },
        said => said,
    }
}

/// The row of a call that makes an object with a limit, or with the limits of what it is given.
fn maker_row(program: &Program, site: Site) -> Option<&'static Api> {
    facts::apis(program, site).into_iter().find(|row| {
        let limits = row.bounds.is_some() || row.argument("client").is_some();
        row.effect == ApiEffect::Handle && limits
    })
}

/// What the arguments of a call that makes an object say, where its row names them.
fn set_by_arguments(
    owner: &Context<'_>,
    source: &At,
    maker: (Site, &Call),
    depth: usize,
) -> Setting {
    let program = owner.program;
    let (site, call) = maker;
    let Some(row) = maker_row(program, site) else { return Setting::Nothing };
    let given = |role: &str| Context::argument(call, row.argument(role)?);
    match (given("duration").filter(|_| row.bounds.is_some()), given("client")) {
        (Some(duration), _) => Setting::Limit(limit(program, &source.with(duration))),
        (None, Some(client)) => set_on(owner, &source.with(client), depth + 1),
        (None, None) => Setting::Nothing,
    }
}

/// What the calls on a builder say; the last word counts.
fn set_on_chain(context: &Context<'_>, whole: &Chain, depth: usize) -> Setting {
    let program = context.program;
    let mut partly = false;
    for link in whole.links.iter().rev() {
        let Some(name) = link.name(program) else { continue };
        let given = link.argument(program, 0);
        match bounds(program, link) {
            Some(Bounds::Call) => {
                let set = given.map_or(Timeout::Some, |at| limit(program, &at));
                return Setting::Limit(set);
            }
            Some(Bounds::Part) => partly = true,
            None => {}
        }
        if let Some(at) = carried(program, link, name) {
            match set_on(context, &at, depth + 1) {
                Setting::Nothing => {}
                said => return said,
            }
        }
    }
    if partly { Setting::Partly } else { Setting::Nothing }
}

/// What a call on a builder is given that has limits of its own: a configuration, a client, a transport.
fn carried(program: &Program, link: &Link, name: &str) -> Option<At> {
    let rows = facts::apis(program, link.site).into_iter();
    let mut named = rows.filter(|row| row.effect == ApiEffect::Modifier);
    let by_row = named.find_map(|row| row.argument("client"));
    link.argument(program, by_row.or(CARRIES.contains(&name).then_some(0))?)
}

/// What the limit that a call on a builder sets is a limit of; by the name alone where the builder's
/// type is not known.
fn bounds(program: &Program, link: &Link) -> Option<Bounds> {
    let known = facts::apis(program, link.site);
    if !known.is_empty() {
        return known.iter().find_map(|row| row.bounds);
    }
    let mut named = program.catalog.rows_named(link.name(program)?);
    named.find_map(|row| row.bounds)
}

/// What a library's function that makes an object takes over from what it is given.
fn set_by_maker(context: &Context<'_>, at: &At, name: Option<&str>, depth: usize) -> Setting {
    if !name.is_some_and(|name| MAKERS.contains(&name)) {
        return Setting::Hidden;
    }
    let arguments = at.call(context.program).map(|(_, maker)| maker.arguments.iter());
    let mut partly = false;
    for argument in arguments.into_iter().flatten() {
        match set_on(context, &at.with(argument.value), depth + 1) {
            Setting::Nothing => {}
            Setting::Partly => partly = true,
            said => return said,
        }
    }
    if partly { Setting::Partly } else { Setting::Nothing }
}

/// Whether a value is a text, a number or a closure: nothing that could hold a limit.
fn is_plain(program: &Program, at: &At) -> bool {
    let text = || {
        let ty = program.type_of(at.body, at.value);
        ty.is_standard() && matches!(ty.name(), Some("str" | "String" | "bool"))
    };
    match at.kind(program) {
        ValueKind::Literal(Literal::Nothing) => false,
        ValueKind::Literal(_) | ValueKind::Template(_) | ValueKind::Closure(_) => true,
        _ => text(),
    }
}

/// The library's own limit.
fn by_default(request: &Request<'_, '_>) -> Timeout {
    let words = request.api.timeout_default.as_deref().unwrap_or_default();
    if words.starts_with("none") {
        return Timeout::None;
    }
    if let Some(rest) = words.strip_prefix("async: none; blocking: ") {
        return if request.run.awaited { Timeout::None } else { seconds(rest) };
    }
    if words.starts_with("connect") {
        return if words.contains("no ") { Timeout::None } else { Timeout::Unknown };
    }
    seconds(words)
}

/// `30 s`.
fn seconds(words: &str) -> Timeout {
    let mut parts = words.split_whitespace();
    let number = parts.next().and_then(|number| number.parse::<u64>().ok());
    match (number, parts.next()) {
        (Some(number), Some("s")) => Timeout::Milliseconds(number.saturating_mul(1_000)),
        _ => Timeout::Unknown,
    }
}

/// The limit that an argument says; `Some(d)` is looked into.
fn limit(program: &Program, at: &At) -> Timeout {
    let found = sources(program, at);
    let of = |at: &At| at.milliseconds(program, ExpiryUnit::Milliseconds);
    let constant = match found.as_slice() {
        [source] => of(source).or_else(|| of(at)),
        _ => None,
    };
    constant.map_or(Timeout::Some, Timeout::Milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_limits_read() {
        assert_eq!(seconds("5 s"), Timeout::Milliseconds(5_000));
        assert_eq!(seconds("60 s per operation"), Timeout::Milliseconds(60_000));
        assert_eq!(seconds("10 s (client request_timeout)"), Timeout::Milliseconds(10_000));
        assert_eq!(seconds(""), Timeout::Unknown);
    }
}
