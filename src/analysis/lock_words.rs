//! Words in names: they raise or lower confidence and decide nothing alone.

use crate::config::words::{WordList, Words, split};

/// Whether a name or text speaks of a lock.
#[must_use]
pub fn has_lock_word(words: &Words, text: &str) -> bool {
    let locks = |word: &String| word.ends_with("lock") && !words.ends_in(WordList::NoLock, word);
    words.has(WordList::Lock, text) || split(text).iter().any(locks)
}

/// Whether a name is that of an owner token.
#[must_use]
pub fn has_owner_word(words: &Words, name: &str) -> bool {
    words.has(WordList::Holder, name)
}

/// Whether a function says by its name that it takes, releases or renews a lock.
#[must_use]
pub fn has_lock_verb(words: &Words, name: &str) -> bool {
    words.has(WordList::LockVerb, name)
}

/// Whether a function says by its name that it takes a lock.
#[must_use]
pub fn has_acquire_verb(words: &Words, name: &str) -> bool {
    words.has(WordList::AcquireVerb, name)
}

/// Whether a name says that it takes something away on purpose.
#[must_use]
pub fn has_force_word(words: &Words, name: &str) -> bool {
    words.has(WordList::Force, name)
}

/// Whether a function says by its name that it builds a key.
#[must_use]
pub fn builds_key(name: &str) -> bool {
    let words = split(name);
    words.last().is_some_and(|word| word == "key")
        || words.first().is_some_and(|word| word == "key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_clocks_are_no_locks() {
        let words = Words::built_in();
        assert!(!has_lock_word(words, "lastblock:{}"));
        assert!(!has_lock_word(words, "roadblock"));
        assert!(!has_lock_word(words, "deadlock_count"));
        assert!(has_lock_word(words, "releaseTaskLock"));
        assert!(has_lock_word(words, "leases:{}"));
        assert!(has_lock_word(words, "sesslock:{}"));
        assert!(has_lock_word(words, "choir:{}:invite-lock"));
        assert!(!has_lock_word(words, "block:{}"));
        assert!(!has_lock_word(words, "code-blocked:{}"));
        assert!(!has_lock_word(words, "wall_clock"));
        assert!(has_owner_word(words, "lock_value"));
        assert!(!has_owner_word(words, "value"));
        assert!(has_acquire_verb(words, "try_lock") && !has_acquire_verb(words, "try_unlock"));
        assert!(has_force_word(words, "clean_up") && has_force_word(words, "breakLock"));
        assert!(!has_force_word(words, "enforce_lock") && !has_force_word(words, "release"));
    }
}
