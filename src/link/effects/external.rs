//! Calls that leave the process: HTTP, gRPC, mail, cloud and payment interfaces.

use super::Draft;
use super::chain::{self, Chain};
use super::context::{Context, Run};
use super::facts;
use super::follow::{At, sources};
use super::words::variant;
use crate::catalog::{Api, ApiEffect, Catalog, Place};
use crate::ir::body::{Call, Callee, OpId};
use crate::ir::effect::{Effect, EffectKind, ExpiryUnit, ExternalCall, Protocol, Site, Timeout};
use crate::ir::key::KeyTemplate;
use crate::ir::value::{ValueId, ValueKind};
use crate::link::Program;

/// Names of HTTP methods.
const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];
/// Words that name an idempotency key, lower case, without separators.
const IDEMPOTENCY: [&str; 5] =
    ["idempoten", "requestid", "clienttoken", "clientrequesttoken", "deduplicationid"];
/// How deep values are looked at for such a word.
const MOST_DEPTH: usize = 6;

/// A call that leaves the process.
pub(super) fn call(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let run = context.run(op, call);
    if !run.awaited && api.is_async == Some(true) && context.never_runs(call, run) {
        return;
    }
    let whole = call.receiver.map(|receiver| chain::collect(context, receiver, op));
    if let Some((row, topic)) = whole.as_ref().and_then(|whole| published(context, whole)) {
        let effect = Effect {
            site: run.site,
            span: call.name_span,
            client: row.library.clone(),
            api: row.id.clone(),
            kind: EffectKind::Publish { topic },
            reply: Some(run.reply),
            reply_type: context.reply_type(run.reply),
        };
        out.push(Draft { effect, texts: Vec::new(), queued_at: op });
        return;
    }
    let external = ExternalCall {
        protocol: protocol(api),
        method: method(context, call, whole.as_ref()),
        url: url(context, call, api, whole.as_ref()),
        timeout: timeout(context, call, api, whole.as_ref(), run),
        idempotency_key: carries_key(context, call, whole.as_ref()),
    };
    let effect = Effect {
        site: run.site,
        span: call.name_span,
        client: api.library.clone(),
        api: api.id.clone(),
        kind: EffectKind::External(external),
        reply: Some(run.reply),
        reply_type: context.reply_type(run.reply),
    };
    out.push(Draft { effect, texts: Vec::new(), queued_at: op });
}

/// The row and topic of a request that puts a message on a queue: `sqs.send_message().send()`.
fn published(context: &Context<'_>, whole: &Chain) -> Option<(&'static Api, Option<KeyTemplate>)> {
    let program = context.program;
    let here = |site: Site| {
        facts::apis(program, site).into_iter().find(|row| row.effect == ApiEffect::Publish)
    };
    let head = whole.root.call(program).map(|(site, _)| site);
    let row = head.into_iter().chain(whole.links.iter().map(|link| link.site)).find_map(here)?;
    let topic = match row.place("topic") {
        Some(Place::Chain(name)) => whole
            .links
            .iter()
            .find(|link| link.name(program) == Some(name))
            .and_then(|link| link.argument(program, 0))
            .map(|at| at.template(program)),
        _ => None,
    };
    Some((row, topic))
}

/// The row of a generated gRPC client's method, known by its type's name: `x_client::XClient`.
pub(super) fn generated(context: &Context<'_>, call: &Call) -> Option<&'static Api> {
    let receiver = call.receiver.filter(|_| call.arguments.len() == 1)?;
    let path = facts::type_path(context.program, context.id, receiver);
    let [.., module, name] = path.as_slice() else { return None };
    (module.ends_with("_client") && name.ends_with("Client"))
        .then(|| Catalog::builtin().row("tonic.generated.rpc"))
        .flatten()
}

fn protocol(api: &Api) -> Protocol {
    match api.protocol.as_deref() {
        Some("grpc") => Protocol::Grpc,
        Some("smtp" | "mail") => Protocol::Smtp,
        Some("aws" | "gcp" | "github") => Protocol::Cloud,
        Some("stripe" | "payment") => Protocol::Payment,
        Some("rpc") => Protocol::Rpc,
        _ => Protocol::Http,
    }
}

/// The call that names method and address: the head of the chain, or the call itself.
fn request<'c>(context: &Context<'c>, call: &'c Call, whole: Option<&Chain>) -> (At, &'c Call) {
    let head =
        whole.and_then(|whole| Some((whole.root.clone(), whole.root.call(context.program)?.1)));
    head.unwrap_or_else(|| (context.at(call.result), call))
}

