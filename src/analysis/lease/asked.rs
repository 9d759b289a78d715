//! Owner comparisons that a helper makes: `if !self.is_mine(con).await? { return }` before a DEL.

use super::{Action, KeyUse, OwnerProof};
use crate::analysis::callgraph::{CallGraph, call_behind};
use crate::analysis::expiry::comes_after;
use crate::analysis::result_use::{ResultUse, result_use};
use crate::ir::effect::{BodyId, Site};
use crate::ir::index::TypeRef;
use crate::link::Program;
use crate::source::Span;

/// Marks releases and renewals before which a helper reads the same key and answers yes or no.
pub(super) fn mark(program: &Program, graph: &CallGraph, uses: &mut [KeyUse]) {
    let reads: Vec<(BodyId, KeyUse)> = uses
        .iter()
        .filter(|it| it.action == Action::Read && answers(program, it.site.body))
        .map(|it| (it.site.body, it.clone()))
        .collect();
    for key_use in uses.iter_mut() {
        let changes = matches!(key_use.action, Action::Release | Action::Renew);
        if changes && key_use.owner == OwnerProof::None && !key_use.library {
            let found = reads.iter().find_map(|(helper, read)| {
                if same_key(read, key_use) {
                    asked_before(program, graph, *helper, key_use.site)
                } else {
                    None
                }
            });
            if let Some(by) = found {
                key_use.owner = OwnerProof::Client(by);
            }
        }
    }
}

/// Whether a body's function answers yes or no.
fn answers(program: &Program, body: BodyId) -> bool {
    let function = program.enclosing_function(body).and_then(|id| program.function(id));
    let truth = |ty: &TypeRef| ty.name() == Some("bool");
    function.is_some_and(|it| truth(&it.returns) || it.returns.payload().is_some_and(truth))
}

fn same_key(left: &KeyUse, right: &KeyUse) -> bool {
    left.identities
        .iter()
        .any(|one| right.identities.iter().any(|other| one.identity == other.identity))
}

/// The call of a helper that comes before an operation and whose answer a branch tests.
fn asked_before(program: &Program, graph: &CallGraph, helper: BodyId, at: Site) -> Option<Span> {
    let body = &program.body(at.body)?.body;
    graph.run_by(helper).iter().find_map(|site| {
        let tested = matches!(result_use(program, *site), ResultUse::Tested(_));
        let before = site.body == at.body && comes_after(program, *site, at);
        let call = body.call(call_behind(body, site.op)).filter(|_| before && tested)?;
        Some(call.name_span)
    })
}
