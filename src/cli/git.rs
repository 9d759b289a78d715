//! Asking `git`: which lines changed, and what is staged.
//!
//! Nothing that the repository's files say is run (no external diff, no text conversion, no hook, no
//! monitor), nothing is written, and the answer does not hang on the user's settings or language.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use super::Failure;

/// The working tree of a repository.
pub(super) struct Repository {
    /// Its top folder, links resolved.
    pub top: PathBuf,
}

/// How git is asked for a diff that this program reads.
const DIFF: [&str; 11] = [
    "diff",
    "--unified=0",
    "--inter-hunk-context=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--find-renames",
    "--submodule=diff",
    "--ignore-submodules=none",
];

/// What fetches the rest of a shallow clone.
const FETCH_ALL: &str = "fetch the rest with `git fetch --unshallow`; in GitHub Actions give \
                         actions/checkout `fetch-depth: 0`, in GitLab CI set `GIT_DEPTH: 0`";

/// The git command in a folder.
fn git(folder: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "core.quotePath=true", "-c", "diff.relative=false"])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_PAGER", "cat")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .env_remove("LANGUAGE")
        .env_remove("GIT_EXTERNAL_DIFF")
        .env_remove("GIT_DIFF_OPTS")
        .stdin(Stdio::null());
    command
}

/// What a command of git gave.
struct Answer {
    code: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Answer {
    /// The output, where the command went well.
    fn good(self) -> Result<Vec<u8>, Failure> {
        if self.code == Some(0) { Ok(self.out) } else { Err(self.failure()) }
    }

    fn failure(&self) -> Failure {
        let says: Vec<&str> =
            self.err.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let says = if says.is_empty() { "it gave no reason".to_owned() } else { says.join(" ") };
        Failure(format!("git failed: {says}"))
    }

    /// The first line of the output.
    fn line(&self) -> String {
        let text = String::from_utf8_lossy(&self.out);
        text.lines().next().unwrap_or("").to_owned()
    }
}

fn ask(command: &mut Command) -> Result<Answer, Failure> {
    let output = command.output().map_err(|error| Failure(format!("can't run git: {error}")))?;
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Answer { code: output.status.code(), out: output.stdout, err })
}

impl Repository {
    /// The repository that a folder is in.
    pub fn around(folder: &Path) -> Result<Self, Failure> {
        let mut out = ask(git(folder).args(["rev-parse", "--show-toplevel"]))?.good()?;
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        let top = path(&out);
        let top = top.canonicalize().map_err(|error| {
            Failure(format!("can't read {}, where git has the repository: {error}", top.display()))
        })?;
        Ok(Self { top })
    }

    fn git(&self) -> Command {
        git(&self.top)
    }

    /// The commit that the current one and another have in common.
    pub fn merge_base(&self, base: &str) -> Result<String, Failure> {
        let commit = format!("{base}^{{commit}}");
        let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", &commit];
        let found = ask(self.git().args(verify))?;
        if found.code != Some(0) {
            return Err(self.unknown(base)?);
        }
        let found = ask(self.git().args(["merge-base", &found.line(), "HEAD"]))?;
        match found.code {
            Some(0) => Ok(found.line()),
            Some(1) if self.is_shallow()? => Err(Failure(format!(
                "the clone is shallow, and where HEAD left `{base}` is not in it: {FETCH_ALL}"
            ))),
            Some(1) => Err(Failure(format!("HEAD and `{base}` have no commit in common"))),
            _ => Err(found.failure()),
        }
    }

    /// The sentence for a base that is no commit here.
    fn unknown(&self, base: &str) -> Result<Failure, Failure> {
        let elsewhere = format!("refs/remotes/origin/{base}");
        let there = ["rev-parse", "--verify", "--quiet", "--end-of-options", &elsewhere];
        let what = if ask(self.git().args(there))?.code == Some(0) {
            format!("did you mean `origin/{base}`?")
        } else if base.starts_with('-') || base.contains("..") {
            "expected a branch, a tag or a commit".to_owned()
        } else if self.is_shallow()? {
            format!("the clone is shallow: {FETCH_ALL}")
        } else {
            let branch = base.strip_prefix("origin/").unwrap_or(base);
            format!("if it is a branch, fetch it: `git fetch origin {branch}`")
        };
        Ok(Failure(format!("there is no commit `{base}` here: {what}")))
    }

    fn is_shallow(&self) -> Result<bool, Failure> {
        let answer = ask(self.git().args(["rev-parse", "--is-shallow-repository"]))?;
        Ok(answer.line() == "true")
    }

    /// The diff from a commit to the files as they are.
    pub fn since<T>(
        &self,
        commit: &str,
        read: impl FnOnce(&mut dyn BufRead) -> T,
    ) -> Result<T, Failure> {
        stream(self.git().args(DIFF).args(["--end-of-options", commit, "--"]), read)
    }

    /// The diff from the current commit to what is staged.
    pub fn staged<T>(&self, read: impl FnOnce(&mut dyn BufRead) -> T) -> Result<T, Failure> {
        stream(self.git().args(DIFF).args(["--cached", "--"]), read)
    }

    /// The paths of files that git does not know and does not ignore, from the top, in a folder under it.
    pub fn untracked(&self, folder: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
        let list = ["ls-files", "--others", "--exclude-standard", "-z"];
        names(git(&self.top.join(path(folder))).args(list), folder)
    }

    /// The paths of files that are not as they are staged, from the top.
    pub fn unstaged(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let list =
            ["diff", "--name-only", "--no-renames", "--no-ext-diff", "--ignore-submodules", "-z"];
        names(self.git().args(list), b"")
    }

    /// The text of a file as it is staged; `None` when it is not.
    pub fn staged_text(&self, name: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
        let mut object = std::ffi::OsString::from(":./");
        object.push(path(name));
        let answer = ask(self.git().args(["cat-file", "blob"]).arg(object))?;
        Ok((answer.code == Some(0)).then_some(answer.out))
    }
}

/// The names that a command prints, each with a folder before it.
fn names(command: &mut Command, folder: &[u8]) -> Result<Vec<Vec<u8>>, Failure> {
    let out = ask(command)?.good()?;
    let names = out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
    Ok(names.map(|name| [folder, slash, name].concat()).collect())
}

/// Runs a command and reads its output as it comes.
fn stream<T>(
    command: &mut Command,
    read: impl FnOnce(&mut dyn BufRead) -> T,
) -> Result<T, Failure> {
    let cannot = |error: std::io::Error| Failure(format!("can't run git: {error}"));
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let (Some(out), Some(mut err)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(Failure("can't run git: it has no output".to_owned()));
    };
    // Read beside the output: git waits while nobody takes its warnings.
    let complaints = thread::spawn(move || {
        let mut bytes = Vec::new();
        // What can't be read is not repeated.
        let _ = err.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let read = read(&mut BufReader::new(out));
    let code = child.wait().map_err(cannot)?.code();
    let err = complaints.join().unwrap_or_default();
    Answer { code, out: Vec::new(), err }.good()?;
    Ok(read)
}

/// The path of a name that git prints.
#[cfg(unix)]
fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// The path of a name that git prints.
#[cfg(not(unix))]
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
