//! A write as the decision sees it: its table, what it sets, and what that says of its purpose.

use crate::config::words::{WordList, Words};
use crate::ir::sql::{Assignment, Delete, Expression, Insert, TableName, Update};

use super::is;
use crate::analysis::schema::Table;

/// A write.
pub(super) struct Write<'a> {
    pub name: &'a TableName,
    pub table: Option<&'a Table>,
    pub words: &'a Words,
    pub sets: &'a [Assignment],
    pub delete: bool,
    /// ON CONFLICT DO UPDATE: the conflict singles the row out.
    pub conflict: bool,
    /// Whether other tables take part, so that a column may be theirs.
    pub joins: bool,
}

impl<'a> Write<'a> {
    /// UPDATE.
    pub fn of_update(update: &'a Update, table: Option<&'a Table>, words: &'a Words) -> Self {
        Self {
            name: &update.table,
            table,
            words,
            sets: &update.sets,
            delete: false,
            conflict: false,
            joins: !update.others.is_empty(),
        }
    }

    /// DELETE.
    pub fn of_delete(delete: &'a Delete, table: Option<&'a Table>, words: &'a Words) -> Self {
        Self {
            name: &delete.table,
            table,
            words,
            sets: &[],
            delete: true,
            conflict: false,
            joins: !delete.others.is_empty(),
        }
    }

    /// INSERT … ON CONFLICT DO UPDATE.
    pub fn of_conflict(
        insert: &'a Insert,
        sets: &'a [Assignment],
        table: Option<&'a Table>,
        words: &'a Words,
    ) -> Self {
        Self {
            name: &insert.table,
            table,
            words,
            sets,
            delete: false,
            conflict: true,
            joins: false,
        }
    }

    /// Whether a name is of a list.
    pub fn is(&self, list: WordList, name: &str) -> bool {
        is(self.words, list, name)
    }

