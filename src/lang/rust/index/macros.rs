//! Items inside macro calls: lazily made statics, tables, and macros that wrap items.

use proc_macro2::{Delimiter, Span as Mark, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;

use super::super::types;
use super::declarations::Declared;
use super::walk::{Around, Walker};
use crate::ir::index::{Counts, Import, MacroCall, MacroDefinition, Part, Path};
use crate::source::Span;

/// `static [ref] NAME: T = …;`
struct LazyStatic {
    attrs: Vec<syn::Attribute>,
    vis: syn::Visibility,
    word: syn::Token![static],
    ident: syn::Ident,
    ty: syn::Type,
    value: syn::Expr,
    semi: Option<syn::Token![;]>,
}

impl Walker<'_> {
    /// A macro call where an item may stand.
    pub(super) fn item_macro(
        &mut self,
        call: &syn::Macro,
        attrs: &[syn::Attribute],
        around: &Around,
    ) {
        match last_name(call).as_str() {
            "lazy_static" | "thread_local" => self.lazy_statics(call, around),
            "table" => self.table(call, attrs, around),
            name if name.starts_with("include") => self.generated_items(call, around),
            _ => {
                let number = self.macro_call(call, attrs, None, around);
                if !self.wrapped_items(call.tokens.clone(), around) {
                    self.conditional_items(call, around);
                    self.contracts(call, around);
                }
                let after = self.index.counts();
                if let Some(call) = self.index.calls.get_mut(number) {
                    call.items.end = after;
                }
            }
        }
    }

    /// A macro call among the items of an `impl` block, with the first and the last token of its head.
    pub(super) fn member_macro(
        &mut self,
        call: &syn::Macro,
        attrs: &[syn::Attribute],
        head: (Mark, Mark),
        around: &Around,
    ) {
        let head = self.place.part(head.0, head.1);
        self.macro_call(call, attrs, Some(head), around);
    }

    /// Adds a call that may be expanded once all definitions are known. Gives its number.
    fn macro_call(
        &mut self,
        call: &syn::Macro,
        attrs: &[syn::Attribute],
        head: Option<Part>,
        around: &Around,
    ) -> usize {
        let group = call.delimiter.span();
        let mut arguments = self.place.part(group.open(), group.close());
        arguments.bytes = inside(&arguments.bytes);
        let first = call.path.segments.first().map_or(group.open(), |part| part.ident.span());
        let span = self.place.between(first, group.close());
        let number = self.index.calls.len();
        self.index.calls.push(MacroCall {
            path: types::path(&call.path),
            scope: around.scope.clone(),
            inline: around.inline.clone(),
            role: self.role(attrs, around.role),
            span,
            arguments,
            head,
            items: Counts::default()..Counts::default(),
            depth: around.call.map_or(0, |(depth, _)| depth),
            at: around.call.map_or(span.start, |(_, at)| at),
        });
        let counts = self.index.counts();
        if let Some(call) = self.index.calls.get_mut(number) {
            call.items = counts..counts;
        }
        number
    }

    /// `macro_rules! name { … }` of the file itself.
    pub(super) fn macro_definition(
        &mut self,
        name: &syn::Ident,
        of: &syn::ItemMacro,
        around: &Around,
    ) {
        if !of.mac.path.is_ident("macro_rules") || self.place.made.is_some() {
            return;
        }
        let group = of.mac.delimiter.span();
        let bytes = inside(&self.place.part(group.open(), group.close()).bytes);
        self.index.macros.push(MacroDefinition {
            name: types::name(name),
            scope: around.scope.clone(),
            visible: around.macros.clone(),
            exported: of.attrs.iter().any(|one| one.path().is_ident("macro_export")),
            rules: Span::new(self.file.id, bytes.start, bytes.end),
        });
    }

    /// A macro call where a statement may stand: most of those hold no items.
    pub(super) fn statement_macro(&mut self, call: &syn::Macro, around: &Around) {
        match last_name(call).as_str() {
            "lazy_static" | "thread_local" => self.lazy_statics(call, around),
            "cfg_if" => self.conditional_items(call, around),
            _ => self.contracts(call, around),
        }
    }

    /// `sol! { interface Name { … } }`, `abigen!(Name, "abi.json")`: types that a macro makes of a
    /// contract's text. They are things of the macro, as if they were imported from it.
    fn contracts(&mut self, call: &syn::Macro, around: &Around) {
        let of_macro = Path(call.path.segments.iter().map(|part| part.ident.to_string()).collect());
        for name in contract_names(call.tokens.clone()) {
            let (scope, path) = (around.scope.clone(), of_macro.join(name.clone()));
            self.index.imports.push(Import { scope, path, name });
        }
    }

    fn lazy_statics(&mut self, call: &syn::Macro, around: &Around) {
        let Ok(statics) = lazy_statics.parse2(call.tokens.clone()) else { return };
        for one in &statics {
            let value = one.value.span();
            let (visibility, first) = (Some(&one.vis), one.word.span);
            let last = one.semi.as_ref().map_or(value, |semi| semi.span);
            let constant = Declared {
                span: self.item_span(&one.attrs, visibility, first, last),
                made: self.made(&one.attrs, visibility, first, last),
                ident: &one.ident,
                attrs: &one.attrs,
                generics: &syn::Generics::default(),
            };
            self.add_constant(&constant, &one.ty, around);
            let value = self.place.part(value, value);
            self.inside_expression(&one.value, &value, around);
        }
    }

    /// `tonic::include_proto!("carrier")`: items that a build writes. Their text is out of sight; what
    /// the module lacks comes from there, as from a library's glob.
    fn generated_items(&mut self, call: &syn::Macro, around: &Around) {
        let parts = call.path.segments.iter().map(|part| part.ident.to_string());
        self.index.imports.push(Import {
            scope: around.scope.clone(),
            path: Path(parts.collect()),
            name: "*".to_owned(),
        });
    }

    /// Items that a macro takes as they are (`cfg_rt! { … }`). Says whether there were any.
    fn wrapped_items(&mut self, tokens: TokenStream, around: &Around) -> bool {
        match syn::parse2::<syn::File>(tokens) {
            Ok(file) if !file.items.is_empty() => {
                self.items(&file.items, around);
                true
            }
            _ => false,
        }
    }

    /// `if #[cfg(…)] { items } else { items }`
    fn conditional_items(&mut self, call: &syn::Macro, around: &Around) {
        if last_name(call) != "cfg_if" {
            return;
        }
        for tree in call.tokens.clone() {
            if let TokenTree::Group(group) = tree
                && group.delimiter() == Delimiter::Brace
            {
                self.wrapped_items(group.stream(), around);
            }
        }
    }
}

