//! One row: a call of a library and what it does.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::receiver::Receiver;

/// One row of a table.
#[derive(Clone, Debug)]
pub struct Api {
    /// Its id.
    pub id: String,
    /// The library's id.
    pub library: String,
    /// On what it is called.
    pub receivers: Vec<Receiver>,
    /// Its names; `*` for any.
    pub methods: Vec<String>,
    /// Least and greatest number of arguments; no greatest for variadic ones. `None` when not said.
    pub arity: Option<(usize, Option<usize>)>,
    /// How many type arguments a full turbofish has.
    pub generics: Option<usize>,
    /// Whether the call only makes a future; `None` when the name is used in both ways.
    pub is_async: Option<bool>,
    /// What it does.
    pub effect: ApiEffect,
    /// Where its parts are: role and place.
    pub args: BTreeMap<String, Place>,
    /// The command's words in wire order; empty when the arguments are the words.
    pub wire: Vec<Wire>,
    /// The command's name; `A|B` when the arguments decide; `from_arg` when one names it.
    pub command: Option<String>,
    /// The unit of its expiry; `None` for none, or one inside an options value.
    pub ttl_unit: Option<String>,
    /// How a script is sent, or that it is defined here.
    pub script: Option<ApiScript>,
    /// What a handle is: the thing later calls hang on.
    pub yields: Option<Receiver>,
    /// The effect that a modifier, row count or outcome belongs to.
    pub target: Option<String>,
    /// The unit of the lease argument.
    pub lease_unit: Option<TimeUnit>,
    /// The lease when none is given, in words.
    pub lease_default: Option<String>,
    /// `none`, `auto`, `auto_if_no_lease`, `optional_auto`, `manual`.
    pub renewal: Option<String>,
    /// What the limit of time that it sets is a limit of.
    pub bounds: Option<Bounds>,
    /// `no`, `bounded`, `forever`.
    pub blocking: Option<String>,
    /// How an acquire says that the lease was not won; `None` when not said.
    pub loss: Option<Loss>,
    /// Whether release and renewal compare the owner.
    pub release_checks_owner: Option<bool>,
    /// Where the row count comes back.
    pub rowcount: Option<RowCount>,
    /// Whether it counts rows matched or changed.
    pub rowcount_means: Option<String>,
    /// `sql`, `redis`, `kafka`, `amqp`.
    pub domain: Option<String>,
    /// `handle`, `closure`, `session`.
    pub scope: Option<String>,
    /// `explicit`, `closure_ok`.
    pub ends: Option<String>,
    /// What dropping the value does.
    pub on_drop: Option<String>,
    /// Protocol of an external call.
    pub protocol: Option<String>,
    /// The time limit when none is set, in words.
    pub timeout_default: Option<String>,
    /// Where a time limit can come from, in words.
    pub timeout_from: Vec<String>,
    /// What a number of time counts.
    pub unit: Option<TimeUnit>,
    /// Whether a random value is cryptographic; `None` when it depends or does not apply.
    pub csprng: Option<bool>,
    /// `wall`, `monotonic`.
    pub clock: Option<String>,
    /// Whether a digest has a secret.
    pub keyed: bool,
    /// When a publish is acknowledged.
    pub ack: Option<String>,
    /// How likely another type has a method of this name and shape: `low`, `medium`, `high`.
    pub ambiguity: String,
}

/// How a lock library's acquire says that the lease was not won.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// By a success without a lease: `Ok(None)`.
    Nothing,
    /// By a failure.
    Failure,
    /// Not at all: it waits until the lease is won.
    Never,
}

impl Loss {
    /// Reads the words of a row: what comes first counts.
    pub(super) fn parse(words: &str) -> Option<Self> {
        match words {
            _ if words.starts_with("Ok(None)") => Some(Self::Nothing),
            _ if words.starts_with("Err") => Some(Self::Failure),
            _ if words.starts_with("never") => Some(Self::Never),
            _ => None,
        }
    }
}

/// What a row does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum ApiEffect {
    /// Sends, queues or builds a Redis command.
    RedisCommand,
    /// Runs a script or Redis Function.
    ScriptInvoke,
    /// Takes a lease.
    LockAcquire,
    /// Gives a lease back.
    LockRelease,
    /// Prolongs a lease.
    LockRenew,
    /// Runs, or names, a database statement.
    SqlExec,
    /// Runs a database query.
    SqlRead,
    /// Begins a transaction.
    TxBegin,
    /// Commits a transaction; sends a pipeline.
    TxCommit,
    /// Rolls a transaction back.
    TxRollback,
    /// Talks to another service.
    HttpCall,
    /// Waits for a time.
    Sleep,
    /// Sends a message to a broker.
    Publish,
    /// Writes a log line.
    LogCall,
    /// Makes a random or unique value.
    RandomToken,
    /// Names the process, its host or a setting of it: the same at every call in one process.
    ProcessName,
    /// Reads a clock that can jump.
    WallClock,
    /// Reads a clock that only goes on.
    MonotonicClock,
    /// Makes the thing later calls hang on.
    Handle,
    /// Sets an option of another effect.
    Modifier,
    /// Reads how many rows a statement touched.
    RowCount,
    /// Decodes or throws away a reply.
    Outcome,
    /// Makes a duration of a number, or a number of a duration.
    Duration,
    /// Hashes.
    Digest,
    /// Encodes.
    Encode,
    /// Encrypts.
    Encrypt,
    /// Hands a future or closure to another task or thread.
    Spawn,
    /// Waits for a future on this thread.
    Block,
    /// Stops a task or tells it to stop.
    Cancel,
}

