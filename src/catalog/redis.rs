//! The Redis command table: where keys stand, what a command does, what comes back.
//!
//! The table is data (`rules/apis/redis-commands.toml`). A command that is not in it may still be
//! one: modules and servers newer than the table have more.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::ir::effect::ExpiryUnit;

const TABLE: &str = include_str!("../../rules/apis/redis-commands.toml");

/// A command of the table.
#[derive(Clone, Debug)]
pub struct Command {
    /// Upper case.
    pub name: String,
    /// Words with the name; negative: at least so many.
    pub arity: i32,
    /// Where keys stand.
    pub keys: Vec<KeyPlace>,
    /// What it does to the data.
    pub access: Access,
    /// What comes back.
    pub reply: Reply,
    /// Whether the whole reply may be missing (nil).
    pub may_be_missing: bool,
    /// Replies that words among the arguments ask for: `GET` of SET, `COUNT` of LPOS.
    pub with: Vec<(String, ReplyForm)>,
    /// The reply from so many words on, the name included.
    pub counted: Option<(usize, ReplyForm)>,
    /// What an array holds; `None` when it depends.
    pub elements: Option<Elements>,
    /// The expiry it sets on its key.
    pub expiry: Option<ExpiryPlace>,
    /// The word (the name being word 0) that is stored.
    pub value: Option<usize>,
    /// Whether a script may call it.
    pub in_scripts: bool,
    /// Whether it waits for other clients.
    pub blocks: bool,
    /// The word that says how long, in seconds.
    pub waits: Option<WordPlace>,
    /// Second words of a container command; empty for others.
    pub subcommands: Vec<String>,
    /// The server version it came with, when newer than Redis 7.0.
    pub since: Option<String>,
}

/// What a command does to the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// May change it.
    Write,
    /// Only looks at it.
    Read,
    /// Does not touch it.
    None,
}

/// What comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// An integer.
    Integer,
    /// Text that holds a number (`ZSCORE`).
    Number,
    /// Text.
    Text,
    /// A status (`OK`).
    Status,
    /// A list.
    Array,
    /// A list whose elements may be missing (`MGET`).
    ArrayOfMissing,
    /// It depends.
    Any,
}

/// A reply, and whether nothing may stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyForm {
    /// What comes back.
    pub reply: Reply,
    /// Whether the whole reply may be missing (nil).
    pub may_be_missing: bool,
}

/// What an array holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Elements {
    /// Text.
    Text,
    /// Text that holds a number.
    Number,
    /// Integers.
    Integer,
    /// A cursor, which is text, and an array.
    Page,
}

/// Where one word stands; word 0 is the command's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPlace {
    /// Counted from the name.
    FromStart(usize),
    /// The last one.
    Last,
}

/// Where keys stand; word 0 is the command's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyPlace {
    /// One word.
    Word(usize),
    /// From a word to the `before_end`-th word from the end (1 is the last), every `step`-th.
    Range {
        /// First.
        first: usize,
        /// Last, counted from the end.
        before_end: usize,
        /// Distance.
        step: usize,
    },
    /// Two or more words in a row.
    Span(usize, usize),
    /// This word counts them, they follow, every `step`-th.
    Counted {
        /// The word that counts.
        count: usize,
        /// Distance.
        step: usize,
    },
    /// The word after this option.
    After(String),
    /// All words after this option; only the first half of them when `half`.
    AllAfter {
        /// The option.
        option: String,
        /// Whether the second half is something else.
        half: bool,
    },
}

/// Where a command's expiry stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpiryPlace {
    /// In a word of its own.
    Word(usize, ExpiryUnit),
    /// After an option: EX, PX, EXAT, PXAT, KEEPTTL.
    Options,
}

#[derive(Deserialize)]
struct Written {
    commands: BTreeMap<String, WrittenCommand>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCommand {
    arity: i32,
    #[serde(default)]
    keys: Vec<String>,
    access: Access,
    reply: String,
    expiry: Option<String>,
    value: Option<usize>,
    script: Option<bool>,
    #[serde(default)]
    blocks: bool,
    waits: Option<i32>,
    #[serde(default)]
    subcommands: Vec<String>,
    since: Option<String>,
    #[serde(default)]
    with: BTreeMap<String, String>,
    counted: Option<WrittenCounted>,
    elements: Option<Elements>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenCounted {
    words: usize,
    reply: String,
}

/// The whole table, by name.
#[must_use]
pub fn commands() -> &'static BTreeMap<String, Command> {
    static COMMANDS: OnceLock<BTreeMap<String, Command>> = OnceLock::new();
    COMMANDS.get_or_init(|| read(TABLE).unwrap_or_default())
}

/// The command of this name, in any case; `None` when the table has none.
#[must_use]
pub fn command(name: &str) -> Option<&'static Command> {
    commands().get(name.to_ascii_uppercase().as_str())
}

fn read(text: &str) -> Result<BTreeMap<String, Command>, String> {
    let written: Written = toml::from_str(text).map_err(|error| error.to_string())?;
    let one = |(name, written): (String, WrittenCommand)| {
        let command = written.into_command(name.clone())?;
        Ok((name, command))
    };
    written.commands.into_iter().map(one).collect()
}

