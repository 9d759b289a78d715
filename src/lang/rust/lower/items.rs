//! The outermost step: a function's parameters and block, a constant's initialiser.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};

use super::super::slice::{Form, Slice};
use super::super::types;
use super::Lowerer;
use crate::ir::index::TypeRef;
use crate::ir::value::ValueKind;

/// The expression after the `=` of a constant, static, or `static ref` of a macro.
struct Initialiser(syn::Expr);

impl Parse for Initialiser {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        while !input.is_empty() {
            // An `=` inside of a type (`Iterator<Item = T>`) has no whole expression behind it.
            if input.peek(syn::Token![=]) && !input.peek(syn::Token![==]) {
                let fork = input.fork();
                fork.parse::<syn::Token![=]>()?;
                if let Ok(expr) = fork.parse()
                    && (fork.is_empty() || fork.peek(syn::Token![;]))
                {
                    skip_rest(input)?;
                    return Ok(Self(expr));
                }
            }
            input.parse::<TokenTree>()?;
        }
        Err(input.error("expected a value"))
    }
}

/// What follows the value (`;`) is no part of it.
fn skip_rest(input: ParseStream<'_>) -> syn::Result<()> {
    input.step(|cursor| {
        let mut rest = *cursor;
        while let Some((_, next)) = rest.token_tree() {
            rest = next;
        }
        Ok(((), rest))
    })
}

impl Lowerer<'_> {
    /// Lowers the item into body 0.
    pub(super) fn item(&mut self, slice: &Slice<'_>) -> syn::Result<()> {
        match slice.form {
            Form::Function => {
                match syn::parse_str::<syn::ItemFn>(slice.text) {
                    Ok(item) => self.function(&item.sig, Some(&item.block)),
                    // Declared in an `extern` block: there is nothing to run.
                    Err(error) => match syn::parse_str::<syn::ForeignItemFn>(slice.text) {
                        Ok(item) => self.function(&item.sig, None),
                        Err(_) => return Err(error),
                    },
                }
            }
            Form::Method => {
                let item: syn::ImplItemFn = syn::parse_str(slice.text)?;
                self.function(&item.sig, Some(&item.block));
            }
            Form::TraitMethod => {
                let item: syn::TraitItemFn = syn::parse_str(slice.text)?;
                self.function(&item.sig, item.default.as_ref());
            }
            Form::Constant | Form::AssociatedConstant => self.constant(slice.text)?,
        }
        Ok(())
    }

    fn function(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
        let mut number = 0;
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(receiver) => {
                    let span = self.place.span(receiver.self_token.span);
                    let value = self.value(ValueKind::Receiver, span);
                    let owned = owns(&receiver.kind);
                    self.label(value, "self");
                    self.frame.declare("self", value, owned);
                }
                syn::FnArg::Typed(parameter) => {
                    self.parameter(number, &parameter.pat, Some(&parameter.ty));
                    number += 1;
                }
            }
        }
        let Some(block) = block else { return };
        let value = self.block(block);
        let span = self.block_end(block);
        self.tail(value, span);
    }

    /// Declares a parameter of the current body.
    pub(super) fn parameter(&mut self, number: u32, pattern: &syn::Pat, ty: Option<&syn::Type>) {
        let (pattern, ty) = match pattern {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            other => (other, ty),
        };
        let span = self.pattern_span(pattern);
        let value = self.value(ValueKind::Parameter(number), span);
        self.frame.body.parameters.push(value);
        if let Some(ty) = ty {
            self.annotate(value, ty);
        }
        self.bind(pattern, value, false);
    }

    /// Notes the type that the source writes for a value.
    pub(super) fn annotate(&mut self, value: crate::ir::value::ValueId, ty: &syn::Type) {
        if matches!(ty, syn::Type::Reference(_) | syn::Type::Ptr(_)) {
            self.frame.borrows.insert(value);
        }
        let ty = types::type_ref(ty);
        if let Some(value) = self.frame.body.values.get_mut(value.0 as usize)
            && value.ty.is_none()
            && ty != TypeRef::Unknown
        {
            value.ty = Some(ty);
        }
    }

    fn constant(&mut self, text: &str) -> syn::Result<()> {
        let tokens: TokenStream = text.parse()?;
        if !has_value(&tokens) {
            // `const NAME: T;` of a trait: no value, no body.
            return Ok(());
        }
        let Initialiser(expr) = syn::parse2(tokens)?;
        let value = self.operand(&expr);
        let span = self.span_of(&expr);
        self.tail(value, span);
        Ok(())
    }
}

/// Whether a method has to drop its receiver.
fn owns(kind: &syn::ReceiverKind) -> bool {
    match kind {
        syn::ReceiverKind::Value => true,
        syn::ReceiverKind::Typed(_, ty) => match &**ty {
            syn::Type::Path(of) => of.path.segments.last().is_some_and(|last| last.ident == "Box"),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a lone `=` stands outside of groups.
fn has_value(tokens: &TokenStream) -> bool {
    let mut joined = false;
    for token in tokens.clone() {
        match token {
            TokenTree::Punct(punct) => {
                if punct.as_char() == '=' && !joined {
                    return true;
                }
                joined = punct.spacing() == Spacing::Joint;
            }
            _ => joined = false,
        }
    }
    false
}
