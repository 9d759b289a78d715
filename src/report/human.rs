//! The report for people: a headline, the code, the steps that show it, what to do.
//!
//! The only user of `miette`. It scans a source from its first byte for every label, so it is given
//! sources that know where their lines begin. It can't put a label beyond column 65,535, so long
//! lines are shown in part. Nothing a file's text or name says reaches the terminal as a control:
//! in code such characters are shown as a mark of the same length in bytes, elsewhere escaped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, SourceCode, SourceSpan, SpanContents,
};

use super::safe::{clean, no_command};
use super::{Report, Style, one_line, words};
use crate::config::Severity;
use crate::finding::Finding;
use crate::rules;
use crate::source::{FileId, SourceFile, Span, Tree};

/// How wide lines may grow, whatever the terminal: the same bytes everywhere.
const WIDTH: usize = 110;

/// A line longer than this is shown in part.
const LONGEST_LINE: usize = 400;

/// Where a line is longer than this, no frame shows more bytes of the file: labels further apart get
/// frames of their own, and a longer label is cut.
const WIDEST_FRAME: usize = 2000;

/// Writes all findings, what was skipped, and a line that sums up.
pub(super) fn write(report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let sources = sources(report);
    let handler = handler(style);
    for finding in report.findings {
        let mut text = String::new();
        let shown = Shown::new(finding, report.tree, &sources);
        handler.render_report(&mut text, &shown).map_err(io::Error::other)?;
        // The renderer pads lines with blanks, and puts a word of its own over a step elsewhere.
        for line in text.lines().map(str::trim_end).filter(|line| *line != "Advice:") {
            writeln!(out, "{}", no_command(line))?;
        }
        writeln!(out)?;
    }
    for skipped in words::skipped(report) {
        writeln!(out, "not linted in full: {skipped}")?;
    }
    for one in report.unfollowed.unwrap_or_default() {
        let Some(file) = report.tree.file(one.span.file) else { continue };
        let at = file.position(one.span.start);
        let (path, name) = (one_line(&file.path), one_line(&one.name));
        let (what, why, id) = (one.what.name(), one.reason.sentence(), one.reason.id());
        let place = format!("{path}:{}:{}", at.line, at.column);
        writeln!(out, "not followed: {place}: {what} `{name}`: {why} [{id}]")?;
    }
    writeln!(out, "{}", words::sum(report))
}

fn handler(style: Style) -> GraphicalReportHandler {
    let theme =
        if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme)
        .with_width(WIDTH)
        .with_links(false)
        .with_context_lines(1)
        .with_break_words(false)
}

/// A file's text and name, fit for a terminal.
struct Source<'r> {
    file: &'r SourceFile,
    name: String,
    text: Cow<'r, str>,
}

fn sources<'r>(report: &Report<'r>) -> BTreeMap<FileId, Source<'r>> {
    let steps = report.findings.iter().flat_map(|finding| &finding.steps).map(|step| step.span);
    let spans = report.findings.iter().map(|finding| finding.primary).chain(steps);
    let ids: std::collections::BTreeSet<FileId> = spans.map(|span| span.file).collect();
    let source = |id: FileId| {
        let file = report.tree.file(id)?;
        Some((
            id,
            Source { file, name: one_line(&file.path).into_owned(), text: clean(&file.text) },
        ))
    };
    ids.into_iter().filter_map(source).collect()
}

impl SourceCode for Source<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let lines = &self.file.lines;
        let first = lines.line(offset(span.offset()));
        let last = lines.line(offset(span.offset() + span.len().saturating_sub(1)));
        let from = first.saturating_sub(offset(before)).max(1);
        let to = last.saturating_add(offset(after)).min(lines.count());
        let mut start = lines.start(from).unwrap_or(0) as usize;
        let mut end = lines.start(to + 1).map_or(self.text.len(), |next| next as usize);
        let longest = self.longest(from, to);
        if longest > WIDEST_FRAME && span.len() > WIDEST_FRAME {
            // Only labels that miette tries to put into one frame are this far apart: it then
            // gives each a frame of its own.
            return Err(MietteError::OutOfBounds);
        }
        if longest > LONGEST_LINE {
            start = self.border(span.offset().saturating_sub(LONGEST_LINE / 4)).max(start);
            end = self.border(span.offset() + span.len() + LONGEST_LINE / 4).min(end);
        }
        if before == 0 {
            // Asked for no line before, miette wants to know where the span itself begins.
            start = self.border(span.offset());
        }
        let place = self.file.position(offset(start));
        let data = self.text.as_bytes().get(start..end).ok_or(MietteError::OutOfBounds)?;
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            data,
            SourceSpan::new(start.into(), end - start),
            place.line as usize - 1,
            place.column as usize - 1,
            (to - from + 1) as usize,
        )))
    }
}

