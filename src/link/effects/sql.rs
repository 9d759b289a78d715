//! Database statements: which text runs, on what, with which parameters, and how zero rows show.

use std::sync::Arc;

use super::chain::{self, Chain};
use super::context::Context;
use super::follow::{At, sources};
use super::{Draft, builder_sql, executor, facts, store};
use crate::catalog::{Api, Place, RowCount};
use crate::ir::body::{Call, Callee, OpId};
use crate::ir::effect::{EffectKind, SqlCall, ZeroRows};
use crate::ir::sql::Statement;
use crate::ir::value::{Text, ValueId, ValueKind};
use crate::lang::sql::{Dialect, parse};
use crate::link::Program;
use crate::source::Span;

/// Most texts that one statement value may be.
const MOST_TEXTS: usize = 6;

/// What a call runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Statements {
    /// In order.
    pub statements: Vec<Arc<Statement>>,
    /// Values bound to the placeholders; empty when not known.
    pub parameters: Vec<ValueId>,
    /// Where the statement is written.
    pub span: Option<Span>,
}

/// Whether a row only names a statement that a later call runs.
pub(super) fn is_head(api: &Api) -> bool {
    let made_here =
        matches!(api.place("statement").or_else(|| api.place("target")), Some(Place::Argument(_)));
    let free = api.receivers.iter().all(|receiver| {
        matches!(
            receiver,
            crate::catalog::Receiver::Function(_)
                | crate::catalog::Receiver::Macro(_)
                | crate::catalog::Receiver::Assoc(_)
        )
    });
    made_here && free
}

/// A call that runs a statement.
pub(super) fn call(context: &Context<'_>, op: OpId, call: &Call, api: &Api, out: &mut Vec<Draft>) {
    if is_head(api) {
        return;
    }
    let Some(run) = context.run_of(op, call, api) else { return };
    let by_receiver = matches!(
        api.place("statement"),
        None | Some(Place::Receiver | Place::ReceiverArgument(_) | Place::MethodName)
    );
    let mut connection =
        match (by_receiver, api.argument("executor").or_else(|| api.argument("connection"))) {
            (_, Some(index)) => Context::argument(call, index),
            (false, None) => call.receiver,
            (true, None) => None,
        };
    let dialect = dialect(context, api, connection);
    let mut found = if by_receiver {
        of_receiver(context, op, call, dialect)
    } else {
        of_argument(context, call, api, dialect)
    };
    if !by_receiver && found.statements.is_empty() {
        // With a trait like sqlx's `Executor` in scope, `query.execute(pool)` looks like
        // `pool.execute(query)`.
        let turned = Context::argument(call, 0);
        let built = of_receiver(context, op, call, self::dialect(context, api, turned));
        if !built.statements.is_empty() {
            (found, connection) = (built, turned);
        }
    }
    let sql = SqlCall {
        zero_rows: zero_rows(api),
        statements: found.statements,
        parameters: found.parameters,
        executor: executor::of(context, connection),
        executor_value: connection,
        store: store::of(context, connection),
    };
    let mut draft = Draft::of(context, op, call, run, api, EffectKind::Sql(sql));
    if let Some(span) = found.span.filter(|text| written_here(context, *text)) {
        draft.effect.span = span;
    }
    out.push(draft);
}

/// Whether a statement is written in the function that runs it. A constant, a file or another
/// function's text may be run from many places, and then the place is the call.
fn written_here(context: &Context<'_>, text: Span) -> bool {
    let mut at = context.program.body(context.id);
    while let Some(own) = at {
        if own.body.span.covers(text) {
            return true;
        }
        at = own.parent.and_then(|parent| context.program.body(parent));
    }
    false
}

