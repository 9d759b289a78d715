//! Strangers' text, made fit for a terminal and for the log of a CI system: no name, key or line of
//! code can steer the one or give a command to the other.
//!
//! GitHub's runner takes a line for a command when it begins with `::`, blanks aside, and, in an
//! older spelling, when `##[` stands anywhere in it; Azure Pipelines looks for `##vso[` and `##[`,
//! TeamCity for `##teamcity[`.

use std::borrow::Cow;

/// A name or a sentence on one line: each character that could steer a terminal, or end the line,
/// is written as an escape (`\n`, `\u{1b}`), and `##[` as `#\#[`.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    let unfit = |character: char| steers(character) || character.is_control();
    if !text.contains("##") && !text.chars().any(unfit) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if unfit(character) {
            line.extend(character.escape_default());
        } else {
            line.push(character);
            if text.get(at..).is_some_and(begins_command) {
                line.push('\\');
            }
        }
    }
    Cow::Owned(line)
}

/// The text with each character that could steer a terminal replaced by a mark of as many bytes,
/// and so the second sign of `##[`. Its lines stay: `\n`, `\r\n` and tabs are kept.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let unfit = |character: char| steers(character) || character == '\r';
    if !text.contains("##") && !text.chars().any(unfit) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut commands = false;
    for (at, character) in text.char_indices() {
        let rest = text.get(at..).unwrap_or("");
        let returns = character == '\r' && !rest.starts_with("\r\n");
        shown.push(match character {
            _ if commands => '?',
            plain if !returns && !steers(plain) => plain,
            control if control.len_utf8() == 1 => '?',
            control if control.len_utf8() == 2 => '¿',
            _ => char::REPLACEMENT_CHARACTER,
        });
        commands = begins_command(rest);
    }
    Cow::Owned(shown)
}

/// A line of a report that is no command of ours: one that would be taken for one is told apart by
/// a mark before it.
pub(super) fn no_command(line: &str) -> Cow<'_, str> {
    let text = line.trim_start();
    if !text.starts_with("::") {
        return Cow::Borrowed(line);
    }
    let indent = line.get(..line.len() - text.len()).unwrap_or("");
    Cow::Owned(format!("{indent}› {text}"))
}

/// Whether a CI system could take what begins here for a command.
fn begins_command(text: &str) -> bool {
    text.strip_prefix("##").is_some_and(|rest| {
        let word = rest.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        word.starts_with('[') && rest.len() - word.len() <= "teamcity".len()
    })
}

/// Whether a character is a control other than those of text, ends a line as only some programs see
/// it, can't be seen, or turns the direction of what follows.
fn steers(character: char) -> bool {
    let unseen = matches!(
        character,
        '\u{61c}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
    );
    unseen || (character.is_control() && !matches!(character, '\n' | '\t' | '\r'))
}
