//! A script calls a command that is misspelt or lacks words.

use super::prelude::*;

rule!("lua-unknown-command", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.wrong_commands() {
        let name = &found.name;
        let (message, help) = match &found.fault {
            CommandFault::Misspelt(meant) => (
                format!("no command is called `{name}`: the script ends with an error"),
                format!("`{meant}` is one"),
            ),
            CommandFault::TooFew { least, given } => (
                format!("`{name}` wants {least} words behind its name, and here are {given}"),
                format!("pass what `{name}` wants: see its page"),
            ),
        };
        out.report(
            RULE.finding(found.span, message)
                .help(help)
                .steps(analysis.script_step(found.body))
                .subject(name.clone())
                .function(analysis.function_name(found.body)),
        );
    }
}
