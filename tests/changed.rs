//! Changed lines: a pull request in a real repository, and every way to say what changed. Needs `git`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::cli::leaselint;

/// Shapes of changes: renames, new files, line ends, names, submodules, shallow clones.
mod shapes;

/// A repository in a folder of its own.
pub struct Repository {
    folder: tempfile::TempDir,
}

impl Repository {
    /// A repository whose branch `main` has a commit of these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.git(&["config", "user.name", "tester"]);
        repository.git(&["config", "user.email", "tester@example.invalid"]);
        repository.git(&["config", "commit.gpgSign", "false"]);
        repository.git(&["config", "protocol.file.allow", "always"]);
        files.iter().for_each(|(path, text)| repository.write(path, text));
        repository.commit();
        repository
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Runs git, which must succeed, and gives its output.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(self.path(), arguments)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn commit(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", "a commit"]);
    }

    /// What a run shows: rule and place of each finding.
    pub fn shows(&self, arguments: &[&str]) -> Vec<String> {
        places(&self.json(arguments))
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let all = [&["check", "--format", "json"], arguments].concat();
        let run = leaselint(self.path(), &all);
        assert!(run.code < 2, "{arguments:?}: {}", run.err);
        serde_json::from_str(&run.out).unwrap()
    }
}

/// Runs git in a folder without the settings of the machine.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `rule path:line` of each finding.
pub fn places(json: &Value) -> Vec<String> {
    let place = |finding: &Value| {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        format!("{} {}:{}", text("rule"), text("path"), finding["line"])
    };
    json["findings"].as_array().unwrap().iter().map(place).collect()
}

/// The line of a file that holds these words.
pub fn line(folder: &Path, path: &str, words: &str) -> usize {
    let text = std::fs::read_to_string(folder.join(path)).unwrap();
    let found: Vec<_> = text.lines().enumerate().filter(|(_, line)| line.contains(words)).collect();
    assert_eq!(found.len(), 1, "{path}: lines with `{words}`");
    found[0].0 + 1
}

/// A function that deletes a lease whoever holds it.
pub fn release(name: &str, key: &str) -> String {
    format!(
        "pub async fn {name}(con: &mut MultiplexedConnection) -> RedisResult<()> {{\n    \
         redis::cmd(\"DEL\").arg(\"lock:{key}\").query_async(con).await\n}}\n"
    )
}

/// A function that takes a lease.
pub fn take(name: &str, key: &str) -> String {
    format!(
        "pub async fn {name}(con: &mut MultiplexedConnection, token: &str) -> RedisResult<bool> {{\n    \
         redis::cmd(\"SET\").arg(\"lock:{key}\").arg(token).arg(\"NX\").arg(\"PX\").arg(9000)\
         .query_async(con).await\n}}\n"
    )
}

/// What every module begins with.
pub const HEAD: &str = "use redis::RedisResult;\nuse redis::aio::MultiplexedConnection;\n\n";

const MANIFEST: &str = "[package]\nname = \"shop\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\
    [dependencies]\nredis = \"1\"\nreqwest = \"0.12\"\n";

/// Takes a lease, and does what lies three functions below while it holds it.
const JOBS: &str = "\
use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Script};

const RELEASE: &str =
    \"if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0\";

