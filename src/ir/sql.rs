//! SQL statements and the schema that migrations leave, without any parser's tree.
//!
//! Names are folded to lower case unless quoted; a schema prefix is kept apart from the table.

use crate::source::Span;

mod schema;

pub use schema::{Column, Constraint, ConstraintKind, SchemaChange};

/// How a statement was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fidelity {
    /// A full parse.
    Parsed,
    /// A partial tree: clauses may be missing.
    Recovered,
    /// Only its kind and tables, from its words.
    Scanned,
}

/// One statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// The whole statement.
    pub span: Span,
    /// The text as read (holes of the host language as `?`-like placeholders), for fingerprints.
    pub text: String,
    /// How it was read.
    pub fidelity: Fidelity,
}

impl Statement {
    /// The parts of a statement that writes in several, else the statement itself.
    #[must_use]
    pub fn parts(&self) -> &[Self] {
        match &self.kind {
            StatementKind::Several(parts) => parts,
            _ => std::slice::from_ref(self),
        }
    }

    /// Whether rows come back.
    #[must_use]
    pub fn gives_rows(&self) -> bool {
        match self.parts().last().map(|last| &last.kind) {
            Some(StatementKind::Select(_)) => true,
            Some(StatementKind::Insert(insert)) => !insert.returning.is_empty(),
            Some(StatementKind::Update(update)) => !update.returning.is_empty(),
            Some(StatementKind::Delete(delete)) => !delete.returning.is_empty(),
            _ => false,
        }
    }
}

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// SELECT, or a WITH whose parts only read.
    Select(Select),
    /// INSERT, REPLACE.
    Insert(Insert),
    /// UPDATE.
    Update(Update),
    /// DELETE.
    Delete(Delete),
    /// A change of the schema.
    Schema(Vec<SchemaChange>),
    /// BEGIN, START TRANSACTION.
    Begin,
    /// COMMIT, END.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// LOCK TABLE, advisory locks, SET, COMMENT, GRANT and everything else.
    Other,
    /// Statements inside a function body or DO block, in order.
    Compound(Vec<Statement>),
    /// One statement that writes in several parts: the writes of its CTEs and then what it does
    /// itself, or what MERGE does in each case. What comes back (rows, a count) is the last part's,
    /// which other parts decide, too.
    Several(Vec<Statement>),
    /// A condition that a procedure tests (`IF … THEN`, `WHILE`): its conjuncts. The columns named
    /// are the procedure's variables.
    Test(Vec<Predicate>),
    /// A procedure asks how many rows the statement before hit: `FOUND`, `ROW_COUNT`.
    RowCount,
}

/// A table name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableName {
    /// `public` in `public.orders`.
    pub schema: Option<String>,
    /// `orders`; empty when a hole stands for it.
    pub name: String,
}

/// SELECT.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// Tables read.
    pub tables: Vec<TableName>,
    /// Columns of the result (`*` included).
    pub columns: Vec<String>,
    /// The WHERE condition's conjuncts.
    pub predicates: Vec<Predicate>,
    /// FOR UPDATE and kin.
    pub lock: Option<RowLock>,
    /// Functions called in it (`pg_try_advisory_lock`, `nextval`).
    pub functions: Vec<String>,
    /// Whether it has LIMIT.
    pub limited: bool,
    /// Variables of a procedure that take the result (`SELECT … INTO v`).
    pub into: Vec<String>,
}

/// A locking clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLock {
    /// FOR UPDATE or FOR NO KEY UPDATE (otherwise FOR SHARE).
    pub exclusive: bool,
    /// SKIP LOCKED.
    pub skip_locked: bool,
    /// NOWAIT.
    pub no_wait: bool,
}

/// INSERT.
#[derive(Clone, Debug, Default)]
pub struct Insert {
    /// Into which table.
    pub table: TableName,
    /// Columns, as listed.
    pub columns: Vec<String>,
    /// ON CONFLICT, ON DUPLICATE KEY, INSERT IGNORE.
    pub on_conflict: Option<OnConflict>,
    /// Columns given back.
    pub returning: Vec<String>,
}

/// What an INSERT does when the row is there.
#[derive(Clone, Debug)]
pub enum OnConflict {
    /// Nothing.
    Nothing,
    /// An update.
    Update {
        /// Assignments.
        sets: Vec<Assignment>,
        /// Its WHERE.
        predicates: Vec<Predicate>,
    },
}

