//! `include_str!`: text of another file of the tree, with places in that file.

use syn::{Expr, Lit};

use super::super::Lowerer;
use super::Invocation;
use super::arguments::MacroArguments;
use crate::ir::value::{Literal, Text, ValueId, ValueKind};
use crate::source::folder;

impl Lowerer<'_> {
    /// The text of the file named; unknown when it is not in the tree.
    pub(super) fn include(&mut self, of: &Invocation<'_>) -> ValueId {
        let span = of.places.whole;
        let named =
            syn::parse2::<Expr>(of.tokens.clone()).ok().and_then(|expr| self.included_path(&expr));
        let Some(path) = named else { return self.unknown(span) };
        match self.tree.at(&path) {
            Some(file) => {
                let text = Text::verbatim(file.text.clone(), file.whole());
                self.value(ValueKind::Literal(Literal::Text(text)), span)
            }
            None => {
                if path.ends_with(".lua") || path.ends_with(".sql") {
                    self.limit(span, "the file included here is not among the files read");
                }
                self.unknown(span)
            }
        }
    }

    /// The path of an included file, from the root: beside this file, or in the package.
    fn included_path(&self, expr: &Expr) -> Option<String> {
        let directory = folder(&self.file.path);
        match expr {
            Expr::Lit(of) => {
                let Lit::Str(text) = &of.lit else { return None };
                Some(format!("{directory}/{}", text.value()))
            }
            Expr::Macro(of) if of.mac.path.is_ident("concat") => {
                let MacroArguments(parts) = syn::parse2(of.mac.tokens.clone()).ok()?;
                let mut path = String::new();
                for part in &parts {
                    match &part.expr {
                        Expr::Lit(of) => {
                            let Lit::Str(text) = &of.lit else { return None };
                            path.push_str(&text.value());
                        }
                        Expr::Macro(of) if is_manifest_directory(&of.mac) => {
                            path.push_str(self.tree.package(&self.file.path).unwrap_or_default());
                        }
                        _ => return None,
                    }
                }
                Some(path)
            }
            _ => None,
        }
    }
}

fn is_manifest_directory(of: &syn::Macro) -> bool {
    of.path.is_ident("env")
        && syn::parse2::<syn::LitStr>(of.tokens.clone())
            .is_ok_and(|name| name.value() == "CARGO_MANIFEST_DIR")
}
