//! A write while a lease is held asks for its row alone, and lets a holder in that has lost the lease.

use super::prelude::*;

rule!("unfenced-write", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for found in analysis.unfenced_writes() {
        let region = found.region;
        let Some(acquire) = analysis.leases.get(region.point.acquire) else { continue };
        let class = analysis.leases.class(acquire);
        let key = analysis
            .key_at(acquire, &region.point.way())
            .unwrap_or_else(|| key_name(analysis, acquire));
        let table = found.write.table_text();
        let message = format!(
            "this write of {table} relies on the lease {key} alone: a holder that was too slow gets through, too"
        );
        let severity = if found.at_stake { Severity::Warning } else { Severity::Note };
        let mut finding = RULE
            .finding(found.write.place(), message)
            .severity(severity)
            .confidence(class.confidence.min(Confidence::Medium))
            .help(help(found.write.client()))
            .subject(found.write.subject())
            .function(analysis.function_around(&found.write))
            .steps(analysis.step(region.point.site, "the lease is held from here"));
        for site in found.chain.iter().take(4) {
            let name = analysis.call_name(*site).map(|name| format!("`{name}`"));
            let name = name.unwrap_or_else(|| "what was given".to_owned());
            finding =
                finding.steps(analysis.step(*site, format!("{name} is called while it is held")));
        }
        if let Some(release) = region.releases.first() {
            let release = Site { body: region.point.site.body, op: *release };
            finding = finding.steps(analysis.step(release, "the lease is released here"));
        }
        out.report(finding.steps(analysis.statement_step(&found.write)));
    }
}

fn help(client: &str) -> &'static str {
    match client {
        "diesel" | "diesel-async" => {
            "let the row refuse a stale writer: `.filter(version.eq(seen))` and `version.eq(seen + 1)`, or a fencing number, `.filter(fence.lt(token))`, and look at the row count"
        }
        "sea-orm" => {
            "let the row refuse a stale writer: `.filter(Column::Version.eq(seen))`, or a fencing number, `.filter(Column::Fence.lt(token))`, and look at the row count"
        }
        _ => {
            "let the row refuse a stale writer: `… AND version = $seen`, or a fencing number, `… AND fence < $token`, and look at the row count"
        }
    }
}
