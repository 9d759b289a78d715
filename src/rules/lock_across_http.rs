//! A call leaves the process while a lease is held.

use std::collections::BTreeMap;

use super::prelude::*;

rule!("lock-across-http", check);

fn check(analysis: &Analysis, out: &mut Findings) {
    for region in analysis.regions.iter() {
        for op in &region.held {
            let site = Site { body: region.point.site.body, op: *op };
            for (section, all) in sections(analysis, site) {
                let judged = all.into_iter().filter_map(|reached| {
                    let safety = Safety::of(analysis, region, &reached)?;
                    let call = HeldCall { site, section, reached, safety };
                    finding(analysis, region, &call)
                });
                let mut findings: Vec<Finding> = judged.collect();
                // The worst of what one operation reaches; of two alike the nearest.
                let worst = findings.iter().map(|finding| finding.severity).max();
                let place = findings.iter().position(|one| Some(one.severity) == worst);
                if let Some(place) = place {
                    let finding = findings.remove(place);
                    out.report(finding.alike(findings));
                }
            }
        }
    }
}

/// A call that leaves the process while a lease is held.
struct HeldCall {
    /// The operation of the region that leads to it.
    site: Site,
    /// Where what that operation runs is given to the function that holds the lease: each such call
    /// is a section of its own.
    section: Option<Site>,
    reached: Reached,
    safety: Safety,
}

/// What an operation reaches, by the calls that give it what it runs: a function that takes a lease
/// around a closure has as many sections as callers.
fn sections(analysis: &Analysis, site: Site) -> BTreeMap<Option<Site>, Vec<Reached>> {
    let mut sections: BTreeMap<Option<Site>, Vec<Reached>> = BTreeMap::new();
    for reached in analysis.reach.at(&analysis.graph, site) {
        let below = reached.chain.get(1).map(|below| below.body);
        let handed = below.map(|below| analysis.program.handed_to(below, site.body));
        match handed.filter(|sites| !sites.is_empty()) {
            None => sections.entry(None).or_default().push(reached),
            Some(sites) => {
                for section in sites {
                    sections.entry(Some(section)).or_default().push(reached.clone());
                }
            }
        }
    }
    sections
}

fn finding(analysis: &Analysis, region: &Region, held: &HeldCall) -> Option<Finding> {
    let HeldCall { site, section, reached, safety } = held;
    let acquire = analysis.leases.get(region.point.acquire)?;
    let class = analysis.leases.class(acquire);
    let effect = reached.effect(analysis.program)?;
    let EffectKind::External(call) = &effect.kind else { return None };
    let primary = analysis.place(section.unwrap_or(*site))?;
    let way: Vec<Site> = section.iter().copied().chain(region.point.way()).collect();
    let key = analysis.key_at(acquire, &way).unwrap_or_else(|| key_name(analysis, acquire));
    let message = format!("the lease {key} is held across {}", describe(effect, call));
    let mut finding = RULE
        .finding(primary, message)
        .severity(safety.severity())
        .confidence(class.confidence)
        .help(safety.help(&effect.client))
        .subject(format!(
            "{key} {}",
            analysis.call_name(reached.target().unwrap_or(*site)).unwrap_or_default()
        ))
        .function(analysis.function_name(section.unwrap_or(*site).body))
        .steps(analysis.step(region.point.site, "the lease is held from here"));
    if !region.point.chain.is_empty() {
        finding = finding.steps(analysis.use_step(acquire, "acquired by this command"));
    }
    for step in reached.chain.iter().take(reached.chain.len().saturating_sub(1)) {
        let name = analysis.call_name(*step).map(|name| format!("`{name}`"));
        let name = name.unwrap_or_else(|| "what was given".to_owned());
        finding = finding.steps(analysis.step(*step, format!("{name} is called while it is held")));
    }
    finding = finding.step(effect.span, format!("leaves the process over {} here", call.protocol));
    if let Some(release) = region.releases.first() {
        let release = Site { body: site.body, op: *release };
        finding = finding.steps(analysis.step(release, "the lease is released here"));
    }
    Some(finding)
}

fn describe(effect: &Effect, call: &ExternalCall) -> String {
    let url = call.url.as_ref().filter(|url| url.has_literal()).map(|url| format!(" to `{url}`"));
    let method = call.method.as_deref().map(|method| format!("{method} ")).unwrap_or_default();
    match call.protocol {
        Protocol::Http => format!("an HTTP {method}call{}", url.unwrap_or_default()),
        Protocol::Smtp => "sending mail".to_owned(),
        other => format!("a call over {other} (`{}`)", effect.client),
    }
}

/// What makes a second holder's repetition of the call harmless.
struct Safety {
    /// Whether the call only reads: repeating it does nothing.
    reads: bool,
    /// Whether it carries an idempotency key.
    idempotency_key: bool,
    limit: CallLimit,
    /// The lease's time in milliseconds, when constant.
    lease: Option<u64>,
    /// Whether something prolongs the lease.
    renewed: bool,
    /// Whether a row is committed before the call leaves.
    recorded: bool,
}

impl Safety {
    fn of(analysis: &Analysis, region: &Region, reached: &Reached) -> Option<Self> {
        let effect = reached.effect(analysis.program)?;
        let EffectKind::External(call) = &effect.kind else { return None };
        let lease = analysis.lease_milliseconds(&region.point);
        Some(Self {
            reads: matches!(call.method.as_deref(), Some("GET" | "HEAD" | "OPTIONS")),
            idempotency_key: call.idempotency_key,
            limit: analysis.call_limit(reached, lease),
            lease,
            renewed: analysis.is_renewed(region),
            recorded: analysis.recorded_before(&reached.chain),
        })
    }

