//! One renderer a format. A renderer computes nothing: it writes what a [`Report`] holds.

use std::io::{self, Write};

use crate::config::Severity;
use crate::finding::Finding;
use crate::finding::unfollowed::Unfollowed;
use crate::source::{Skipped, Tree};

/// Logging commands of Azure Pipelines.
mod azure;
/// Checkstyle's XML.
mod checkstyle;
/// Workflow commands of GitHub Actions.
mod github;
/// GitLab's Code Quality report.
mod gitlab;
/// For people at a terminal.
mod human;
/// One JSON object.
mod json;
/// JUnit's XML.
mod junit;
/// Where a span lies, in the unit that a format counts in.
mod place;
/// reviewdog's diagnostics.
mod rdjson;
/// Strangers' text, made fit for a terminal and for the log of a CI system.
mod safe;
/// SARIF 2.1.0.
mod sarif;
/// One line a finding.
mod short;
/// How many findings each rule has.
mod statistics;
/// GitHub's step summary, in Markdown.
mod summary;
/// Service messages of TeamCity.
mod teamcity;
/// What the XML formats share.
mod xml;
/// The words of a finding where a format has one text for all of it.
mod words;

pub(crate) use safe::{clean, one_line};

/// Everything a run has to say.
pub struct Report<'r> {
    /// The findings to show, in the order of their places.
    pub findings: &'r [Finding],
    /// The files they are in.
    pub tree: &'r Tree,
    /// The way from the top of the repository to the folder that paths are relative to: empty, or
    /// ends in `/`. Formats that a forge reads name files from the top.
    pub base: &'r str,
    /// Where the forge shows the files of this revision: a URL that ends in `/`.
    pub files_url: Option<&'r str>,
    /// Files that were not read, or not in full.
    pub skipped: &'r [Skipped],
    /// How many findings an allow comment silenced.
    pub allowed: usize,
    /// How many findings were not sure or not bad enough to be shown.
    pub hidden: usize,
    /// How many findings the baseline knows.
    pub known: usize,
    /// How many findings are none of the changed lines'.
    pub outside: usize,
    /// Statements of SQL files.
    pub statements: Statements,
    /// What could not be followed, in path order; `None` when nobody asked.
    pub unfollowed: Option<&'r [Unfollowed]>,
}

/// How many statements SQL files hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statements {
    /// All.
    pub total: usize,
    /// Those of which more than single words were read.
    pub read: usize,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Code frames for people.
    Human,
    /// One line a finding.
    Short,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// Workflow commands of GitHub Actions.
    Github,
    /// Markdown for GitHub's step summary.
    GithubSummary,
    /// GitLab's Code Quality report.
    Gitlab,
    /// reviewdog's diagnostics as one object.
    Rdjson,
    /// reviewdog's diagnostics, one a line.
    Rdjsonl,
    /// JUnit's XML.
    Junit,
    /// Checkstyle's XML.
    Checkstyle,
    /// Logging commands of Azure Pipelines.
    Azure,
    /// Service messages of TeamCity.
    Teamcity,
}

/// What a format can stand beside on one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text for people.
    Text,
    /// Lines that a CI system picks out of a log.
    Commands,
    /// A document of its own: nothing may stand before or after it.
    Document,
}

impl Format {
    /// Every format, in the order of the help.
    pub const ALL: [Self; 13] = [
        Self::Human,
        Self::Short,
        Self::Json,
        Self::Sarif,
        Self::Github,
        Self::GithubSummary,
        Self::Gitlab,
        Self::Rdjson,
        Self::Rdjsonl,
        Self::Junit,
        Self::Checkstyle,
        Self::Azure,
        Self::Teamcity,
    ];

    /// Its name on the command line, and what it is in a few words.
    #[must_use]
    pub fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Human => ("human", "Code frames for people"),
            Self::Short => ("short", "One line a finding: path:line:column"),
            Self::Json => ("json", "One JSON object, versioned"),
            Self::Sarif => ("sarif", "SARIF 2.1.0, for code scanning"),
            Self::Github => ("github", "Workflow commands of GitHub Actions"),
            Self::GithubSummary => ("github-summary", "Markdown for GitHub's step summary"),
            Self::Gitlab => ("gitlab", "GitLab's Code Quality report"),
            Self::Rdjson => ("rdjson", "reviewdog's diagnostics, one object"),
            Self::Rdjsonl => ("rdjsonl", "reviewdog's diagnostics, one a line"),
            Self::Junit => ("junit", "JUnit's XML"),
            Self::Checkstyle => ("checkstyle", "Checkstyle's XML"),
            Self::Azure => ("azure", "Logging commands of Azure Pipelines"),
            Self::Teamcity => ("teamcity", "Service messages of TeamCity"),
        }
    }

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The format of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What it can stand beside on one stream.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self {
            Self::Human | Self::Short => Kind::Text,
            Self::Github | Self::Azure | Self::Teamcity => Kind::Commands,
            _ => Kind::Document,
        }
    }

    /// Whether it has a place for files that were not read, or not in full.
    #[must_use]
    pub fn tells_skipped(self) -> bool {
        matches!(
            self,
            Self::Human
                | Self::Short
                | Self::Json
                | Self::Sarif
                | Self::GithubSummary
                | Self::Junit
        )
    }
}

/// What the reader can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Whether colours are wanted.
    pub color: bool,
    /// Whether the same reader gets the findings in a text for people, too.
    pub accompanied: bool,
}

/// Writes a report.
///
/// # Errors
/// When `out` can't be written.
pub fn write(
    format: Format,
    report: &Report<'_>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Human => human::write(report, style, out),
        Format::Short => short::write(report, out),
        Format::Json => json::write(report, out),
        Format::Sarif => sarif::write(report, out),
        Format::Github => github::write(report, style, out),
        Format::GithubSummary => summary::write(report, out),
        Format::Gitlab => gitlab::write(report, out),
        Format::Rdjson => rdjson::write(report, out),
        Format::Rdjsonl => rdjson::write_lines(report, out),
        Format::Junit => junit::write(report, out),
        Format::Checkstyle => checkstyle::write(report, out),
        Format::Azure => azure::write(report, out),
        Format::Teamcity => teamcity::write(report, out),
    }
}

/// Writes how many findings each rule has instead of the findings.
///
/// # Errors
/// When `out` can't be written.
pub fn statistics(format: Format, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    statistics::write(format, report, out)
}

impl Report<'_> {
    /// How many findings of a severity there are.
    fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// A path as the forge knows it: from the top of the repository.
    fn full_path(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

/// Writes a value as JSON and ends the line. `##` begins commands in the logs of some CI systems,
/// wherever it stands; in JSON it can only be in a text, and there it has another spelling.
fn write_json(value: &impl serde::Serialize, pretty: bool, out: &mut dyn Write) -> io::Result<()> {
    let text =
        if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    writeln!(out, "{}", text.map_err(io::Error::from)?.replace("##", "#\\u0023"))
}

#[cfg(test)]
mod tests;
