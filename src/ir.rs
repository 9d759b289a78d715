//! The intermediate representation: the one shape that every language is lowered to.
//!
//! 1. **Identity by number.** Values, operations, blocks and nested bodies live in arenas of one
//!    [`Body`](body::Body) and are named by their index. A value is assigned once; where paths
//!    meet, a `Join` makes a new one. "The token compared is the token stored" is `==` of numbers
//!    (after the conversions that keep a value the same are peeled).
//! 2. **No syntax.** `?`, `match`, `if let`, `let … else`, loops, `and`/`or` in conditions are
//!    branches; interpolation is a template; a standard adapter (`map_err`, `is_some`, `unwrap_or`)
//!    is said in terms of success and failure.
//! 3. **Names stay unresolved.** A call says the path or method name as written, with its receiver
//!    and argument values. Which function or which library call that is, `link` decides, with the
//!    types and imports of the whole program. So `ir` and the front-ends know no library.
//! 4. **A call is an operation; an effect is what `link` found a call to be.**
//! 5. **Created and run are two moments.** An async block or closure is a value with a body of its
//!    own; it runs where it is awaited, called, or handed to a call that runs it.
//! 6. **Every place has a span**, in the file that a person would open: text taken out of a string
//!    literal points into that literal.
//! 7. **Nothing is invented.** What a front-end could not read is `Unknown`.

pub mod body;
pub mod effect;
pub mod expansion;
pub mod given;
pub mod index;
pub mod key;
pub mod sql;
pub mod text;
pub mod value;