/// UPDATE.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Which table.
    pub table: TableName,
    /// Assignments.
    pub sets: Vec<Assignment>,
    /// The WHERE condition's conjuncts; empty when there is no WHERE.
    pub predicates: Vec<Predicate>,
    /// Other tables (FROM, USING, JOIN).
    pub others: Vec<TableName>,
    /// Columns given back.
    pub returning: Vec<String>,
    /// A sub-select of the WHERE locks rows (FOR UPDATE [SKIP LOCKED]).
    pub claims: Option<RowLock>,
    /// Whether it has LIMIT.
    pub limited: bool,
}

/// DELETE.
#[derive(Clone, Debug, Default)]
pub struct Delete {
    /// From which table.
    pub table: TableName,
    /// The WHERE condition's conjuncts; empty when there is no WHERE.
    pub predicates: Vec<Predicate>,
    /// Other tables (USING).
    pub others: Vec<TableName>,
    /// Columns given back.
    pub returning: Vec<String>,
    /// A sub-select of the WHERE locks rows.
    pub claims: Option<RowLock>,
    /// Whether it has LIMIT.
    pub limited: bool,
}

/// `column = expression`.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// The column.
    pub column: String,
    /// What it is set to.
    pub value: Expression,
}

/// One conjunct of a condition.
#[derive(Clone, Debug)]
pub struct Predicate {
    /// What it says.
    pub kind: PredicateKind,
    /// Where, as exactly as the reader knows.
    pub span: Span,
}

/// What a predicate says.
#[derive(Clone, Debug)]
pub enum PredicateKind {
    /// `column <comparison> expression`, the column on the left (turned round when need be).
    Compare {
        /// The column, without its qualifier.
        column: String,
        /// How.
        comparison: Comparison,
        /// With what.
        value: Expression,
    },
    /// `column IN (…)`, `= ANY(…)`.
    In {
        /// The column.
        column: String,
        /// The listed values; empty for a sub-select or array parameter.
        values: Vec<Expression>,
        /// Whether the values come from a sub-select.
        subquery: Option<Box<Select>>,
        /// NOT IN.
        negated: bool,
    },
    /// `column IS NULL`, `IS NOT NULL`.
    Null {
        /// The column.
        column: String,
        /// IS NOT NULL.
        negated: bool,
    },
    /// `a OR b`: the conjuncts of each side.
    Or(Vec<Vec<Predicate>>),
    /// `EXISTS (…)` or `NOT EXISTS (…)`.
    Exists {
        /// The sub-select.
        subquery: Box<Select>,
        /// NOT EXISTS.
        negated: bool,
    },
    /// Something else: the columns it names.
    Other(Vec<String>),
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`, `IS NOT DISTINCT FROM`
    Equal,
    /// `<>`, `IS DISTINCT FROM`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// LIKE, `~`, `@>` and kin
    Match,
}

/// An expression, as far as rules need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A placeholder of the statement; the position is 0-based in the order of binding.
    Placeholder(u32),
    /// A hole that the host language fills with text.
    Hole,
    /// Text literal.
    Text(String),
    /// Number literal, as written.
    Number(String),
    /// TRUE, FALSE.
    Boolean(bool),
    /// NULL, DEFAULT.
    Null,
    /// A column, without its qualifier.
    Column(String),
    /// `left <operator> right`.
    Binary {
        /// `+`, `-`, `*`, `||`, …
        operator: String,
        /// Left.
        left: Box<Expression>,
        /// Right.
        right: Box<Expression>,
    },
    /// A function call: its name in lower case (`now`, `coalesce`, `greatest`) and arguments. The
    /// row that could not be inserted (`excluded.x`, MySQL's `VALUES(x)`) is a call of `excluded`.
    Call {
        /// Name.
        name: String,
        /// Arguments.
        arguments: Vec<Expression>,
    },
    /// A sub-select.
    Subquery(Vec<String>),
    /// Anything else: the columns it names.
    Other(Vec<String>),
}

impl Expression {
    /// All columns it names.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::Column(name) => vec![name],
            Self::Binary { left, right, .. } => {
                left.columns().into_iter().chain(right.columns()).collect()
            }
            Self::Call { arguments, .. } => arguments.iter().flat_map(Self::columns).collect(),
            Self::Subquery(names) | Self::Other(names) => {
                names.iter().map(String::as_str).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl PredicateKind {
    /// All columns it names.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Self::Compare { column, value, .. } => {
                std::iter::once(column.as_str()).chain(value.columns()).collect()
            }
            Self::In { column, .. } | Self::Null { column, .. } => vec![column],
            Self::Or(sides) => {
                sides.iter().flatten().flat_map(|predicate| predicate.kind.columns()).collect()
            }
            Self::Exists { .. } => Vec::new(),
            Self::Other(names) => names.iter().map(String::as_str).collect(),
        }
    }
}
