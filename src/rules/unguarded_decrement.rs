//! What is left is lowered with nothing that keeps it above zero.

use super::prelude::*;

rule!("unguarded-decrement", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.unguarded_decrements() {
        let write = &found.write;
        let (column, table) = (found.column, write.table_text());
        let does = match found.movement {
            Movement::Adds => "is changed by a signed number",
            _ => "is lowered",
        };
        let (severity, effect) = match found.refused {
            true => (Severity::Warning, "the schema refuses it, as an error and not as an answer"),
            false => (Severity::Error, "two writers that both saw enough take it below zero"),
        };
        let message = format!("`{column}` of {table} {does} with no floor in the WHERE: {effect}");
        out.report(
            RULE.finding(write.place(), message)
                .severity(severity)
                .confidence(match found.movement {
                    Movement::Adds => Confidence::Medium,
                    _ => Confidence::High,
                })
                .help(sql_help(column, write.client()))
                .subject(write.subject())
                .function(analysis.function_around(write))
                .steps(analysis.statement_step(write)),
        );
    }
    for taking in analysis.unguarded_takings() {
        let (severity, effect) = match taking.restored {
            true => (Severity::Warning, "until it is given back, others read a wrong number"),
            false => (Severity::Error, "it may go below zero"),
        };
        let message = format!(
            "`{}` takes from {} before it is known that there is enough: {effect}",
            taking.command, taking.counter
        );
        let mut finding = RULE
            .finding(taking.effect.span, message)
            .severity(severity)
            .confidence(if taking.named { Confidence::High } else { Confidence::Medium })
            .help(redis_help(&taking.effect.client))
            .subject(taking.counter)
            .function(analysis.function_name(taking.effect.site.body));
        if let Some(tested) = taking.tested {
            finding = finding.step(tested, "what is left is looked at here, after it was taken");
        }
        out.report(finding);
    }
}

fn sql_help(column: &str, client: &str) -> String {
    match client {
        "diesel" | "diesel-async" => format!(
            "add `.filter({column}.ge(n))` to the update, and look at the row count: no row means that there is not enough"
        ),
        "sea-orm" => format!(
            "add `.filter(Column::{}.gte(n))` to the update, and look at the row count: no row means that there is not enough",
            super::prelude::variant(column)
        ),
        _ => format!(
            "put the floor into the statement, `… AND {column} >= $n`, and look at the row count: no row means that there is not enough"
        ),
    }
}

fn redis_help(client: &str) -> &'static str {
    match client {
        "lua" => {
            "compare first: `if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then return -1 end`, then `DECRBY`"
        }
        _ => {
            "compare and take in one script: `if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then return -1 end return redis.call('DECRBY', KEYS[1], ARGV[1])`"
        }
    }
}
