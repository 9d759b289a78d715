//! The grammar's recovering tree: reads the clauses of a statement that no parser takes whole.

use super::normalise::Normalised;
use super::reader::Session;
use super::token::Token;
use crate::ir::sql::Statement;

/// Reads a statement from its partial tree; `None` when its main clauses are not in it.
pub(super) fn read(
    _session: &Session<'_>,
    _tokens: &[Token],
    _normalised: &Normalised,
) -> Option<Statement> {
    None
}