    /// What a column is set to.
    pub fn set(&self, column: &str) -> Option<&'a Expression> {
        let found = self.sets.iter().find(|set| set.column.eq_ignore_ascii_case(column));
        found.map(|set| &set.value)
    }

    /// Whether an expression is a value from outside of the row: a parameter, a literal, the
    /// clock, or a procedure's variable.
    pub fn is_given(&self, value: &Expression) -> bool {
        match value {
            Expression::Column(name) => self.is_variable(name),
            Expression::Placeholder(_)
            | Expression::Hole
            | Expression::Text(_)
            | Expression::Number(_)
            | Expression::Boolean(_)
            | Expression::Subquery(_)
            | Expression::Null => true,
            Expression::Call { arguments, .. } => arguments.iter().all(|part| self.is_given(part)),
            Expression::Binary { left, right, .. } => self.is_given(left) && self.is_given(right),
            Expression::Other(columns) => columns.iter().all(|name| self.is_variable(name)),
        }
    }

    /// Whether a column is of a table that the write joins, not of its own.
    pub fn is_of_other(&self, column: &str) -> bool {
        self.joins
            && match self.table.filter(|table| !table.from_code) {
                Some(table) => table.column(column).is_none(),
                // A row that is deleted is named by its key, what it was by the others' columns.
                None => self.delete && !column.ends_with("id"),
            }
    }

    /// Whether a name is a procedure's variable rather than a column.
    fn is_variable(&self, name: &str) -> bool {
        let known = self.table.filter(|table| !table.from_code);
        let column = known.is_some_and(|table| table.column(name).is_some());
        let prefixed =
            ["p_", "v_", "in_", "_", "arg_"].iter().any(|prefix| name.starts_with(prefix));
        !column && (prefixed || known.is_some() && !self.joins)
    }

    /// Whether money, goods or leases are at stake: by the table's name and columns, or by the
    /// states between which the row moves.
    pub fn at_stake(&self) -> bool {
        let lists = [WordList::Money, WordList::Stock, WordList::Lease];
        let told = |name: &str| lists.iter().any(|list| self.is(*list, name));
        told(&self.name.name)
            || self.sets.iter().any(|set| told(&set.column))
            || self.table.is_some_and(|table| table.columns.iter().any(|column| told(&column.name)))
            || self.moves()
    }

    /// Whether what a column counts runs out: goods, money, what is allowed. A count of what was done
    /// that stops at its end is none.
    pub fn is_scarce(&self, column: Option<&str>) -> bool {
        let quota = |name: &str| self.is(WordList::Quota, name);
        self.at_stake() || quota(&self.name.name) || column.is_some_and(quota)
    }

    /// Whether a state is set that says that a row is taken, or that money or goods moved.
    pub fn moves(&self) -> bool {
        self.sets.iter().filter(|set| self.is(WordList::Status, &set.column)).any(|set| match &set
            .value
        {
            Expression::Text(state) => {
                self.is(WordList::Claim, state) || self.is(WordList::Moved, state)
            }
            _ => false,
        })
    }

    /// Whether the table is of leases: its name or a column says so.
    pub fn is_lease_table(&self) -> bool {
        self.is(WordList::Lease, &self.name.name)
            || self.table.is_some_and(|table| {
                table.columns.iter().any(|column| self.is(WordList::Lease, &column.name))
            })
            || self.sets.iter().any(|set| self.is(WordList::Lease, &set.column))
    }

    /// Whether the write sets who holds or did something: a value of the writer's own.
    pub fn claims(&self) -> bool {
        self.sets.iter().any(|set| {
            let who = [WordList::Owner, WordList::Actor, WordList::Fence]
                .iter()
                .any(|list| self.is(*list, &set.column))
                || self.is_secret(&set.column);
            let own = !matches!(
                set.value,
                Expression::Null
                    | Expression::Text(_)
                    | Expression::Number(_)
                    | Expression::Boolean(_)
            );
            who && own && !self.is_moment(&set.column, &set.value)
        })
    }

    /// Whether the holder lets go: the row is deleted from a table of leases, or its owner is
    /// cleared.
    pub fn releases(&self) -> bool {
        let cleared = self.sets.iter().any(|set| {
            set.value == Expression::Null
                && (self.is(WordList::Owner, &set.column) || self.is(WordList::Lease, &set.column))
        });
        // A finished job is more than a released lease; one that is free again is not.
        let finishes = self.sets.iter().any(|set| {
            let freed = matches!(&set.value, Expression::Text(state) if self.words.is(WordList::Free, state));
            self.is(WordList::Status, &set.column) && !freed
        });
        self.delete && self.is(WordList::Lease, &self.name.name) || cleared && !finishes
    }

    /// Whether a row that had run out before would be missed: what is deleted while it is good is used
    /// up where goods or money are at stake, and else only gone.
    pub fn is_late(&self) -> bool {
        !self.delete || self.at_stake() && !self.is(WordList::Session, &self.name.name)
    }

    /// Whether a secret of the row is spent: rows of logins and undoing are not.
    pub fn spends(&self, by_secret: bool) -> bool {
        by_secret
            && !self.is(WordList::Session, &self.name.name)
            && !self.undoes()
            && !self.only_touches()
    }

    /// Whether a secret is set to nothing.
    pub fn clears_secret(&self) -> bool {
        self.sets.iter().any(|set| set.value == Expression::Null && self.is_secret(&set.column))
    }

    /// Whether a column holds a secret or its digest, rather than something of one (`token_symbol`,
    /// `secret_id`): what a name means stands at its end. A secret that is a number is a code; the
    /// nonce that counts what an account has sent is none.
    pub fn is_secret(&self, column: &str) -> bool {
        const FORMS: [&str; 7] =
            ["hash", "hashed", "digest", "sha256", "value", "text", "encrypted"];
        const CODES: [&str; 3] = ["code", "otp", "totp"];
        let Some(found) = self.words.located(WordList::Secret, column) else { return false };
        let code = CODES.iter().any(|code| found.entry.ends_with(code));
        found.after.iter().all(|word| FORMS.contains(&word.as_str()))
            && (code || !self.is_whole_number(column))
    }

    /// Whether the schema says that a column holds whole numbers.
    fn is_whole_number(&self, column: &str) -> bool {
        let known = self.table.and_then(|table| table.column(column));
        known.is_some_and(|column| column.ty.contains("int") || column.ty.contains("serial"))
    }

    /// Whether the write only takes back or ends something.
    pub fn undoes(&self) -> bool {
        self.sets.iter().any(|set| self.is(WordList::Undo, &set.column))
            && self.sets.iter().all(|set| {
                self.is(WordList::Undo, &set.column)
                    || self.is(WordList::Touch, &set.column)
                    || self.is(WordList::Status, &set.column)
                    || self.is_moment(&set.column, &set.value)
            })
    }

    /// Whether only marks are written that nobody misses.
    pub fn only_touches(&self) -> bool {
        !self.sets.is_empty() && self.sets.iter().all(|set| self.is(WordList::Touch, &set.column))
    }

    /// Whether a value is a moment: the clock, or what is put into a column of moments.
    pub fn is_moment(&self, column: &str, value: &Expression) -> bool {
        match value {
            Expression::Call { name, arguments } => {
                let clock = [
                    "now",
                    "current_timestamp",
                    "statement_timestamp",
                    "clock_timestamp",
                    "current_date",
                    "unixepoch",
                    "utc_timestamp",
                    "datetime",
                    "strftime",
                    "localtimestamp",
                    "sysdate",
                    "unix_timestamp",
                    "julianday",
                    "transaction_timestamp",
                    "current_time",
                ];
                clock.contains(&name.as_str())
                    || arguments.iter().any(|part| self.is_moment(column, part))
            }
            Expression::Binary { left, right, .. } => {
                self.is_moment("", left) || self.is_moment("", right)
            }
            Expression::Placeholder(_) | Expression::Hole | Expression::Column(_) => {
                self.is(WordList::Clock, column)
            }
            _ => false,
        }
    }
}