pub async fn nightly(con: &mut MultiplexedConnection, token: &str) -> RedisResult<()> {
    let won: bool = redis::cmd(\"SET\")
        .arg(\"lock:nightly\").arg(token).arg(\"NX\").arg(\"PX\").arg(30_000)
        .query_async(con)
        .await?;
    if !won {
        return Ok(());
    }
    let closed = crate::books::close(con).await;
    let _: i64 = Script::new(RELEASE).key(\"lock:nightly\").arg(token).invoke_async(con).await?;
    closed
}
";

const BOOKS: &str = "\
use redis::RedisResult;
use redis::aio::MultiplexedConnection;

pub async fn close(con: &mut MultiplexedConnection) -> RedisResult<()> {
    sum_up(con).await
}

async fn sum_up(con: &mut MultiplexedConnection) -> RedisResult<()> {
    let sum: i64 = redis::cmd(\"GET\").arg(\"sum\").query_async(con).await?;
    tell(sum).await;
    Ok(())
}

async fn tell(sum: i64) {
    println!(\"{sum}\");
}
";

/// The shop before the pull request: two releases that delete whoever holds the lease.
fn shop() -> Repository {
    let stock = format!("{HEAD}{}\n{}", take("take", "stock"), release("give_back", "stock"));
    let desk = format!("{HEAD}{}\n{}", take("take", "desk"), release("leave", "desk"));
    let till = format!("{HEAD}{}", take("take", "till"));
    Repository::new(&[
        ("Cargo.toml", MANIFEST),
        (
            "src/lib.rs",
            "pub mod books;\npub mod desk;\npub mod jobs;\npub mod stock;\npub mod till;\n",
        ),
        ("src/jobs.rs", JOBS),
        ("src/books.rs", BOOKS),
        ("src/stock.rs", &stock),
        ("src/desk.rs", &desk),
        ("src/till.rs", &till),
    ])
}

/// The pull request: (a) an HTTP call below the lock of `nightly`, (b) the functions of `stock` change
/// places and that of `desk` moves to a new file, (c) a new release without a comparison, (d) the smell
/// of the till, which is there in `main`, is mended.
fn pull_request() -> Repository {
    let shop = shop();
    shop.write(
        "src/till.rs",
        &format!("{HEAD}{}\n{}", take("take", "till"), release("close", "till")),
    );
    shop.commit();
    assert_eq!(
        shop.shows(&[]),
        [
            "unconditional-del src/desk.rs:9",
            "unconditional-del src/stock.rs:9",
            "unconditional-del src/till.rs:9"
        ]
    );
    shop.git(&["checkout", "--quiet", "-b", "work"]);
    // (a)
    let call = "    let _ = reqwest::Client::new().post(\"https://books\").body(sum.to_string()).send().await;\n";
    shop.write(
        "src/books.rs",
        &BOOKS
            .replace("    println!(\"{sum}\");\n", &format!("    println!(\"{{sum}}\");\n{call}")),
    );
    // (b)
    shop.write(
        "src/stock.rs",
        &format!("{HEAD}{}\n{}", release("give_back", "stock"), take("take", "stock")),
    );
    shop.write("src/desk.rs", &format!("{HEAD}{}", take("take", "desk")));
    shop.write("src/leaving.rs", &format!("{HEAD}{}", release("leave", "desk")));
    // (c)
    let lib = "pub mod books;\npub mod desk;\npub mod jobs;\npub mod leaving;\npub mod stock;\npub mod till;\n";
    shop.write("src/lib.rs", lib);
    shop.write("src/jobs.rs", &format!("{JOBS}\n{}", release("abort", "nightly")));
    // (d)
    shop.write("src/till.rs", &format!("{HEAD}{}", take("take", "till")));
    shop.commit();
    // The branch it left has gone on.
    shop.git(&["checkout", "--quiet", "main"]);
    shop.write("src/lib.rs", "// The shop.\npub mod books;\npub mod desk;\npub mod jobs;\npub mod stock;\npub mod till;\n");
    shop.commit();
    shop.git(&["checkout", "--quiet", "work"]);
    shop
}

/// What the pull request brings.
fn brought(shop: &Path) -> Vec<String> {
    vec![
        format!("lock-across-http src/books.rs:{}", line(shop, "src/books.rs", "reqwest")),
        format!(
            "unconditional-del src/jobs.rs:{}",
            line(shop, "src/jobs.rs", "\"DEL\").arg(\"lock")
        ),
    ]
}

#[test]
fn a_pull_request_is_told_what_it_brings_on_the_lines_it_wrote() {
    let shop = pull_request();
    assert_eq!(shop.shows(&["--diff", "main"]), brought(shop.path()));
    let json = shop.json(&["--diff", "main"]);
    assert_eq!(json["summary"]["outside"], 2, "the two releases that moved");
    // The acquire, and where the finding is in a run of everything, are steps.
    let across = &json["findings"][0];
    let steps: Vec<_> = across["steps"].as_array().unwrap().iter().collect();
    let at = |place: u64| {
        steps.iter().any(|step| step["path"] == "src/jobs.rs" && step["line"] == place)
    };
    assert!(at(10) && at(15), "the acquire, and the call under it: {steps:#?}");
    // It has the name that it has in a run of everything.
    let whole = shop.json(&[]);
    let named = whole["findings"].as_array().unwrap().iter();
    let mut named = named.filter(|finding| finding["rule"] == "lock-across-http");
    let unmoved = named.next().unwrap();
    assert_eq!(unmoved["fingerprint"], across["fingerprint"]);
    assert_eq!(unmoved["path"], "src/jobs.rs");
}

#[test]
fn a_diff_in_a_file_says_the_same_as_git() {
    let shop = pull_request();
    let expected = brought(shop.path());
    let diffs: [&[&str]; 5] = [
        &["diff", "main...work"],
        &["diff", "-U0", "--no-prefix", "main...work"],
        &["diff", "-U10", "--no-renames", "main...work"],
        &["format-patch", "--stdout", "main..work"],
        &["diff", "--src-prefix=old/", "--dst-prefix=new/", "main...work"],
    ];
    for arguments in diffs {
        let diff = shop.git(arguments);
        let elsewhere = tempfile::tempdir().unwrap();
        let file = elsewhere.path().join("change.diff");
        std::fs::write(&file, &diff).unwrap();
        let shown = shop.shows(&["--diff-file", file.to_str().unwrap()]);
        assert_eq!(shown, expected, "git {arguments:?}");
        // A diff that went through Windows.
        std::fs::write(&file, diff.replace('\n', "\r\n")).unwrap();
        let shown = shop.shows(&["--diff-file", file.to_str().unwrap()]);
        assert_eq!(shown, expected, "git {arguments:?}, CRLF");
    }
}

#[test]
fn a_second_call_below_one_that_was_there_is_told() {
    let old = "    let _ = reqwest::Client::new().post(\"https://a\").send().await;\n";
    let new = "    let _ = reqwest::Client::new().get(\"https://b\").send().await;\n";
    let books = BOOKS.replace("    println!(\"{sum}\");\n", old);
    let shop = shop();
    shop.write("src/books.rs", &books);
    shop.commit();
    let whole = shop.json(&["--select", "lock-across-http"]);
    assert_eq!(whole["findings"].as_array().unwrap().len(), 1);
    assert_eq!(shop.shows(&["--diff", "HEAD"]), [""; 0]);
    shop.write(
        "src/books.rs",
        &books.replace("    tell(sum).await;\n", &format!("    tell(sum).await;\n{new}")),
    );
    let json = shop.json(&["--diff", "HEAD"]);
    assert_eq!(places(&json), ["lock-across-http src/books.rs:11"]);
    // A run of everything shows one finding at that lock, and this goes by its name.
    let whole = shop.json(&["--select", "lock-across-http"]);
    assert_eq!(whole["findings"].as_array().unwrap().len(), 1);
    assert_eq!(whole["findings"][0]["fingerprint"], json["findings"][0]["fingerprint"]);
    assert_eq!(json["findings"][0]["moved_from"]["path"], "src/jobs.rs");
}

#[test]
fn in_sarif_the_place_stays() {
    let shop = pull_request();
    let sarif = |arguments: &[&str]| {
        let all = [&["check", "--format", "sarif"], arguments].concat();
        let json: Value = serde_json::from_str(&leaselint(shop.path(), &all).out).unwrap();
        let results = json["runs"][0]["results"].as_array().unwrap().clone();
        let across = results.into_iter().find(|result| result["ruleId"] == "lock-across-http");
        across.unwrap()
    };
    let (whole, change) = (sarif(&[]), sarif(&["--diff", "main"]));
    assert_eq!(whole["locations"], change["locations"]);
    assert_eq!(whole["partialFingerprints"], change["partialFingerprints"]);
}

#[test]
fn what_is_staged_is_linted_as_it_is_staged() {
    let shop = shop();
    let bad = format!("{HEAD}{}\n{}", take("take", "till"), release("close", "till"));
    shop.write("src/till.rs", &bad);
    assert_eq!(shop.shows(&["--staged"]), [""; 0], "nothing is staged");
    shop.git(&["add", "src/till.rs"]);
    assert_eq!(shop.shows(&["--staged"]), ["unconditional-del src/till.rs:9"]);
    // The file has changed since; what is staged is as bad as before, and on the lines it had.
    shop.write("src/till.rs", &format!("// A till.\n{HEAD}{}", take("take", "till")));
    assert_eq!(shop.shows(&["--staged"]), ["unconditional-del src/till.rs:9"]);
    // It is mended in the index alone.
    shop.git(&["add", "src/till.rs"]);
    shop.write("src/till.rs", &bad);
    assert_eq!(shop.shows(&["--staged"]), [""; 0]);
    // What git does not know is no part of the commit.
    shop.write("src/new.rs", &format!("{HEAD}{}\n{}", take("take", "new"), release("free", "new")));
    assert_eq!(shop.shows(&["--staged"]), [""; 0]);
    std::fs::remove_file(shop.path().join("src/till.rs")).unwrap();
    assert_eq!(shop.shows(&["--staged"]), [""; 0]);
}

/// The path of a file that a run may be given, kept while the folder lives.
pub fn file_in(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}
