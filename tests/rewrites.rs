//! A critical section is the same wherever it stands: every fixture that marks a region is linted again
//! with the region moved into a function, into a closure and into a function of another file, and must say
//! as much each time: every mark is a finding's place or one of its steps, and there are no more findings
//! than marks. Marks are part of the text, so they move with it.
//!
//! ```text
//! // <region> remove(conn, &key): (conn: &mut Connection, key: &str) -> RedisResult<u64> as gone
//! let gone: u64 = conn.del(&key).await?;
//! // </region>
//! ```
//!
//! Before the colon stands the call that takes the region's place; behind it are the parameters and the
//! type of the function, whose call is followed by `?` when that is a `Result`. `as` names what the region
//! binds and the rest of the code uses; `as answer untried` says that the rest uses a `Result` itself, and
//! the call has no `?`; `as return` says that the region is the end of its function. A parameter `this`
//! stands for `self`. ` FN in a closure` behind all that marks a form in which the findings are known to
//! differ. `-- <region> taken(KEYS[1]): (key) as won` is the same in a script, which has no other file.

use std::path::Path;

use leaselint::config::Settings;
use leaselint::source::{Language, Tree};

use crate::{fixtures, marks, package, text};

/// Reading a region and moving it.
mod region;

use region::{Moved, Region};

/// A file of a project: path, language, text.
type File = (String, Language, String);

/// The files of a case and its settings. A single file stands for a package's root.
fn project(case: &Path) -> (Vec<File>, Settings) {
    if case.is_dir() {
        let (tree, settings) = fixtures::read(case);
        let files = tree.files().iter();
        let files = files.map(|file| (file.path.clone(), file.language, file.text.to_string()));
        return (files.collect(), settings);
    }
    let manifest = "[package]\nname = \"rewritten\"\n[dependencies]\nredis = \"1\"\n";
    let (path, language) = match case.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => ("src/lib.rs", Language::Rust),
        Some("lua") => ("script.lua", Language::Lua),
        _ => ("schema.sql", Language::Sql),
    };
    let manifest = ("Cargo.toml".to_owned(), Language::Other, manifest.to_owned());
    (vec![manifest, (path.to_owned(), language, text(case))], Settings::default())
}

/// The files with the one at an index replaced.
fn with(files: &[File], index: usize, moved: Moved) -> Tree {
    let mut files = files.to_vec();
    if let Some(text) = moved.elsewhere {
        files.push((elsewhere(&files, index), Language::Rust, text));
    }
    files[index].2 = moved.text;
    Tree::from_texts(files)
}

/// The path of the module `elsewhere` of a file.
fn elsewhere(files: &[File], index: usize) -> String {
    let path = Path::new(&files[index].0);
    let stem = path.file_stem().unwrap().to_string_lossy();
    let declared = files.iter().any(|(.., text)| text.contains(&format!("mod {stem};")));
    let folder = if declared { path.with_extension("") } else { path.parent().unwrap().to_owned() };
    folder.join("elsewhere.rs").to_string_lossy().replace('\\', "/")
}

/// The differences of all rewrites of one fixture, and how many there were.
fn differences(case: &Path) -> (usize, Vec<String>) {
    let (files, settings) = project(case);
    let place = case.strip_prefix(package()).unwrap().display();
    let mut told = Vec::new();
    let mut count = 0;
    for (index, file) in files.iter().enumerate() {
        let Some(region) = Region::of(&file.2) else { continue };
        for (form, moved) in region.moved() {
            count += 1;
            let tree = with(&files, index, moved);
            let found = marks::differences_up_to_steps(tree, settings.clone());
            match (region.differs(form), found.is_empty()) {
                (true, true) => {
                    told.push(format!("{place} {form}: the same now: remove FN {form}"))
                }
                (true, false) => {}
                (false, _) => {
                    told.extend(found.into_iter().map(|fault| format!("{place} {form}: {fault}")));
                }
            }
        }
    }
    (count, told)
}

#[test]
fn a_moved_region_says_the_same() {
    crate::on_large_stack(|| {
        let cases = fixtures::cases().into_values().flatten();
        let all: Vec<_> = cases.map(|case| differences(&case)).collect();
        let rewrites: usize = all.iter().map(|(count, _)| count).sum();
        let told: Vec<String> = all.into_iter().flat_map(|(_, told)| told).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
        assert!(rewrites >= 600, "only {rewrites} rewrites: are the regions still marked?");
    });
}
