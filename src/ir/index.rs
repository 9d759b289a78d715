//! The first step of a front-end: items, names and headers of one file, without their bodies.
//!
//! An index is cheap to make and cheap to keep: it holds no syntax tree. [`ItemId`] numbers what
//! can be lowered later (functions, constants, scripts).

use std::sync::Arc;

use super::body::{MacroNote, Problem};
use super::expansion::Expansion;
use crate::source::{FileId, Language, Span};

mod macros;

pub use macros::{Counts, MacroCall, MacroDefinition, Part};

/// A lowerable item of one file: a position in [`FileIndex::functions`] or
/// [`FileIndex::constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ItemId {
    /// A function, method, or script.
    Function(u32),
    /// A constant, static, associated constant.
    Constant(u32),
}

/// A name in parts, as written: `["redis", "cmd"]`, `["Self", "KEY"]`, `["Some"]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(pub Vec<String>);

impl Path {
    /// A path of one part.
    #[must_use]
    pub fn single(name: impl Into<String>) -> Self {
        Self(vec![name.into()])
    }

    /// A path from `a::b::c`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Self(text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect())
    }

    /// The last part.
    #[must_use]
    pub fn last(&self) -> Option<&str> {
        self.0.last().map(String::as_str)
    }

    /// The first part.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.0.first().map(String::as_str)
    }

    /// All parts but the last.
    #[must_use]
    pub fn parent(&self) -> Self {
        Self(self.0.get(..self.0.len().saturating_sub(1)).unwrap_or_default().to_vec())
    }

    /// This path with one more part.
    #[must_use]
    pub fn join(&self, name: impl Into<String>) -> Self {
        let mut parts = self.0.clone();
        parts.push(name.into());
        Self(parts)
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join("::"))
    }
}

/// A type as written. References and pointers that read through (`&T`, `Box<T>`, `Arc<T>`,
/// `Rc<T>`, `Cow<T>`, `Pin<T>`) are peeled by the front-end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeRef {
    /// A path with type arguments.
    Named {
        /// The path.
        path: Path,
        /// Type arguments (lifetimes and constants left out).
        arguments: Vec<TypeRef>,
    },
    /// `impl A + B`, `dyn A`, or the bounds of a type parameter.
    Bounds(Vec<TypeRef>),
    /// `(A, B)`; the empty tuple is the unit type.
    Tuple(Vec<TypeRef>),
    /// `[T]`, `[T; n]`
    Slice(Box<TypeRef>),
    /// `fn(A) -> B`, `Fn(A) -> B` and kin.
    Function {
        /// Parameter types.
        parameters: Vec<TypeRef>,
        /// Return type.
        returns: Box<TypeRef>,
    },
    /// `_`, or a type a front-end cannot say.
    Unknown,
}

impl TypeRef {
    /// The last part of the path of a named type.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Named { path, .. } => path.last(),
            _ => None,
        }
    }

    /// The n-th type argument of a named type.
    #[must_use]
    pub fn argument(&self, index: usize) -> Option<&TypeRef> {
        match self {
            Self::Named { arguments, .. } => arguments.get(index),
            _ => None,
        }
    }

    /// The type inside `Option`, `Result` and other one-payload wrappers: the first type argument.
    #[must_use]
    pub fn payload(&self) -> Option<&TypeRef> {
        self.argument(0)
    }

    /// Whether it is `()`.
    #[must_use]
    pub fn is_unit(&self) -> bool {
        matches!(self, Self::Tuple(parts) if parts.is_empty())
    }
}

/// How sure it is that code only serves tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Code that ships.
    #[default]
    Product,
    /// Tests, benches, mocks. Examples are product code: they are there to be copied.
    Test,
}

