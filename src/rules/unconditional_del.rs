//! A lease is deleted without asking who holds it.

use super::prelude::*;
use crate::ir::effect::BodyId;

rule!("unconditional-del", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, release) in analysis.leases.releases() {
        let undoes = analysis.leases.only_undoes(analysis.program, &analysis.graph, release);
        let whole = release.claim.is_none();
        if whole && release.owner == OwnerProof::None && !release.library && !undoes {
            report(analysis, release, out);
        }
    }
}

fn report(analysis: &Analysis, release: &KeyUse, out: &mut Findings) {
    let class = analysis.leases.class(release);
    let Some((effect, command)) = analysis.command_of(release) else { return };
    if class.kind != KeyKind::Lease || analysis.leases.names_owner(analysis.words, release) {
        return;
    }
    let key = key_name(analysis, release);
    let forced = is_forced(analysis, release);
    let severity = if forced { Severity::Note } else { Severity::Error };
    let removes = removal(analysis, release);
    let message = format!("`{}` {} the lease {key} whoever holds it", command.name, removes.does);
    out.report(
        RULE.finding(effect.span, message)
            .severity(severity)
            .confidence(class.confidence)
            .help(release_help(&effect.client))
            .steps(analysis.acquire_step(release))
            .steps(analysis.key_steps(release))
            .step(effect.span, format!("{} here without comparing the owner token", removes.done))
            .steps(analysis.compared_step(release))
            .subject(key)
            .function(analysis.function_name(release.site.body)),
    );
}

/// How many callers up a name is looked for.
const FARTHEST: u32 = 3;

/// Whether the function says that it takes the lease away on purpose.
fn is_forced(analysis: &Analysis, release: &KeyUse) -> bool {
    runs_forced(analysis, release.site.body, FARTHEST)
}

/// Whether a function, or every function that calls it, says so.
fn runs_forced(analysis: &Analysis, body: BodyId, farthest: u32) -> bool {
    if analysis.function_name(body).is_some_and(|name| has_force_word(analysis.words, &name)) {
        return true;
    }
    let callers = analysis.graph.run_by(body);
    let forced = |site: &Site| runs_forced(analysis, site.body, farthest - 1);
    farthest > 0 && !callers.is_empty() && callers.iter().all(forced)
}
