//! Calls of libraries without rows that show by themselves that they leave the process: a generated
//! gRPC client by its type's name, any other by the HTTP method it is given.

use crate::catalog::{Api, Receiver};
use crate::ir::body::{Call, OpId};
use crate::ir::effect::Site;
use crate::link::calls::matching;
use crate::link::effects::context::Context;
use crate::link::effects::facts;
use crate::link::types::Ty;

/// The row of a call that no row was found for.
pub(in crate::link::effects) fn row(
    context: &Context<'_>,
    op: OpId,
    call: &Call,
) -> Option<&'static Api> {
    generated(context, call).or_else(|| by_argument(context, op, call))
}

/// The row of a generated gRPC client's method, known by its type's name: `x_client::XClient`.
fn generated(context: &Context<'_>, call: &Call) -> Option<&'static Api> {
    let receiver = call.receiver.filter(|_| call.arguments.len() == 1)?;
    let path = facts::type_path(context.program, context.id, receiver);
    let [.., module, name] = path.as_slice() else { return None };
    (module.ends_with("_client") && name.ends_with("Client"))
        .then(|| context.program.catalog.row("tonic.generated.rpc"))
        .flatten()
}

/// The row that an argument's type gives: `call_api(Method::POST, url, body).await` of a team's own
/// library. What is not awaited only builds or routes.
fn by_argument(context: &Context<'_>, op: OpId, call: &Call) -> Option<&'static Api> {
    let program = context.program;
    let catalog = program.catalog;
    let site = Site { body: context.id, op };
    let targets = program.targets(context.id, op);
    if targets.is_some_and(|targets| !targets.bodies.is_empty()) {
        return None;
    }
    let of_library = match call.receiver {
        Some(receiver) => match program.type_of(context.id, receiver) {
            Ty::External { path, .. } | Ty::Derived { from: path, .. } => {
                matching::unlisted(catalog, &path)
            }
            _ => false,
        },
        None => facts::called_path(program, site, call)
            .is_some_and(|path| path.0.len() > 1 && matching::unlisted(catalog, path)),
    };
    if !of_library || !context.run(op, call).awaited {
        return None;
    }
    let mut rows = catalog.rows_named("*").filter(|row| row.accepts(call.arguments.len()));
    rows.find(|row| {
        catalog.receivers(row).into_iter().any(|receiver| match receiver {
            Receiver::Given(name) => call.arguments.iter().any(|argument| {
                let path = facts::type_path(program, context.id, argument.value);
                name.names(catalog.canonical(&path))
            }),
            _ => false,
        })
    })
}
