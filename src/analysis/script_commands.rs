//! Commands of scripts that the server refuses.

use super::Analysis;
use super::script_values::is_spread;
use crate::catalog::redis as table;
use crate::ir::effect::BodyId;
use crate::source::Span;

/// What is wrong with a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandFault {
    /// There is none of its name, but one nearly so.
    Misspelt(String),
    /// It has fewer words than the command wants.
    TooFew {
        /// The least number of words behind the name.
        least: usize,
        /// How many there are.
        given: usize,
    },
}

/// A command of a script that the server refuses.
#[derive(Clone, Debug)]
pub struct WrongCommand {
    /// The script.
    pub body: BodyId,
    /// Where.
    pub span: Span,
    /// Its name as it is sent, in upper case.
    pub name: String,
    /// What is wrong.
    pub fault: CommandFault,
}

impl Analysis<'_> {
    /// The commands of scripts that the server's table shows to be wrong. Names with a dot are those of
    /// modules, and names that are far from any of the table may be newer than it.
    #[must_use]
    pub fn wrong_commands(&self) -> Vec<WrongCommand> {
        let mut found = Vec::new();
        for (body, values) in self.scripts() {
            for (_, op, call) in values.body.calls() {
                let (Some(command), Some(effect)) = (values.command(op), values.effect(op)) else {
                    continue;
                };
                // A word that is nothing for one caller of a function is written all the same.
                let given = command.words.len().max(call.arguments.len().saturating_sub(1));
                let known = command
                    .words
                    .iter()
                    .all(|word| !word.optional && !is_spread(values.body, word.value));
                let fault = match table::command(&command.name) {
                    Some(row) if known && given + 1 < least(row.arity) => {
                        CommandFault::TooFew { least: least(row.arity) - 1, given }
                    }
                    None => match misspelt(&command.name) {
                        Some(meant) => CommandFault::Misspelt(meant),
                        None => continue,
                    },
                    Some(_) => continue,
                };
                found.push(WrongCommand {
                    body,
                    span: effect.span,
                    name: command.name.clone(),
                    fault,
                });
            }
        }
        found
    }
}

/// The least number of words, the name included.
fn least(arity: i32) -> usize {
    arity.unsigned_abs() as usize
}

/// The command that a name is nearly.
fn misspelt(name: &str) -> Option<String> {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    let most = if name.len() > 5 { 2 } else { 1 };
    let mut near = table::commands().keys().filter(|known| plain && differs(name, known) <= most);
    let first = near.next()?;
    let best =
        near.fold(
            first,
            |best, known| {
                if differs(name, known) < differs(name, best) { known } else { best }
            },
        );
    (name.len() > 3).then(|| best.clone())
}

/// How many letters are to be changed, added, left out or swapped with the next.
fn differs(left: &str, right: &str) -> usize {
    let (left, right): (Vec<u8>, Vec<u8>) =
        (left.bytes().take(40).collect(), right.bytes().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let cell = |back: usize, at: usize| {
                rows.len().checked_sub(back).and_then(|row| rows.get(row)?.get(at)).copied()
            };
            let replaced = cell(1, j).unwrap_or(0) + usize::from(l != r);
            let longer = cell(1, j + 1).unwrap_or(0) + 1;
            let shorter = row.get(j).copied().unwrap_or(0) + 1;
            let swapped =
                i > 0 && j > 0 && left.get(i - 1) == Some(r) && right.get(j - 1) == Some(l);
            let swapped =
                cell(2, j.wrapping_sub(1)).filter(|_| swapped).map_or(usize::MAX, |cost| cost + 1);
            row.push(replaced.min(longer).min(shorter).min(swapped));
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_near_a_command_are_misspelt() {
        assert_eq!(misspelt("PEXPRIE").as_deref(), Some("PEXPIRE"));
        assert_eq!(misspelt("ZRANGEBYSCOR").as_deref(), Some("ZRANGEBYSCORE"));
        assert_eq!(misspelt("HGTE").as_deref(), Some("HGET"));
        assert_eq!(misspelt("JSON.SET"), None);
        assert_eq!(misspelt("FROBNICATE"), None);
        assert_eq!(differs("AB", "BA"), 1);
    }
}
