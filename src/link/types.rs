//! Types: what is known of a value's type without a compiler.
//!
//! A type comes from what is written (parameters, fields, annotations, declared returns) and from
//! what a library's call is known to give. References and smart pointers are peeled; a future is
//! its output. What is not known is [`Ty::Unknown`], never a guess.

use std::sync::Arc;

use super::names::{NodeId, Scope};
use super::{FunctionId, Program, TraitId, TypeId};
use crate::ir::effect::BodyId;
use crate::ir::index::{Function, ItemId, Path};

pub mod infer;
pub mod library;
pub mod parts;
pub mod results;
pub mod standard;
pub mod written;

/// A type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ty {
    /// Not known.
    #[default]
    Unknown,
    /// A struct or enum of the workspace.
    Workspace {
        /// Which.
        id: TypeId,
        /// Type arguments, as far as known.
        arguments: Arc<[Ty]>,
    },
    /// A library's type, primitive types and the standard library included (`std::Option`).
    External {
        /// Its full path, crate first.
        path: Arc<Path>,
        /// Type arguments, as far as known.
        arguments: Arc<[Ty]>,
    },
    /// Some type of a library: what an unknown link of a fluent chain gives.
    Derived {
        /// The full path of the function or type the chain began at, crate first.
        from: Arc<Path>,
        /// Whether it, or what it was taken from, is what a call outside answered: most of that is
        /// data, not the client.
        answered: bool,
    },
    /// Something of which only traits are known: `impl A + B`, `dyn A`, a type parameter.
    Bounds(Arc<[Bound]>),
    /// A tuple.
    Tuple(Arc<[Ty]>),
    /// A vector, slice, array, iterator, stream of some type.
    List(Arc<Ty>),
    /// Something that can be called.
    Function {
        /// Parameter types.
        parameters: Arc<[Ty]>,
        /// What it gives; a future is its output.
        returns: Arc<Ty>,
    },
    /// A closure whose body is known.
    Closure(BodyId),
    /// A function item.
    Item(FunctionId),
}

/// A trait that a value is known to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// A trait of the workspace.
    Workspace(TraitId),
    /// A library's trait: the full path.
    External(Arc<Path>),
}

impl Ty {
    /// Some type of the library that a path is of.
    #[must_use]
    pub fn derived(from: Path) -> Self {
        Self::Derived { from: Arc::new(from), answered: false }
    }

    /// A library type without arguments.
    #[must_use]
    pub fn external(path: Path) -> Self {
        Self::External { path: Arc::new(path), arguments: Arc::from([]) }
    }

    /// A standard type or primitive by name.
    #[must_use]
    pub fn standard(name: &str, arguments: Vec<Ty>) -> Self {
        let path = Path(vec!["std".to_owned(), name.to_owned()]);
        Self::External { path: Arc::new(path), arguments: arguments.into() }
    }

    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }

    /// The crate of a library's type or chain.
    #[must_use]
    pub fn root(&self) -> Option<&str> {
        match self {
            Self::External { path, .. } | Self::Derived { from: path, .. } => path.first(),
            _ => None,
        }
    }

    /// Whether it is of the standard library, or primitive.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        match self {
            Self::Tuple(_)
            | Self::List(_)
            | Self::Function { .. }
            | Self::Closure(_)
            | Self::Item(_) => true,
            _ => matches!(self.root(), Some("std" | "core" | "alloc")),
        }
    }

    /// The full path and the type arguments of a library's type.
    #[must_use]
    pub fn as_external(&self) -> Option<(&Path, &[Ty])> {
        match self {
            Self::External { path, arguments } => Some((path, arguments)),
            _ => None,
        }
    }

    /// The last part of a library type's path.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.as_external().and_then(|(path, _)| path.last())
    }

    /// The n-th type argument; unknown when there is none.
    #[must_use]
    pub fn argument(&self, index: usize) -> Ty {
        match self {
            Self::Workspace { arguments, .. } | Self::External { arguments, .. } => {
                arguments.get(index).cloned().unwrap_or_default()
            }
            _ => Self::Unknown,
        }
    }

    /// What a success-or-failure value holds on success; a type that is none stays (a wrapper that
    /// is not known was already looked through).
    #[must_use]
    pub fn payload(&self) -> Ty {
        if self.is_fallible() { self.argument(0) } else { self.clone() }
    }

    /// Whether it is an option, a result, or an alias of one. A `PgQueryResult`, which is of no type
    /// in particular, is none.
    #[must_use]
    pub fn is_fallible(&self) -> bool {
        self.as_external().is_some_and(|(path, arguments)| match path.last() {
            Some("Option" | "Result" | "Poll") => true,
            Some(name) => name.ends_with("Result") && !arguments.is_empty(),
            None => false,
        })
    }

    /// The same option or result with another payload.
    #[must_use]
    pub fn with_payload(&self, payload: Ty) -> Ty {
        match self {
            Self::External { path, arguments } if self.is_fallible() => {
                let mut arguments = arguments.to_vec();
                match arguments.first_mut() {
                    Some(first) => *first = payload,
                    None => arguments.push(payload),
                }
                Self::External { path: Arc::clone(path), arguments: arguments.into() }
            }
            _ => Self::standard("Option", vec![payload]),
        }
    }

    /// The traits, when only traits are known.
    #[must_use]
    pub fn bounds(&self) -> &[Bound] {
        match self {
            Self::Bounds(bounds) => bounds,
            _ => &[],
        }
    }
}

impl Program {
    /// The library whose macro or derive declares a table under this path: `diesel` for a module of
    /// `table!`, `sea_orm` for an entity.
    pub(crate) fn table_library(&self, path: &Path) -> Option<&'static str> {
        let (last, module) = (path.last()?, path.parent());
        let module = module.last()?;
        if !self.tables.contains(module) {
            return None;
        }
        let entity = matches!(last, "Entity" | "Column" | "ActiveModel" | "Model" | "Relation");
        Some(if entity { "sea_orm" } else { "diesel" })
    }

    /// The scope that names of a body are looked up in.
    #[must_use]
    pub fn scope_of(&self, body: BodyId) -> Scope<'_> {
        let nowhere = Scope::of(NodeId(0));
        let Some(own) = self.body(body) else { return nowhere };
        match own.item {
            Some(ItemId::Function(index)) => {
                let id = FunctionId { file: own.file, index };
                self.function(id).map_or(nowhere, |function| self.scope_of_function(id, function))
            }
            Some(ItemId::Constant(index)) => {
                let constant =
                    self.index(own.file).and_then(|file| file.constants.get(index as usize));
                constant.map_or(nowhere, |constant| Scope {
                    owner: constant.owner.as_ref(),
                    ..Scope::of(self.names.node_of(own.file, &constant.scope))
                })
            }
            None => nowhere,
        }
    }

    /// The scope of a function's header and body.
    #[must_use]
    pub fn scope_of_function<'a>(&self, id: FunctionId, function: &'a Function) -> Scope<'a> {
        Scope {
            node: self.names.node_of(id.file, &function.scope.join(function.name.clone())),
            owner: function.owner.as_ref(),
            of_trait: function.of_trait.as_ref(),
            generics: &function.generics,
        }
    }
}
