//! A write lets a stale writer in, for the fencing number or version is not compared.

use super::prelude::*;

rule!("fence-not-compared", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.fence_faults() {
        let (write, name) = (&found.write, &found.name);
        let table = write.table_text();
        let message = match &found.fault {
            Unfenced::NotCompared => {
                format!(
                    "`{name}` of {table} is written and the WHERE does not compare it: a stale writer is let in"
                )
            }
            Unfenced::WrongWay(_) => {
                format!(
                    "`{name}` of {table} is compared the wrong way round: the stale writer is let in, and the new one is not"
                )
            }
            Unfenced::NotCarried(_) => {
                format!(
                    "`{name}` is at hand and this write of {table} does not carry it: the database can't tell a stale writer"
                )
            }
            Unfenced::OthersCompare(_) => {
                format!(
                    "other writes of {table} compare `{name}`, and this one does not: a stale writer is let in"
                )
            }
        };
        let mut finding = RULE
            .finding(write.place(), message)
            .confidence(confidence(&found))
            .help(help(&found))
            .subject(write.subject())
            .function(analysis.function_around(write));
        finding = match &found.fault {
            Unfenced::NotCompared => finding,
            Unfenced::WrongWay(at) => finding.step(*at, "true for every number that is older"),
            Unfenced::NotCarried(at) => {
                finding.step(*at, "the number that was given out with the lease")
            }
            Unfenced::OthersCompare(at) => finding.step(*at, "compared here"),
        };
        out.report(finding.steps(analysis.statement_step(write)));
    }
}

fn confidence(found: &FenceFinding) -> Confidence {
    match &found.fault {
        Unfenced::NotCompared | Unfenced::WrongWay(_) if found.fence => Confidence::High,
        _ => Confidence::Medium,
    }
}

fn help(found: &FenceFinding) -> String {
    let name = &found.name;
    match (&found.fault, found.fence) {
        (Unfenced::NotCarried(_), _) => "store the number with the row and let only a later one in: `SET …, fence = $n WHERE id = $id AND fence < $n`, and look at the row count".to_owned(),
        (_, true) => format!("let only a later number in: `… AND {name} < $new`, and look at the row count"),
        (_, false) => format!("compare what was read: `SET …, {name} = {name} + 1 WHERE … AND {name} = $seen`, and look at the row count"),
    }
}
