//! Sets of Lua types.

/// What a Lua value may be, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(u16);

impl Kinds {
    /// Nothing yet: no path is known that gives the value.
    pub const EMPTY: Self = Self(0);
    /// `nil` that something is known to give: a number of what is none.
    pub const NIL: Self = Self(1);
    /// `nil` where the caller or the data has less than is asked for.
    pub const ABSENT: Self = Self(2);
    /// `false`, which stands for a missing reply.
    pub const FALSE: Self = Self(4);
    /// `true`
    pub const TRUE: Self = Self(8);
    /// A number.
    pub const NUMBER: Self = Self(16);
    /// Text.
    pub const TEXT: Self = Self(32);
    /// A status reply: a table with the field `ok`.
    pub const STATUS: Self = Self(64);
    /// An error reply: a table with the field `err`.
    pub const ERROR: Self = Self(128);
    /// Another table.
    pub const TABLE: Self = Self(256);
    /// A function.
    pub const FUNCTION: Self = Self(512);
    /// Not known.
    pub const OTHER: Self = Self(1024);
    /// Everything that counts as true.
    pub const TRUTHY: Self = Self(8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024);
    /// Everything that counts as false; what is not known may be that.
    pub const FALSY: Self = Self(1 | 2 | 4 | 1024);
    /// Everything.
    pub const ALL: Self = Self(2047);

    /// Whether it may be one of these.
    #[must_use]
    pub fn may_be(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Whether it is known, and nothing but these.
    #[must_use]
    pub fn only(self, others: Self) -> bool {
        self.0 != 0 && self.0 & !others.0 == 0
    }

    /// These and those.
    #[must_use]
    pub const fn or(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// These without those.
    #[must_use]
    pub const fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Kinds;

    #[test]
    fn nothing_known_is_only_nothing() {
        assert!(!Kinds::EMPTY.only(Kinds::TEXT));
        assert!(Kinds::TEXT.or(Kinds::FALSE).only(Kinds::TEXT.or(Kinds::FALSE)));
        assert!(!Kinds::TEXT.or(Kinds::OTHER).only(Kinds::TEXT));
        assert!(Kinds::OTHER.and(Kinds::FALSY).may_be(Kinds::OTHER));
    }
}
