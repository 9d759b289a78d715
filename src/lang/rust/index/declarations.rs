//! Types and constants.

use super::super::{attributes, header, types};
use super::walk::{Around, Walker};
use crate::ir::index::{Constant, Type, TypeRef};
use crate::source::Span;

/// What the kinds of types share.
struct Declared<'s> {
    ident: &'s syn::Ident,
    attrs: &'s [syn::Attribute],
    generics: &'s syn::Generics,
    span: Span,
}

impl Walker<'_> {
    pub(super) fn structure(&mut self, of: &syn::ItemStruct, around: &Around) {
        let last = match (&of.semi_token, &of.fields) {
            (Some(semi), _) => semi.span,
            (None, syn::Fields::Named(fields)) => fields.brace_token.span.close(),
            (None, _) => of.ident.span(),
        };
        let span = self.item_span(&of.attrs, Some(&of.vis), of.struct_token.span, last);
        let declared =
            Declared { ident: &of.ident, attrs: &of.attrs, generics: &of.generics, span };
        let mut ty = self.declared(&declared, around);
        ty.fields = fields(&of.fields);
        self.entity(of, &ty, around);
        self.index.types.push(ty);
    }

    pub(super) fn enumeration(&mut self, of: &syn::ItemEnum, around: &Around) {
        let last = of.brace_token.span.close();
        let span = self.item_span(&of.attrs, Some(&of.vis), of.enum_token.span, last);
        let declared =
            Declared { ident: &of.ident, attrs: &of.attrs, generics: &of.generics, span };
        let mut ty = self.declared(&declared, around);
        let variants = of.variants.iter();
        ty.variants = variants.map(|one| (types::name(&one.ident), fields(&one.fields))).collect();
        self.index.types.push(ty);
    }

    pub(super) fn union(&mut self, of: &syn::ItemUnion, around: &Around) {
        let last = of.fields.brace_token.span.close();
        let span = self.item_span(&of.attrs, Some(&of.vis), of.union_token.span, last);
        let declared =
            Declared { ident: &of.ident, attrs: &of.attrs, generics: &of.generics, span };
        let mut ty = self.declared(&declared, around);
        ty.fields = of.fields.named.iter().enumerate().map(field).collect();
        self.index.types.push(ty);
    }

    pub(super) fn alias(&mut self, of: &syn::ItemType, around: &Around) {
        let span = self.item_span(&of.attrs, Some(&of.vis), of.type_token.span, of.semi_token.span);
        let declared =
            Declared { ident: &of.ident, attrs: &of.attrs, generics: &of.generics, span };
        let mut ty = self.declared(&declared, around);
        ty.alias = Some(types::type_ref(&of.ty));
        self.index.types.push(ty);
    }

    pub(super) fn constant(&mut self, of: &syn::ItemConst, around: &Around) {
        let span =
            self.item_span(&of.attrs, Some(&of.vis), of.const_token.span, of.semi_token.span);
        self.add_constant(&of.ident, &of.ty, &of.attrs, span, around);
        let value = self.place.between(of.eq_token.span, of.semi_token.span);
        self.inside_expression(&of.expr, value, around);
    }

    pub(super) fn static_(&mut self, of: &syn::ItemStatic, around: &Around) {
        let span =
            self.item_span(&of.attrs, Some(&of.vis), of.static_token.span, of.semi_token.span);
        self.add_constant(&of.ident, &of.ty, &of.attrs, span, around);
        let value = self.place.between(of.eq_token.span, of.semi_token.span);
        self.inside_expression(&of.expr, value, around);
    }

    pub(super) fn add_constant(
        &mut self,
        ident: &syn::Ident,
        ty: &syn::Type,
        attrs: &[syn::Attribute],
        span: Span,
        around: &Around,
    ) {
        self.index.constants.push(Constant {
            name: types::name(ident),
            scope: around.scope.clone(),
            owner: None,
            ty: types::type_ref(ty),
            role: self.role(attrs, around.role),
            span,
        });
    }

    fn declared(&self, declared: &Declared<'_>, around: &Around) -> Type {
        Type {
            name: types::name(declared.ident),
            scope: around.scope.clone(),
            fields: Vec::new(),
            variants: Vec::new(),
            alias: None,
            attributes: attributes::attributes(declared.attrs, self.file, self.place),
            generics: header::generics(declared.generics),
            span: declared.span,
        }
    }
}

fn fields(fields: &syn::Fields) -> Vec<(String, TypeRef)> {
    fields.iter().enumerate().map(field).collect()
}

fn field((at, field): (usize, &syn::Field)) -> (String, TypeRef) {
    let name = field.ident.as_ref().map_or_else(|| at.to_string(), types::name);
    (name, types::type_ref(&field.ty))
}
