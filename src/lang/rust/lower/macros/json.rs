//! `json!`: the expressions in it, each under the key it stands for.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{Expr, LitStr};

use super::super::Lowerer;
use super::arguments::chunks;
use super::{Invocation, MAX_MACRO_DEPTH};
use crate::ir::body::Argument;
use crate::ir::value::ValueId;

impl Lowerer<'_> {
    pub(super) fn json(&mut self, of: &Invocation<'_>) -> ValueId {
        let mut arguments = Vec::new();
        self.json_value(of.tokens.clone(), None, 0, &mut arguments);
        self.macro_operation(of, arguments)
    }

    fn json_value(
        &mut self,
        tokens: TokenStream,
        key: Option<String>,
        depth: u32,
        out: &mut Vec<Argument>,
    ) {
        if depth >= MAX_MACRO_DEPTH {
            return;
        }
        let mut trees = tokens.clone().into_iter();
        let first = trees.next();
        if let (Some(TokenTree::Group(group)), None) = (&first, trees.next()) {
            match group.delimiter() {
                Delimiter::Brace => return self.json_object(group.stream(), depth, out),
                Delimiter::Bracket => {
                    for element in chunks(group.stream()) {
                        self.json_value(element, key.clone(), depth + 1, out);
                    }
                    return;
                }
                Delimiter::Parenthesis | Delimiter::None => {}
            }
        }
        if matches!(&first, Some(TokenTree::Ident(ident)) if ident == "null") {
            return;
        }
        if let Ok(expr) = syn::parse2::<Expr>(tokens.clone()) {
            let value = self.expression(&expr);
            out.push(Argument { name: key, value });
        } else {
            let mut values: Vec<ValueId> = Vec::new();
            self.scraps(tokens, depth + 1, &mut values);
            out.extend(values.into_iter().map(|value| Argument { name: key.clone(), value }));
        }
    }

    fn json_object(&mut self, tokens: TokenStream, depth: u32, out: &mut Vec<Argument>) {
        for entry in chunks(tokens) {
            let (key, value) = split_at_colon(entry);
            let name = match syn::parse2::<LitStr>(key.clone()) {
                Ok(literal) => Some(literal.value()),
                Err(_) => {
                    self.json_value(key, None, depth + 1, out);
                    None
                }
            };
            if let Some(value) = value {
                self.json_value(value, name, depth + 1, out);
            }
        }
    }
}

/// The tokens before and after the first lone `:`.
fn split_at_colon(tokens: TokenStream) -> (TokenStream, Option<TokenStream>) {
    let mut key = Vec::new();
    let mut rest = tokens.into_iter();
    let mut joined = false;
    for token in rest.by_ref() {
        if let TokenTree::Punct(punct) = &token {
            let lone = punct.as_char() == ':' && punct.spacing() == Spacing::Alone && !joined;
            joined = punct.spacing() == Spacing::Joint;
            if lone {
                return (key.into_iter().collect(), Some(rest.collect()));
            }
        } else {
            joined = false;
        }
        key.push(token);
    }
    (key.into_iter().collect(), None)
}
