//! `leaselint init`: writes a `leaselint.toml` with comments, made of the list of keys and of what the
//! files of the folder tell.

use std::fmt::Write;
use std::path::Path;

use super::arguments::InitArguments;
use super::workspace::absolute;
use super::{CLEAN, Failure, output, settings};
use crate::config::keys::{KEYS, Key};
use crate::config::schema::ADDRESS;
use crate::report::one_line;
use crate::source::exclude::Exclude;
use crate::source::walk::{LARGEST_FILE, Walk};
use crate::source::{Language, Tree};

/// What the files of a folder tell.
mod detect;

use detect::Detected;

/// The longest a line of a comment may be, in characters.
const WIDTH: usize = 98;

/// Writes the file, or prints it.
pub(super) fn run(arguments: &InitArguments) -> Result<u8, Failure> {
    let folder = absolute(&arguments.folder)?;
    let file = arguments.folder.join(settings::FILE);
    if !arguments.force && !arguments.print {
        refuse_other(&folder, &file)?;
    }
    let walk = Walk {
        root: folder.clone(),
        paths: vec![folder],
        exclude: Exclude::default(),
        largest: LARGEST_FILE,
    };
    let tree = walk.read(&|| ())?;
    let detected = Detected::of(&tree);
    let text = text(&tree, &detected)?;
    if arguments.print {
        output(text.as_bytes())?;
        return Ok(CLEAN);
    }
    super::files::replace(&file, text.as_bytes())
        .map_err(|error| Failure(format!("can't write {}: {error}", file.display())))?;
    let mut told = format!("wrote {}\n", one_line(&file.display().to_string()));
    for line in facts(&tree, &detected) {
        writeln!(told, "  {line}")?;
    }
    output(told.as_bytes())?;
    Ok(CLEAN)
}

/// Fails when the folder has settings already.
fn refuse_other(folder: &Path, file: &Path) -> Result<(), Failure> {
    if file.symlink_metadata().is_ok() {
        let file = file.display();
        return Err(Failure(format!("{file} is there already; --force writes over it")));
    }
    if settings::in_manifest(folder)? {
        let words =
            "Cargo.toml has a table of leaselint's, and a leaselint.toml would stand before it";
        return Err(Failure(format!("{words}; --force writes one all the same")));
    }
    Ok(())
}

/// The text of the file.
fn text(tree: &Tree, detected: &Detected) -> Result<String, std::fmt::Error> {
    let mut text = format!("#:schema {ADDRESS}\n");
    text +=
        "# Settings of leaselint. Every key is optional; what is commented out is an example.\n";
    text += "#\n# Found here:\n";
    for line in facts(tree, detected) {
        comment(&mut text, "#   ", &line)?;
    }
    for key in KEYS {
        text.push('\n');
        let default = format!("{} (when not said: {})", key.summary, key.default);
        comment(&mut text, "# ", &default)?;
        match value(key, detected) {
            Some((value, why)) => {
                comment(&mut text, "# ", &why)?;
                writeln!(text, "{} = {value}", key.name)?;
            }
            None => writeln!(text, "# {} = {}", key.name, key.example)?,
        }
    }
    Ok(text)
}

/// The value of a key that what was found speaks for, and why.
fn value(key: &Key, detected: &Detected) -> Option<(String, String)> {
    match key.name {
        "cluster" => {
            let sign = detected.cluster.as_ref()?;
            Some(("true".to_owned(), format!("found: {sign}")))
        }
        "dialect" => {
            let [only] = detected.dialects.as_slice() else { return None };
            Some((format!("\"{only}\""), "found: no other dialect".to_owned()))
        }
        _ => None,
    }
}

/// What was found, a line each.
fn facts(tree: &Tree, detected: &Detected) -> Vec<String> {
    let of = |language| tree.files().iter().filter(|file| file.language == language).count();
    let (rust, lua, sql) = (of(Language::Rust), of(Language::Lua), of(Language::Sql));
    let list = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => {
            names.iter().map(|name| one_line(name).into_owned()).collect::<Vec<_>>().join(", ")
        }
    };
    let cluster = detected.cluster.as_deref().unwrap_or("no sign of one");
    vec![
        format!("files: {rust} of Rust, {lua} of Lua, {sql} of SQL"),
        format!("Redis clients and lock libraries: {}", list(&detected.clients)),
        format!("scripts for Redis: {}", detected.scripts),
        format!("Redis Cluster: {}", one_line(cluster)),
        format!("SQL dialects: {}", list(&detected.dialects)),
        format!("migrations: {}", list(&detected.migrations)),
    ]
}

/// Writes a comment, wrapped.
fn comment(text: &mut String, leader: &str, words: &str) -> std::fmt::Result {
    let mut line = String::new();
    for word in words.split(' ') {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH {
            writeln!(text, "{leader}{line}")?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    writeln!(text, "{leader}{line}")
}
