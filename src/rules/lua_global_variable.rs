//! A script uses a global name that the server does not define.

use super::prelude::*;

rule!("lua-global-variable", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.undefined_globals() {
        let name = &found.name;
        let (message, help) = match found.used {
            GlobalUse::Assigned => (
                format!("`{name}` is a global here, and the server refuses to make globals"),
                format!("declare it: `local {name} = …`, or `local function {name}(…)`"),
            ),
            GlobalUse::LibraryChanged => (
                format!("`{name}` belongs to a table of the server, which scripts can't write to"),
                "keep it in a local of the script".to_owned(),
            ),
            GlobalUse::Read => (
                format!("nothing defines `{name}`: reading it ends the script with an error"),
                instead(name),
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

/// What to write for a name that other hosts define.
fn instead(name: &str) -> String {
    match name {
        "print" => "write to the server's log: `redis.log(redis.LOG_NOTICE, …)`".to_owned(),
        "os.time" => "ask the server: `redis.call('TIME')[1]`".to_owned(),
        "require" | "dofile" | "loadfile" | "module" => {
            "put the code into the script: a script loads no files".to_owned()
        }
        _ => format!("declare `{name}` before it is read, or mend its spelling"),
    }
}
