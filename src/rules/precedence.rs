//! One place, one finding: where several rules hold at one place, the most specific stands.

use crate::finding::Finding;
use crate::source::Span;

/// The rule on the left stands; the one on the right goes where it says the same place.
const STANDS_OVER: &[(&str, &str)] = &[
    ("expiry-not-atomic", "setnx-without-expiry"),
    ("acquire-error-as-success", "acquire-result-ignored"),
    ("get-then-del", "unconditional-del"),
    ("cross-slot-keys", "undeclared-script-key"),
    ("fence-not-compared", "unfenced-write"),
    ("read-modify-write", "unfenced-write"),
    ("unguarded-decrement", "unfenced-write"),
    ("lease-column-without-owner", "unfenced-write"),
];

/// Drops each finding that a more specific one speaks for: the specific one has its primary place
/// or one of its steps where the other has its primary place.
#[must_use]
pub fn most_specific(findings: Vec<Finding>) -> Vec<Finding> {
    let spoken_for = |general: &Finding| {
        findings.iter().any(|specific| {
            STANDS_OVER.contains(&(specific.rule, general.rule)) && speaks_of(specific, general)
        })
    };
    let keep: Vec<bool> = findings.iter().map(|finding| !spoken_for(finding)).collect();
    let kept = findings.into_iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(finding, _)| finding).collect()
}

fn speaks_of(specific: &Finding, general: &Finding) -> bool {
    let steps = specific.steps.iter().map(|step| step.span);
    std::iter::once(specific.primary).chain(steps).any(|span| overlap(span, general.primary))
}

fn overlap(left: Span, right: Span) -> bool {
    left.file == right.file && left.start < right.end && right.start < left.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::find;
    use crate::source::FileId;

    #[test]
    fn every_rule_of_the_table_is_one() {
        for (specific, general) in STANDS_OVER {
            assert!(find(specific).is_some(), "{specific}");
            assert!(find(general).is_some(), "{general}");
        }
    }

    #[test]
    fn the_specific_rule_stands_at_its_place_and_its_steps() {
        let span = |start: u32| Span::new(FileId(0), start, start + 3);
        let at = |rule: &str, start: u32| find(rule).unwrap().finding(span(start), "x");
        let left = most_specific(vec![
            at("setnx-without-expiry", 10),
            at("setnx-without-expiry", 90),
            at("expiry-not-atomic", 50).step(span(10), "taken here"),
            at("unconditional-del", 50),
        ]);
        let left: Vec<_> = left.iter().map(|f| (f.rule, f.primary.start)).collect();
        let expected =
            [("setnx-without-expiry", 90), ("expiry-not-atomic", 50), ("unconditional-del", 50)];
        assert_eq!(left, expected);
    }
}
