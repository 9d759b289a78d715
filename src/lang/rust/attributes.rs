//! Attributes of items, and where items begin.

use syn::spanned::Spanned;

use super::span::Place;
use super::types;
use crate::source::SourceFile;

/// Attributes as last path part and raw arguments (`("cfg", "test")`); documentation left out.
pub(crate) fn attributes(
    list: &[syn::Attribute],
    file: &SourceFile,
    place: &Place,
) -> Vec<(String, String)> {
    let others = list.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    others.map(|attribute| (last_name(attribute), raw(&attribute.meta, file, place))).collect()
}

fn last_name(attribute: &syn::Attribute) -> String {
    attribute.path().segments.last().map(|part| types::name(&part.ident)).unwrap_or_default()
}

/// The text inside the delimiters, or after `=`.
fn raw(meta: &syn::Meta, file: &SourceFile, place: &Place) -> String {
    let text = match meta {
        syn::Meta::Path(_) => "",
        syn::Meta::List(list) => {
            let group = list.delimiter.span();
            let whole = place.text(file, &place.part(group.open(), group.close()));
            whole.get(1..whole.len().saturating_sub(1)).unwrap_or("")
        }
        syn::Meta::NameValue(pair) => {
            let value = pair.value.span();
            place.text(file, &place.part(value, value))
        }
    };
    text.trim().to_owned()
}

/// The text of a string literal.
pub(crate) fn text_value(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The text of `#[name = "text"]`.
pub(crate) fn text_of(list: &[syn::Attribute], name: &str) -> Option<String> {
    list.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident(name) => text_value(&pair.value),
        _ => None,
    })
}

/// The first token of an item: its first outer attribute, else its visibility, else `first`.
pub(crate) fn start(
    list: &[syn::Attribute],
    visibility: Option<&syn::Visibility>,
    first: proc_macro2::Span,
) -> proc_macro2::Span {
    let outer = list.iter().find(|attribute| matches!(attribute.style, syn::AttrStyle::Outer));
    match (outer, visibility) {
        (Some(attribute), _) => attribute.pound_token.span,
        (None, Some(syn::Visibility::Public(word))) => word.span,
        (None, Some(syn::Visibility::Restricted(of))) => of.pub_token.span,
        (None, _) => first,
    }
}