impl WrittenCommand {
    fn into_command(self, name: String) -> Result<Command, String> {
        let keys: Result<Vec<_>, _> =
            self.keys.iter().map(|place| KeyPlace::parse(place)).collect();
        let form = |text: &str| form(text).ok_or_else(|| format!("{name}: no reply `{text}`"));
        let ReplyForm { reply, may_be_missing } = form(&self.reply)?;
        let with = self.with.iter().map(|(word, text)| Ok((word.clone(), form(text)?)));
        let with: Result<Vec<_>, String> = with.collect();
        let counted = self.counted.map(|counted| Ok((counted.words, form(&counted.reply)?)));
        let counted: Option<Result<_, String>> = counted;
        let counted = counted.transpose()?;
        Ok(Command {
            keys: keys.map_err(|message| format!("{name}: {message}"))?,
            expiry: self.expiry.as_deref().map(expiry).transpose()?,
            name,
            arity: self.arity,
            access: self.access,
            reply,
            may_be_missing,
            with: with?,
            counted,
            elements: self.elements,
            value: self.value,
            in_scripts: self.script.unwrap_or(true),
            blocks: self.blocks,
            waits: self.waits.map(|place| match usize::try_from(place) {
                Ok(word) => WordPlace::FromStart(word),
                Err(_) => WordPlace::Last,
            }),
            subcommands: self.subcommands,
            since: self.since,
        })
    }
}

fn form(text: &str) -> Option<ReplyForm> {
    if text == "array-of?" {
        return Some(ReplyForm { reply: Reply::ArrayOfMissing, may_be_missing: false });
    }
    let bare = text.trim_end_matches('?');
    Some(ReplyForm { reply: reply(bare)?, may_be_missing: bare != text })
}

fn reply(text: &str) -> Option<Reply> {
    Some(match text {
        "integer" => Reply::Integer,
        "number" => Reply::Number,
        "text" => Reply::Text,
        "status" => Reply::Status,
        "array" => Reply::Array,
        "any" => Reply::Any,
        _ => return None,
    })
}

fn expiry(text: &str) -> Result<ExpiryPlace, String> {
    if text == "options" {
        return Ok(ExpiryPlace::Options);
    }
    let wrong = || format!("no expiry `{text}`");
    let (unit, word) = text.split_once(' ').ok_or_else(wrong)?;
    let unit = match unit {
        "s" => ExpiryUnit::Seconds,
        "ms" => ExpiryUnit::Milliseconds,
        "unix_s" => ExpiryUnit::UnixSeconds,
        "unix_ms" => ExpiryUnit::UnixMilliseconds,
        _ => return Err(wrong()),
    };
    word.parse().map(|word| ExpiryPlace::Word(word, unit)).map_err(|_| wrong())
}

impl KeyPlace {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("no key place `{text}`");
        let number = |text: &str| text.parse::<usize>().map_err(|_| wrong());
        if let Some(counted) = text.strip_prefix('#') {
            let (count, step) = counted.split_once('/').unwrap_or((counted, "1"));
            return Ok(Self::Counted { count: number(count)?, step: number(step)? });
        }
        if text.starts_with(|c: char| c.is_ascii_uppercase()) {
            if let Some(option) = text.strip_suffix("..") {
                return Ok(Self::AllAfter { option: option.to_owned(), half: false });
            }
            if let Some(option) = text.strip_suffix("/2") {
                return Ok(Self::AllAfter { option: option.to_owned(), half: true });
            }
            return Ok(Self::After(text.to_owned()));
        }
        let (range, step) = text.split_once('/').unwrap_or((text, "1"));
        match range.split_once("..") {
            None => number(range).map(Self::Word),
            Some((first, last)) => match last.strip_prefix('-') {
                Some(before_end) => Ok(Self::Range {
                    first: number(first)?,
                    before_end: number(before_end)?,
                    step: number(step)?,
                }),
                None => Ok(Self::Span(number(first)?, number(last)?)),
            },
        }
    }
}

impl Command {
    /// Indices of the words that are keys, the name being word 0. `text` gives a word's text when
    /// it is literal, `words` is their number with the name. `None` when a count that decides is
    /// not literal.
    #[must_use]
    pub fn key_words<'w>(
        &self,
        words: usize,
        text: impl Fn(usize) -> Option<&'w str>,
    ) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for place in &self.keys {
            place.collect(words, &text, &mut found)?;
        }
        found.retain(|index| *index < words);
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// What comes back to these words, the name being word 0.
    #[must_use]
    pub fn reply_to<'w>(&self, words: usize, text: impl Fn(usize) -> Option<&'w str>) -> ReplyForm {
        let asked = |wanted: &str| {
            (1..words)
                .any(|index| text(index).is_some_and(|word| word.eq_ignore_ascii_case(wanted)))
        };
        let by_word = self.with.iter().find(|(word, _)| asked(word)).map(|(_, form)| *form);
        let by_count = self.counted.filter(|(least, _)| words >= *least).map(|(_, form)| form);
        let own = ReplyForm { reply: self.reply, may_be_missing: self.may_be_missing };
        by_word.or(by_count).unwrap_or(own)
    }

    /// Whether the number of words, the name included, is right.
    #[must_use]
    pub fn accepts(&self, words: usize) -> bool {
        let wanted = self.arity.unsigned_abs() as usize;
        if self.arity < 0 { words >= wanted } else { words == wanted }
    }
}