fn method<'c>(context: &Context<'c>, call: &'c Call, whole: Option<&Chain>) -> Option<String> {
    let (at, head) = {
        let head =
            whole.and_then(|whole| Some((whole.root.clone(), whole.root.call(context.program)?.1)));
        match head {
            Some(head) => head,
            None => (context.at(call.result), call),
        }
    };
    let name = head.callee.name()?.trim_end_matches("_async").trim_start_matches('_');
    if METHODS.contains(&name) {
        return Some(name.to_ascii_uppercase());
    }
    if name == "request" {
        let first = at.with(head.arguments.first()?.value);
        let (path, _) = variant(context.program, &first)?;
        return path.last().cloned();
    }
    None
}

fn url(
    context: &Context<'_>,
    call: &Call,
    api: &Api,
    whole: Option<&Chain>,
) -> Option<KeyTemplate> {
    let program = context.program;
    if let Some(value) = api.argument("url").and_then(|index| Context::argument(call, index)) {
        return Some(context.at(value).template(program));
    }
    let whole = whole?;
    let (_, head) = whole.root.call(program)?;
    let index = usize::from(head.callee.name() == Some("request"));
    Some(whole.root.with(head.arguments.get(index)?.value).template(program))
}

fn timeout(
    context: &Context<'_>,
    call: &Call,
    api: &Api,
    whole: Option<&Chain>,
    run: Run,
) -> Timeout {
    let program = context.program;
    let limit = |at: &At| match milliseconds(program, at) {
        Some(limit) => Timeout::Milliseconds(limit),
        None => Timeout::Some,
    };
    if let Some(around) = context.enclosing_timeout(call.result) {
        return limit(&context.at(around));
    }
    let set = whole.and_then(|whole| {
        let named = |name: &str| matches!(name, "timeout" | "set_timeout");
        let link = whole.links.iter().rev().find(|link| link.name(program).is_some_and(named))?;
        link.argument(program, 0)
    });
    if let Some(at) = set {
        return limit(&at);
    }
    let client = whole.and_then(|whole| {
        let (_, head) = whole.root.call(program)?;
        Some(whole.root.with(head.receiver?))
    });
    match client.or_else(|| call.receiver.map(|receiver| context.at(receiver))) {
        Some(client) => of_client(context, &client, api, run),
        None => by_default(api, run),
    }
}

/// The limit that the client was built with.
fn of_client(context: &Context<'_>, client: &At, api: &Api, run: Run) -> Timeout {
    let program = context.program;
    let made = sources(program, client);
    let mut limits: Vec<Timeout> = Vec::new();
    for source in &made {
        let Some((_, maker)) = source.call(program) else { return Timeout::Unknown };
        let Some(owner) = Context::new(program, source.body) else { return Timeout::Unknown };
        let mut set = None;
        let mut partly = false;
        if let (ValueKind::Result(op), Some(receiver)) = (source.kind(program), maker.receiver) {
            let whole = chain::collect(&owner, receiver, *op);
            for link in &whole.links {
                match link.name(program) {
                    Some("timeout" | "timeout_global" | "set_timeout" | "request_timeout") => {
                        set = link.argument(program, 0);
                    }
                    Some("read_timeout" | "timeout_recv_response" | "timeout_recv_body") => {
                        partly = true
                    }
                    _ => {}
                }
            }
        } else if !matches!(maker.callee.name(), Some("new" | "default" | "agent")) {
            return Timeout::Unknown;
        }
        limits.push(match set {
            Some(at) => match milliseconds(program, &at) {
                Some(limit) => Timeout::Milliseconds(limit),
                None => Timeout::Some,
            },
            None if partly => Timeout::Unknown,
            None => by_default(api, run),
        });
    }
    match limits.split_first() {
        Some((first, rest)) if rest.iter().all(|other| other == first) => *first,
        _ => Timeout::Unknown,
    }
}

