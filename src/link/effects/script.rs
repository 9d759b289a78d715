//! Scripts: which text an invocation runs, and what it passes as KEYS and ARGV.

use super::chain;
use super::context::Context;
use super::facts;
use super::follow::{At, sources};
use super::redis::{Built, Sent, key, of_chain};
use super::words::{Piece, expand, expand_link};
use super::{Draft, pipeline, store};
use crate::catalog::{Api, ApiScript};
use crate::ir::body::{Call, Callee, OpId};
use crate::ir::effect::{EffectKind, ScriptCall, ScriptForm};
use crate::ir::value::{Text, ValueId, ValueKind};
use crate::link::Program;

/// How many texts one invocation may run.
const MOST_TEXTS: usize = 8;

/// What a script is: texts, or the name of a function on the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A text; the body that runs it is lowered from it.
    Text(Text),
    /// A Redis Function.
    Function(String),
}

/// An invocation of a script object, or of a client's `eval`.
pub(super) fn invoke(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
    api: &Api,
    out: &mut Vec<Draft>,
) {
    let Some(run) = context.run_of(op, call, api) else { return };
    let invocation = match call.callee.name() {
        Some("invoke_script") => {
            let invocation =
                Context::argument(call, 0).and_then(|value| of_object(context, value, op));
            if let Some(receiver) = call.receiver
                && let Some(pipeline) = pipeline::of_receiver(context, receiver)
            {
                if let Some(invocation) = invocation
                    && let Some(sent) = pipeline::sent(context, op, pipeline)
                {
                    out.push(draft(op, call, api, invocation, ScriptForm::EvalSha, &sent));
                }
                return;
            }
            invocation
        }
        _ if api.argument("script").is_some() => by_arguments(context, call, api),
        _ => call.receiver.and_then(|receiver| of_object_with(context, receiver, call, api, op)),
    };
    let Some(invocation) = invocation else { return };
    let sent = sent(context, run, call);
    out.push(draft(op, call, api, invocation, form(api), &sent));
}

fn sent(context: &Context<'_>, run: super::context::Run, call: &Call) -> Sent {
    let connection = match call.callee.name() {
        Some("invoke" | "invoke_async" | "evalsha" | "evalsha_with_reload") => {
            Context::argument(call, 0)
        }
        _ => call.receiver,
    };
    let written = call.type_arguments.last();
    let written = written.filter(|ty| **ty != crate::ir::index::TypeRef::Unknown).cloned();
    Sent {
        run,
        store: store::of(context, connection),
        batch: None,
        reply: Some(run.reply),
        reply_type: written.or_else(|| context.reply_type(run.reply)),
    }
}

fn form(api: &Api) -> ScriptForm {
    match api.script {
        Some(ApiScript::Eval) | None => ScriptForm::Eval,
        Some(ApiScript::Evalsha) => ScriptForm::EvalSha,
        Some(ApiScript::EvalshaThenEval | ApiScript::EvalshaLoadRetry | ApiScript::Define) => {
            ScriptForm::EvalShaThenEval
        }
        Some(ApiScript::Fcall) => ScriptForm::Function,
    }
}

/// What an invocation runs and passes.
struct Invocation {
    sources: Vec<Source>,
    keys: Option<Vec<crate::ir::effect::Key>>,
    arguments: Option<Vec<ValueId>>,
}

fn draft(
    op: OpId,
    call: &Call,
    api: &Api,
    invocation: Invocation,
    form: ScriptForm,
    sent: &Sent,
) -> Draft {
    let script = ScriptCall {
        scripts: Vec::new(),
        keys: invocation.keys,
        arguments: invocation.arguments,
        form,
        store: sent.store.clone(),
        batch: sent.batch,
    };
    let draft = Draft::sent(op, call.name_span, sent, api, EffectKind::Script(script));
    Draft { texts: invocation.sources, ..draft }
}

/// `script.key(…).arg(…)`: the object and the calls on it.
fn of_object(context: &Context<'_>, value: ValueId, end: OpId) -> Option<Invocation> {
    let whole = chain::collect(context, value, end);
    let mut keys = Vec::new();
    let mut arguments = Vec::new();
    for link in &whole.links {
        match link.name(context.program) {
            Some("key") => keys.extend(expand_link(context, link, &[0])),
            Some("arg") => arguments.extend(expand_link(context, link, &[0])),
            _ => {}
        }
    }
    Some(Invocation {
        sources: defined(context.program, &whole.root),
        keys: known_keys(context.program, &keys),
        arguments: known_values(context.program, &arguments),
    })
}

/// A script object's `invoke(con)`, or fred's `evalsha(client, keys, args)`.
fn of_object_with(
    context: &Context<'_>,
    receiver: ValueId,
    call: &Call,
    api: &Api,
    op: OpId,
) -> Option<Invocation> {
    if api.argument("keys").is_some() {
        let mut invocation = by_arguments(context, call, api)?;
        invocation.sources = defined(context.program, &context.at(receiver));
        return Some(invocation);
    }
    of_object(context, receiver, op)
}

/// `client.eval(script, keys, args)`.
fn by_arguments(context: &Context<'_>, call: &Call, api: &Api) -> Option<Invocation> {
    let program = context.program;
    let words =
        |role: &str| match api.argument(role).and_then(|index| Context::argument(call, index)) {
            Some(value) => expand(program, &context.at(value)),
            None => Vec::new(),
        };
    let script = api.argument("script").and_then(|index| Context::argument(call, index));
    let script = script.map(|value| context.at(value));
    let sources = match (api.script, script) {
        (Some(ApiScript::Fcall), Some(at)) => {
            at.constant(program).map(Source::Function).into_iter().collect()
        }
        (Some(ApiScript::Evalsha), Some(at)) => of_digest(program, &at),
        (_, Some(at)) => texts(program, &at),
        (_, None) => Vec::new(),
    };
    Some(Invocation {
        sources,
        keys: known_keys(program, &words("keys")),
        arguments: known_values(program, &words("argv")),
    })
}

