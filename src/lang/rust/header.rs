//! Headers of functions: parameters, receiver, bounds, what they return.

use syn::punctuated::Punctuated;

use super::types;
use crate::ir::index::{Parameter, Receiver, TypeRef};

/// Type parameters and their bounds.
pub(crate) type Generics = Vec<(String, Vec<TypeRef>)>;

/// Adds the type parameters of `<…>` and the bounds of `where` to a list.
pub(crate) fn add_generics(list: &mut Generics, generics: &syn::Generics) {
    for parameter in &generics.params {
        if let syn::GenericParam::Type(of) = parameter {
            add_bounds(list, types::name(&of.ident), &of.bounds);
        }
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let syn::WherePredicate::Type(of) = predicate
            && let syn::Type::Path(bounded) = &of.bounded_ty
            && bounded.qself.is_none()
            && let Some(name) = bounded.path.get_ident()
        {
            add_bounds(list, types::name(name), &of.bounds);
        }
    }
}

/// The type parameters of `<…>` and `where`.
pub(crate) fn generics(generics: &syn::Generics) -> Generics {
    let mut list = Vec::new();
    add_generics(&mut list, generics);
    list
}

fn add_bounds(
    list: &mut Generics,
    name: String,
    bounds: &Punctuated<syn::TypeParamBound, syn::Token![+]>,
) {
    let bounds = types::bounds(bounds);
    match list.iter_mut().find(|(known, _)| *known == name) {
        Some((_, known)) => known.extend(bounds),
        None => list.push((name, bounds)),
    }
}

/// Parameters without the receiver.
pub(crate) fn parameters(signature: &syn::Signature) -> Vec<Parameter> {
    let typed = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => Some(typed),
        syn::FnArg::Receiver(_) => None,
    });
    typed
        .map(|typed| {
            let name = match &*typed.pat {
                syn::Pat::Ident(of) => types::name(&of.ident),
                _ => String::new(),
            };
            Parameter { name, ty: types::type_ref(&typed.ty) }
        })
        .collect()
}

/// How a method takes `self`.
pub(crate) fn receiver(signature: &syn::Signature) -> Receiver {
    match signature.receiver().map(|receiver| &receiver.kind) {
        None => Receiver::None,
        Some(syn::ReceiverKind::Reference(..)) => Receiver::Borrowed,
        Some(syn::ReceiverKind::Typed(_, ty)) if borrows(ty) => Receiver::Borrowed,
        Some(_) => Receiver::Owned,
    }
}

/// `&Self`, `Pin<&mut Self>`
fn borrows(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(_) => true,
        syn::Type::Path(of) if last_is(&of.path, &["Pin"]) => {
            first_argument(&of.path).is_some_and(|inner| matches!(inner, syn::Type::Reference(_)))
        }
        _ => false,
    }
}

/// What a call gives once it has run, and whether the call alone only makes a future.
pub(crate) fn returns(signature: &syn::Signature) -> (TypeRef, bool) {
    if signature.asyncness.is_some() {
        return (types::returned(&signature.output), true);
    }
    let future = match &signature.output {
        syn::ReturnType::Type(_, ty) => future_output(ty),
        syn::ReturnType::Default => None,
    };
    match future {
        Some(output) => (output, true),
        None => (types::returned(&signature.output), false),
    }
}

/// `T` of `impl Future<Output = T>`, `Pin<Box<dyn Future<Output = T> + Send>>`, `BoxFuture<'_, T>`.
fn future_output(ty: &syn::Type) -> Option<TypeRef> {
    match ty {
        syn::Type::ImplTrait(of) => of.bounds.iter().find_map(output_binding),
        syn::Type::TraitObject(of) => of.bounds.iter().find_map(output_binding),
        syn::Type::Paren(of) => future_output(&of.elem),
        syn::Type::Path(of) if last_is(&of.path, &["Pin", "Box"]) => {
            future_output(first_argument(&of.path)?)
        }
        syn::Type::Path(of) if last_is(&of.path, &["BoxFuture", "LocalBoxFuture"]) => {
            first_argument(&of.path).map(types::type_ref)
        }
        _ => None,
    }
}

fn output_binding(bound: &syn::TypeParamBound) -> Option<TypeRef> {
    let syn::TypeParamBound::Trait(of) = bound else { return None };
    if !last_is(&of.path, &["Future"]) {
        return None;
    }
    let syn::PathArguments::AngleBracketed(list) = &of.path.segments.last()?.arguments else {
        return None;
    };
    list.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::AssocType(of) if of.ident == "Output" => {
            Some(types::type_ref(&of.ty))
        }
        _ => None,
    })
}

fn last_is(path: &syn::Path, names: &[&str]) -> bool {
    path.segments.last().is_some_and(|last| names.iter().any(|name| last.ident == name))
}

fn first_argument(path: &syn::Path) -> Option<&syn::Type> {
    let syn::PathArguments::AngleBracketed(list) = &path.segments.last()?.arguments else {
        return None;
    };
    list.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
