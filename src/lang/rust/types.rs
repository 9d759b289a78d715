//! Types, bounds and paths of `syn` as [`TypeRef`] and [`Path`].
//!
//! References, pointers and the wrappers that read through to what they hold are peeled; `dyn` and
//! `impl` become bounds; `Self` stays a name.

use syn::ext::IdentExt;
use syn::punctuated::Punctuated;

use crate::ir::index::{Path, TypeRef};

/// Wrappers whose content is what a reader of the type means.
const READ_THROUGH: [&str; 5] = ["Box", "Arc", "Rc", "Cow", "Pin"];

/// A type as written, peeled.
pub(crate) fn type_ref(ty: &syn::Type) -> TypeRef {
    match ty {
        syn::Type::Reference(reference) => type_ref(&reference.elem),
        syn::Type::Ptr(pointer) => type_ref(&pointer.elem),
        syn::Type::Paren(paren) => type_ref(&paren.elem),
        syn::Type::Group(group) => type_ref(&group.elem),
        syn::Type::Array(array) => TypeRef::Slice(Box::new(type_ref(&array.elem))),
        syn::Type::Slice(slice) => TypeRef::Slice(Box::new(type_ref(&slice.elem))),
        syn::Type::Tuple(tuple) => TypeRef::Tuple(tuple.elems.iter().map(type_ref).collect()),
        syn::Type::ImplTrait(of) => TypeRef::Bounds(bounds(&of.bounds)),
        syn::Type::TraitObject(of) => TypeRef::Bounds(bounds(&of.bounds)),
        syn::Type::FnPtr(pointer) => TypeRef::Function {
            parameters: pointer.inputs.iter().map(|input| type_ref(&input.ty)).collect(),
            returns: Box::new(returned(&pointer.output)),
        },
        syn::Type::Never(_) => TypeRef::Named { path: Path::single("!"), arguments: Vec::new() },
        syn::Type::Path(of) if of.qself.is_none() => read_through(path_type(&of.path)),
        _ => TypeRef::Unknown,
    }
}

/// The type after `->`; the unit type when there is none.
pub(crate) fn returned(output: &syn::ReturnType) -> TypeRef {
    match output {
        syn::ReturnType::Default => TypeRef::Tuple(Vec::new()),
        syn::ReturnType::Type(_, ty) => type_ref(ty),
    }
}

/// The traits of a list of bounds; lifetimes and `?Sized` are left out.
pub(crate) fn bounds(list: &Punctuated<syn::TypeParamBound, syn::Token![+]>) -> Vec<TypeRef> {
    list.iter().filter_map(bound).collect()
}

fn bound(bound: &syn::TypeParamBound) -> Option<TypeRef> {
    match bound {
        syn::TypeParamBound::Trait(of) if of.maybe.is_none() => Some(path_type(&of.path)),
        _ => None,
    }
}

/// The names of a path, generic arguments and a leading `::` left out, raw identifiers without
/// their `r#`.
pub(crate) fn path(path: &syn::Path) -> Path {
    Path(path.segments.iter().map(|segment| name(&segment.ident)).collect())
}

/// An identifier without `r#`.
pub(crate) fn name(ident: &syn::Ident) -> String {
    ident.unraw().to_string()
}

/// Type arguments as written between `<` and `>`: types first come first; the types of
/// `Item = T` bindings stand where they are written.
pub(crate) fn arguments(list: &syn::AngleBracketedGenericArguments) -> Vec<TypeRef> {
    list.args
        .iter()
        .filter_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(type_ref(ty)),
            syn::GenericArgument::AssocType(of) => Some(type_ref(&of.ty)),
            _ => None,
        })
        .collect()
}

/// A path in type position: `Option<T>`, `Fn(A) -> B`.
pub(crate) fn path_type(of: &syn::Path) -> TypeRef {
    match of.segments.last().map(|segment| &segment.arguments) {
        Some(syn::PathArguments::Parenthesized(list)) => TypeRef::Function {
            parameters: list.inputs.iter().map(|input| type_ref(&input.ty)).collect(),
            returns: Box::new(returned(&list.output)),
        },
        Some(syn::PathArguments::AngleBracketed(list)) => {
            TypeRef::Named { path: path(of), arguments: arguments(list) }
        }
        _ => TypeRef::Named { path: path(of), arguments: Vec::new() },
    }
}

/// What a `Box<T>` and kin hold; other types unchanged.
fn read_through(ty: TypeRef) -> TypeRef {
    match ty {
        TypeRef::Named { path, mut arguments }
            if arguments.len() == 1
                && path.last().is_some_and(|last| READ_THROUGH.contains(&last)) =>
        {
            arguments.pop().unwrap_or(TypeRef::Unknown)
        }
        other => other,
    }
}
