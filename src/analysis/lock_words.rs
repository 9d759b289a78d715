//! Words in names: they raise or lower confidence and decide nothing alone.

/// The words of an identifier or text, lower case: `releaseTaskLock` is release, task, lock.
pub fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = ' ';
    for letter in text.chars() {
        let border = !letter.is_alphanumeric() || (letter.is_uppercase() && before.is_lowercase());
        if border {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

const LOCK: [&str; 14] = [
    "lock",
    "locks",
    "locked",
    "locking",
    "unlock",
    "lease",
    "leases",
    "mutex",
    "leader",
    "leadership",
    "semaphore",
    "claim",
    "claims",
    "exclusive",
];
const NO_LOCK: [&str; 6] = ["block", "blocks", "clock", "clocks", "flock", "padlock"];
const OWNER: [&str; 9] =
    ["token", "owner", "holder", "fence", "nonce", "ticket", "lockvalue", "lockid", "identity"];
const VERBS: [&str; 12] = [
    "lock", "unlock", "acquire", "release", "renew", "extend", "relock", "trylock", "lease",
    "locked", "obtain", "refresh",
];
const FORCE: [&str; 12] = [
    "force",
    "forced",
    "forcibly",
    "break",
    "steal",
    "admin",
    "purge",
    "obliterate",
    "reset",
    "cleanup",
    "clean",
    "flush",
];

/// Whether a name or text speaks of a lock.
#[must_use]
pub fn has_lock_word(text: &str) -> bool {
    words(text).iter().any(|word| {
        let word = word.as_str();
        LOCK.contains(&word) || (word.ends_with("lock") && !NO_LOCK.contains(&word))
    })
}

/// Whether a name is that of an owner token.
#[must_use]
pub fn has_owner_word(name: &str) -> bool {
    let words = words(name);
    let pair = words.windows(2).any(|pair| match pair {
        [first, second] => {
            LOCK.contains(&first.as_str()) && matches!(second.as_str(), "value" | "id")
        }
        _ => false,
    });
    pair || words.iter().any(|word| OWNER.contains(&word.as_str()))
}

/// Whether a function says by its name that it takes, releases or renews a lock.
#[must_use]
pub fn has_lock_verb(name: &str) -> bool {
    words(name).iter().any(|word| VERBS.contains(&word.as_str()))
}

/// Whether a name says that it takes something away on purpose.
#[must_use]
pub fn has_force_word(name: &str) -> bool {
    words(name).iter().any(|word| FORCE.contains(&word.as_str()))
}

/// Whether a function says by its name that it builds a key.
#[must_use]
pub fn builds_key(name: &str) -> bool {
    let words = words(name);
    words.last().is_some_and(|word| word == "key")
        || words.first().is_some_and(|word| word == "key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_into_words() {
        assert_eq!(words("releaseTaskLock"), ["release", "task", "lock"]);
        assert_eq!(words("task-lock:{}"), ["task", "lock"]);
        assert_eq!(words("LEASE_MS"), ["lease", "ms"]);
    }

    #[test]
    fn blocks_and_clocks_are_no_locks() {
        assert!(has_lock_word("sesslock:{}"));
        assert!(has_lock_word("choir:{}:invite-lock"));
        assert!(!has_lock_word("block:{}"));
        assert!(!has_lock_word("code-blocked:{}"));
        assert!(!has_lock_word("wall_clock"));
        assert!(has_owner_word("lock_value"));
        assert!(!has_owner_word("value"));
        assert!(has_force_word("clean_up") && has_force_word("breakLock"));
        assert!(!has_force_word("enforce_lock") && !has_force_word("release"));
    }
}
