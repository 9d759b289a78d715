//! Types and constants.

use super::super::{attributes, header, types};
use super::walk::{Around, Walker};
use crate::ir::index::{Constant, Part, Type, TypeRef};
use crate::source::Span;

/// What types and constants share.
pub(super) struct Declared<'s> {
    pub(super) ident: &'s syn::Ident,
    pub(super) attrs: &'s [syn::Attribute],
    pub(super) generics: &'s syn::Generics,
    pub(super) span: Span,
    /// The text of a constant that a macro made.
    pub(super) made: Option<Part>,
}

impl Walker<'_> {
    pub(super) fn structure(&mut self, of: &syn::ItemStruct, around: &Around) {
        let last = match (&of.semi_token, &of.fields) {
            (Some(semi), _) => semi.span,
            (None, syn::Fields::Named(fields)) => fields.brace_token.span.close(),
            (None, _) => of.ident.span(),
        };
        let span = self.item_span(&of.attrs, Some(&of.vis), of.struct_token.span, last);
        let (attrs, generics) = (&of.attrs, &of.generics);
        let declared = Declared { ident: &of.ident, attrs, generics, span, made: None };
        let mut ty = self.declared(&declared, around);
        ty.fields = fields(&of.fields);
        self.entity(of, &ty, around);
        self.index.types.push(ty);
    }

    pub(super) fn enumeration(&mut self, of: &syn::ItemEnum, around: &Around) {
        let last = of.brace_token.span.close();
        let span = self.item_span(&of.attrs, Some(&of.vis), of.enum_token.span, last);
        let (attrs, generics) = (&of.attrs, &of.generics);
        let declared = Declared { ident: &of.ident, attrs, generics, span, made: None };
        let mut ty = self.declared(&declared, around);
        let variants = of.variants.iter();
        ty.variants = variants.map(|one| (types::name(&one.ident), fields(&one.fields))).collect();
        self.index.types.push(ty);
    }

    pub(super) fn union(&mut self, of: &syn::ItemUnion, around: &Around) {
        let last = of.fields.brace_token.span.close();
        let span = self.item_span(&of.attrs, Some(&of.vis), of.union_token.span, last);
        let (attrs, generics) = (&of.attrs, &of.generics);
        let declared = Declared { ident: &of.ident, attrs, generics, span, made: None };
        let mut ty = self.declared(&declared, around);
        ty.fields = of.fields.named.iter().enumerate().map(field).collect();
        self.index.types.push(ty);
    }

    pub(super) fn alias(&mut self, of: &syn::ItemType, around: &Around) {
        let span = self.item_span(&of.attrs, Some(&of.vis), of.type_token.span, of.semi_token.span);
        let (attrs, generics) = (&of.attrs, &of.generics);
        let declared = Declared { ident: &of.ident, attrs, generics, span, made: None };
        let mut ty = self.declared(&declared, around);
        ty.alias = Some(types::type_ref(&of.ty));
        self.index.types.push(ty);
    }

    pub(super) fn constant(&mut self, of: &syn::ItemConst, around: &Around) {
        let (visibility, last) = (Some(&of.vis), of.semi_token.span);
        let constant = Declared {
            span: self.item_span(&of.attrs, visibility, of.const_token.span, last),
            made: self.made(&of.attrs, visibility, of.const_token.span, last),
            ident: &of.ident,
            attrs: &of.attrs,
            generics: &syn::Generics::default(),
        };
        self.add_constant(&constant, &of.ty, around);
        let value = self.place.part(of.eq_token.span, last);
        self.inside_expression(&of.expr, &value, around);
    }

    pub(super) fn static_(&mut self, of: &syn::ItemStatic, around: &Around) {
        let (visibility, last) = (Some(&of.vis), of.semi_token.span);
        let constant = Declared {
            span: self.item_span(&of.attrs, visibility, of.static_token.span, last),
            made: self.made(&of.attrs, visibility, of.static_token.span, last),
            ident: &of.ident,
            attrs: &of.attrs,
            generics: &syn::Generics::default(),
        };
        self.add_constant(&constant, &of.ty, around);
        if let (syn::StaticMutability::Mut(_), Some(added)) =
            (&of.mutability, self.index.constants.last_mut())
        {
            added.written = true;
        }
        let value = self.place.part(of.eq_token.span, last);
        self.inside_expression(&of.expr, &value, around);
    }

    pub(super) fn add_constant(&mut self, of: &Declared<'_>, ty: &syn::Type, around: &Around) {
        self.index.constants.push(Constant {
            name: types::name(of.ident),
            scope: around.scope.clone(),
            owner: None,
            ty: types::type_ref(ty),
            written: false,
            role: self.role(of.attrs, around.role),
            span: of.span,
            made: of.made.clone(),
        });
    }

    fn declared(&self, declared: &Declared<'_>, around: &Around) -> Type {
        Type {
            name: types::name(declared.ident),
            scope: around.scope.clone(),
            fields: Vec::new(),
            variants: Vec::new(),
            alias: None,
            attributes: attributes::attributes(declared.attrs, self.file, &self.place),
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