/// How a script is sent, or that a script object is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApiScript {
    /// The text is sent.
    Eval,
    /// The digest is sent.
    Evalsha,
    /// The digest, then the text if the server does not know it.
    EvalshaThenEval,
    /// The digest; the text is loaded if the server does not know it.
    EvalshaLoadRetry,
    /// A Redis Function by name.
    Fcall,
    /// Only makes a script object.
    Define,
}

/// What a number of time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum TimeUnit {
    /// A duration value.
    #[serde(rename = "duration")]
    Duration,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Minutes.
    #[serde(rename = "min")]
    Minutes,
    /// Hours.
    #[serde(rename = "h")]
    Hours,
    /// Days.
    #[serde(rename = "d")]
    Days,
    /// Weeks.
    #[serde(rename = "w")]
    Weeks,
}

/// What the limit of time that a modifier sets is a limit of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bounds {
    /// A whole external call.
    Call,
    /// A part of one, or one try: the whole may take longer.
    Part,
}

/// Where the count of rows comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowCount {
    /// The call gives it.
    Return,
    /// A method or field of what the call gives.
    In(String),
    /// Only the rows themselves tell.
    Rows,
    /// No row is an error.
    Error,
    /// Nowhere.
    None,
}

impl RowCount {
    /// Reads a count's place; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match (text, text.split_once(':')) {
            ("return", _) => Ok(Self::Return),
            ("rows", _) => Ok(Self::Rows),
            ("error", _) => Ok(Self::Error),
            ("none", _) => Ok(Self::None),
            (_, Some(("method" | "field", name))) if !name.is_empty() => {
                Ok(Self::In(name.to_owned()))
            }
            _ => Err(format!("`{text}` is no place of a row count")),
        }
    }
}

impl TimeUnit {
    /// Nanoseconds of one; `None` for a duration value.
    #[must_use]
    pub fn nanoseconds(self) -> Option<i128> {
        const SECOND: i128 = 1_000_000_000;
        Some(match self {
            Self::Duration => return None,
            Self::Nanoseconds => 1,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => SECOND,
            Self::Minutes => 60 * SECOND,
            Self::Hours => 3_600 * SECOND,
            Self::Days => 86_400 * SECOND,
            Self::Weeks => 604_800 * SECOND,
        })
    }
}

/// Where a part of a call is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// The n-th argument, receiver not counted.
    Argument(usize),
    /// The n-th argument, or the one of this keyword.
    Keyword(Option<usize>, String),
    /// That argument and all after it.
    Rest(usize),
    /// The last argument.
    Last,
    /// A property of the object that is the n-th argument.
    Property(usize, String),
    /// Each element of the n-th argument.
    Elements(usize),
    /// The receiver carries it.
    Receiver,
    /// The n-th argument of the call that built the receiver.
    ReceiverArgument(usize),
    /// Arguments of chained calls of this name.
    Chain(String),
    /// An attribute of an annotation.
    Attribute(String),
    /// Fixed by the interface.
    Fixed(String),
    /// The method's name says it.
    MethodName,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wire {
    /// The word itself.
    Literal(String),
    /// One of several words, the library decides.
    Either(Vec<String>),
    /// The n-th argument; a collection is several words.
    Argument(usize),
    /// How many words the n-th argument is.
    Count(usize),
    /// Words the library makes.
    Made,
}

impl Api {
    /// Where a role is.
    #[must_use]
    pub fn place(&self, role: &str) -> Option<&Place> {
        self.args.get(role)
    }

    /// The argument index of a role, when it is a plain argument.
    #[must_use]
    pub fn argument(&self, role: &str) -> Option<usize> {
        match self.place(role)? {
            Place::Argument(index) | Place::Keyword(Some(index), _) | Place::Elements(index) => {
                Some(*index)
            }
            _ => None,
        }
    }

    /// The command names it can send; empty when an argument names the command.
    #[must_use]
    pub fn commands(&self) -> Vec<&str> {
        match self.command.as_deref() {
            None | Some("from_arg") => Vec::new(),
            Some(names) => names.split('|').collect(),
        }
    }

