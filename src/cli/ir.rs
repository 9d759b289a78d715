//! `leaselint ir`: what one file is lowered to, readable.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use super::{CLEAN, Failure, output};
use crate::config::Settings;
use crate::ir::text;
use crate::link::Program;
use crate::link::effects::describe;
use crate::source::walk::{LARGEST_FILE, Walk};

/// Prints the functions of a file, its bodies and what could not be read.
pub(super) fn run(file: &Path) -> Result<u8, Failure> {
    let place = file
        .canonicalize()
        .map_err(|error| Failure(format!("can't read {}: {error}", file.display())))?;
    let root = place.parent().unwrap_or(&place).to_owned();
    let walk = Walk { root, paths: vec![place], exclude: Vec::new(), largest: LARGEST_FILE };
    let tree = walk.read(&|| ())?;
    if tree.files().is_empty() {
        let reason = tree.skipped.first().map_or("no Rust, Lua or SQL file", |skip| &skip.reason);
        return Err(Failure(format!("{}: {reason}", file.display())));
    }
    let program = Program::build(Arc::new(tree), Settings::default());
    let mut out = String::new();
    print(&program, &mut out)?;
    output(out.as_bytes())?;
    Ok(CLEAN)
}

fn print(program: &Program, out: &mut String) -> std::fmt::Result {
    for body in &program.bodies {
        let file = program.tree.file(body.file);
        let line = file.map_or(0, |file| file.position(body.body.span.start).line);
        let name = program.qualified_name(body.id);
        let nested = if body.parent.is_some() { " (nested)" } else { "" };
        writeln!(out, "{name}{nested}, line {line}:")?;
        for text in text::body(&body.body).lines() {
            writeln!(out, "  {text}")?;
        }
        for effect in program.effects(body.id) {
            writeln!(out, "  op {}: {}", effect.site.op.0, describe(effect))?;
        }
        writeln!(out)?;
    }
    for problem in &program.problems {
        let file = program.tree.file(problem.span.file);
        let place = file.map(|file| file.position(problem.span.start));
        let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
        writeln!(out, "problem at {line}:{column}: {}", problem.message)?;
    }
    Ok(())
}
