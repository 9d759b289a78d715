//! Reading a macro's tokens: argument lists with names and signs, and what is found in others.

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, Ident, LitStr, Token};

/// An argument of a macro.
pub(super) struct MacroArgument {
    /// `name = …`, `name: …`, `"name" => …`.
    pub name: Option<String>,
    /// `%` or `?` before it: display or debug form.
    pub sign: Option<char>,
    /// The expression.
    pub expr: Expr,
}

/// Arguments with `,` or `;` between them.
pub(super) struct MacroArguments(pub Vec<MacroArgument>);

impl Parse for MacroArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Vec::new();
        while !input.is_empty() {
            if input.peek(Token![let]) {
                return Err(input.error("expected an expression"));
            }
            let (name, sign) = name_and_sign(input)?;
            let expr: Expr = input.parse()?;
            arguments.push(MacroArgument { name, sign, expr });
            if input.peek(Token![=>]) {
                input.parse::<Token![=>]>()?;
                arguments.push(MacroArgument { name: None, sign: None, expr: input.parse()? });
            }
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            } else if input.peek(Token![;]) {
                input.parse::<Token![;]>()?;
            } else if !input.is_empty() {
                return Err(input.error("expected `,`"));
            }
        }
        Ok(Self(arguments))
    }
}

fn name_and_sign(input: ParseStream<'_>) -> syn::Result<(Option<String>, Option<char>)> {
    let fork = input.fork();
    let named = fork.call(name).ok();
    if named.is_some() {
        input.advance_to(&fork);
    }
    let (name, before) = named.unzip();
    let sign = sign(input)?;
    Ok((name, sign.or(before.flatten())))
}

fn sign(input: ParseStream<'_>) -> syn::Result<Option<char>> {
    if input.peek(Token![%]) {
        input.parse::<Token![%]>()?;
        return Ok(Some('%'));
    }
    if input.peek(Token![?]) {
        input.parse::<Token![?]>()?;
        return Ok(Some('?'));
    }
    Ok(None)
}

/// A name, and what ends it: `=`, `:`, `=>`, or `:?=`.
fn name(input: ParseStream<'_>) -> syn::Result<(String, Option<char>)> {
    let mut name = if input.peek(LitStr) {
        input.parse::<LitStr>()?.value()
    } else {
        Ident::parse_any(input)?.unraw().to_string()
    };
    while input.peek(Token![.]) && !input.peek(Token![..]) {
        input.parse::<Token![.]>()?;
        name.push('.');
        name.push_str(&Ident::parse_any(input)?.unraw().to_string());
    }
    if input.peek(Token![=>]) {
        input.parse::<Token![=>]>()?;
        return Ok((name, None));
    }
    if input.peek(Token![:]) && !input.peek(Token![::]) {
        input.parse::<Token![:]>()?;
        let sign = sign(input)?;
        if sign.is_some() {
            input.parse::<Token![=]>()?;
        }
        return Ok((name, sign));
    }
    if input.peek(Token![=]) && !input.peek(Token![==]) {
        input.parse::<Token![=]>()?;
        return Ok((name, None));
    }
    Err(input.error("expected `=`"))
}

/// `element; length`.
pub(super) fn repeated(tokens: &TokenStream) -> Option<(Expr, Expr)> {
    let parser = |input: ParseStream<'_>| {
        let element = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((element, input.parse()?))
    };
    parser.parse2(tokens.clone()).ok()
}

/// Arguments after a type, if there is to be one.
pub(super) fn typed(
    tokens: &TokenStream,
    with_type: bool,
) -> syn::Result<(Option<syn::Type>, Vec<MacroArgument>)> {
    let parser = |input: ParseStream<'_>| {
        let mut ty = None;
        if with_type {
            ty = Some(input.parse()?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok((ty, input.parse::<MacroArguments>()?.0))
    };
    parser.parse2(tokens.clone())
}

/// Tokens cut at every `,`, `;` and `=>` that stands outside of groups.
pub(super) fn chunks(tokens: TokenStream) -> Vec<TokenStream> {
    let mut chunks = vec![Vec::new()];
    let mut equals = false;
    for token in tokens {
        if let TokenTree::Punct(punct) = &token {
            let arrow = equals && punct.as_char() == '>';
            equals = punct.as_char() == '=' && punct.spacing() == Spacing::Joint;
            if arrow && let Some(last) = chunks.last_mut() {
                last.pop();
            }
            if arrow || matches!(punct.as_char(), ',' | ';') {
                chunks.push(Vec::new());
                continue;
            }
        } else {
            equals = false;
        }
        if let Some(last) = chunks.last_mut() {
            last.push(token);
        }
    }
    chunks.into_iter().filter(|chunk| !chunk.is_empty()).map(TokenStream::from_iter).collect()
}

/// The expression after the first lone `=`.
pub(super) fn after_equals(tokens: &TokenStream) -> Option<Expr> {
    let mut rest = tokens.clone().into_iter();
    let found = rest.any(|token| {
        matches!(token, TokenTree::Punct(punct)
            if punct.as_char() == '=' && punct.spacing() == Spacing::Alone)
    });
    if found { syn::parse2(rest.collect()).ok() } else { None }
}
