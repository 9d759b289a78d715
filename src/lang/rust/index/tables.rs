//! Tables that code declares: `diesel::table!` and sea-orm entities.

use proc_macro2::{Delimiter, Group, Span as Mark, TokenStream, TokenTree};
use quote::ToTokens;

use super::super::types;
use super::walk::{Around, Walker};
use crate::ir::index::{Path, TableDeclaration, Type};

impl Walker<'_> {
    /// `table! { [use …;] [schema.]name (key, …) { column -> Type, … } }`
    pub(super) fn table(&mut self, call: &syn::Macro, attrs: &[syn::Attribute], around: &Around) {
        let mut name: Option<String> = None;
        let mut written: Option<String> = None;
        let mut primary_key = Vec::new();
        let mut columns = None;
        for tree in call.tokens.clone() {
            match tree {
                TokenTree::Ident(ident) if columns.is_none() => name = Some(types::name(&ident)),
                TokenTree::Group(group) => match group.delimiter() {
                    Delimiter::Bracket => written = sql_name(group.stream()).or(written),
                    Delimiter::Parenthesis => primary_key = names(group.stream()),
                    Delimiter::Brace => columns = Some(self.columns(&group)),
                    Delimiter::None => {}
                },
                _ => {}
            }
        }
        let (Some(name), Some(columns)) = (name, columns) else { return };
        if primary_key.is_empty() {
            primary_key.push("id".to_owned());
        }
        let in_database = |key: &String| {
            let column = columns.iter().find(|(code, ..): &&(String, String, String)| code == key);
            column.map_or_else(|| key.clone(), |(_, column, _)| column.clone())
        };
        let first =
            call.path.segments.first().map_or(call.bang_token.span, |part| part.ident.span());
        let span = self.item_span(attrs, None, first, call.delimiter.span().close());
        self.index.tables.push(TableDeclaration {
            table: written.unwrap_or_else(|| name.clone()),
            module: around.scope.join(name),
            primary_key: primary_key.iter().map(in_database).collect(),
            columns,
            makes: Vec::new(),
            span,
        });
    }

    /// Columns of a `table!`: name in code, name in the database, type.
    fn columns(&self, group: &Group) -> Vec<(String, String, String)> {
        let mut columns = Vec::new();
        let mut name: Option<String> = None;
        let mut written: Option<String> = None;
        let mut ty: Option<(Mark, Mark)> = None;
        let mut angles = 0_usize;
        let mut arrow = false;
        for tree in group.stream() {
            let mark = tree.span();
            match &tree {
                TokenTree::Punct(punct) if punct.as_char() == ',' && angles == 0 => {
                    self.column(&mut columns, name.take(), written.take(), ty.take());
                    arrow = false;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == '>' && !arrow => {
                    arrow = true;
                    continue;
                }
                TokenTree::Punct(punct) if arrow && punct.as_char() == '<' => angles += 1,
                TokenTree::Punct(punct) if arrow && punct.as_char() == '>' => {
                    angles = angles.saturating_sub(1);
                }
                TokenTree::Group(group) if !arrow => {
                    written = sql_name(group.stream()).or(written);
                }
                TokenTree::Ident(ident) if !arrow => name = Some(types::name(ident)),
                _ => {}
            }
            if arrow {
                ty = Some((ty.map_or(mark, |(first, _)| first), mark));
            }
        }
        self.column(&mut columns, name, written, ty);
        columns
    }

    fn column(
        &self,
        columns: &mut Vec<(String, String, String)>,
        name: Option<String>,
        written: Option<String>,
        ty: Option<(Mark, Mark)>,
    ) {
        if let (Some(name), Some((first, last))) = (name, ty) {
            let written = written.unwrap_or_else(|| name.clone());
            let ty = self.place.text(self.file, &self.place.part(first, last));
            columns.push((name, written, ty.to_owned()));
        }
    }

    /// A struct with `#[sea_orm(table_name = "…")]`.
    pub(super) fn entity(&mut self, of: &syn::ItemStruct, ty: &Type, around: &Around) {
        let Some(table) = orm_value(&ty.attributes, "table_name") else { return };
        let mut columns = Vec::new();
        let mut primary_key = Vec::new();
        for field in &of.fields {
            let Some(ident) = &field.ident else { continue };
            let list = self.attributes(&field.attrs);
            if orm_parts(&list).any(|part| part == "ignore") {
                continue;
            }
            let name = types::name(ident);
            let column = orm_value(&list, "column_name").unwrap_or_else(|| name.clone());
            if orm_parts(&list)
                .any(|part| part.split('=').next().map(str::trim) == Some("primary_key"))
            {
                primary_key.push(column.clone());
            }
            // As tokens: however the type is spaced and broken into lines, the text is one.
            let written = field.ty.to_token_stream().to_string().replace(' ', "");
            columns.push((name, column, written));
        }
        let (module, span): (Path, _) = (around.scope.clone(), ty.span);
        let of_library = Path::parse("sea_orm").join(module.last().unwrap_or(&table));
        let made = ["Entity", "Column", "PrimaryKey", "ActiveModel"];
        let makes = made.map(|name| of_library.join(name)).to_vec();
        let declaration = TableDeclaration { table, module, columns, primary_key, makes, span };
        self.index.tables.push(declaration);
    }
}

/// The comma-separated parts of all `#[sea_orm(…)]`.
fn orm_parts(list: &[(String, String)]) -> impl Iterator<Item = &str> {
    let ours = list.iter().filter(|(name, _)| name == "sea_orm");
    ours.flat_map(|(_, arguments)| arguments.split(',').map(str::trim))
}

/// The text of `key = "text"` in `#[sea_orm(…)]`.
fn orm_value(list: &[(String, String)], key: &str) -> Option<String> {
    orm_parts(list).find_map(|part| {
        let value = part.strip_prefix(key)?.trim_start().strip_prefix('=')?;
        Some(value.trim().trim_matches('"').to_owned())
    })
}

/// The text of `sql_name = "text"`.
fn sql_name(tokens: TokenStream) -> Option<String> {
    let pair = syn::parse2::<syn::MetaNameValue>(tokens).ok()?;
    let named = pair.path.is_ident("sql_name");
    super::super::attributes::text_value(&pair.value).filter(|_| named)
}

fn names(tokens: TokenStream) -> Vec<String> {
    let names = tokens.into_iter().filter_map(|tree| match tree {
        TokenTree::Ident(ident) => Some(types::name(&ident)),
        _ => None,
    });
    names.collect()
}
