//! Words by which rules know what a name is about, from `rules/words.toml` and the settings.
//!
//! Matching is by the words of an identifier (`reservedQuantity` is *reserved*, *quantity*), never
//! by letters: *stock* is not in `stockholm`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The lists that come with leaselint, as text.
const BUILT_IN: &str = include_str!("../../rules/words.toml");

/// The lists that come with leaselint.
static WORDS: LazyLock<Words> = LazyLock::new(|| Words::parse(BUILT_IN).unwrap_or_default());

/// A list of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WordList {
    /// Goods that can run out.
    Stock,
    /// Money and what stands for it.
    Money,
    /// Amounts that are used up, besides goods.
    Level,
    /// Tables of what happened.
    Record,
    /// How much is allowed, and how much of it is used.
    Quota,
    /// Fencing numbers.
    Fence,
    /// Row versions.
    Version,
    /// States of a row.
    Status,
    /// States that are observed of a thing, not steps that it takes.
    Observed,
    /// States that say that a row was taken to work on it.
    Claim,
    /// States that say that money or goods moved.
    Moved,
    /// Holders of a row lease.
    Owner,
    /// Columns and tables that are leases.
    Lease,
    /// Who did something first.
    Actor,
    /// Payments as actions.
    Payment,
    /// Keys that make a repeated request harmless.
    Idempotency,
    /// Names that tell one request from others, in headers and fields of it.
    Request,
    /// Tables of messages to be sent.
    Outbox,
    /// Values for one use.
    Secret,
    /// Logins.
    Session,
    /// When something ends.
    Expiry,
    /// What a holder refreshes.
    Heartbeat,
    /// What nobody misses.
    Touch,
    /// Moments.
    Clock,
    /// Undoing.
    Undo,
    /// Whose rows they are.
    Tenant,
    /// Personal data.
    Personal,
    /// Network addresses and session tokens.
    Network,
    /// Words that speak of a lock.
    Lock,
    /// Ends of words that speak of no lock.
    NoLock,
    /// Owner tokens.
    Holder,
    /// What functions do to a lock.
    LockVerb,
    /// Verbs of functions that take a lock.
    AcquireVerb,
    /// Taking a lock away on purpose.
    Force,
    /// Persons.
    Person,
    /// Machines.
    Machine,
    /// Forms of one thing.
    Form,
    /// Names that say nothing.
    Mute,
    /// What was there before.
    Before,
    /// Moments at which a row reaches its end.
    Ended,
    /// States of a row that is nobody's.
    Free,
    /// Which kind of thing a row is.
    Kind,
    /// Ends of names that count milliseconds.
    Milliseconds,
    /// Ends of names that count seconds.
    Seconds,
    /// Ends of names that count minutes.
    Minutes,
}

/// One list: entries and exceptions, each split into words.
#[derive(Clone, Debug, Default)]
struct List {
    words: Vec<Vec<String>>,
    not: Vec<Vec<String>>,
}

/// An entry in a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The entry's words, joined by `_`.
    pub entry: String,
    /// The name's words before it.
    pub before: Vec<String>,
    /// The name's words after it.
    pub after: Vec<String>,
}

/// All lists.
#[derive(Clone, Debug, Default)]
pub struct Words {
    lists: BTreeMap<WordList, List>,
}

/// A list as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    words: Vec<String>,
    not: Vec<String>,
}

impl Words {
    /// The lists that come with leaselint.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &WORDS
    }

    /// Lists from text of the form of `rules/words.toml`.
    ///
    /// # Errors
    /// What is wrong with the text, in the words of the TOML reader.
    pub fn parse(text: &str) -> Result<Self, String> {
        let written: BTreeMap<WordList, Written> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        let split = |entries: &[String]| entries.iter().map(|entry| split(entry)).collect();
        let lists = written
            .into_iter()
            .map(|(name, list)| (name, List { words: split(&list.words), not: split(&list.not) }))
            .collect();
        Ok(Self { lists })
    }

    /// These lists with a team's words added, by list name; unknown names are given back.
    #[must_use]
    pub fn extended(&self, more: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let mut words = self.clone();
        let mut unknown = Vec::new();
        for (name, entries) in more {
            let name_only: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
                serde::de::value::StrDeserializer::new(name);
            match WordList::deserialize(name_only) {
                Ok(list) => {
                    let added = entries.iter().map(|entry| split(entry));
                    words.lists.entry(list).or_default().words.extend(added);
                }
                Err(_) => unknown.push(name.clone()),
            }
        }
        (words, unknown)
    }

    /// Whether a name has an entry of the list in it.
    #[must_use]
    pub fn has(&self, list: WordList, name: &str) -> bool {
        self.found(list, name).is_some()
    }

    /// Whether a name is an entry of the list and nothing else.
    #[must_use]
    pub fn is(&self, list: WordList, name: &str) -> bool {
        let found = self.located(list, name);
        found.is_some_and(|found| found.before.is_empty() && found.after.is_empty())
    }

    /// Whether a word ends in an entry of the list.
    #[must_use]
    pub fn ends_in(&self, list: WordList, word: &str) -> bool {
        let entries = self.lists.get(&list).map(|list| list.words.as_slice()).unwrap_or_default();
        entries.iter().any(|entry| word.ends_with(&entry.concat()))
    }

    /// The entry of the list that a name has in it.
    #[must_use]
    pub fn found(&self, list: WordList, name: &str) -> Option<String> {
        self.located(list, name).map(|found| found.entry)
    }

    /// The entry of the list that a name has in it, and the words around it: the last one, and of
    /// those the longest.
    #[must_use]
    pub fn located(&self, list: WordList, name: &str) -> Option<Located> {
        let list = self.lists.get(&list)?;
        let parts = split(name);
        let excepted: Vec<(usize, usize)> =
            list.not.iter().flat_map(|entry| places(entry, &parts)).collect();
        let covered = |place: &(usize, usize)| {
            excepted.iter().any(|(start, end)| *start <= place.0 && place.1 <= *end)
        };
        let found = list.words.iter().flat_map(|entry| {
            places(entry, &parts).into_iter().map(move |(start, end)| (end, end - start, entry))
        });
        let (end, length, entry) = found
            .filter(|(end, length, _)| !covered(&(end - length, *end)))
            .max_by_key(|(end, length, entry)| (*end, *length, std::cmp::Reverse(*entry)))?;
        Some(Located {
            entry: entry.join("_"),
            before: parts.get(..end - length).unwrap_or_default().to_vec(),
            after: parts.get(end..).unwrap_or_default().to_vec(),
        })
    }
}

