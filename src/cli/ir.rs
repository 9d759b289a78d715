//! `leaselint ir`: what one file is lowered to, readable. The files around it are read as well, since
//! they give it its names; only its own bodies are printed.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::{CLEAN, Failure, output};
use crate::config::Settings;
use crate::ir::text;
use crate::link::Program;
use crate::link::effects::describe;
use crate::report::{clean, one_line};
use crate::source::exclude::Exclude;
use crate::source::walk::{LARGEST_FILE, Walk, relative};
use crate::source::{FileId, Language, Span};

/// Prints the functions of a file, its bodies and what could not be read.
pub(super) fn run(file: &Path) -> Result<u8, Failure> {
    let place = file
        .canonicalize()
        .map_err(|error| Failure(format!("can't read {}: {error}", file.display())))?;
    let root = package(&place).to_owned();
    let paths = if root.is_dir() { vec![root.clone(), place.clone()] } else { vec![place.clone()] };
    let path = relative(&root, &place);
    let tree =
        Walk { root, paths, exclude: Exclude::default(), largest: LARGEST_FILE }.read(&|| ())?;
    let Some(id) = tree.at(&path).filter(|file| file.language != Language::Other).map(|f| f.id)
    else {
        let reason = tree.skipped.iter().find(|skipped| skipped.path == path);
        let reason = reason.map_or("not a language leaselint reads", |skipped| &skipped.reason);
        return Err(Failure(format!("{}: {reason}", file.display())));
    };
    let program =
        Program::build(Arc::new(tree), Settings { no_prefilter: true, ..Settings::default() });
    let mut out = String::new();
    print(&program, id, &mut out)?;
    output(out.as_bytes())?;
    Ok(CLEAN)
}

/// The folder whose files give a file its names: the nearest with a manifest, or its own.
fn package(file: &Path) -> &Path {
    let with_manifest = file.ancestors().find(|folder| folder.join("Cargo.toml").is_file());
    with_manifest.or(file.parent()).unwrap_or(file)
}

fn print(program: &Program, id: FileId, out: &mut String) -> std::fmt::Result {
    let file = program.tree.file(id);
    let line =
        |span: Span| program.tree.file(span.file).map_or(0, |file| file.position(span.start).line);
    for body in program.bodies.iter().filter(|body| body.file == id) {
        let line_of_body = line(body.body.span);
        let name = program.qualified_name(body.id);
        let nested = if body.parent.is_some() { " (nested)" } else { "" };
        writeln!(out, "{}{nested}, line {line_of_body}:", one_line(&name))?;
        for text in text::body(&body.body).lines() {
            writeln!(out, "  {}", clean(text))?;
        }
        for effect in program.effects(body.id) {
            let line = line(effect.span);
            writeln!(out, "  effect, line {line}: {}", one_line(&describe(effect)))?;
        }
        writeln!(out)?;
    }
    for note in program.macro_notes(id) {
        let line = line(note.span);
        writeln!(out, "line {line}: {}", one_line(&text::macro_note(&note)))?;
    }
    for problem in program.problems.iter().filter(|problem| problem.span.file == id) {
        let place = file.map(|file| file.position(problem.span.start));
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        writeln!(out, "problem at {line}:{column}: {}", one_line(&problem.message))?;
    }
    Ok(())
}