impl Source<'_> {
    /// The length in bytes of the longest of some lines.
    fn longest(&self, from: u32, to: u32) -> usize {
        let lines = &self.file.lines;
        (from..=to).map(|line| lines.text(&self.text, line).len()).max().unwrap_or(0)
    }

    /// The place of a label, cut where it would take a frame too wide.
    fn label(&self, span: Span) -> SourceSpan {
        let (start, end) = (span.start as usize, span.end as usize);
        let lines = &self.file.lines;
        let from = lines.line(span.start).saturating_sub(1).max(1);
        let to = lines.line(span.end).saturating_add(1).min(lines.count());
        let wide = end - start > WIDEST_FRAME && self.longest(from, to) > WIDEST_FRAME;
        let end = if wide { self.border(start + WIDEST_FRAME).max(start) } else { end };
        SourceSpan::new(start.into(), end - start)
    }

    /// The nearest character border at or before an offset.
    fn border(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0)
    }
}

/// A finding, or one of its steps in another file, as miette wants to see it.
struct Shown<'r> {
    headline: String,
    rule: Option<&'static str>,
    severity: Severity,
    help: Option<String>,
    source: Option<&'r Source<'r>>,
    labels: Vec<(Span, Option<String>, bool)>,
    elsewhere: Vec<Shown<'r>>,
}

impl<'r> Shown<'r> {
    fn new(finding: &Finding, tree: &Tree, sources: &'r BTreeMap<FileId, Source<'r>>) -> Self {
        let home = finding.primary.file;
        let mut labels = vec![(finding.primary, None, true)];
        let mut elsewhere: Vec<Self> = Vec::new();
        for (step, number) in finding.steps.iter().zip(1..) {
            let words = format!("{number}. {}", one_line(&step.message));
            if step.span.file != home {
                elsewhere.push(Self::step(step.span, words, sources));
            } else if step.span == finding.primary {
                if let Some((_, label, _)) = labels.first_mut() {
                    *label = Some(words);
                }
            } else {
                labels.push((step.span, Some(words), false));
            }
        }
        let info = rules::find(finding.rule).map(rules::Rule::info);
        let more = info.map(|info| format!("see: {}", info.url));
        let help = [one_line(&finding.help).into_owned(), more.unwrap_or_default()];
        let help: Vec<_> = help.into_iter().filter(|part| !part.is_empty()).collect();
        let (start, end) = (finding.primary.start as usize, finding.primary.end as usize);
        let in_file = tree.file(home).is_some_and(|file| file.text.get(start..end).is_some());
        Self {
            headline: format!("{}: {}", finding.severity.word(), one_line(&finding.message)),
            rule: Some(finding.rule),
            severity: finding.severity,
            help: (!help.is_empty()).then(|| help.join("\n")),
            source: if in_file { sources.get(&home) } else { None },
            labels,
            elsewhere,
        }
    }

    fn step(span: Span, words: String, sources: &'r BTreeMap<FileId, Source<'r>>) -> Self {
        Self {
            headline: words,
            rule: None,
            severity: Severity::Note,
            help: None,
            source: sources.get(&span.file),
            labels: vec![(span, None, true)],
            elsewhere: Vec::new(),
        }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.rule.map(|rule| Box::new(rule) as Box<dyn fmt::Display>)
    }

    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Note => miette::Severity::Advice,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let source = self.source?;
        let label = move |(span, words, primary): &(Span, Option<String>, bool)| {
            let place = source.label(*span);
            if *primary {
                LabeledSpan::new_primary_with_span(words.clone(), place)
            } else {
                LabeledSpan::new_with_span(words.clone(), place)
            }
        };
        Some(Box::new(self.labels.iter().map(label)))
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        if self.elsewhere.is_empty() {
            return None;
        }
        Some(Box::new(self.elsewhere.iter().map(|shown| shown as &dyn Diagnostic)))
    }
}
