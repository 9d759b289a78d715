//! What is written where: what the command line asks for, and what the CI system is given unasked.
//!
//! The standard output shows a text for people unless a format is printed; a document stands there
//! alone, and where one was asked for, nothing is added for the CI system, since then whoever asked
//! for it does the rest. A file is written beside its place and moved there when it is complete.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use super::arguments::{Color, OutputArguments};
use super::{Failure, complain, files, output};
use crate::report::{self, Format, Kind, Report, Style, one_line};

/// One format and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// How.
    pub format: Format,
    /// Where to.
    pub target: Target,
    /// Whether the command line asks for it.
    pub asked: bool,
}

/// Where a format goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To the standard output.
    Printed,
    /// Into a file of its own.
    File(PathBuf),
    /// To the end of a file that has others write to it, too.
    Appended(PathBuf),
}

/// What a run writes.
#[derive(Debug)]
pub(super) struct Outputs {
    all: Vec<Output>,
    colored: bool,
    statistics: bool,
}

impl Outputs {
    /// What the command line asks for; `extra` is added if nothing speaks against it. With
    /// `statistics`, counts are printed instead of findings.
    ///
    /// # Errors
    /// When two outputs are in each other's way.
    pub fn plan(
        arguments: &OutputArguments,
        statistics: bool,
        color: Color,
        extra: Vec<Output>,
    ) -> Result<Self, Failure> {
        let asked = |format, target| Output { format, target, asked: true };
        let mut all: Vec<_> =
            arguments.format.iter().map(|format| asked(*format, Target::Printed)).collect();
        for one in &arguments.output {
            let target = one.path.as_ref().map_or(Target::Printed, |path| {
                let shared =
                    extra.iter().any(|extra| extra.target == Target::Appended(path.into()));
                if shared { Target::Appended(path.into()) } else { Target::File(path.into()) }
            });
            let output = asked(one.format, target);
            if !all.contains(&output) {
                all.push(output);
            }
        }
        if !all.iter().any(Output::is_printed) {
            all.insert(0, asked(Format::Human, Target::Printed));
        }
        refuse_clashes(&all)?;
        let document = |one: &Output| one.is_printed() && one.format.kind() == Kind::Document;
        if statistics && all.iter().any(|one| document(one) && one.format != Format::Json) {
            return Err(Failure("--statistics are printed as human or json".to_owned()));
        }
        if !arguments.no_ci && !all.iter().any(document) {
            for extra in extra {
                if !all.iter().any(|one| one.format == extra.format) {
                    all.push(extra);
                }
            }
        }
        // What people read comes before the commands of a CI system.
        all.sort_by_key(|one| one.format.kind() != Kind::Text);
        Ok(Self { all, colored: wants(color), statistics })
    }

    /// Writes the files, then what is printed.
    ///
    /// # Errors
    /// When something that was asked for can't be written.
    pub fn write(&self, report: &Report<'_>) -> Result<(), Failure> {
        let mut printed = Vec::new();
        for one in &self.all {
            let bytes = self.bytes(one, report)?;
            let (path, written) = match &one.target {
                Target::Printed => {
                    printed.extend(bytes);
                    continue;
                }
                Target::File(path) => (path, files::replace(path, &bytes)),
                Target::Appended(path) => (path, append(path, &bytes)),
            };
            match written {
                Err(error) => {
                    let failure = format!("can't write {}: {error}", path.display());
                    if one.asked {
                        return Err(Failure(failure));
                    }
                    complain(&failure);
                }
                Ok(()) if !one.asked && matches!(one.target, Target::File(_)) => {
                    complain(&format!("wrote {}", path.display()));
                }
                Ok(()) => {}
            }
        }
        let tells = |one: &Output| one.is_printed() && one.format.tells_skipped();
        if !self.all.iter().any(tells) {
            for skipped in report.skipped {
                let (path, reason) = (one_line(&skipped.path), one_line(&skipped.reason));
                complain(&format!("not linted in full: {path}: {reason}"));
            }
        }
        output(&printed)
    }

