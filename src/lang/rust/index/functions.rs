//! Functions, methods, trait methods and foreign functions.

use super::super::header::{self, Generics};
use super::super::{role, tokens, types};
use super::walk::{Around, Walker};
use crate::ir::index::{Constant, Function, Implementation, Path, Trait, TypeRef};

/// The `impl` or `trait` block a method stands in.
#[derive(Clone, Default)]
struct Home {
    owner: Option<TypeRef>,
    of_trait: Option<Path>,
    generics: Generics,
}

/// The parts of a function that all its kinds have.
struct Parts<'s> {
    attrs: &'s [syn::Attribute],
    visibility: Option<&'s syn::Visibility>,
    modifiers: &'s syn::FnModifiers,
    signature: &'s syn::Signature,
    block: Option<&'s syn::Block>,
    semi: Option<proc_macro2::Span>,
}

impl Walker<'_> {
    pub(super) fn function(&mut self, of: &syn::ItemFn, around: &Around) {
        let parts = Parts {
            attrs: &of.attrs,
            visibility: Some(&of.vis),
            modifiers: &of.modifiers,
            signature: &of.sig,
            block: Some(&of.block),
            semi: None,
        };
        self.header(&parts, &Home::default(), around);
    }

    pub(super) fn foreign(&mut self, of: &syn::ItemForeignMod, around: &Around) {
        for item in &of.items {
            if let syn::ForeignItem::Fn(of) = item {
                let parts = Parts {
                    attrs: &of.attrs,
                    visibility: Some(&of.vis),
                    modifiers: &of.modifiers,
                    signature: &of.sig,
                    block: None,
                    semi: Some(of.semi_token.span),
                };
                self.header(&parts, &Home::default(), around);
            }
        }
    }

    pub(super) fn implementation(&mut self, of: &syn::ItemImpl, around: &Around) {
        let owner = types::type_ref(&of.self_ty);
        let by_name = owner.name().map_or(role::of_type(""), role::of_type);
        let role = self.role(&of.attrs, role::either(around.role, by_name));
        let home = Home {
            owner: Some(owner),
            of_trait: of.trait_.as_ref().map(|(path, _)| types::path(path)),
            generics: header::generics(&of.generics),
        };
        self.block(of, &home, around);
        let first = of.unsafety.as_ref().map_or(of.impl_token.span, |word| word.span);
        let head = (first, of.brace_token.span.open());
        let around = Around { role, ..around.clone() };
        for item in &of.items {
            match item {
                syn::ImplItem::Fn(of) => {
                    let parts = Parts {
                        attrs: &of.attrs,
                        visibility: Some(&of.vis),
                        modifiers: &of.modifiers,
                        signature: &of.sig,
                        block: Some(&of.block),
                        semi: None,
                    };
                    self.header(&parts, &home, &around);
                }
                syn::ImplItem::Const(of) => {
                    let first = of
                        .modifiers
                        .defaultness
                        .as_ref()
                        .map_or(of.const_token.span, |word| word.span);
                    let (visibility, last) = (Some(&of.vis), of.semi_token.span);
                    let span = self.item_span(&of.attrs, visibility, first, last);
                    let constant = Constant {
                        name: types::name(&of.ident),
                        scope: around.scope.clone(),
                        owner: home.owner.clone(),
                        ty: types::type_ref(&of.ty),
                        written: false,
                        role: self.role(&of.attrs, around.role),
                        span,
                        made: self.made(&of.attrs, visibility, first, last),
                    };
                    self.index.constants.push(constant);
                    let value = self.place.part(of.eq_token.span, last);
                    self.inside_expression(&of.expr, &value, &around);
                }
                syn::ImplItem::Macro(of) => self.member_macro(&of.mac, &of.attrs, head, &around),
                _ => {}
            }
        }
    }

    /// The block itself: which trait the type has, and its associated types.
    fn block(&mut self, of: &syn::ItemImpl, home: &Home, around: &Around) {
        let types = of.items.iter().filter_map(|item| match item {
            syn::ImplItem::Type(of) => Some((types::name(&of.ident), types::type_ref(&of.ty))),
            _ => None,
        });
        self.index.implementations.push(Implementation {
            scope: around.scope.clone(),
            owner: home.owner.clone().unwrap_or(TypeRef::Unknown),
            of_trait: of.trait_.as_ref().map(|(path, _)| types::path_type(path)),
            types: types.collect(),
            generics: home.generics.clone(),
        });
    }

    pub(super) fn trait_(&mut self, of: &syn::ItemTrait, around: &Around) {
        let name = types::name(&of.ident);
        let role = self.role(&of.attrs, role::either(around.role, role::of_type(&name)));
        let first = of.unsafety.as_ref().map_or(of.trait_token.span, |word| word.span);
        let span = self.item_span(&of.attrs, Some(&of.vis), first, of.brace_token.span.close());
        let home = Home {
            owner: None,
            of_trait: Some(Path::single(name.clone())),
            generics: header::generics(&of.generics),
        };
        let scope = around.scope.clone();
        let bounds = types::bounds(&of.supertraits);
        self.index.traits.push(Trait { name: name.clone(), scope, bounds, span });
        let around = Around { role, ..around.clone() };
        for item in &of.items {
            match item {
                syn::TraitItem::Fn(of) => {
                    let parts = Parts {
                        attrs: &of.attrs,
                        visibility: None,
                        modifiers: &of.modifiers,
                        signature: &of.sig,
                        block: of.default.as_ref(),
                        semi: of.semi_token.as_ref().map(|semi| semi.span),
                    };
                    self.header(&parts, &home, &around);
                }
                syn::TraitItem::Const(of) => {
                    let owner = Path::single(name.clone());
                    let (first, last) = (of.const_token.span, of.semi_token.span);
                    let span = self.item_span(&of.attrs, None, first, last);
                    self.index.constants.push(Constant {
                        name: types::name(&of.ident),
                        scope: around.scope.clone(),
                        owner: Some(TypeRef::Named { path: owner, arguments: Vec::new() }),
                        ty: types::type_ref(&of.ty),
                        written: false,
                        role: around.role,
                        span,
                        made: self.made(&of.attrs, None, first, last),
                    });
                }
                _ => {}
            }
        }
    }

    pub(super) fn trait_alias(&mut self, of: &syn::ItemTraitAlias, around: &Around) {
        let span =
            self.item_span(&of.attrs, Some(&of.vis), of.trait_token.span, of.semi_token.span);
        self.index.traits.push(Trait {
            name: types::name(&of.ident),
            scope: around.scope.clone(),
            bounds: types::bounds(&of.bounds),
            span,
        });
    }

    /// Adds a function and what its body declares.
    fn header(&mut self, parts: &Parts<'_>, home: &Home, around: &Around) {
        let signature = parts.signature;
        let name = types::name(&signature.ident);
        let declares = |block: &&syn::Block| {
            let group = block.brace_token.span;
            let part = self.place.part(group.open(), group.close());
            tokens::declares_items(self.place.text(self.file, &part))
        };
        let inside = parts.block.filter(declares);
        let role = self.role(parts.attrs, around.role);
        let (returns, is_async) = header::returns(signature);
        let mut generics = home.generics.clone();
        header::add_generics(&mut generics, &signature.generics);
        let (first, last) = (first_word(parts.modifiers, signature), last_mark(parts));
        let around_body = inside.map(|_| around.inside(&name, role));
        self.index.functions.push(Function {
            name,
            scope: around.scope.clone(),
            owner: home.owner.clone(),
            of_trait: home.of_trait.clone(),
            receiver: header::receiver(signature),
            parameters: header::parameters(signature),
            returns,
            generics,
            is_async,
            has_body: parts.block.is_some(),
            role,
            span: self.item_span(parts.attrs, parts.visibility, first, last),
            made: self.made(parts.attrs, parts.visibility, first, last),
            name_span: self.place.span(signature.ident.span()),
        });
        if let (Some(block), Some(around)) = (inside, around_body) {
            self.inside_block(block, &around);
        }
    }
}

/// The last token of a function.
fn last_mark(parts: &Parts<'_>) -> proc_macro2::Span {
    match parts.block {
        Some(block) => block.brace_token.span.close(),
        None => parts.semi.unwrap_or(parts.signature.paren_token.span.close()),
    }
}

/// The first of `default const async unsafe extern fn` that is written.
fn first_word(modifiers: &syn::FnModifiers, signature: &syn::Signature) -> proc_macro2::Span {
    if let Some(word) = &modifiers.defaultness {
        return word.span;
    }
    if let Some(word) = &signature.constness {
        return word.span;
    }
    if let Some(word) = &signature.asyncness {
        return word.span;
    }
    match (&signature.safety, &signature.abi) {
        (syn::Safety::Safe(word), _) => word.span,
        (syn::Safety::Unsafe(word), _) => word.span,
        (_, Some(abi)) => abi.extern_token.span,
        _ => signature.fn_token.span,
    }
}
