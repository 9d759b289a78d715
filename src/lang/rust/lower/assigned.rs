//! Which variables a loop's body gives another value: those that need a join at its head.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{BinOp, Expr};

use super::super::types;
use super::Lowerer;
use super::builder::Slot;
use super::variables::{changeable, changes};

/// Methods that make another text of the variable they are called on.
pub(super) const APPENDS: [&str; 2] = ["push_str", "push"];

/// Names that are assigned to, and names that are given out for change, in no order.
#[derive(Default)]
struct Assigned(Vec<String>, Vec<String>);

impl Assigned {
    fn place(&mut self, expr: &Expr) {
        match expr {
            Expr::Path(of) => {
                if let Some(ident) = of.path.get_ident() {
                    self.0.push(types::name(ident));
                }
            }
            Expr::Tuple(of) => of.elems.iter().for_each(|element| self.place(element)),
            Expr::Paren(of) => self.place(&of.expr),
            _ => {}
        }
    }

    fn given(&mut self, expr: &Expr) {
        if let Expr::Path(of) = expr
            && let Some(ident) = of.path.get_ident()
        {
            self.1.push(types::name(ident));
        }
    }

    /// In a macro's tokens: a name before `=` or an assigning operator.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut name: Option<String> = None;
        let mut operator = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    self.operator(&mut name, &mut operator);
                    name = Some(types::name(&ident));
                }
                TokenTree::Punct(punct) => {
                    operator.push(punct.as_char());
                    if punct.spacing() == Spacing::Alone {
                        self.operator(&mut name, &mut operator);
                    }
                }
                TokenTree::Group(group) => {
                    self.operator(&mut name, &mut operator);
                    self.tokens(group.stream());
                }
                TokenTree::Literal(_) => self.operator(&mut name, &mut operator),
            }
        }
    }

    fn operator(&mut self, name: &mut Option<String>, operator: &mut String) {
        const ASSIGNING: [&str; 6] = ["=", "+=", "-=", "*=", "/=", "%="];
        if operator.is_empty() {
            return;
        }
        if let Some(name) = name.take()
            && ASSIGNING.contains(&operator.as_str())
        {
            self.0.push(name);
        }
        operator.clear();
    }
}

impl<'ast> Visit<'ast> for Assigned {
    fn visit_expr_assign(&mut self, of: &'ast syn::ExprAssign) {
        self.place(&of.left);
        visit::visit_expr_assign(self, of);
    }

    fn visit_expr_binary(&mut self, of: &'ast syn::ExprBinary) {
        if assigning(&of.op) {
            self.place(&of.left);
        }
        visit::visit_expr_binary(self, of);
    }

    fn visit_expr_method_call(&mut self, of: &'ast syn::ExprMethodCall) {
        let name = types::name(&of.method);
        if changes(&name, of.args.len()) {
            self.given(&of.receiver);
        }
        visit::visit_expr_method_call(self, of);
    }

    fn visit_expr_reference(&mut self, of: &'ast syn::ExprReference) {
        if of.mutability.is_some() {
            self.given(&of.expr);
        }
        visit::visit_expr_reference(self, of);
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        // `write!(text, …)` makes a local text longer.
        let writes = of.path.is_ident("write") || of.path.is_ident("writeln");
        let target = of.tokens.clone().into_iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident != "mut" => Some(types::name(&ident)),
            _ => None,
        });
        self.0.extend(target.filter(|_| writes));
        self.tokens(of.tokens.clone());
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether an operator assigns (`+=`).
pub(super) fn assigning(operator: &BinOp) -> bool {
    matches!(
        operator,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

impl Lowerer<'_> {
    /// The variables in scope that a loop's body or condition assigns, by slot.
    pub(super) fn assigned_in(&self, body: &syn::Block) -> Vec<Slot> {
        let mut names = Assigned::default();
        names.visit_block(body);
        let assigned = names.0.iter().filter_map(|name| self.frame.slot(name));
        let given = names.1.iter().filter_map(|name| self.frame.slot(name)).filter(|slot| {
            let binding = self.frame.env.get(*slot);
            binding.is_some_and(|binding| changeable(&self.frame, binding.value))
        });
        let mut slots: Vec<Slot> = assigned.chain(given).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }
}