/// Where the words of an entry stand in a row in a name's words: first, and one past the last.
fn places(entry: &[String], parts: &[String]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    if entry.is_empty() {
        return found;
    }
    for start in 0..parts.len() {
        let row = parts.get(start..start + entry.len()).unwrap_or(&[]);
        if row.len() == entry.len() && row.iter().zip(entry).all(|(part, word)| same(part, word)) {
            found.push((start, start + entry.len()));
        }
    }
    // Written as one word: `firstname`.
    if entry.len() > 1 {
        let joined = entry.concat();
        found.extend(
            parts
                .iter()
                .enumerate()
                .filter(|(_, part)| same(part, &joined))
                .map(|(index, _)| (index, index + 1)),
        );
    }
    found
}

/// Whether a word is an entry's word or its plural.
fn same(part: &str, word: &str) -> bool {
    if part == word {
        return true;
    }
    let Some(stem) = part.strip_suffix('s') else { return false };
    stem == word
        || stem.strip_suffix('e') == Some(word)
        || stem.strip_suffix("ie").is_some_and(|stem| word.strip_suffix('y') == Some(stem))
}

/// The words of an identifier in lower case: split at case changes, digits and signs.
#[must_use]
pub fn split(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(200).collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, letter) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let after = letters.get(index + 1);
        let lower_before =
            before.is_some_and(|before| before.is_lowercase() || before.is_ascii_digit());
        let hump = letter.is_uppercase()
            && (lower_before || after.is_some_and(|after| after.is_lowercase()));
        let digit = letter.is_ascii_digit() != before.is_some_and(char::is_ascii_digit);
        if !letter.is_alphanumeric() || hump || digit {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(split("reservedQuantity"), ["reserved", "quantity"]);
        assert_eq!(split("userID2_x"), ["user", "id", "2", "x"]);
        assert_eq!(split("IPAddress"), ["ip", "address"]);
    }

    #[test]
    fn all_lists_are_there() {
        let words = Words::parse(BUILT_IN).unwrap();
        assert_eq!(words.lists.len(), 45);
        assert!(words.lists.values().all(|list| !list.words.is_empty()));
    }

    #[test]
    fn every_exception_excepts_something() {
        let words = Words::parse(BUILT_IN).unwrap();
        for (name, list) in &words.lists {
            for not in &list.not {
                let covers = list.words.iter().any(|word| !places(word, not).is_empty());
                assert!(covers, "{name:?}: {not:?}");
            }
        }
    }

    #[test]
    fn matching_is_by_words() {
        let words = Words::built_in();
        for (list, yes, no) in [
            (WordList::Stock, "bikes_available", "stockholm"),
            (WordList::Stock, "reservedQuantity", "available_at"),
            (WordList::Personal, "user.email", "email_id"),
            (WordList::Personal, "firstname", "email_template"),
            (WordList::Personal, "phoneNumbers", "queue_name"),
            (WordList::Personal, "customer_email", "user_id"),
            (WordList::Fence, "writer_fence", "geofence"),
            (WordList::Version, "rowVersion", "software_version"),
            (WordList::Owner, "locked_by", "locked_at"),
            (WordList::Secret, "refresh_token", "lock_token"),
            (WordList::Network, "client_ip", "shipping"),
        ] {
            assert!(words.has(list, yes), "{yes}");
            assert!(!words.has(list, no), "{no}");
        }
    }

    #[test]
    fn a_team_adds_words() {
        let more = BTreeMap::from([
            ("stock".to_owned(), vec!["cupboard".to_owned()]),
            ("nonsense".to_owned(), Vec::new()),
        ]);
        let (words, unknown) = Words::built_in().extended(&more);
        assert!(words.has(WordList::Stock, "cupboard_size"));
        assert_eq!(unknown, ["nonsense"]);
    }
}
