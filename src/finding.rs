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
    /// Where its primary place was before changed lines moved it to one of its steps.
    pub moved_from: Option<Span>,
    /// Steps that were cut out of the middle of [`steps`](Self::steps) by [`Findings::finish`].
    pub unshown: Vec<Step>,
    /// What the rule found at the same place for other reasons; this one stands for them.
    pub alike: Vec<Finding>,
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

    /// This finding, which stands for others of the rule at its place.
    #[must_use]
    pub fn alike(mut self, others: impl IntoIterator<Item = Finding>) -> Self {
        self.alike.extend(others);
        self
    }

    /// Every place that the finding speaks of: its primary one, then those of all its steps, also of
    /// the ones that are not shown.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        let steps = self.steps.iter().chain(&self.unshown).map(|step| step.span);
        std::iter::once(self.primary).chain(steps)
    }

    /// The primary place, as a run of everything has it.
    #[must_use]
    pub fn origin(&self) -> Span {
        self.moved_from.unwrap_or(self.primary)
    }

    /// Moves the primary place to the place of one of the steps. The old place stays among the
    /// steps, and so does a step that was not shown.
    pub fn move_to(&mut self, place: Span) {
        if place == self.primary {
            return;
        }
        let middle = self.steps.len().min(MOST_STEPS / 2);
        if let Some(step) = self.unshown.iter().find(|step| step.span == place).cloned() {
            self.steps.insert(middle, step);
        }
        if !self.steps.iter().any(|step| step.span == self.primary) {
            let message = "this is at fault".to_owned();
            self.steps.insert(0, Step { span: self.primary, message });
        }
        self.moved_from.get_or_insert(self.primary);
        self.primary = place;
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
    /// surest; it keeps the others as [`Finding::alike`]), with at most [`MOST_STEPS`] steps each.
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
        all.iter_mut().for_each(shorten);
        all.dedup_by(|later, earlier| {
            let same = later.rule == earlier.rule && later.primary == earlier.primary;
            if same {
                let further = std::mem::take(&mut later.alike);
                earlier.alike.push(later.clone());
                earlier.alike.extend(further);
            }
            same
        });
        all
    }
}

/// Cuts steps out of the middle: how it begins and where it ends say most.
fn shorten(finding: &mut Finding) {
    finding.steps.dedup();
    if finding.steps.len() > MOST_STEPS {
        let excess = finding.steps.len() - MOST_STEPS;
        let middle = MOST_STEPS / 2;
        finding.unshown.extend(finding.steps.drain(middle..middle + excess));
    }
    finding.alike.iter_mut().for_each(shorten);
}

/// What names a finding across edits: never a line number.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fingerprint {
    /// Of the rule, the enclosing function, the subject, and which of several alike it is.
    pub content: String,
    /// Of the path.
    pub path: String,
}

impl Fingerprint {
    /// The part that is made of a path.
    #[must_use]
    pub fn of_path(path: &str) -> String {
        digest(path, 8)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.content, self.path)
    }
}

/// Gives a fingerprint to each finding that has none. All that a rule found is to be numbered at
/// once, shown or not: what else is shown must not change a name. A finding without a subject is
/// named by the text at its place, white space folded. A script without a name is called after its
/// file; that name is left out, for the file may get another.
pub fn number(findings: &mut [Finding], tree: &Tree) {
    let mut seen: BTreeMap<(String, String), u32> = BTreeMap::new();
    for finding in findings.iter_mut().filter(|finding| finding.fingerprint.is_none()) {
        let file = tree.file(finding.primary.file);
        let path = file.map_or("", |file| file.path.as_str());
        let text = file.map_or("", |file| file.slice(finding.primary));
        let subject = if finding.subject.is_empty() { text } else { &finding.subject };
        let subject = subject.split_whitespace().collect::<Vec<_>>().join(" ");
        let function = finding.function.as_deref().unwrap_or("");
        let function = function.strip_prefix(name_of(path)).unwrap_or(function);
        let content = format!("{}\0{function}\0{subject}", finding.rule);
        let count = seen.entry((content.clone(), path.to_owned())).or_default();
        *count += 1;
        let content = digest(&format!("{content}\0{count}"), 16);
        finding.fingerprint = Some(Fingerprint { content, path: Fingerprint::of_path(path) });
    }
}

/// The last part of a path.
fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
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
            moved_from: None,
            unshown: Vec::new(),
            alike: Vec::new(),
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
