//! A lease gets a new expiry without asking who holds it.

use super::prelude::*;

rule!("unconditional-pexpire", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, renew) in analysis.leases.iter() {
        let unchecked = matches!(renew.owner, OwnerProof::None | OwnerProof::Client(_));
        let renews = renew.action == Action::Renew || overwrites(analysis, renew);
        if renews && unchecked && !renew.library {
            report(analysis, renew, out);
        }
    }
}

/// Whether a command writes the lease key with a new expiry whatever is there: it prolongs, or ends
/// early, whoever's lease that is.
fn overwrites(analysis: &Analysis<'_>, write: &KeyUse) -> bool {
    let class = analysis.leases.class(write);
    let Some((_, command)) = analysis.command_of(write) else { return false };
    let expires = matches!(command.expiry, Expiry::Set { .. });
    // What is written may be a result; the function's name, or that it is nothing, says it is none.
    let says = analysis
        .function_name(write.site.body)
        .is_some_and(|name| has_lock_word(analysis.words, &name));
    let says = says || stores_nothing(command);
    write.action == Action::Write && expires && class.acquired && class.named && says
}

fn report(analysis: &Analysis, renew: &KeyUse, out: &mut Findings) {
    let class = analysis.leases.class(renew);
    let Some((effect, command)) = analysis.command_of(renew) else { return };
    let only_first = command.condition == Condition::IfPersistent;
    let own = analysis.leases.names_owner(analysis.words, renew);
    if class.kind != KeyKind::Lease || own || only_first || analysis.is_first_expiry(renew) {
        return;
    }
    let key = key_name(analysis, renew);
    let message = format!("`{}` renews the lease {key} whoever holds it", command.name);
    let mut finding = RULE
        .finding(effect.span, message)
        .confidence(class.confidence)
        .help(renew_help(&effect.client))
        .steps(analysis.acquire_step(renew))
        .steps(analysis.key_steps(renew));
    if let OwnerProof::Client(compared) = renew.owner {
        finding = finding.step(compared, "the owner is compared here, by a command of its own");
    }
    out.report(
        finding
            .step(effect.span, "renewed here without comparing the owner token in the same step")
            .steps(analysis.compared_step(renew))
            .subject(key)
            .function(analysis.function_name(renew.site.body)),
    );
}