    /// Whether a call with this many arguments can be it.
    #[must_use]
    pub fn accepts(&self, arguments: usize) -> bool {
        match self.arity {
            None => true,
            Some((least, most)) => arguments >= least && most.is_none_or(|most| arguments <= most),
        }
    }
}

impl Place {
    /// Reads a place; the error says what is wrong.
    pub(super) fn parse(value: &toml::Value) -> Result<Self, String> {
        match value {
            toml::Value::Integer(index) => usize::try_from(*index)
                .map(Self::Argument)
                .map_err(|_| "a negative index".to_owned()),
            toml::Value::String(text) => Self::parse_text(text),
            other => Err(format!("`{other}` is no place")),
        }
    }

    fn parse_text(text: &str) -> Result<Self, String> {
        let number =
            |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no place"));
        match text {
            "recv" => return Ok(Self::Receiver),
            "last" => return Ok(Self::Last),
            "method_name" => return Ok(Self::MethodName),
            _ => {}
        }
        if let Some(first) = text.strip_suffix("..") {
            return number(first).map(Self::Rest);
        }
        if let Some((kind, rest)) = text.split_once(':') {
            return match kind {
                "recv" => number(rest).map(Self::ReceiverArgument),
                "chain" => {
                    let method = rest.split('[').next().unwrap_or(rest);
                    Ok(Self::Chain(method.to_owned()))
                }
                "elem" | "pairs" => number(rest).map(Self::Elements),
                "kw" => Ok(Self::Keyword(None, rest.to_owned())),
                "attr" => Ok(Self::Attribute(rest.to_owned())),
                "lit" => Ok(Self::Fixed(rest.to_owned())),
                _ => Err(format!("`{text}` is no place")),
            };
        }
        if let Some((index, name)) = text.split_once('|') {
            return Ok(Self::Keyword(Some(number(index)?), name.to_owned()));
        }
        if let Some((index, name)) = text.split_once('.') {
            return Ok(Self::Property(number(index)?, name.to_owned()));
        }
        number(text).map(Self::Argument)
    }
}

impl Wire {
    /// Reads a word; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let number =
            |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is no index"));
        if text == "?" {
            return Ok(Self::Made);
        }
        if let Some(index) = text.strip_prefix('$') {
            return number(index.trim_end_matches('*')).map(Self::Argument);
        }
        if let Some(index) = text.strip_prefix('#').filter(|rest| !rest.is_empty()) {
            return number(index).map(Self::Count);
        }
        if text.contains('|') {
            return Ok(Self::Either(text.split('|').map(str::to_owned).collect()));
        }
        Ok(Self::Literal(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_read_by_what_comes_first() {
        assert_eq!(Loss::parse("Ok(None); Err on any Redis error"), Some(Loss::Nothing));
        assert_eq!(Loss::parse("Err(LockError)"), Some(Loss::Failure));
        assert_eq!(Loss::parse("never; Err if an extension fails"), Some(Loss::Never));
        assert_eq!(Loss::parse("by and by"), None);
    }

    #[test]
    fn places_read() {
        let text = |text: &str| Place::parse(&toml::Value::String(text.into()));
        assert_eq!(Place::parse(&toml::Value::Integer(2)), Ok(Place::Argument(2)));
        assert_eq!(text("1.."), Ok(Place::Rest(1)));
        assert_eq!(text("recv:0"), Ok(Place::ReceiverArgument(0)));
        assert_eq!(text("chain:arg[2..2+n]"), Ok(Place::Chain("arg".into())));
        assert_eq!(text("kw:px"), Ok(Place::Keyword(None, "px".into())));
        assert_eq!(text("1|ttl"), Ok(Place::Keyword(Some(1), "ttl".into())));
        assert_eq!(text("2.PX"), Ok(Place::Property(2, "PX".into())));
        assert!(text("somewhere").is_err());
    }

    #[test]
    fn row_counts_read() {
        let method = RowCount::parse("method:rows_affected");
        assert_eq!(method, Ok(RowCount::In("rows_affected".into())));
        assert_eq!(RowCount::parse("error"), Ok(RowCount::Error));
        assert!(RowCount::parse("return (u64)").is_err());
        assert!(RowCount::parse("method:").is_err());
    }

    #[test]
    fn words_read() {
        assert_eq!(Wire::parse("SET"), Ok(Wire::Literal("SET".into())));
        assert_eq!(Wire::parse("$1*"), Ok(Wire::Argument(1)));
        assert_eq!(Wire::parse("#0"), Ok(Wire::Count(0)));
        assert_eq!(Wire::parse("A|B"), Ok(Wire::Either(vec!["A".into(), "B".into()])));
        assert!(Wire::parse("$x").is_err());
    }
}