    fn bytes(&self, one: &Output, report: &Report<'_>) -> Result<Vec<u8>, Failure> {
        let text = |one: &Output| one.is_printed() && one.format.kind() == Kind::Text;
        let style = Style {
            color: self.colored && one.is_printed(),
            accompanied: one.is_printed() && self.all.iter().any(text),
        };
        let mut bytes = Vec::new();
        if self.statistics && one.is_printed() && one.format.kind() != Kind::Commands {
            report::statistics(one.format, report, &mut bytes)?;
            return Ok(bytes);
        }
        report::write(one.format, report, style, &mut bytes)?;
        Ok(bytes)
    }
}

impl Output {
    fn is_printed(&self) -> bool {
        self.target == Target::Printed
    }
}

/// Refuses what can't stand in one place together.
fn refuse_clashes(all: &[Output]) -> Result<(), Failure> {
    let printed: Vec<_> = all.iter().filter(|one| one.is_printed()).collect();
    let alone = |one: &&&Output| one.format.kind() == Kind::Document;
    let texts = printed.iter().filter(|one| one.format.kind() == Kind::Text).count();
    if printed.len() > 1 && (texts > 1 || printed.iter().any(|one| alone(&one))) {
        let names: Vec<_> = printed.iter().map(|one| one.format.name()).collect();
        let names = names.join(" and ");
        return Err(Failure(format!("can't print {names} in one run: give a path, FORMAT=PATH")));
    }
    let mut paths = BTreeSet::new();
    for one in all {
        if let Target::File(path) = &one.target
            && !paths.insert(path)
        {
            return Err(Failure(format!("two outputs go to {}", path.display())));
        }
    }
    Ok(())
}

/// Adds to the end of a file.
fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().append(true).create(true).open(path)?.write_all(bytes)
}

/// Whether to colour what goes to the output.
fn wants(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            !refused && io::stdout().is_terminal()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments::Output as Asked;
    use super::*;

    /// What is written for some words `FORMAT[=PATH]`, and where to, with what GitHub is given.
    fn planned(format: Option<Format>, words: &[&str]) -> Result<Vec<String>, String> {
        let output = words.iter().map(|word| {
            let (name, path) = word.split_once('=').map_or((*word, None), |(n, p)| (n, Some(p)));
            Asked { format: Format::of_name(name).unwrap(), path: path.map(PathBuf::from) }
        });
        let arguments = OutputArguments { format, output: output.collect(), no_ci: false };
        let added = |format, target| Output { format, target, asked: false };
        let extra = vec![
            added(Format::Github, Target::Printed),
            added(Format::GithubSummary, Target::Appended("summary".into())),
        ];
        let plan =
            Outputs::plan(&arguments, false, Color::Never, extra).map_err(|failure| failure.0)?;
        let shown = |one: &Output| match &one.target {
            Target::Printed => one.format.name().to_owned(),
            Target::File(path) => format!("{}={}", one.format.name(), path.display()),
            Target::Appended(path) => format!("{}>>{}", one.format.name(), path.display()),
        };
        Ok(plan.all.iter().map(shown).collect())
    }

    #[test]
    fn people_are_told_unless_something_else_is_printed() {
        let all = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let summary = "github-summary>>summary";
        assert_eq!(planned(None, &[]).unwrap(), all(&["human", "github", summary]));
        assert_eq!(
            planned(None, &["sarif=a", "json=b"]).unwrap(),
            all(&["human", "sarif=a", "json=b", "github", summary])
        );
        assert_eq!(planned(None, &["github"]).unwrap(), all(&["github", summary]));
        assert_eq!(
            planned(None, &["github", "short"]).unwrap(),
            all(&["short", "github", summary])
        );
        assert_eq!(planned(Some(Format::Json), &["sarif=a"]).unwrap(), all(&["json", "sarif=a"]));
        assert_eq!(planned(Some(Format::Json), &["json"]).unwrap(), all(&["json"]));
        let own = planned(None, &["github-summary=summary"]).unwrap();
        assert_eq!(own, all(&["human", "github-summary>>summary", "github"]));
    }

    #[test]
    fn outputs_in_each_other_s_way_are_refused() {
        assert!(planned(Some(Format::Json), &["sarif"]).unwrap_err().contains("json and sarif"));
        assert!(planned(Some(Format::Human), &["short"]).is_err());
        assert!(planned(None, &["sarif=a", "json=a"]).unwrap_err().contains("two outputs"));
    }
}
