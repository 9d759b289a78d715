//! Units of time, by name and by how they are turned into each other.

use crate::config::words::{WordList, Words};

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimeUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Minutes.
    Minutes,
    /// Hours.
    Hours,
    /// Days.
    Days,
}

impl TimeUnit {
    const ALL: [Self; 7] = [
        Self::Nanoseconds,
        Self::Microseconds,
        Self::Milliseconds,
        Self::Seconds,
        Self::Minutes,
        Self::Hours,
        Self::Days,
    ];

    /// How many nanoseconds one is.
    #[must_use]
    pub fn nanoseconds(self) -> i128 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::Days => 86_400_000_000_000,
        }
    }

    pub(super) fn of_nanoseconds(nanoseconds: i128) -> Option<Self> {
        Self::ALL.into_iter().find(|unit| unit.nanoseconds() == nanoseconds)
    }

    /// `milliseconds`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::Microseconds => "microseconds",
            Self::Milliseconds => "milliseconds",
            Self::Seconds => "seconds",
            Self::Minutes => "minutes",
            Self::Hours => "hours",
            Self::Days => "days",
        }
    }

    /// The unit that a name ends in.
    pub(super) fn of_name(words: &Words, name: &str) -> Option<Self> {
        let lists = [
            (WordList::Milliseconds, Self::Milliseconds),
            (WordList::Seconds, Self::Seconds),
            (WordList::Minutes, Self::Minutes),
        ];
        let ends = |list| words.located(list, name).is_some_and(|found| found.after.is_empty());
        lists.into_iter().find(|(list, _)| ends(*list)).map(|(_, unit)| unit)
    }

    /// The unit of a number that is `by` times as large.
    pub(super) fn times(self, by: i128) -> Option<Self> {
        let nanoseconds = self.nanoseconds();
        (by > 0 && nanoseconds % by == 0).then(|| Self::of_nanoseconds(nanoseconds / by))?
    }

    /// The unit of a number that is the `by`-th part.
    pub(super) fn divided(self, by: i128) -> Option<Self> {
        Self::of_nanoseconds(self.nanoseconds().checked_mul(by)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_turns_one_unit_into_another() {
        assert_eq!(TimeUnit::Seconds.times(1_000), Some(TimeUnit::Milliseconds));
        assert_eq!(TimeUnit::Milliseconds.divided(1_000), Some(TimeUnit::Seconds));
        assert_eq!(TimeUnit::Minutes.times(60), Some(TimeUnit::Seconds));
        assert_eq!(TimeUnit::Hours.times(3_600_000), Some(TimeUnit::Milliseconds));
        assert_eq!(TimeUnit::Seconds.times(7), None);
        assert_eq!(TimeUnit::Seconds.divided(0), None);
    }

    #[test]
    fn a_name_ends_in_its_unit() {
        let of = |name| TimeUnit::of_name(Words::built_in(), name);
        assert_eq!(of("LEASE_MS"), Some(TimeUnit::Milliseconds));
        assert_eq!(of("ttlMillis"), Some(TimeUnit::Milliseconds));
        assert_eq!(of("expire_in_secs"), Some(TimeUnit::Seconds));
        assert_eq!(of("holdMinutes"), Some(TimeUnit::Minutes));
        assert_eq!(of("seconds_behind_count"), None);
        assert_eq!(of("terms"), None);
    }
}
