//! Patterns: what they test, and which variables they bind to what.

use syn::{Expr, Member, Pat};

use super::super::types;
use super::Lowerer;
use super::builder::Merge;
use crate::ir::index::Path;
use crate::ir::value::{Conversion, Literal, Pattern, ValueId, ValueKind};
use crate::source::Span;

/// A variable that a pattern binds.
struct Bound {
    name: String,
    value: ValueId,
    owned: bool,
}

impl Lowerer<'_> {
    /// What a pattern tests.
    pub(super) fn pattern(&mut self, pattern: &Pat) -> Pattern {
        match pattern {
            Pat::Wild(_) | Pat::Rest(_) => Pattern::Any,
            Pat::Ident(of) => match &of.subpat {
                Some((_, inner)) => self.pattern(inner),
                None if is_constant(of) => named(Path::single(types::name(&of.ident))),
                None => Pattern::Any,
            },
            Pat::Lit(of) => Pattern::Literal(self.literal_of(&of.lit)),
            Pat::Path(of) => named(self.qualified(of.qself.as_ref(), &of.path)),
            Pat::TupleStruct(of) => {
                let fields = self.positional(of.elems.iter());
                Pattern::Variant { path: self.qualified(of.qself.as_ref(), &of.path), fields }
            }
            Pat::Struct(of) => {
                let path = self.qualified(of.qself.as_ref(), &of.path);
                let fields = of.fields.iter();
                let fields =
                    fields.map(|field| (member(&field.member), self.pattern(&field.pat))).collect();
                Pattern::Variant { path, fields }
            }
            Pat::Tuple(of) => self.tuple_pattern(of.elems.iter()),
            Pat::Slice(of) if of.elems.iter().any(|element| !is_rest(element)) => Pattern::Other,
            Pat::Slice(of) if of.elems.is_empty() => Pattern::Other,
            Pat::Slice(_) => Pattern::Any,
            Pat::Or(of) => Pattern::Or(of.cases.iter().map(|case| self.pattern(case)).collect()),
            Pat::Paren(of) => self.pattern(&of.pat),
            Pat::Reference(of) => self.pattern(&of.pat),
            Pat::Type(of) => self.pattern(&of.pat),
            Pat::Guard(of) => self.pattern(&of.pat),
            Pat::Verbatim(tokens) => self.verbatim_pattern(tokens),
            _ => Pattern::Other,
        }
    }

    fn positional<'p>(
        &mut self,
        elements: impl Iterator<Item = &'p Pat>,
    ) -> Vec<(String, Pattern)> {
        let mut fields = Vec::new();
        for (position, element) in elements.enumerate() {
            if is_rest(element) {
                break;
            }
            fields.push((position.to_string(), self.pattern(element)));
        }
        fields
    }

    fn tuple_pattern<'p>(&mut self, elements: impl Iterator<Item = &'p Pat> + Clone) -> Pattern {
        let has_rest = elements.clone().any(is_rest);
        let parts: Vec<Pattern> = elements.map(|element| self.pattern(element)).collect();
        match has_rest {
            true if parts.iter().all(Pattern::always) => Pattern::Any,
            true => Pattern::Other,
            false => Pattern::Tuple(parts),
        }
    }

    /// Negative numbers are tokens to the parser.
    fn verbatim_pattern(&mut self, tokens: &proc_macro2::TokenStream) -> Pattern {
        let Ok(Expr::Unary(of)) = syn::parse2::<Expr>(tokens.clone()) else {
            return Pattern::Other;
        };
        match (&of.op, &*of.expr) {
            (syn::UnOp::Neg(_), Expr::Lit(lit)) => match self.literal_of(&lit.lit) {
                Literal::Integer(number) => {
                    Pattern::Literal(Literal::Integer(number.saturating_neg()))
                }
                Literal::Float(number) => Pattern::Literal(Literal::Float(-number)),
                _ => Pattern::Other,
            },
            _ => Pattern::Other,
        }
    }

    /// Branches on whether a value matches a pattern. A tuple pattern on a known tuple tests the
    /// elements one by one.
    pub(super) fn test(&mut self, value: ValueId, pattern: &Pat, yes: &mut Merge, no: &mut Merge) {
        let span = self.pattern_span(pattern);
        if let (Pat::Tuple(of), ValueKind::List(elements)) =
            (pattern, self.frame.body.kind(value).clone())
            && of.elems.len() == elements.len()
            && !of.elems.iter().any(is_rest)
        {
            for (element, part) in elements.into_iter().zip(&of.elems) {
                let mut next = self.frame.merge();
                self.test(element, part, &mut next, no);
                self.frame.enter(next, span);
            }
            self.frame.goto(yes, None);
            return;
        }
        let tested = self.pattern(pattern);
        self.frame.matches(value, tested, yes, no, span);
    }

    /// Declares the variables of a pattern that matched. `refutable` says that there was a choice:
    /// then `Point { x }` names a variant's payload, otherwise a struct's field.
    pub(super) fn bind(&mut self, pattern: &Pat, value: ValueId, refutable: bool) {
        let mut bound = Vec::new();
        self.bindings(pattern, value, refutable, &mut bound);
        for Bound { name, value, owned } in bound {
            self.label(value, &name);
            self.frame.declare(&name, value, owned);
        }
    }

    /// Names a value by the first variable it is bound to.
    pub(super) fn label(&mut self, value: ValueId, name: &str) {
        if let Some(value) = self.frame.body.values.get_mut(value.0 as usize)
            && value.name.is_none()
        {
            value.name = Some(name.to_owned());
        }
    }

    fn bindings(&mut self, pattern: &Pat, value: ValueId, refutable: bool, out: &mut Vec<Bound>) {
        match pattern {
            Pat::Ident(of) => {
                if let Some((_, inner)) = &of.subpat {
                    self.bindings(inner, value, refutable, out);
                } else if is_constant(of) {
                    return;
                }
                let owned = of.by_ref.is_none() && self.droppable(value);
                out.push(Bound { name: types::name(&of.ident), value, owned });
            }
            Pat::Tuple(of) => self.elements(of.elems.iter(), value, refutable, out),
            Pat::Slice(of) => self.slice_elements(of, value, refutable, out),
            Pat::TupleStruct(of) => {
                let variant = refutable.then(|| types::path(&of.path));
                for (position, element) in of.elems.iter().enumerate() {
                    let known = !of.elems.iter().take(position).any(is_rest);
                    let name = if known { position.to_string() } else { "..".to_owned() };
                    self.part(element, value, variant.as_ref(), &name, out);
                }
            }
            Pat::Struct(of) => {
                let variant = refutable.then(|| types::path(&of.path));
                for field in &of.fields {
                    self.part(&field.pat, value, variant.as_ref(), &member(&field.member), out);
                }
            }
            Pat::Or(of) => self.either(of, value, refutable, out),
            Pat::Paren(of) => self.bindings(&of.pat, value, refutable, out),
            Pat::Reference(of) => self.bindings(&of.pat, value, refutable, out),
            Pat::Guard(of) => self.bindings(&of.pat, value, refutable, out),
            Pat::Type(of) => {
                self.annotate(value, &of.ty);
                self.bindings(&of.pat, value, refutable, out);
            }
            _ => {}
        }
    }

    /// A part of a struct or variant.
    fn part(
        &mut self,
        pattern: &Pat,
        of: ValueId,
        variant: Option<&Path>,
        name: &str,
        out: &mut Vec<Bound>,
    ) {
        if matches!(pattern, Pat::Wild(_) | Pat::Rest(_)) {
            return;
        }
        let span = self.pattern_span(pattern);
        let value = match variant.and_then(Path::last) {
            Some(variant) => self.payload(of, variant, name, span),
            None => self.field(of, name, span),
        };
        self.bindings(pattern, value, variant.is_some(), out);
    }

    /// What a variant holds; the field itself when the variant was built in sight.
    pub(super) fn payload(
        &mut self,
        of: ValueId,
        variant: &str,
        field: &str,
        span: Span,
    ) -> ValueId {
        if let ValueKind::Aggregate { path, fields, base: None } = self.frame.body.kind(of)
            && let Some(built) = path.last()
            && (built == variant || variant == crate::ir::value::SUCCESS && is_success(built))
            && let Some((_, value)) = fields.iter().find(|(name, _)| name == field)
        {
            return *value;
        }
        let (variant, field) = (variant.to_owned(), field.to_owned());
        self.value(ValueKind::Payload { of, variant, field }, span)
    }

    fn elements<'p>(
        &mut self,
        patterns: impl Iterator<Item = &'p Pat>,
        value: ValueId,
        refutable: bool,
        out: &mut Vec<Bound>,
    ) {
        let mut after_rest = false;
        for (position, pattern) in patterns.enumerate() {
            if is_rest(pattern) {
                after_rest = true;
                continue;
            }
            if matches!(pattern, Pat::Wild(_)) {
                continue;
            }
            let span = self.pattern_span(pattern);
            let element = if after_rest {
                self.value(ValueKind::Element { base: value, index: None }, span)
            } else {
                self.field(value, &position.to_string(), span)
            };
            self.bindings(pattern, element, refutable, out);
        }
    }

    fn slice_elements(
        &mut self,
        of: &syn::PatSlice,
        value: ValueId,
        refutable: bool,
        out: &mut Vec<Bound>,
    ) {
        let mut after_rest = false;
        for (position, pattern) in of.elems.iter().enumerate() {
            let span = self.pattern_span(pattern);
            if is_rest(pattern) {
                after_rest = true;
                let rest = self.converted(value, Conversion::Shaped, span);
                self.bindings(pattern, rest, refutable, out);
                continue;
            }
            let known = match self.frame.body.kind(value) {
                ValueKind::List(elements) if !after_rest => elements.get(position).copied(),
                _ => None,
            };
            let element = known.unwrap_or_else(|| {
                let index = (!after_rest).then(|| {
                    let number = i128::try_from(position).unwrap_or(i128::MAX);
                    self.value(ValueKind::Literal(Literal::Integer(number)), span)
                });
                self.value(ValueKind::Element { base: value, index }, span)
            });
            self.bindings(pattern, element, refutable, out);
        }
    }

    /// Alternatives bind the same names; each name stands for what any of them gives.
    fn either(&mut self, of: &syn::PatOr, value: ValueId, refutable: bool, out: &mut Vec<Bound>) {
        let mut cases = Vec::new();
        for case in &of.cases {
            let mut bound = Vec::new();
            self.bindings(case, value, refutable, &mut bound);
            cases.push(bound);
        }
        let span = self.place.node(of);
        let Some(first) = cases.first() else { return };
        let names: Vec<(String, bool)> =
            first.iter().map(|bound| (bound.name.clone(), bound.owned)).collect();
        for (name, owned) in names {
            let values = cases
                .iter()
                .flatten()
                .filter(|bound| bound.name == name)
                .map(|bound| bound.value)
                .collect();
            let value = self.frame.join(values, span);
            out.push(Bound { name, value, owned });
        }
    }
}

fn member(member: &Member) -> String {
    match member {
        Member::Named(ident) => types::name(ident),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

fn is_success(variant: &str) -> bool {
    matches!(variant, "Ok" | "Some")
}

fn is_rest(pattern: &Pat) -> bool {
    match pattern {
        Pat::Rest(_) => true,
        Pat::Ident(of) => of.subpat.as_ref().is_some_and(|(_, inner)| is_rest(inner)),
        _ => false,
    }
}

/// Whether a name alone is a unit variant or constant and no variable, by its capital.
fn is_constant(of: &syn::PatIdent) -> bool {
    of.by_ref.is_none()
        && of.mutability.is_none()
        && of.subpat.is_none()
        && of.ident.to_string().starts_with(char::is_uppercase)
}

/// A path pattern: a constant when its last name is all capitals, a variant otherwise.
fn named(path: Path) -> Pattern {
    let shouts =
        path.last().is_some_and(|last| last.len() > 1 && !last.contains(char::is_lowercase));
    if shouts { Pattern::Constant(path) } else { Pattern::Variant { path, fields: Vec::new() } }
}
