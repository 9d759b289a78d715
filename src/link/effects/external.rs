//! Calls that leave the process: HTTP, gRPC, mail, cloud and payment interfaces.

use super::chain::{self, Chain, Link};
use super::context::{Context, Run};
use super::facts;
use super::follow::At;
use super::words::variant;
use super::{Draft, row_of};
use crate::catalog::{Api, ApiEffect, Place};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::{Effect, EffectKind, ExternalCall, Protocol, Site, Timeout};
use crate::ir::key::KeyTemplate;

mod idempotency;
mod limit;
mod unlisted;

pub(super) use unlisted::row as unlisted;

/// Names of HTTP methods.
const METHODS: [&str; 8] = ["get", "post", "put", "patch", "delete", "head", "options", "trace"];

/// A request as it is sent.
struct Request<'r, 'p> {
    context: &'r Context<'p>,
    /// The call that sends it.
    call: &'r Call,
    api: &'r Api,
    run: Run,
    /// What is done with the receiver before: the builder, or the client.
    whole: Option<Chain>,
    /// What is done with each argument before: a request object, a client.
    given: Vec<Chain>,
}

impl<'r, 'p> Request<'r, 'p> {
    fn new(context: &'r Context<'p>, op: OpId, call: &'r Call, api: &'r Api, run: Run) -> Self {
        let given = call.arguments.iter();
        Self {
            context,
            call,
            api,
            run,
            whole: call.receiver.map(|receiver| chain::collect(context, receiver, op)),
            given: given.map(|argument| chain::collect(context, argument.value, op)).collect(),
        }
    }

    /// All calls that build it, those on the receiver first.
    fn links(&self) -> impl DoubleEndedIterator<Item = &Link> {
        self.whole.iter().chain(&self.given).flat_map(|chain| &chain.links)
    }

    /// The call that names method and address: the head of the chain, or the call itself.
    fn head(&self) -> (At, &'r Call)
    where
        'p: 'r,
    {
        let of_chain =
            |whole: &Chain| Some((whole.root.clone(), whole.root.call(self.context.program)?.1));
        let head = self.whole.as_ref().and_then(of_chain);
        head.unwrap_or_else(|| (self.context.at(self.call.result), self.call))
    }
}

/// A call that leaves the process.
pub(super) fn call(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    let Some(run) = context.run_of(op, call, api) else { return };
    let request = Request::new(context, op, call, api, run);
    if let Some((row, topic)) = request.whole.as_ref().and_then(|whole| published(context, whole)) {
        out.push(Draft::of(context, op, call, run, row, EffectKind::Publish { topic }));
        return;
    }
    let external = ExternalCall {
        protocol: protocol(api),
        method: method(&request),
        url: url(&request),
        timeout: limit::of(&request),
        idempotency_key: idempotency::carries_key(&request),
    };
    out.push(Draft::of(context, op, call, run, api, EffectKind::External(external)));
}

/// The time limit of an external call of a body, as the body was entered.
pub(super) fn limit_of(context: &Context<'_>, effect: &Effect) -> Option<Timeout> {
    context.body.calls().filter(|(.., call)| call.name_span == effect.span).find_map(
        |(_, op, call)| {
            let row = row_of(context, op, call).filter(|row| row.effect == ApiEffect::HttpCall)?;
            let run = context.run_of(op, call, row).filter(|run| run.site == effect.site)?;
            Some(limit::of(&Request::new(context, op, call, row, run)))
        },
    )
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

fn method(request: &Request<'_, '_>) -> Option<String> {
    let (at, head) = request.head();
    let name = head.callee.name()?.trim_end_matches("_async").trim_start_matches('_');
    if METHODS.contains(&name) {
        return Some(name.to_ascii_uppercase());
    }
    let named = head.arguments.iter().find_map(|argument| {
        let (path, _) = variant(request.context.program, &at.with(argument.value))?;
        let [.., owner, method] = path.as_slice() else { return None };
        (owner == "Method").then(|| method.clone())
    });
    named.filter(|method| METHODS.contains(&method.to_ascii_lowercase().as_str()))
}

fn url(request: &Request<'_, '_>) -> Option<KeyTemplate> {
    let Request { context, call, api, .. } = request;
    let program = context.program;
    if let Some(value) = api.argument("url").and_then(|index| Context::argument(call, index)) {
        return Some(context.at(value).template(program));
    }
    // What the builder of a remote procedure is given first is no address.
    let whole = request.whole.as_ref().filter(|_| protocol(api) == Protocol::Http)?;
    let (_, head) = whole.root.call(program)?;
    let index = usize::from(head.callee.name() == Some("request"));
    Some(whole.root.with(head.arguments.get(index)?.value).template(program))
}
