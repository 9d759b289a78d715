//! Goes through the items of a file, of its inline modules, of its function bodies and of the
//! macros that wrap items, and says in what scope each stands.

use syn::visit::Visit;

use super::super::span::Place;
use super::super::{attributes, module, role, tokens, types};
use crate::ir::index::{FileIndex, ModuleDeclaration, Part, Path, Role};
use crate::source::{SourceFile, Span, Tree};

/// What is known where an item stands.
#[derive(Clone, Debug)]
pub(super) struct Around {
    /// The module, then the enclosing functions.
    pub(super) scope: Path,
    /// The inline modules of this file around it.
    pub(super) inline: Vec<String>,
    /// The innermost scope whose later text sees the macros defined here.
    pub(super) macros: Path,
    /// How many macro calls made the text, and where in the file the outermost of them stands.
    pub(super) call: Option<(u32, u32)>,
    /// Whether it is inside test code.
    pub(super) role: Role,
}

impl Around {
    /// The top of a file.
    pub(super) fn file(
        index: &FileIndex,
        list: &[syn::Attribute],
        file: &SourceFile,
        place: &Place,
    ) -> Self {
        let own = role::of_attributes(&attributes::attributes(list, file, place));
        Self {
            scope: index.module.clone(),
            inline: Vec::new(),
            macros: index.module.clone(),
            call: None,
            role: role::either(index.role, own),
        }
    }

    /// Inside a function.
    pub(super) fn inside(&self, function: &str, role: Role) -> Self {
        let scope = self.scope.join(function);
        Self { macros: scope.clone(), scope, role, ..self.clone() }
    }
}

/// Collects what a file declares.
pub(super) struct Walker<'a> {
    pub(super) file: &'a SourceFile,
    pub(super) tree: &'a Tree,
    pub(super) place: Place,
    pub(super) index: FileIndex,
}

impl Walker<'_> {
    pub(super) fn items(&mut self, items: &[syn::Item], around: &Around) {
        for item in items {
            self.item(item, around);
        }
    }

    pub(super) fn item(&mut self, item: &syn::Item, around: &Around) {
        match item {
            syn::Item::Fn(of) => self.function(of, around),
            syn::Item::Impl(of) => self.implementation(of, around),
            syn::Item::Trait(of) => self.trait_(of, around),
            syn::Item::TraitAlias(of) => self.trait_alias(of, around),
            syn::Item::Mod(of) => self.module(of, around),
            syn::Item::Struct(of) => self.structure(of, around),
            syn::Item::Enum(of) => self.enumeration(of, around),
            syn::Item::Union(of) => self.union(of, around),
            syn::Item::Type(of) => self.alias(of, around),
            syn::Item::Const(of) => self.constant(of, around),
            syn::Item::Static(of) => self.static_(of, around),
            syn::Item::Use(of) => self.import(of, around),
            syn::Item::ExternCrate(of) => self.extern_crate(of, around),
            syn::Item::ForeignMod(of) => self.foreign(of, around),
            syn::Item::Macro(of) => match &of.ident {
                Some(name) => self.macro_definition(name, of, around),
                None => self.item_macro(&of.mac, &of.attrs, around),
            },
            _ => {}
        }
    }

    /// An inline module, or one whose text is elsewhere.
    fn module(&mut self, of: &syn::ItemMod, around: &Around) {
        let name = types::name(&of.ident);
        let role = self.role(&of.attrs, role::either(around.role, role::of_module(&name)));
        let hands_on_macros = of.attrs.iter().any(|one| one.path().is_ident("macro_use"));
        match &of.content {
            Some((_, items)) => {
                let mut inline = around.inline.clone();
                inline.push(name.clone());
                let scope = around.scope.join(name);
                let macros = if hands_on_macros { around.macros.clone() } else { scope.clone() };
                let inside = Around { scope, inline, macros, role, call: around.call };
                self.items(items, &inside);
            }
            None => {
                let path = attributes::text_of(&of.attrs, "path");
                let (file, tree) = (self.file, self.tree);
                let found = module::module_file(file, tree, &around.inline, &name, path.as_deref());
                let scope = around.scope.clone();
                let span = self.place.span(of.ident.span());
                let file = found;
                let declared = ModuleDeclaration { scope, name, file, role, hands_on_macros, span };
                self.index.modules.push(declared);
            }
        }
    }

    /// The items that a body declares, if its text looks as if it had any.
    pub(super) fn inside_block(&mut self, block: &syn::Block, around: &Around) {
        Inner { walker: self, around }.visit_block(block);
    }

    /// The items that an initialiser declares.
    pub(super) fn inside_expression(
        &mut self,
        expression: &syn::Expr,
        part: &Part,
        around: &Around,
    ) {
        if tokens::declares_items(self.place.text(self.file, part)) {
            Inner { walker: self, around }.visit_expr(expression);
        }
    }

    /// The stronger of a role and the one that attributes give.
    pub(super) fn role(&self, list: &[syn::Attribute], outer: Role) -> Role {
        role::either(outer, role::of_attributes(&self.attributes(list)))
    }

    pub(super) fn attributes(&self, list: &[syn::Attribute]) -> Vec<(String, String)> {
        attributes::attributes(list, self.file, &self.place)
    }

    /// From the first outer attribute or the visibility of an item to its last token.
    pub(super) fn item_span(
        &self,
        list: &[syn::Attribute],
        visibility: Option<&syn::Visibility>,
        first: proc_macro2::Span,
        last: proc_macro2::Span,
    ) -> Span {
        self.place.between(attributes::start(list, visibility, first), last)
    }

    /// The text of an item in an expansion; `None` when it is the text of the item's span.
    pub(super) fn made(
        &self,
        list: &[syn::Attribute],
        visibility: Option<&syn::Visibility>,
        first: proc_macro2::Span,
        last: proc_macro2::Span,
    ) -> Option<Part> {
        self.place.made.as_ref()?;
        Some(self.place.part(attributes::start(list, visibility, first), last))
    }
}

/// Finds the items of a body; each goes back to the walker, which looks inside it.
struct Inner<'w, 'a> {
    walker: &'w mut Walker<'a>,
    around: &'w Around,
}

impl<'ast> Visit<'ast> for Inner<'_, '_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        self.walker.item(item, self.around);
    }

    fn visit_stmt_macro(&mut self, statement: &'ast syn::StmtMacro) {
        self.walker.statement_macro(&statement.mac, self.around);
    }
}
