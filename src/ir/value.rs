//! Values: what an expression is, as far as it can be said without running it.

use super::body::{BodyIndex, OpId};
use super::index::{Path, TypeRef};
use crate::source::Span;

mod text;

pub use text::{HOLE, LARGEST_TEXT, Text};

/// A value of one body; an index into [`Body::values`](super::body::Body::values).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// A value, where it is written, and what the source says of its type.
#[derive(Clone, Debug)]
pub struct Value {
    /// What it is.
    pub kind: ValueKind,
    /// The expression.
    pub span: Span,
    /// The type written for it (`let x: T`, a parameter's type, a cast); `None` when not written.
    pub ty: Option<TypeRef>,
    /// The variable it was first bound to, for messages (`token` in `let token = …`).
    pub name: Option<String>,
}

/// What a value is.
#[derive(Clone, Debug)]
pub enum ValueKind {
    /// Nothing is known.
    Unknown,
    /// The n-th parameter, the receiver not counted.
    Parameter(u32),
    /// `self`, `this`.
    Receiver,
    /// `KEYS[n]` of a Redis script, 1-based; `None` when the index is not constant.
    ScriptKey(Option<u32>),
    /// `ARGV[n]` of a Redis script, 1-based; `None` when the index is not constant.
    ScriptArgument(Option<u32>),
    /// A literal.
    Literal(Literal),
    /// Text with holes: `format!`, `a + b`, `..`, `concat!`.
    Template(Vec<TemplatePart>),
    /// A name that is no local: a constant, static, unit struct, enum variant, function item.
    Path(Path),
    /// A field of a value (tuple fields are `"0"`, `"1"`, …).
    Field {
        /// Of what.
        base: ValueId,
        /// Which.
        name: String,
    },
    /// An element (`a[i]`, an item of an iteration); `index` is `None` for "some element".
    Element {
        /// Of what.
        base: ValueId,
        /// Which, when it is written. A constant counts from 0, in languages that count from 1, too.
        index: Option<ValueId>,
    },
    /// What a call gave back; the operation is a [`Call`](super::body::Call).
    Result(OpId),
    /// What an adapter made of a success-or-failure value (`map_err`, `ok`, `unwrap_or`, …).
    Adapted {
        /// The value adapted.
        value: ValueId,
        /// How.
        adapter: Adapter,
        /// The adapter's own argument (default, closure, error).
        argument: Option<ValueId>,
        /// The call as an operation, when the adapter may run a closure.
        call: Option<OpId>,
    },
    /// The value of a future after it was awaited.
    Awaited(ValueId),
    /// What is inside a variant once a pattern matched: `x` of `Some(x)`, `Ok(x)`, `Point { x }`.
    Payload {
        /// The matched value.
        of: ValueId,
        /// The variant (`Some`, `Ok`, `Err`, …); [`SUCCESS`] for the side that `?` lets through.
        variant: String,
        /// Field name, or position as a number.
        field: String,
    },
    /// The same thing in another form (`clone`, `&x`, `to_string`, `trim`).
    Converted {
        /// The value.
        value: ValueId,
        /// How far it is still the same.
        conversion: Conversion,
    },
    /// A struct, map or variant built from fields. `..base` is kept.
    Aggregate {
        /// The type or variant, as written.
        path: Path,
        /// Field name (or position) and value.
        fields: Vec<(String, ValueId)>,
        /// Functional update: the fields not named come from here.
        base: Option<ValueId>,
    },
    /// A tuple, array, vector or argument list.
    List(Vec<ValueId>),
    /// Two or more values meet here; one incoming value a path (a loop's back edge included), in
    /// the order of the blocks that the paths come from.
    Join(Vec<ValueId>),
    /// A closure or lambda; its body is a nested body.
    Closure(BodyIndex),
    /// An async block: a future whose body is a nested body.
    Async(BodyIndex),
    /// A value of the enclosing body, seen in a closure or async block.
    Captured(ValueId),
    /// An operator applied to two values.
    Binary {
        /// Which.
        operator: Operator,
        /// Left operand.
        left: ValueId,
        /// Right operand.
        right: ValueId,
    },
    /// Logical negation.
    Not(ValueId),
    /// Whether a value matches a pattern, as a boolean (`matches!`, `is_some`, `is_ok`).
    Matches {
        /// The value.
        value: ValueId,
        /// The pattern.
        pattern: Pattern,
    },
}

