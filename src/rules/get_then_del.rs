//! The owner is compared in the client, and the lease deleted by a second command.

use super::prelude::*;

rule!("get-then-del", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for (_, release) in analysis.leases.releases() {
        let OwnerProof::Client(compared) = release.owner else { continue };
        let Some((effect, command)) = analysis.command_of(release) else { continue };
        let class = analysis.leases.class(release);
        if class.kind != KeyKind::Lease {
            continue;
        }
        let key = key_name(analysis, release);
        let removes = removal(analysis, release);
        let message = format!(
            "the owner of {key} is compared in the client, then `{}` {} it: another holder may have come between",
            command.name, removes.does
        );
        out.report(
            RULE.finding(effect.span, message)
                .confidence(class.confidence)
                .help(release_help(&effect.client))
                .steps(analysis.acquire_step(release))
                .step(compared, "the stored owner is compared here")
                .step(effect.span, format!("{} here by a command of its own", removes.done))
                .subject(key)
                .function(analysis.function_name(release.site.body)),
        );
    }
}