/// The dialect: as the settings say, else as the library or the connection's type says.
fn dialect(context: &Context<'_>, api: &Api, connection: Option<ValueId>) -> Dialect {
    if let Some(named) = context.program.settings.dialect.as_deref().and_then(Dialect::named) {
        return named;
    }
    match api.library.as_str() {
        "tokio-postgres" | "postgres" | "deadpool-postgres" | "bb8-postgres" => {
            return Dialect::Postgres;
        }
        "rusqlite" => return Dialect::Sqlite,
        "mysql" | "mysql_async" => return Dialect::MySql,
        _ => {}
    }
    let Some(connection) = connection else { return Dialect::Generic };
    let names = facts::type_words(context.program, context.id, connection);
    let says = |word: &str| names.iter().any(|name| name.to_ascii_lowercase().contains(word));
    match () {
        () if says("pg") || says("postgres") => Dialect::Postgres,
        () if says("mysql") => Dialect::MySql,
        () if says("sqlite") => Dialect::Sqlite,
        () => Dialect::Generic,
    }
}

/// `client.execute(text, &[params])`.
fn of_argument(context: &Context<'_>, call: &Call, api: &Api, dialect: Dialect) -> Statements {
    let index = api.argument("statement").unwrap_or(0);
    let Some(statement) = Context::argument(call, index) else { return Statements::default() };
    let mut found = Statements::default();
    read(context.program, &context.at(statement), dialect, &mut found);
    if found.statements.is_empty()
        && let Some(whole) = statement_chain(context, statement)
    {
        found = of_chain(context, &whole, dialect);
    }
    if let Some(params) = api.argument("params").and_then(|index| Context::argument(call, index)) {
        found.parameters = parameters(context, params);
    }
    found
}

/// An argument that is itself a statement under construction (`Statement::from_sql(…)`, a prepared
/// statement, a query builder).
fn statement_chain(context: &Context<'_>, statement: ValueId) -> Option<Chain> {
    let found = sources(context.program, &context.at(statement));
    let [source] = found.as_slice() else { return None };
    let ValueKind::Result(op) = source.kind(context.program) else { return None };
    let owner = Context::new(context.program, source.body)?;
    let mut whole = chain::collect(&owner, source.value, *op);
    whole.root.entered = source.entered.clone();
    whole.root.detached = source.detached;
    Some(whole)
}

/// `sqlx::query(text).bind(x).execute(pool)`, `diesel::update(t).set(…).execute(conn)`.
fn of_receiver(context: &Context<'_>, op: OpId, call: &Call, dialect: Dialect) -> Statements {
    let Some(receiver) = call.receiver else { return Statements::default() };
    let whole = chain::collect(context, receiver, op);
    let name = call.callee.name().unwrap_or_default();
    let built = builder_sql::of_chain(context, op, name, &whole);
    if let Some(built) = built {
        return built;
    }
    let found = of_chain(context, &whole, dialect);
    if found.statements.is_empty() && whole.root.call(context.program).is_none() {
        // A statement that was made elsewhere: a field, a constant, a prepared statement.
        if let Some(whole) = statement_chain(context, receiver) {
            return of_chain(context, &whole, dialect);
        }
    }
    found
}

/// The statement at the head of a chain and what is bound on the way.
fn of_chain(context: &Context<'_>, whole: &Chain, dialect: Dialect) -> Statements {
    let program = context.program;
    let mut found = Statements::default();
    let Some((_, head)) = whole.root.call(program) else { return found };
    let name = head.callee.name().unwrap_or_default();
    let mut bound: Vec<Option<ValueId>> = Vec::new();
    let arguments: Vec<At> =
        head.arguments.iter().map(|argument| whole.root.with(argument.value)).collect();
    let is_macro = matches!(head.callee, Callee::Macro(_));
    for (index, argument) in arguments.iter().enumerate() {
        if is_macro && name.contains("file") {
            read_file(program, argument, dialect, &mut found);
        } else {
            read(program, argument, dialect, &mut found);
        }
        if found.span.is_some() {
            if is_macro {
                let rest = arguments.get(index + 1..).unwrap_or_default();
                bound.extend(rest.iter().map(|argument| argument.local(program)));
            }
            break;
        }
    }
    let pushes =
        |link: &chain::Link| link.name(program).is_some_and(|name| name.starts_with("push"));
    if whole.links.iter().any(pushes) {
        found = pushed(context, whole, dialect);
    }
    for link in &whole.links {
        if matches!(link.name(program), Some("bind" | "try_bind" | "push_bind")) {
            let value = link.argument(program, 0).and_then(|at| at.local(program));
            bound.push(value);
        }
    }
    // A parameter that is no value of this body would shift the ones after it.
    found.parameters = bound.into_iter().collect::<Option<Vec<_>>>().unwrap_or_default();
    found
}

