//! What a rule says: a place, what is wrong, what to do, and the steps that show it; why it matters
//! stands on the rule's page. Plain data: this floor knows nothing of the analysis.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::config::{Confidence, Severity};
use crate::finding::fix::Fix;
use crate::source::{Span, Tree};

/// What to change so that a finding is gone.
pub mod fix;
/// Where the analysis gave up, and why.
pub mod unfollowed;

/// What a rule found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The command, statement or call at fault.
    pub primary: Span,
    /// What is wrong, one sentence, lower case, no full stop.
    pub message: String,
    /// What to do, as code or one sentence for the client that was called.
    pub help: String,
    /// What makes it true, in the order things happen; at most [`MOST_STEPS`] are shown.
    pub steps: Vec<Step>,
    /// Changes that mend it, each by itself.
    pub fixes: Vec<Fix>,
    /// Key template or normalised text that the fingerprint is made of.
    pub subject: String,
    /// Qualified name of the enclosing function.
    pub function: Option<String>,
    /// What names it across edits; given by [`number`].
    pub fingerprint: Option<Fingerprint>,
}

/// How many steps a finding shows.
pub const MOST_STEPS: usize = 8;

/// One step of the evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub span: Span,
    /// What happens there, lower case, no full stop.
    pub message: String,
}

impl Finding {
    /// This finding with a help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// This finding with one more step.
    #[must_use]
    pub fn step(mut self, span: Span, message: impl Into<String>) -> Self {
        self.steps.push(Step { span, message: message.into() });
        self
    }

    /// This finding with more steps.
    #[must_use]
    pub fn steps(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.steps.extend(steps);
        self
    }

    /// This finding with one more change that mends it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fixes.push(fix);
        self
    }

    /// This finding with the key template or text that its fingerprint is made of.
    #[must_use]
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// This finding with the qualified name of the function it is in.
    #[must_use]
    pub fn function(mut self, function: Option<String>) -> Self {
        self.function = function;
        self
    }

    /// This finding with another severity than its page's.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// This finding with another confidence than its page's.
    #[must_use]
    pub fn confidence(mut self, confidence: Confidence) -> Self {
        self.confidence = confidence;
        self
    }
}

/// Where rules put what they found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    /// Adds a finding.
    pub fn report(&mut self, finding: Finding) {
        self.all.push(finding);
    }

    /// Goes over all findings.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Finding> {
        self.all.iter_mut()
    }

    /// All findings in the order of their places, one for each rule and place (the worst, then the
    /// surest), with at most [`MOST_STEPS`] steps each.
    #[must_use]
    pub fn finish(self) -> Vec<Finding> {
        let mut all = self.all;
        all.sort_by(|left, right| {
            let worse = right.severity.cmp(&left.severity);
            let surer = right.confidence.cmp(&left.confidence);
            (left.primary, left.rule)
                .cmp(&(right.primary, right.rule))
                .then(worse)
                .then(surer)
                .then_with(|| left.message.cmp(&right.message))
        });
        all.dedup_by(|later, earlier| {
            later.rule == earlier.rule && later.primary == earlier.primary
        });
        all.iter_mut().for_each(|finding| shorten(&mut finding.steps));
        all
    }
}

/// Cuts steps out of the middle: how it begins and where it ends say most.
fn shorten(steps: &mut Vec<Step>) {
    steps.dedup();
    if steps.len() > MOST_STEPS {
        let excess = steps.len() - MOST_STEPS;
        let middle = MOST_STEPS / 2;
        steps.drain(middle..middle + excess);
    }
}

/// What names a finding across edits: never a line number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// Of the rule, the enclosing function, the subject, and which of several alike it is.
    pub content: String,
    /// Of the path.
    pub path: String,
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.content, self.path)
    }
}

/// Gives a fingerprint to each finding that has none. All that a rule found is to be numbered at
/// once, shown or not: what else is shown must not change a name. A finding without a subject is
/// named by the text at its place, white space folded.
pub fn number(findings: &mut [Finding], tree: &Tree) {
    let mut seen: BTreeMap<(String, String), u32> = BTreeMap::new();
    for finding in findings.iter_mut().filter(|finding| finding.fingerprint.is_none()) {
        let file = tree.file(finding.primary.file);
        let path = file.map_or("", |file| file.path.as_str());
        let text = file.map_or("", |file| file.slice(finding.primary));
        let subject = if finding.subject.is_empty() { text } else { &finding.subject };
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let function = finding.function.as_deref().unwrap_or("");
        let content = format!("{}\0{function}\0{subject}", finding.rule);
        let count = seen.entry((content.clone(), path.to_owned())).or_default();
        *count += 1;
        let content = digest(&format!("{content}\0{count}"), 16);
        finding.fingerprint = Some(Fingerprint { content, path: digest(path, 8) });
    }
}

/// The first bytes of a SHA-256, in hexadecimal.
fn digest(text: &str, bytes: usize) -> String {
    Sha256::digest(text.as_bytes()).iter().take(bytes).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Language};

    fn finding(start: u32, severity: Severity) -> Finding {
        Finding {
            rule: "unconditional-del",
            severity,
            confidence: Confidence::High,
            primary: Span::new(FileId(0), start, start + 3),
            message: "deleted".into(),
            help: String::new(),
            steps: Vec::new(),
            fixes: Vec::new(),
            subject: String::new(),
            function: None,
            fingerprint: None,
        }
    }

    #[test]
    fn one_finding_stays_for_a_rule_and_place_and_it_is_the_worst() {
        let mut findings = Findings::default();
        for (start, severity) in [(9, Severity::Note), (4, Severity::Note), (4, Severity::Error)] {
            findings.report(finding(start, severity));
        }
        let left: Vec<_> =
            findings.finish().iter().map(|f| (f.primary.start, f.severity)).collect();
        assert_eq!(left, [(4, Severity::Error), (9, Severity::Note)]);
    }

    #[test]
    fn too_many_steps_lose_their_middle() {
        let span = Span::new(FileId(0), 0, 1);
        let mut long = finding(0, Severity::Error);
        for number in 0..11 {
            long = long.step(span, number.to_string());
        }
        let mut findings = Findings::default();
        findings.report(long);
        let words: Vec<_> =
            findings.finish().remove(0).steps.into_iter().map(|step| step.message).collect();
        assert_eq!(words, ["0", "1", "2", "3", "7", "8", "9", "10"]);
    }

    #[test]
    fn fingerprints_tell_equals_apart_and_survive_moves() {
        let tree = |text: &str, path: &str| {
            Tree::from_texts(vec![(path.to_owned(), Language::Lua, text.to_owned())])
        };
        let before = tree("del del", "a.lua");
        let after = tree("\n\n  del del", "b.lua");
        let prints = |starts: [u32; 2], tree: &Tree| {
            let mut findings = starts.map(|start| finding(start, Severity::Error));
            number(&mut findings, tree);
            findings.map(|finding| finding.fingerprint.unwrap())
        };
        let (old, new) = (prints([0, 4], &before), prints([4, 8], &after));
        assert_ne!(old[0].content, old[1].content);
        assert_eq!(old[0].content, new[0].content);
        assert_eq!(old[1].content, new[1].content);
        assert_ne!(old[0].path, new[0].path);
    }
}
