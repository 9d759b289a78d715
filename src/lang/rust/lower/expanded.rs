//! Macros of the program: the text that a call stands for is lowered in its place.

use proc_macro2::TokenStream;
use syn::parse::{Parse, ParseStream};
use syn::{Block, Expr, Stmt, Token};

use super::super::expand::{Arguments, Expander, Failure, LONGEST_NOTE, MAX_DEPTH};
use super::super::read::read;
use super::super::span::Place;
use super::Lowerer;
use super::macros::Invocation;
use crate::ir::body::MacroNote;
use crate::ir::index::{FileIndex, ItemId, MacroDefinition, Path};
use crate::ir::value::ValueId;
use crate::lang::{MacroName, Surroundings};
use crate::source::{Span, beginning};

/// The most and the fewest tokens that the calls of one item are expanded to: the items of a file
/// share what is there.
const MOST_TOKENS: usize = 50_000;
const FEWEST_TOKENS: usize = 10_000;
const SHARED_TOKENS: usize = 1_000_000;

/// What is known of the macros that one item calls.
pub(super) struct Calls<'a> {
    around: Surroundings<'a>,
    expander: Expander<'a>,
    scope: Path,
    crate_name: Option<&'a str>,
    /// Where in the file the outermost call stands, inside of an expansion.
    site: Option<u32>,
    /// The outermost call.
    outermost: Option<Span>,
    /// Whether it was told that a bound was met.
    limited: bool,
    notes: Vec<MacroNote>,
}

impl<'a> Calls<'a> {
    /// For one item of an index.
    pub(super) fn of(index: &'a FileIndex, item: ItemId, around: &Surroundings<'a>) -> Self {
        let (scope, made) = match item {
            ItemId::Function(at) => {
                let function = index.functions.get(at as usize);
                let scope = function.map(|of| of.scope.join(of.name.clone()));
                (scope, function.is_some_and(|of| of.made.is_some()))
            }
            ItemId::Constant(at) => {
                let constant = index.constants.get(at as usize);
                let scope = constant.map(|of| of.scope.clone());
                (scope, constant.is_some_and(|of| of.made.is_some()))
            }
        };
        let items = index.functions.len() + index.constants.len();
        let tokens = (SHARED_TOKENS / items.max(1)).clamp(FEWEST_TOKENS, MOST_TOKENS);
        Self {
            around: *around,
            expander: Expander::new(around.tree, tokens),
            scope: scope.unwrap_or_default(),
            crate_name: index.module.first(),
            // What a macro made sees what the end of the file does.
            site: made.then_some(u32::MAX),
            outermost: None,
            limited: false,
            notes: Vec::new(),
        }
    }

    /// What the calls are, in source order.
    pub(super) fn into_notes(self) -> Vec<MacroNote> {
        self.notes
    }
}

/// An expression, maybe with a semicolon behind it.
struct Alone(Expr);

impl Parse for Alone {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let expr = input.parse()?;
        input.parse::<Option<Token![;]>>()?;
        Ok(Self(expr))
    }
}

/// Statements.
struct Statements(Vec<Stmt>);

impl Parse for Statements {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        input.call(Block::parse_within).map(Self)
    }
}

/// What an expansion parses as.
enum Parsed {
    Expression(Box<Expr>),
    Statements(Vec<Stmt>),
}

impl<'a> Lowerer<'a> {
    /// Lowers what a call of a macro of the program stands for; `None` when that is not known.
    /// Statements of it declare in the scope around when the call is a statement itself.
    pub(super) fn expanded(&mut self, of: &Invocation<'_>) -> Option<ValueId> {
        let made = self.expansion(of);
        let told = match &made {
            Ok((place, _)) => {
                let text = place.made.as_ref().map_or("", |(_, made)| &made.text);
                Ok(beginning(text, LONGEST_NOTE).to_owned())
            }
            Err(failure) => Err(failure.reason()),
        };
        let (span, name) = (of.places.whole, of.path.clone());
        let definition = match &made {
            Ok((place, _)) => place.made.as_ref().and_then(|(_, made)| made.bodies.last().copied()),
            Err(_) => None,
        };
        self.calls.notes.push(MacroNote { span, name, definition, made: told });
        let (place, parsed) = match made {
            Ok(made) => made,
            Err(Failure::Unknown(_)) => return None,
            Err(Failure::Limit(message)) => {
                self.macro_limit(span, message);
                return None;
            }
        };
        let outer = std::mem::replace(&mut self.place, place);
        let (site, outermost) = (self.calls.site, self.calls.outermost);
        self.calls.site.get_or_insert(span.start);
        self.calls.outermost.get_or_insert(span);
        let value = match &parsed {
            Parsed::Expression(expr) => self.expression(expr),
            Parsed::Statements(statements) if of.statement => self.statements(statements),
            Parsed::Statements(statements) => {
                self.open();
                let value = self.statements(statements);
                self.close(span);
                value
            }
        };
        self.place = outer;
        (self.calls.site, self.calls.outermost) = (site, outermost);
        Some(value)
    }

    /// Says that a bound was met: once for an item, at the call that a person would look at.
    pub(super) fn macro_limit(&mut self, span: Span, message: &str) {
        if !std::mem::replace(&mut self.calls.limited, true) {
            self.limit(self.calls.outermost.unwrap_or(span), message);
        }
    }

    fn expansion(&mut self, of: &Invocation<'_>) -> Result<(Place, Parsed), Failure> {
        let definition = self.definition(of)?;
        let made = self.place.made.as_ref();
        if made.is_some_and(|(_, made)| made.bodies.len() >= MAX_DEPTH as usize) {
            return Err(Failure::Limit("macros nest too deep here; what is inside was not linted"));
        }
        let frames = self.outer.iter().chain(std::iter::once(&self.frame));
        let frames: Vec<_> = frames.collect();
        let in_sight = |name: &str| frames.iter().any(|frame| frame.slot(name).is_some());
        let tokens: TokenStream = of.tokens.clone();
        let crate_name = self.calls.crate_name;
        let arguments = Arguments { tokens, place: &self.place, crate_name, in_sight: &in_sight };
        let expansion = self.calls.expander.expand(definition, &arguments)?;
        let parsed = match read::<Alone>(&expansion.text) {
            Ok(Alone(expr)) if !of.statement => Parsed::Expression(Box::new(expr)),
            _ => read::<Statements>(&expansion.text)
                .map(|Statements(statements)| Parsed::Statements(statements))
                .map_err(|_| Failure::Unknown("what it makes is not read"))?,
        };
        let made = Some((0, std::sync::Arc::new(expansion)));
        Ok((Place { file: self.place.file, base: 0, made }, parsed))
    }

    fn definition(&self, of: &Invocation<'_>) -> Result<&'a MacroDefinition, Failure> {
        let at = self.calls.site.unwrap_or(of.places.whole.start);
        let (file, scope) = (self.file.id, &self.calls.scope);
        let name = MacroName { path: &of.path, file, scope, at };
        let macros = self.calls.around.macros;
        macros.find(name).map_err(Failure::Unknown)
    }
}