/// The variant name of the side of a success-or-failure value that `?` lets through.
pub const SUCCESS: &str = "?";

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// Text as the program sees it (escapes decoded), and how its bytes map to the source.
    Text(Text),
    /// A whole number.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// `true`, `false`.
    Boolean(bool),
    /// `None`, `nil`, `null`.
    Nothing,
    /// `()`: a value without content.
    Unit,
}

/// A part of a template.
#[derive(Clone, Debug)]
pub enum TemplatePart {
    /// Literal text, as it is in the finished string (doubled braces are single here).
    Text(Text),
    /// A hole and the value that fills it, shown by its display form.
    Hole(ValueId),
}

impl TemplatePart {
    /// What it counts for against [`LARGEST_TEXT`]: a thousand holes fill a text.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Text(text) => text.size(),
            Self::Hole(_) => 64,
        }
    }
}

/// How far a converted value is still the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The same content: a copy, a borrow, an owned form, a wrapper that reads through.
    Same,
    /// Its display form: `to_string()`, a one-hole template.
    Display,
    /// Its debug form.
    Debug,
    /// Lower case, upper case, trimmed, a part of it: still tells what it was.
    Shaped,
    /// Another numeric type.
    Number,
    /// Bytes of it, or text of bytes.
    Bytes,
}

/// What an adapter does to a success-or-failure value (an option, a result, a nullable).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adapter {
    /// The failure side changes, the success side stays: `map_err`, `context`, `inspect_err`.
    MapFailure,
    /// Result to option, the failure forgotten: `ok()`.
    Ok,
    /// Option to result: `ok_or`, `ok_or_else`.
    OkOr,
    /// The success payload is replaced by what a closure makes of it: `map`.
    Map,
    /// Success goes on to another success-or-failure value: `and_then`, `and`.
    AndThen,
    /// Failure is replaced by another success-or-failure value: `or`, `or_else`.
    OrElse,
    /// Success is kept only if a closure says so: `filter`.
    Filter,
    /// The payload, or the argument on failure: `unwrap_or`, `unwrap_or_else`.
    UnwrapOr,
    /// The payload, or the type's default on failure: `unwrap_or_default`.
    UnwrapOrDefault,
    /// The payload, or a panic: `unwrap`, `expect`.
    Unwrap,
    /// A boolean to an option of the argument: `then_some`, `then`.
    Then,
    /// The success test of a closure: `is_some_and`, `is_ok_and`.
    TestAnd,
    /// Failure, or the success test of a closure: `is_none_or`.
    TestOr,
    /// One level of nesting less, or two levels swapped: `flatten`, `transpose`.
    Reshape,
    /// The payload looked at and passed on: `inspect`.
    Inspect,
}

/// Operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `==`
    Equal,
    /// `!=`, `~=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+` on numbers
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// Logical and, as a value.
    And,
    /// Logical or, as a value.
    Or,
    /// Bit operations and others.
    Other,
}

impl Operator {
    /// Whether it compares.
    #[must_use]
    pub fn compares(self) -> bool {
        matches!(
            self,
            Self::Equal
                | Self::NotEqual
                | Self::Less
                | Self::LessOrEqual
                | Self::Greater
                | Self::GreaterOrEqual
        )
    }
}

/// A pattern that a value is tested against.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `_`, a binding, or anything that always matches.
    Any,
    /// A variant and its fields: `Some(_)`, `Err(Error::Busy)`, `Value::Okay`.
    Variant {
        /// Path as written; `["Some"]`, `["Ok"]`, `["?"]` for the success side.
        path: Path,
        /// Field name or position, and its pattern.
        fields: Vec<(String, Pattern)>,
    },
    /// A literal.
    Literal(Literal),
    /// A named constant.
    Constant(Path),
    /// Any of several.
    Or(Vec<Pattern>),
    /// A tuple or slice.
    Tuple(Vec<Pattern>),
    /// A range, or something a front-end cannot say.
    Other,
}

impl Pattern {
    /// The pattern of the side that `?` lets through.
    #[must_use]
    pub fn success() -> Self {
        Self::Variant { path: Path::single(SUCCESS), fields: Vec::new() }
    }

    /// Whether it always matches.
    #[must_use]
    pub fn always(&self) -> bool {
        match self {
            Self::Any => true,
            Self::Tuple(all) => all.iter().all(Self::always),
            Self::Or(any) => any.iter().any(Self::always),
            _ => false,
        }
    }

    /// The last part of a variant's path (`Some`, `Ok`, `Err`, …).
    #[must_use]
    pub fn variant(&self) -> Option<&str> {
        match self {
            Self::Variant { path, .. } | Self::Constant(path) => path.last(),
            _ => None,
        }
    }
}