/// `QueryBuilder::new(text)` and what is pushed to it, as one text.
fn pushed(context: &Context<'_>, whole: &Chain, dialect: Dialect) -> Statements {
    let program = context.program;
    let mut text = Text::default();
    let first = |at: &At| text_of(program, at).into_iter().next();
    if let Some((_, head)) = whole.root.call(program)
        && let Some(start) = head.arguments.first()
        && let Some(part) = first(&whole.root.with(start.value))
    {
        text.append(&part);
    }
    for link in &whole.links {
        let (Some(name), Some(call)) = (link.name(program), link.call(program)) else { continue };
        match name {
            "push" | "push_unseparated" => {
                match link.argument(program, 0).and_then(|at| first(&at)) {
                    Some(part) => text.append(&part),
                    None => text.push_hole(call.name_span),
                }
            }
            "push_bind" => text.push("?", call.name_span),
            "push_values" => text.push(" VALUES (?)", call.name_span),
            "push_tuples" => text.push(" ((?))", call.name_span),
            _ => {}
        }
    }
    let mut found = Statements::default();
    if !text.runs.is_empty() {
        read_text(&text, dialect, &mut found);
    }
    found
}

/// The texts a statement value can be.
fn text_of(program: &Program, at: &At) -> Vec<Text> {
    let mut texts: Vec<Text> = Vec::new();
    for source in sources(program, at) {
        for text in facts::texts(program, source.body, source.value) {
            if !texts.contains(&text) && texts.len() < MOST_TEXTS {
                texts.push(text);
            }
        }
    }
    texts
}

fn read(program: &Program, at: &At, dialect: Dialect, found: &mut Statements) {
    for text in text_of(program, at) {
        read_text(&text, dialect, found);
    }
}

fn read_text(text: &Text, dialect: Dialect, found: &mut Statements) {
    let parsed = parse(text, dialect);
    let first = parsed.statements.first().map(|statement| statement.span);
    found.span = found.span.or(first).or_else(|| text.runs.first().map(|(_, span)| *span));
    found.statements.extend(parsed.statements.into_iter().map(Arc::new));
}

/// `query_file!("queries/x.sql")`: a file relative to the package.
fn read_file(program: &Program, at: &At, dialect: Dialect, found: &mut Statements) {
    let Some(path) = at.constant(program) else { return };
    let package = store::package(program, at.body);
    let file = program.tree.at(&format!("{package}/{path}")).or_else(|| program.tree.at(&path));
    if let Some(file) = file {
        read_text(&Text::verbatim(file.text.clone(), file.whole()), dialect, found);
    }
}

/// `&[&a, &b]`, `params![a, b]`, `(a, b)`.
fn parameters(context: &Context<'_>, value: ValueId) -> Vec<ValueId> {
    let value = context.body.peel(value);
    match context.body.kind(value) {
        ValueKind::List(values) => values.iter().map(|value| context.body.peel(*value)).collect(),
        ValueKind::Result(op) => match context.body.call(*op) {
            Some(call) if matches!(call.callee, Callee::Macro(_)) => {
                call.arguments.iter().map(|argument| context.body.peel(argument.value)).collect()
            }
            _ => Vec::new(),
        },
        ValueKind::Literal(_) => Vec::new(),
        _ => Vec::new(),
    }
}

/// How a caller learns that no row was hit.
fn zero_rows(api: &Api) -> ZeroRows {
    match &api.rowcount {
        Some(RowCount::In(name)) => ZeroRows::CountIn(name.clone()),
        Some(RowCount::Return) => ZeroRows::Count,
        Some(RowCount::Rows) => ZeroRows::Rows,
        Some(RowCount::Error) => ZeroRows::Error,
        Some(RowCount::None) | None => ZeroRows::Lost,
    }
}
