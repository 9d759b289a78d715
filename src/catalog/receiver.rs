//! On what a row's method is called.

/// On what a method is called, or where a function lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// A method on a value of this type.
    Type(TypeName),
    /// A method that this trait adds; the trait must be in scope.
    Trait(TypeName),
    /// An associated function `Type::method`.
    Assoc(TypeName),
    /// A free function of this module.
    Function(TypeName),
    /// A macro of this crate.
    Macro(TypeName),
    /// A constructor of this type.
    Constructor(TypeName),
    /// A link of a call chain that starts at this path.
    Chain(TypeName),
    /// An annotation, attribute or decorator.
    Annotation(TypeName),
    /// Any call of a library without rows that is given a value of this type.
    Given(TypeName),
    /// Every member of a named set.
    Set(String),
    /// Anything: method name and argument shape tell.
    Any,
}

/// A path with type arguments: `bb8::PooledConnection<RedisConnectionManager>`. A `*` in a part
/// stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// Parts of the path.
    pub path: Vec<String>,
    /// Last parts of the type arguments' paths, all of which must be there.
    pub arguments: Vec<String>,
}

impl Receiver {
    /// Reads `type:redis::Connection` and kin; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self::Any);
        }
        let (kind, rest) =
            text.split_once(':').ok_or_else(|| format!("receiver `{text}` has no kind"))?;
        if kind == "set" {
            return Ok(Self::Set(rest.to_owned()));
        }
        let name = TypeName::parse(rest)?;
        Ok(match kind {
            "type" => Self::Type(name),
            "trait" => Self::Trait(name),
            "assoc" => Self::Assoc(name),
            "fn" => Self::Function(name),
            "macro" => Self::Macro(name),
            "ctor" => Self::Constructor(name),
            "chain" => Self::Chain(name),
            "annotation" => Self::Annotation(name),
            "given" => Self::Given(name),
            _ => return Err(format!("receiver `{text}` is of no known kind")),
        })
    }

    /// The path of every kind but sets and `any`.
    #[must_use]
    pub fn name(&self) -> Option<&TypeName> {
        match self {
            Self::Type(name)
            | Self::Trait(name)
            | Self::Assoc(name)
            | Self::Function(name)
            | Self::Macro(name)
            | Self::Constructor(name)
            | Self::Chain(name)
            | Self::Annotation(name)
            | Self::Given(name) => Some(name),
            Self::Set(_) | Self::Any => None,
        }
    }
}

impl TypeName {
    fn parse(text: &str) -> Result<Self, String> {
        let (path, arguments) = match text.split_once('<') {
            Some((path, rest)) => {
                let inside =
                    rest.strip_suffix('>').ok_or_else(|| format!("`{text}` lacks a `>`"))?;
                (path, inside.split(',').map(|part| part.trim().to_owned()).collect())
            }
            None => (text, Vec::new()),
        };
        let parts: Vec<String> = path.split("::").map(str::to_owned).collect();
        let sound = |part: &String| {
            !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '*')
        };
        if !parts.iter().all(sound) {
            return Err(format!("`{text}` is no path"));
        }
        Ok(Self { path: parts, arguments })
    }

    /// The crate or package.
    #[must_use]
    pub fn root(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// The last part.
    #[must_use]
    pub fn last(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Whether a full path names the same thing. Libraries re-export their types at several paths
    /// (`sqlx::PgPool`, `sqlx::postgres::PgPool`), so the crate and the last part decide; in the
    /// standard library and tokio, where a last part alone says too little, the part before it too.
    #[must_use]
    pub fn names(&self, path: &[String]) -> bool {
        let (Some(root), Some(last)) = (path.first(), path.last()) else { return false };
        if !fits(self.root(), root) || !fits(self.last(), last) {
            return false;
        }
        let broad = is_broad(root);
        let module =
            |path: &[String]| path.len().checked_sub(2).and_then(|at| path.get(at).cloned());
        !broad || self.path.len() < 3 || path.len() < 3 || module(&self.path) == module(path)
    }

    /// Whether a function of this full path (module and name) is `method` of this module.
    #[must_use]
    pub fn holds_function(&self, path: &[String], method: &str) -> bool {
        let Some((last, module)) = path.split_last() else { return false };
        if last != method && method != "*" {
            return false;
        }
        let (Some(root), Some(inner)) = (module.first(), module.last()) else { return false };
        if !fits(self.root(), root) {
            return false;
        }
        // A function of a type is none of the module.
        let of_type = inner.starts_with(char::is_uppercase);
        !(is_broad(root) || of_type) || fits(self.last(), inner)
    }
}

/// Whether a crate is so wide that a last part alone says too little.
fn is_broad(root: &str) -> bool {
    matches!(root, "std" | "core" | "alloc" | "tokio" | "async_std")
}

/// Whether `text` fits a pattern in which `*` stands for any text.
#[must_use]
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return rest.is_empty() };
    for piece in middle {
        match rest.split_once(*piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Vec<String> {
        text.split("::").map(str::to_owned).collect()
    }

    #[test]
    fn receivers_read_and_wrong_ones_say_why() {
        let read = Receiver::parse("type:bb8::PooledConnection<RedisConnectionManager>").unwrap();
        let name = read.name().unwrap();
        assert_eq!(name.path, ["bb8", "PooledConnection"]);
        assert_eq!(name.arguments, ["RedisConnectionManager"]);
        assert!(Receiver::parse("redis").is_err());
        assert!(Receiver::parse("thing:redis").is_err());
        assert!(Receiver::parse("type:a b").is_err());
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(fits("*FluentBuilder", "SendMessageFluentBuilder"));
        assert!(fits("aws_sdk_*", "aws_sdk_sqs"));
        assert!(!fits("aws_sdk_*", "aws_config"));
        assert!(fits("a*b*c", "axxbyyc"));
        assert!(!fits("redis", "redis2"));
    }

    #[test]
    fn re_exports_name_the_same_and_std_modules_do_not() {
        let name = |text: &str| TypeName::parse(text).unwrap();
        assert!(name("sqlx::PgPool").names(&path("sqlx::postgres::PgPool")));
        assert!(!name("std::time::Instant").names(&path("tokio::time::Instant")));
        assert!(!name("std::time::Duration").names(&path("std::thread::Duration")));
        assert!(name("tokio::time").holds_function(&path("tokio::time::sleep"), "sleep"));
        assert!(!name("tokio::task").holds_function(&path("tokio::time::sleep"), "sleep"));
        assert!(name("redis").holds_function(&path("redis::cmd"), "cmd"));
        assert!(!name("redis").holds_function(&path("redis::Script::new"), "new"));
    }
}