/// Names of folders that only serve tests.
const TEST_FOLDERS: [&str; 20] = [
    "test",
    "tests",
    "testing",
    "testdata",
    "testutil",
    "testutils",
    "test_data",
    "test_util",
    "test_utils",
    "test-data",
    "test-util",
    "test-utils",
    "__tests__",
    "mock",
    "mocks",
    "fakes",
    "stubs",
    "bench",
    "benches",
    "e2e",
];
/// Ends of such names.
const TEST_ENDS: [&str; 8] =
    ["-test", "-tests", "_tests", "-testing", "-test-utils", "-mock", "-mocks", "-e2e"];

/// Whether a folder, by its name, holds what only serves tests. `spec` is a folder of tests in most
/// languages, and of specifications in Rust.
#[must_use]
pub fn is_test_folder(name: &str, language: Language) -> bool {
    let name = name.to_ascii_lowercase();
    TEST_FOLDERS.contains(&name.as_str())
        || TEST_ENDS.iter().any(|end| name.ends_with(end))
        || matches!(name.as_str(), "spec" | "specs") && language != Language::Rust
}

/// Everything that one file declares.
#[derive(Clone, Debug)]
pub struct FileIndex {
    /// The file.
    pub file: FileId,
    /// The path of its module as far as the file system says (`["shop", "lock"]`); a front-end
    /// whose language has no modules leaves it empty.
    pub module: Path,
    /// Whether the whole file is test code.
    pub role: Role,
    /// Functions, methods and scripts, nested ones included.
    pub functions: Vec<Function>,
    /// Constants and statics.
    pub constants: Vec<Constant>,
    /// Structs, enums and aliases.
    pub types: Vec<Type>,
    /// Traits and interfaces.
    pub traits: Vec<Trait>,
    /// `impl` blocks (and what plays their part elsewhere), also those without a function.
    pub implementations: Vec<Implementation>,
    /// What names the file brings in.
    pub imports: Vec<Import>,
    /// Modules declared here that live in other files.
    pub modules: Vec<ModuleDeclaration>,
    /// Tables declared in code (`diesel::table!`, sea-orm entities, JPA entities).
    pub tables: Vec<TableDeclaration>,
    /// Macros defined here.
    pub macros: Vec<MacroDefinition>,
    /// Calls of macros where items stand.
    pub calls: Vec<MacroCall>,
    /// What those calls were expanded to.
    pub expansions: Vec<Arc<Expansion>>,
    /// What became of each call that was looked at.
    pub macro_notes: Vec<MacroNote>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

impl FileIndex {
    /// An empty index.
    #[must_use]
    pub fn new(file: FileId) -> Self {
        Self {
            file,
            module: Path::default(),
            role: Role::Product,
            functions: Vec::new(),
            constants: Vec::new(),
            types: Vec::new(),
            traits: Vec::new(),
            implementations: Vec::new(),
            imports: Vec::new(),
            modules: Vec::new(),
            tables: Vec::new(),
            macros: Vec::new(),
            calls: Vec::new(),
            expansions: Vec::new(),
            macro_notes: Vec::new(),
            problems: Vec::new(),
        }
    }
}

/// The header of a function, method or script.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name; a script without one is named by where it stands (`RELEASE`, `release.lua`).
    pub name: String,
    /// The module it is declared in, file module first (inline modules and enclosing functions
    /// included).
    pub scope: Path,
    /// The type it is a method of, as written in the `impl` header (`Self` resolves to it).
    pub owner: Option<TypeRef>,
    /// The trait it implements (or declares, when `owner` is `None`).
    pub of_trait: Option<Path>,
    /// How it takes its receiver.
    pub receiver: Receiver,
    /// Parameters without the receiver.
    pub parameters: Vec<Parameter>,
    /// Return type; for `async fn` the type written, not the future.
    pub returns: TypeRef,
    /// Type parameters and their bounds (of the function and its `impl`).
    pub generics: Vec<(String, Vec<TypeRef>)>,
    /// Whether a call only makes a future.
    pub is_async: bool,
    /// Whether it has a body (a trait method may not).
    pub has_body: bool,
    /// Product or test code.
    pub role: Role,
    /// The whole item.
    pub span: Span,
    /// The text of the whole item where a macro made it; `None` when that is the text of the span.
    pub made: Option<Part>,
    /// Its name alone.
    pub name_span: Span,
}

