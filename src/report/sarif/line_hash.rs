//! The hash of a line by which GitHub knows an alert again, as its upload action computes it.
//!
//! It is made of the hundred characters (UTF-16 code units) from the beginning of the line on,
//! blanks and tabs left out. A line ends at `\n`, `\r\n` or `\r`, and each of them counts as `\n`; a
//! sign for the end of the file follows the last line, and zeros after that. Behind the colon stands
//! which of the lines of this hash it is.

use std::collections::{BTreeMap, BTreeSet};

/// How many characters a hash is made of.
const WINDOW: usize = 100;

/// What a character is multiplied with for each that follows.
const FACTOR: u64 = 37;

/// What stands for the end of a file.
const END: u16 = u16::MAX;

/// The hashes of some lines of a text, by line number.
pub(super) fn line_hashes(text: &str, wanted: &BTreeSet<u32>) -> BTreeMap<u32, String> {
    let units = units(text);
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    let mut hashes = BTreeMap::new();
    for (number, start) in (1..).zip(starts(&units)) {
        let hash = hash(units.get(start..).unwrap_or_default());
        let count = seen.entry(hash).or_default();
        *count += 1;
        if wanted.contains(&number) {
            hashes.insert(number, format!("{hash:x}:{count}"));
        }
    }
    hashes
}

/// The characters that count, with one sign for each line's end and one for the file's.
fn units(text: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len() + 1);
    let mut returned = false;
    for unit in text.encode_utf16() {
        let newline = unit == u16::from(b'\n');
        if !(unit == u16::from(b' ') || unit == u16::from(b'\t') || returned && newline) {
            let returns = unit == u16::from(b'\r');
            units.push(if returns { u16::from(b'\n') } else { unit });
            returned = returns;
        } else {
            returned = false;
        }
    }
    units.push(END);
    units
}

/// Where lines begin.
fn starts(units: &[u16]) -> impl Iterator<Item = usize> {
    let ends = units.iter().zip(1..).filter(|(unit, _)| **unit == u16::from(b'\n'));
    std::iter::once(0).chain(ends.map(|(_, next)| next))
}

fn hash(units: &[u16]) -> u64 {
    let padded = units.iter().map(|unit| u64::from(*unit)).chain(std::iter::repeat(0));
    padded.take(WINDOW).fold(0, |hash, unit| hash.wrapping_mul(FACTOR).wrapping_add(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        line_hashes(text, &(1..100).collect()).into_values().collect()
    }

    /// Texts and hashes from the tests of GitHub's own action (github/codeql-action,
    /// `src/fingerprints.test.ts`).
    #[test]
    fn hashes_are_those_of_the_upload_action() {
        assert_eq!(all(""), ["c129715d7a2bc9a3:1"]);
        let mixed =
            ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"];
        assert_eq!(all(" a\nb\n  \t\tc\n d"), mixed);
        let ends = [
            "e9496ae3ebfced30:1",
            "fb7c023a8b9ccb3f:1",
            "ce8ba1a563dcdaca:1",
            "e20e36e16fcb0cc8:1",
            "b3edc88f2938467e:1",
            "c8e28b0b4002a3a0:1",
            "c129715d7a2bc9a3:1",
        ];
        for text in [
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n",
            " hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r",
            " hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n",
            " hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n",
        ] {
            assert_eq!(all(text), ends, "{text:?}");
        }
        let alike = [
            "a7f2ff13bc495cf2:1",
            "a7f2ff13bc495cf2:2",
            "a7f2ff13bc495cf2:3",
            "a7f2ff13bc495cf2:4",
            "a7f2ff13bc495cf2:5",
            "a7f2ff13bc495cf2:6",
            "a7f2ff1481e87703:1",
            "a9cf91f7bbf1862b:1",
            "55ec222b86bcae53:1",
            "cc97dc7b1d7d8f7b:1",
            "c129715d7a2bc9a3:1",
        ];
        assert_eq!(all(&"Lorem ipsum dolor sit amet.\n".repeat(10)), alike);
    }

    /// Values that the action's own `hash` gave for these texts when it was run on them.
    #[test]
    fn marks_wide_characters_and_line_ends_count_as_the_action_counts_them() {
        let hashes = [
            "5741f69c7726648e:1",
            "e3cfccb8957d4580:1",
            "f25baeaaef4a273e:1",
            "3c5bef55b72b93c9:1",
            "c129715d7a2bc9a3:1",
        ];
        assert_eq!(all("\u{feff}return 1\r x\r\n\u{fffc}🔒\r \n"), hashes);
    }
}