    fn severity(&self) -> Severity {
        match self.limit {
            CallLimit::None | CallLimit::Beyond(_) => Severity::Error,
            CallLimit::Below if self.idempotency_key && self.recorded => Severity::Note,
            CallLimit::Below | CallLimit::Unknown => Severity::Warning,
        }
    }

    /// Names what is missing.
    fn help(&self, client: &str) -> String {
        let mut missing: Vec<String> = Vec::new();
        if !self.idempotency_key && !self.reads {
            missing.push(format!("an idempotency key ({})", key_words(client)));
        }
        let lease = self.lease.map(|lease| format!(" of {lease} ms")).unwrap_or_default();
        let now = match self.limit {
            CallLimit::Below => None,
            CallLimit::None => Some("it has none".to_owned()),
            CallLimit::Beyond(limit) => Some(format!("it has {limit} ms")),
            CallLimit::Unknown => Some("none is seen".to_owned()),
        };
        if let Some(now) = now {
            let words = limit_words(client);
            missing.push(format!("a time limit below the lease{lease} ({now}; {words})"));
        }
        if !self.renewed {
            missing.push("a renewal of the lease while it runs".to_owned());
        }
        if !self.recorded && !self.reads {
            missing.push("a durable record of the attempt, committed before it leaves".to_owned());
        }
        let out = "move the call out of the section, before the acquire or after the release";
        match missing.is_empty() {
            true => out.to_owned(),
            false => format!("{out}; to stay inside, it lacks {}", missing.join(", ")),
        }
    }
}

/// How a call of this client is given an idempotency key.
fn key_words(client: &str) -> &'static str {
    match client {
        "tonic" => {
            "`request.metadata_mut().insert(\"idempotency-key\", …)`, or a field of the message"
        }
        "async-stripe" => "`.customize().request_strategy(RequestStrategy::Idempotent(key))`",
        "aws-sdk" => "the operation's client token, or `if_none_match(\"*\")` for an object",
        "lettre" => "a `Message-ID` of the attempt's own, and a record of what was sent",
        "alloy"
        | "ethers"
        | "web3"
        | "starknet"
        | "solana-client"
        | "subxt"
        | "xrpl"
        | "near-jsonrpc-client" => "one signed transaction, kept and sent again as it is",
        _ => "`.header(\"Idempotency-Key\", …)`, the same for every try",
    }
}

/// How a call of this client is given a time limit.
fn limit_words(client: &str) -> &'static str {
    match client {
        "reqwest" | "reqwest-middleware" | "awc" | "attohttpc" | "isahc" => {
            "`.timeout(Duration::from_secs(…))` on the request"
        }
        "tonic" => "`request.set_timeout(Duration::from_secs(…))`",
        "ureq" => "`.config().timeout_global(Some(Duration::from_secs(…))).build()`",
        "aws-sdk" => "`TimeoutConfig::builder().operation_timeout(Duration::from_secs(…))`",
        "lettre" => "`.timeout(Some(Duration::from_secs(…)))` on the transport's builder",
        "solana-client" => "`RpcClient::new_with_timeout(url, Duration::from_secs(…))`",
        "jsonrpsee" => "`.request_timeout(Duration::from_secs(…))` on the client's builder",
        _ => "`tokio::time::timeout(Duration::from_secs(…), …)` around it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safety(idempotency_key: bool, limit: CallLimit, recorded: bool) -> Safety {
        let (reads, lease, renewed) = (false, Some(30_000), false);
        Safety { reads, idempotency_key, limit, lease, renewed, recorded }
    }

    #[test]
    fn a_note_only_where_key_limit_and_record_are_there() {
        assert_eq!(safety(true, CallLimit::Below, true).severity(), Severity::Note);
        assert_eq!(safety(false, CallLimit::Below, true).severity(), Severity::Warning);
        assert_eq!(safety(true, CallLimit::Below, false).severity(), Severity::Warning);
        assert_eq!(safety(true, CallLimit::Unknown, true).severity(), Severity::Warning);
    }

    #[test]
    fn an_error_where_the_limit_is_shown_to_be_none_or_too_long() {
        assert_eq!(safety(true, CallLimit::None, true).severity(), Severity::Error);
        assert_eq!(safety(true, CallLimit::Beyond(30_000), true).severity(), Severity::Error);
    }

    #[test]
    fn the_help_names_all_that_is_missing_and_nothing_else() {
        let help = safety(false, CallLimit::Beyond(60_000), false).help("reqwest");
        assert_eq!(
            help,
            "move the call out of the section, before the acquire or after the release; to stay inside, \
             it lacks an idempotency key (`.header(\"Idempotency-Key\", …)`, the same for every try), a \
             time limit below the lease of 30000 ms (it has 60000 ms; `.timeout(Duration::from_secs(…))` \
             on the request), a renewal of the lease while it runs, a durable record of the attempt, \
             committed before it leaves"
        );
        let all = Safety { renewed: true, ..safety(true, CallLimit::Below, true) };
        assert_eq!(
            all.help("tonic"),
            "move the call out of the section, before the acquire or after the release"
        );
    }

    #[test]
    fn a_call_that_only_reads_needs_no_key_and_no_record() {
        let reads = Safety { reads: true, ..safety(false, CallLimit::None, false) };
        let help = reads.help("ureq");
        assert!(!help.contains("idempotency") && !help.contains("record"), "{help}");
        assert!(help.contains("it has none; `.config().timeout_global("), "{help}");
    }
}