/// How a method takes its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// No receiver.
    None,
    /// By reference.
    Borrowed,
    /// By value: the call consumes it.
    Owned,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name; empty when it is a pattern.
    pub name: String,
    /// Its type.
    pub ty: TypeRef,
}

/// A constant or static.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name.
    pub name: String,
    /// The module it is declared in.
    pub scope: Path,
    /// The type it is associated with.
    pub owner: Option<TypeRef>,
    /// Its type.
    pub ty: TypeRef,
    /// Whether code may write to it (`static mut`): its initialiser says nothing then.
    pub written: bool,
    /// Product or test code.
    pub role: Role,
    /// The whole item.
    pub span: Span,
    /// The text of the whole item where a macro made it; `None` when that is the text of the span.
    pub made: Option<Part>,
}

/// A struct, enum, class or alias.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// The module it is declared in.
    pub scope: Path,
    /// Fields of a struct (tuple fields are `"0"`, …); of an enum, none.
    pub fields: Vec<(String, TypeRef)>,
    /// Variants of an enum and their fields.
    pub variants: Vec<(String, Vec<(String, TypeRef)>)>,
    /// What an alias stands for.
    pub alias: Option<TypeRef>,
    /// Derives and attributes, last path part and raw arguments.
    pub attributes: Vec<(String, String)>,
    /// Type parameters and their bounds.
    pub generics: Vec<(String, Vec<TypeRef>)>,
    /// The whole item.
    pub span: Span,
}

/// A trait or interface. Its methods are among the file's functions, with `of_trait` set and no
/// `owner`.
#[derive(Clone, Debug)]
pub struct Trait {
    /// Its name.
    pub name: String,
    /// The module it is declared in.
    pub scope: Path,
    /// Supertraits.
    pub bounds: Vec<TypeRef>,
    /// The whole item.
    pub span: Span,
}

/// An `impl` block: which trait a type has. Its functions are among the file's functions.
#[derive(Clone, Debug)]
pub struct Implementation {
    /// The module it is written in.
    pub scope: Path,
    /// The type, as written in the header.
    pub owner: TypeRef,
    /// The trait with its type arguments; `None` for an inherent block.
    pub of_trait: Option<TypeRef>,
    /// Associated types: name and type (`Target` of `Deref`).
    pub types: Vec<(String, TypeRef)>,
    /// Type parameters of the block and their bounds.
    pub generics: Vec<(String, Vec<TypeRef>)>,
}

/// A name brought into scope.
#[derive(Clone, Debug)]
pub struct Import {
    /// The scope it is written in: the module, then enclosing functions.
    pub scope: Path,
    /// The full path as written (`["redis", "AsyncCommands"]`); for a glob, the path before `*`.
    pub path: Path,
    /// The name it has here; `_` for `as _`; `*` for a glob.
    pub name: String,
}

/// `mod name;`: a module whose text is in another file.
#[derive(Clone, Debug)]
pub struct ModuleDeclaration {
    /// The module it is declared in.
    pub scope: Path,
    /// Its name.
    pub name: String,
    /// The file, relative to the root, when the source says one (`#[path = "…"]`) or the usual
    /// places hold one.
    pub file: Option<String>,
    /// Product or test code.
    pub role: Role,
    /// Whether what comes after it sees its macros.
    pub hands_on_macros: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A table that code declares.
#[derive(Clone, Debug)]
pub struct TableDeclaration {
    /// The table's name in the database.
    pub table: String,
    /// How code names it (`refund`, module of the entity or of `table!`).
    pub module: Path,
    /// Columns: name in code, name in the database, type as written.
    pub columns: Vec<(String, String, String)>,
    /// Primary key columns (database names).
    pub primary_key: Vec<String>,
    /// What the declaration makes in the module it stands in, beside what is written there, as things
    /// of the library: `sea_orm::refund::Entity`.
    pub makes: Vec<Path>,
    /// Where.
    pub span: Span,
}