impl KeyPlace {
    fn collect<'w>(
        &self,
        words: usize,
        text: &impl Fn(usize) -> Option<&'w str>,
        found: &mut Vec<usize>,
    ) -> Option<()> {
        let position = |option: &str| {
            (1..words)
                .find(|index| text(*index).is_some_and(|word| word.eq_ignore_ascii_case(option)))
        };
        match self {
            Self::Word(index) => found.push(*index),
            Self::Span(first, last) => found.extend(*first..=*last),
            Self::Range { first, before_end, step } => {
                let end = (words + 1).saturating_sub(*before_end);
                found.extend((*first..end).step_by((*step).max(1)));
            }
            Self::Counted { count, step } => {
                if words > *count {
                    let number: usize = text(*count)?.parse().ok()?;
                    // A literal count may be any number; only the words that are there are keys.
                    let last = number.saturating_mul(*step).min(words);
                    found.extend((0..last).step_by((*step).max(1)).map(|at| count + 1 + at));
                }
            }
            Self::After(option) => found.extend(position(option).map(|at| at + 1)),
            Self::AllAfter { option, half } => {
                if let Some(at) = position(option) {
                    let rest = words - at - 1;
                    let keys = if *half { rest / 2 } else { rest };
                    found.extend(at + 1..at + 1 + keys);
                }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checked against `COMMAND GETKEYS` of a 7.0.15 server.
    #[test]
    fn keys_are_where_a_server_says() {
        for (line, expected) in [
            ("SET k v PX 10 NX", &["k"][..]),
            ("MSET a 1 b 2", &["a", "b"]),
            ("DEL a b c", &["a", "b", "c"]),
            ("BLPOP a b 0", &["a", "b"]),
            ("BITOP AND d a b", &["d", "a", "b"]),
            ("EVAL s 2 a b x y", &["a", "b"]),
            ("ZUNIONSTORE d 2 a b WEIGHTS 1 2", &["d", "a", "b"]),
            ("XREAD COUNT 2 STREAMS a b 0 0", &["a", "b"]),
            ("OBJECT ENCODING k", &["k"]),
            ("PUBLISH c m", &[]),
            ("SORT k STORE d", &["k", "d"]),
            ("LCS a b", &["a", "b"]),
            ("MSETEX 2 a 1 b 2 EX 5", &["a", "b"]),
            ("LMPOP 1 a LEFT", &["a"]),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let command = command(words.first().unwrap()).unwrap();
            let keys = command.key_words(words.len(), |index| words.get(index).copied()).unwrap();
            let names: Vec<&str> =
                keys.iter().filter_map(|index| words.get(*index).copied()).collect();
            assert_eq!(names, expected, "{line}");
        }
    }

    #[test]
    fn a_reply_is_what_the_words_ask_for() {
        for (line, reply, may_be_missing) in [
            ("SET k v NX", Reply::Status, true),
            ("SET k v get", Reply::Text, true),
            ("ZADD k 1 m", Reply::Integer, false),
            ("ZADD k INCR 1 m", Reply::Number, true),
            ("SPOP k", Reply::Text, true),
            ("SPOP k 3", Reply::Array, false),
            ("LPOP k 3", Reply::Array, true),
            ("OBJECT ENCODING k", Reply::Text, true),
        ] {
            let words: Vec<&str> = line.split(' ').collect();
            let command = command(words.first().unwrap()).unwrap();
            let found = command.reply_to(words.len(), |index| words.get(index).copied());
            assert_eq!(found, ReplyForm { reply, may_be_missing }, "{line}");
        }
        assert_eq!(command("MGET").unwrap().elements, Some(Elements::Text));
    }

    #[test]
    fn counts_that_are_not_literal_say_nothing_and_huge_ones_do_no_harm() {
        let eval = command("eval").unwrap();
        assert_eq!(eval.key_words(4, |_| None), None);
        assert_eq!(eval.key_words(4, |_| Some("99999999999999")), Some(vec![3]));
    }

    #[test]
    fn the_table_reads_whole() {
        assert!(read(TABLE).unwrap().len() > 240);
        let get = command("GET").unwrap();
        assert_eq!((get.reply, get.may_be_missing), (Reply::Text, true));
        assert_eq!(
            command("pexpire").unwrap().expiry,
            Some(ExpiryPlace::Word(2, ExpiryUnit::Milliseconds))
        );
        assert!(command("SET").unwrap().accepts(5));
        assert!(!command("GET").unwrap().accepts(3));
        assert!(!command("MULTI").unwrap().in_scripts);
        assert_eq!(command("MGET").unwrap().reply, Reply::ArrayOfMissing);
    }
}
