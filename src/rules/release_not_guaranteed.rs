//! A way out of the section leaves the lease held that the other ways give back.

use super::prelude::*;

rule!("release-not-guaranteed", check);

/// How many ways out a finding names.
const MOST_EXITS: usize = 4;
/// A lease that lapses within so many milliseconds keeps others waiting hardly longer than its release
/// would.
const SOON: u64 = 5_000;

fn check(analysis: &Analysis, out: &mut Findings) {
    for region in analysis.regions.iter() {
        let exits = analysis.lease_exits(region);
        if let Some((first, others)) = exits.split_first() {
            report(analysis, region, *first, others, out);
        }
    }
}

fn report(
    analysis: &Analysis,
    region: &Region,
    first: LeaseExit,
    others: &[LeaseExit],
    out: &mut Findings,
) {
    let Some(acquire) = analysis.leases.get(region.point.acquire) else { return };
    let key = analysis
        .key_at(acquire, &region.point.way())
        .unwrap_or_else(|| key_name(analysis, acquire));
    let lease = analysis.lease_milliseconds(&region.point);
    let short = lease.is_some_and(|lease| lease <= SOON);
    let mut finding = RULE
        .finding(first.span, message(analysis, acquire, &key, first, lease))
        .severity(if short { Severity::Note } else { Severity::Warning })
        .confidence(analysis.leases.class(acquire).confidence)
        .help(help(first))
        .subject(key)
        .function(analysis.function_name(region.point.site.body))
        .steps(analysis.step(region.point.site, "the lease is acquired here"));
    if !region.point.chain.is_empty() {
        finding = finding.steps(analysis.use_step(acquire, "acquired by this command"));
    }
    for exit in std::iter::once(&first).chain(others).take(MOST_EXITS) {
        finding = finding.step(exit.span, leaving(*exit));
        if let Some(cause) = exit.cause {
            finding = finding.step(cause, "where this fails");
        }
    }
    let release = analysis.skipped_release(region);
    out.report(
        finding
            .steps(release.and_then(|site| analysis.step(site, "the release that is passed over"))),
    );
}

fn message(
    analysis: &Analysis,
    acquire: &KeyUse,
    key: &str,
    exit: LeaseExit,
    lease: Option<u64>,
) -> String {
    let until = match lease {
        Some(lease) => format!("others wait until it lapses ({lease} ms)"),
        None if analysis.never_expires(acquire) && analysis.later_expiry(acquire).is_none() => {
            "nobody gets it again".to_owned()
        }
        None => "others wait until it lapses".to_owned(),
    };
    match exit.how {
        Leaving::Propagated => {
            format!("a failure is passed on here with the lease {key} still held: {until}")
        }
        Leaving::Returned => format!("returns here with the lease {key} still held: {until}"),
    }
}

fn leaving(exit: LeaseExit) -> &'static str {
    match exit.how {
        Leaving::Propagated => "a failure leaves here",
        Leaving::Returned => "returns here",
    }
}

fn help(exit: LeaseExit) -> &'static str {
    match exit.how {
        Leaving::Propagated => {
            "keep the result until the lease is given back: `let result = async { … }.await;`, release, then `result?` (in a plain block `?` leaves the function); or hold the lease in a guard whose Drop releases it"
        }
        Leaving::Returned => {
            "release before this return too, or decide first and release once behind it; or hold the lease in a guard whose Drop releases it"
        }
    }
}
