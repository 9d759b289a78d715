//! A protected command fails and the script does not look.

use super::prelude::*;

rule!("lua-pcall-ignored", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.unseen_errors() {
        let name = match &found.effect.kind {
            EffectKind::Redis(command) => command.name.clone(),
            _ => "the command".to_owned(),
        };
        let what = match found.dropped {
            true => "is dropped",
            false => "is used and `err` is not looked at",
        };
        let message =
            format!("the reply of `redis.pcall('{name}', …)` {what}: an error goes unseen");
        out.report(
            RULE.finding(found.effect.span, message)
                .help("let the error end the script: `redis.call`; or look at it: `if reply.err then return reply end`")
                .steps(analysis.script_step(found.body))
                .subject(name)
                .function(analysis.function_name(found.body)),
        );
    }
}
