//! The CI system that runs this, as the environment tells, and what it wants to be given.

use std::path::{Path, PathBuf};

use super::output::{Output, Target};
use crate::report::Format;
use crate::source::walk::relative;

/// Looks up a variable of the environment.
type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// A CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum System {
    GitHub,
    GitLab,
    Azure,
    TeamCity,
}

/// Where GitLab's documentation puts the report.
const GITLAB_REPORT: &str = "gl-code-quality-report.json";

/// Variables that name the folder a CI system checked the repository out to.
const CHECKOUTS: [&str; 3] = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR", "BUILD_SOURCESDIRECTORY"];

fn system(variables: Variables<'_>) -> Option<System> {
    let is = |name: &str, value: &str| {
        variables(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
    };
    if is("GITHUB_ACTIONS", "true") {
        Some(System::GitHub)
    } else if is("GITLAB_CI", "true") {
        Some(System::GitLab)
    } else if is("TF_BUILD", "true") {
        Some(System::Azure)
    } else {
        set(variables, "TEAMCITY_VERSION").map(|_| System::TeamCity)
    }
}

/// What to give the CI system that runs this.
pub(super) fn outputs(variables: Variables<'_>) -> Vec<Output> {
    let output = |format, target| Output { format, target, asked: false };
    match system(variables) {
        Some(System::GitHub) => {
            let summary = set(variables, "GITHUB_STEP_SUMMARY")
                .map(|path| output(Format::GithubSummary, Target::Appended(path.into())));
            let commands = output(Format::Github, Target::Printed);
            std::iter::once(commands).chain(summary).collect()
        }
        Some(System::GitLab) => {
            let folder = set(variables, "CI_PROJECT_DIR").map(PathBuf::from);
            let path = folder.unwrap_or_default().join(GITLAB_REPORT);
            vec![output(Format::Gitlab, Target::File(path))]
        }
        Some(System::Azure) => vec![output(Format::Azure, Target::Printed)],
        Some(System::TeamCity) => vec![output(Format::Teamcity, Target::Printed)],
        None => Vec::new(),
    }
}

/// The way from the top of the repository to the root: empty, or ends in `/`.
pub(super) fn base(root: &Path, variables: Variables<'_>) -> String {
    let repository = root.ancestors().find(|folder| folder.join(".git").exists());
    let checkout = || {
        let folders = CHECKOUTS.iter().filter_map(|name| set(variables, name));
        let mut folders = folders.filter_map(|folder| Path::new(&folder).canonicalize().ok());
        folders.find(|folder| root.starts_with(folder))
    };
    match repository.map(Path::to_owned).or_else(checkout) {
        Some(top) if top != root => format!("{}/", relative(&top, root)),
        _ => String::new(),
    }
}

/// Where GitHub shows the files of the revision that is checked.
pub(super) fn files_url(variables: Variables<'_>) -> Option<String> {
    let part = |name: &str| set(variables, name);
    let (server, repository) = (part("GITHUB_SERVER_URL")?, part("GITHUB_REPOSITORY")?);
    Some(format!("{server}/{repository}/blob/{}/", part("GITHUB_SHA")?))
}

fn set(variables: Variables<'_>, name: &str) -> Option<String> {
    variables(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'v>(pairs: &'v [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'v {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn each_system_is_given_its_format() {
        let formats = |pairs: &[(&str, &str)]| {
            outputs(&of(pairs)).into_iter().map(|output| output.format).collect::<Vec<_>>()
        };
        assert_eq!(formats(&[]), []);
        assert_eq!(formats(&[("GITHUB_ACTIONS", "false"), ("CI", "true")]), []);
        assert_eq!(formats(&[("GITHUB_ACTIONS", "true")]), [Format::Github]);
        let summary = [("GITHUB_ACTIONS", "true"), ("GITHUB_STEP_SUMMARY", "/s")];
        assert_eq!(formats(&summary), [Format::Github, Format::GithubSummary]);
        assert_eq!(formats(&[("GITLAB_CI", "true")]), [Format::Gitlab]);
        assert_eq!(formats(&[("TF_BUILD", "True")]), [Format::Azure]);
        assert_eq!(formats(&[("TEAMCITY_VERSION", "2026.1")]), [Format::Teamcity]);
        assert_eq!(formats(&[("TEAMCITY_VERSION", "")]), []);
    }

    #[test]
    fn paths_for_a_forge_begin_at_the_top_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let inner = top.join("back/end");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(base(&inner, &of(&[])), "");
        let workspace = top.to_string_lossy().into_owned();
        assert_eq!(base(&inner, &of(&[("GITHUB_WORKSPACE", &workspace)])), "back/end/");
        std::fs::create_dir(top.join(".git")).unwrap();
        assert_eq!(base(&inner, &of(&[])), "back/end/");
        assert_eq!(base(&top, &of(&[])), "");
    }
}