/// The library's own limit.
fn by_default(api: &Api, run: Run) -> Timeout {
    let words = api.timeout_default.as_deref().unwrap_or_default();
    if words.starts_with("none") {
        return Timeout::None;
    }
    if let Some(rest) = words.strip_prefix("async: none; blocking: ") {
        return if run.awaited { Timeout::None } else { seconds(rest) };
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

/// A limit in milliseconds; `Some(d)` is looked into.
fn milliseconds(program: &Program, at: &At) -> Option<u64> {
    let found = sources(program, at);
    let [source] = found.as_slice() else { return None };
    facts::milliseconds(program, source.body, source.value, ExpiryUnit::Milliseconds)
        .or_else(|| facts::milliseconds(program, at.body, at.value, ExpiryUnit::Milliseconds))
}

fn carries_key<'c>(context: &Context<'c>, call: &'c Call, whole: Option<&Chain>) -> bool {
    let program = context.program;
    let names = |at: &At| names_key(program, at, 0);
    let (at, head) = request(context, call, whole);
    let head_names = head.arguments.iter().any(|argument| names(&at.with(argument.value)));
    let own = call.arguments.iter().any(|argument| names(&context.at(argument.value)));
    let linked = whole.is_some_and(|whole| {
        whole.links.iter().any(|link| {
            let by_name = link.name(program).is_some_and(is_key_word);
            let arguments = link.call(program).map_or(0, |call| call.arguments.len());
            by_name
                || (0..arguments)
                    .any(|index| link.argument(program, index).is_some_and(|at| names(&at)))
        })
    });
    head_names || own || linked
}

/// Whether a value, or something it is built of, is named as an idempotency key.
fn names_key(program: &Program, at: &At, depth: usize) -> bool {
    if depth > MOST_DEPTH {
        return false;
    }
    let Some(body) = at.code(program) else { return false };
    let inner = |value: ValueId| names_key(program, &at.with(value), depth + 1);
    match body.kind(at.value) {
        ValueKind::Literal(crate::ir::value::Literal::Text(text)) => is_key_word(&text.content),
        ValueKind::Path(path) => path.last().is_some_and(is_key_word),
        ValueKind::Aggregate { fields, base, path } => {
            path.last().is_some_and(is_key_word)
                || fields.iter().any(|(name, value)| is_key_word(name) || inner(*value))
                || base.is_some_and(inner)
        }
        ValueKind::List(values) | ValueKind::Join(values) => {
            values.iter().any(|value| inner(*value))
        }
        ValueKind::Converted { value, .. } | ValueKind::Awaited(value) => inner(*value),
        ValueKind::Adapted { value, .. } => inner(*value),
        ValueKind::Payload { of, .. } => inner(*of),
        ValueKind::Result(op) => match body.call(*op) {
            Some(call) => {
                let by_name = matches!(&call.callee, Callee::Method(name) if is_key_word(name));
                let named = call.arguments.iter().any(|argument| {
                    argument.name.as_deref().is_some_and(is_key_word) || inner(argument.value)
                });
                by_name || named || call.receiver.is_some_and(inner)
            }
            None => false,
        },
        _ => false,
    }
}

/// Whether a name says idempotency key or request id, in any spelling.
fn is_key_word(name: &str) -> bool {
    if name.len() > 200 {
        return false;
    }
    let plain: String =
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    IDEMPOTENCY.iter().any(|word| plain.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_words_in_every_spelling() {
        for name in ["Idempotency-Key", "IDEMPOTENCY_KEY", "idempotencyKey", "X-Request-Id"] {
            assert!(is_key_word(name), "{name}");
        }
        assert!(!is_key_word("order_id"));
    }

    #[test]
    fn default_limits_read() {
        assert_eq!(seconds("5 s"), Timeout::Milliseconds(5_000));
        assert_eq!(seconds("60 s per operation"), Timeout::Milliseconds(60_000));
        assert_eq!(seconds("10 s (client request_timeout)"), Timeout::Milliseconds(10_000));
        assert_eq!(seconds(""), Timeout::Unknown);
    }
}
