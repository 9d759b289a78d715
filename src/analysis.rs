//! The questions a rule may ask of the program.

use crate::link::Program;

pub mod guard;
pub mod row_guard;
pub mod schema;

/// A linked program with everything that was found out about it. Rules see this and nothing below.
pub struct Analysis<'p> {
    /// The program.
    pub program: &'p Program,
}

impl<'p> Analysis<'p> {
    /// Analyses a program.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        Self { program }
    }
}