/// The contracts that the tokens of a macro call name: after a word of Solidity, or before a file or
/// text of an interface description.
fn contract_names(tokens: TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |tree: &TokenTree| match tree {
        TokenTree::Ident(word) => Some(word.to_string()),
        _ => None,
    };
    let declared = trees.windows(2).filter_map(|pair| {
        let [before, name] = pair else { return None };
        let declares = matches!(word(before)?.as_str(), "contract" | "interface" | "library");
        word(name).filter(|name| declares && name.starts_with(char::is_uppercase))
    });
    let described = trees.windows(3).filter_map(|three| match three {
        [name, TokenTree::Punct(comma), TokenTree::Literal(text)]
            if comma.as_char() == ',' && describes_interface(&text.to_string()) =>
        {
            word(name)
        }
        _ => None,
    });
    declared.chain(described).collect()
}

/// Whether a literal is the text of an interface description or the name of a file of one.
fn describes_interface(literal: &str) -> bool {
    let text = literal.trim_start_matches('r').trim_matches('#').trim_matches('"').trim();
    text.ends_with(".json") || text.starts_with('[')
}

/// What is between two delimiters.
fn inside(whole: &std::ops::Range<u32>) -> std::ops::Range<u32> {
    whole.start.saturating_add(1)..whole.end.saturating_sub(1)
}

fn last_name(call: &syn::Macro) -> String {
    call.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
}

fn lazy_statics(input: ParseStream<'_>) -> syn::Result<Vec<LazyStatic>> {
    let mut statics = Vec::new();
    while !input.is_empty() {
        let attrs = input.call(syn::Attribute::parse_outer)?;
        let vis = input.parse()?;
        let word = input.parse()?;
        input.parse::<Option<syn::Token![ref]>>()?;
        let ident = input.parse()?;
        input.parse::<syn::Token![:]>()?;
        let ty = input.parse()?;
        input.parse::<syn::Token![=]>()?;
        let value = input.parse()?;
        let semi = input.parse()?;
        statics.push(LazyStatic { attrs, vis, word, ident, ty, value, semi });
    }
    Ok(statics)
}