/// EVAL, EVALSHA and FCALL as commands; `None` for other commands.
pub(super) fn of_command(
    context: &Context<'_>,
    built: &Built,
    sent: &Sent,
) -> Option<(ScriptCall, Vec<Source>)> {
    let form = match built.name.as_str() {
        "EVAL" | "EVAL_RO" => ScriptForm::Eval,
        "EVALSHA" | "EVALSHA_RO" => ScriptForm::EvalSha,
        "FCALL" | "FCALL_RO" => ScriptForm::Function,
        _ => return None,
    };
    let program = context.program;
    let script = built.pieces.first()?;
    let sources = match (form, &script.at) {
        (ScriptForm::Function, _) => {
            script.text.clone().map(Source::Function).into_iter().collect()
        }
        (ScriptForm::EvalSha, Some(at)) => of_digest(program, at),
        (_, Some(at)) => texts(program, at),
        (_, None) => Vec::new(),
    };
    let count = built.pieces.get(1).and_then(|piece| piece.text.as_deref()?.parse::<usize>().ok());
    let rest = built.pieces.get(2..).unwrap_or_default();
    let split = count.filter(|count| *count <= rest.len()).map(|count| rest.split_at(count));
    let script = ScriptCall {
        scripts: Vec::new(),
        keys: split.and_then(|(keys, _)| known_keys(program, keys)),
        arguments: split.and_then(|(_, arguments)| known_values(program, arguments)),
        form,
        store: sent.store.clone(),
        batch: sent.batch,
    };
    Some((script, sources))
}

/// The keys, when their number is known.
fn known_keys(program: &Program, pieces: &[Piece]) -> Option<Vec<crate::ir::effect::Key>> {
    let counted = pieces.iter().all(|piece| !piece.many && !piece.optional);
    counted.then(|| pieces.iter().map(|piece| key(program, piece)).collect())
}

/// The arguments, when their number is known and all are values of this body.
fn known_values(program: &Program, pieces: &[Piece]) -> Option<Vec<ValueId>> {
    let counted = pieces.iter().all(|piece| !piece.many && !piece.optional);
    if !counted {
        return None;
    }
    pieces.iter().map(|piece| piece.value(program)).collect()
}

/// The texts of a script object: where it is defined, through statics, fields and functions.
fn defined(program: &Program, at: &At) -> Vec<Source> {
    let mut found = Vec::new();
    for source in sources(program, at) {
        let Some((site, call)) = source.call(program) else { continue };
        let rows = facts::apis(program, site);
        let by_row = rows.iter().any(|row| row.script == Some(ApiScript::Define));
        let by_name = matches!(&call.callee, Callee::Path(path)
            if path.0.ends_with(&["Script".to_owned(), "new".to_owned()])
                || path.0.ends_with(&["Script".to_owned(), "from_lua".to_owned()]));
        if (by_row || by_name)
            && let Some(argument) = call.arguments.first()
        {
            add(&mut found, texts(program, &source.with(argument.value)));
        }
    }
    found
}

fn add(found: &mut Vec<Source>, more: Vec<Source>) {
    for source in more {
        if !found.contains(&source) && found.len() < MOST_TEXTS {
            found.push(source);
        }
    }
}

/// The texts a value can be, each where it is written.
fn texts(program: &Program, at: &At) -> Vec<Source> {
    let mut found = Vec::new();
    for source in sources(program, at) {
        let texts = facts::texts(program, source.body, source.value);
        add(&mut found, texts.into_iter().map(Source::Text).collect());
    }
    found
}

/// The texts behind a digest: what SCRIPT LOAD was given, or the script object it belongs to.
fn of_digest(program: &Program, at: &At) -> Vec<Source> {
    let mut found = Vec::new();
    for source in sources(program, at) {
        let Some((_, call)) = source.call(program) else { continue };
        let Some(context) = Context::new(program, source.body) else { continue };
        let first = call.arguments.first().map(|argument| source.with(argument.value));
        match (call.callee.name(), call.receiver) {
            (Some("get_hash" | "sha1" | "load" | "load_async"), Some(receiver)) => {
                let ValueKind::Result(op) = source.kind(program) else { continue };
                let root = chain::collect(&context, receiver, *op).root;
                add(&mut found, defined(program, &root));
            }
            (Some("script_load" | "sha1_hash" | "script_load_cluster"), _) => {
                let loaded = first.map(|text| texts(program, &text)).unwrap_or_default();
                add(&mut found, loaded);
            }
            (Some("load_script"), _) => {
                let loaded = first.map(|script| defined(program, &script)).unwrap_or_default();
                add(&mut found, loaded);
            }
            (Some("query" | "query_async"), Some(receiver)) => {
                let ValueKind::Result(op) = source.kind(program) else { continue };
                let whole = chain::collect(&context, receiver, *op);
                let built = of_chain(&context, &whole);
                let loads = |built: &Built| {
                    built.name == "SCRIPT"
                        && built.pieces.first().is_some_and(|word| word.is("LOAD"))
                };
                if let Some(built) = built.filter(loads)
                    && let Some(text) = built.pieces.get(1).and_then(|piece| piece.at.clone())
                {
                    add(&mut found, texts(program, &text));
                }
            }
            _ => {}
        }
    }
    found
}
