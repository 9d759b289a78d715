//! The text of one item, to be parsed on its own when its body is lowered.

use std::sync::Arc;

use crate::ir::index::{FileIndex, ItemId};
use crate::source::{SourceFile, Span};

use super::span::Place;

/// The text of an item and what it parses as.
#[derive(Clone, Debug)]
pub(crate) struct Slice<'t> {
    /// The text, attributes and documentation included.
    pub(crate) text: &'t str,
    /// Where it begins: turns spans of the parsed text into places of the file.
    pub(crate) place: Place,
    /// The whole item.
    pub(crate) span: Span,
    /// What `syn` type reads it.
    pub(crate) form: Form,
}

/// What an item's text parses as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `syn::ItemFn`
    Function,
    /// `syn::ImplItemFn`
    Method,
    /// `syn::TraitItemFn`
    TraitMethod,
    /// `syn::ItemConst`, `syn::ItemStatic`, or `static ref NAME: T = …;` of a macro.
    Constant,
    /// `syn::ImplItemConst` or `syn::TraitItemConst`.
    AssociatedConstant,
}

/// The text of an item of an index that was made of the same file; `None` for a number or span
/// that the file does not have. The nesting of the text was bounded when the index was made, so it
/// can be given to `syn`.
pub(crate) fn slice<'t>(
    file: &'t SourceFile,
    index: &'t FileIndex,
    item: ItemId,
) -> Option<Slice<'t>> {
    let (span, made, form) = match item {
        ItemId::Function(at) => {
            let function = index.functions.get(at as usize)?;
            let form = match (&function.owner, &function.of_trait) {
                (Some(_), _) => Form::Method,
                (None, Some(_)) => Form::TraitMethod,
                (None, None) => Form::Function,
            };
            (function.span, &function.made, form)
        }
        ItemId::Constant(at) => {
            let constant = index.constants.get(at as usize)?;
            let form = match constant.owner {
                Some(_) => Form::AssociatedConstant,
                None => Form::Constant,
            };
            (constant.span, &constant.made, form)
        }
    };
    let (text, place) = match made {
        None => (&file.text, Place { file: file.id, base: span.start, made: None }),
        Some(part) => {
            let number = part.expansion?;
            let expansion = index.expansions.get(number as usize)?;
            let made = Some((number, Arc::clone(expansion)));
            (&expansion.text, Place { file: file.id, base: part.bytes.start, made })
        }
    };
    let bytes = made.as_ref().map_or(span.start..span.end, |part| part.bytes.clone());
    let text = text.get(bytes.start as usize..bytes.end as usize)?;
    Some(Slice { text, place, span, form })
}
