//! Which variables a loop or a nested body gives another value: those that need a join at its head,
//! or a variable of its own.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{BinOp, Expr};

use super::super::types;
use super::Lowerer;
use super::builder::Slot;
use super::variables::{changeable, changes};

/// Methods that make another text of the variable they are called on.
pub(super) const APPENDS: [&str; 2] = ["push_str", "push"];

/// What code does with names, in no order.
#[derive(Default)]
pub(super) struct Assigned {
    /// Assigned to.
    assigned: Vec<String>,
    /// Given out for change.
    given: Vec<String>,
    /// Declared: another variable.
    declared: Vec<String>,
}

impl Assigned {
    fn place(&mut self, expr: &Expr) {
        match expr {
            Expr::Path(of) => {
                if let Some(ident) = of.path.get_ident() {
                    self.assigned.push(types::name(ident));
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
            self.given.push(types::name(ident));
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
            self.assigned.push(name);
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
        self.assigned.extend(target.filter(|_| writes));
        self.tokens(of.tokens.clone());
    }

    fn visit_pat_ident(&mut self, of: &'ast syn::PatIdent) {
        self.declared.push(types::name(&of.ident));
        visit::visit_pat_ident(self, of);
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
    pub(super) fn assigned_in(&self, body: &syn::Block, condition: Option<&Expr>) -> Vec<Slot> {
        let mut names = Assigned::default();
        names.visit_block(body);
        if let Some(condition) = condition {
            names.visit_expr(condition);
        }
        let assigned = names.assigned.iter().filter_map(|name| self.frame.slot(name));
        let given = names.given.iter().filter_map(|name| self.frame.slot(name)).filter(|slot| {
            let binding = self.frame.env.get(*slot);
            binding.is_some_and(|binding| changeable(self.within(), binding.value))
        });
        let mut slots: Vec<Slot> = assigned.chain(given).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Makes variables of the current, nested body of those outer ones that its code gives another
    /// value. A name that the code declares itself is left alone.
    pub(super) fn share_assigned(&mut self, visit: impl FnOnce(&mut Assigned)) {
        let mut names = Assigned::default();
        visit(&mut names);
        let changeable = |name: &String| {
            let mut around = std::iter::successors(self.within().outwards(), |it| it.outwards());
            let seen = around.find_map(|within| Some((within, within.frame.seen(name)?.value)));
            seen.is_some_and(|(within, value)| changeable(within, value))
        };
        names.given.retain(changeable);
        let mut shared: Vec<String> = names.assigned.into_iter().chain(names.given).collect();
        shared.retain(|name| !names.declared.contains(name));
        shared.sort_unstable();
        shared.dedup();
        for name in shared {
            if let Some(captured) = self.variable(&name) {
                self.frame.share(&name, captured);
            }
        }
    }
}
