//! Parts of values: fields, elements, what is inside a variant, what an aggregate is.

use super::infer::Group;
use super::{Ty, standard};
use crate::ir::index::Path;
use crate::ir::value::SUCCESS;
use crate::link::names::{Named, Namespace};

impl Group<'_> {
    /// A field; holders, derefs and lists of one are looked through.
    pub(super) fn field(&self, base: &Ty, name: &str) -> Ty {
        let mut ty = base.clone();
        for _ in 0..4 {
            match &ty {
                Ty::Workspace { id, arguments } => {
                    let found = self.program.field_type(*id, arguments, name);
                    if !found.is_unknown() {
                        return found;
                    }
                    match self.program.deref_of(*id, &ty) {
                        Some(target) => ty = target,
                        None => return Ty::Unknown,
                    }
                }
                Ty::Tuple(parts) => {
                    let at = name.parse::<usize>().ok();
                    return at.and_then(|at| parts.get(at)).cloned().unwrap_or_default();
                }
                _ => match standard::held(&ty) {
                    Some(held) if name == "0" => return held,
                    Some(held) => ty = held,
                    None => return Ty::Unknown,
                },
            }
        }
        Ty::Unknown
    }

    pub(super) fn payload(&self, of: &Ty, variant: &str, field: &str) -> Ty {
        match of {
            Ty::Workspace { id, arguments } => {
                let found = self.program.variant_field_type(*id, arguments, variant, field);
                let found = if found.is_unknown() { self.field(of, field) } else { found };
                // A value whose option or result was not seen is what is inside.
                let fallible = matches!(variant, SUCCESS | "Some" | "Ok");
                if found.is_unknown() && fallible { of.clone() } else { found }
            }
            Ty::Tuple(_) if !matches!(variant, SUCCESS | "Some" | "Ok") => self.field(of, field),
            _ => match variant {
                SUCCESS | "Some" | "Ok" | "Ready" => of.payload(),
                "Err" if of.is_fallible() => of.argument(1),
                "Err" | "None" => Ty::Unknown,
                _ => standard::held(of).unwrap_or_default(),
            },
        }
    }

    pub(super) fn aggregate(&self, path: &Path, first: Ty) -> Ty {
        match path.last() {
            Some("Some") => return Ty::standard("Option", vec![first]),
            Some("Ok") => return Ty::standard("Result", vec![first]),
            Some("Err") => return Ty::standard("Result", vec![Ty::Unknown, first]),
            _ => {}
        }
        if path.0.len() == 1 && path.first() == Some("Self") {
            return self.receiver();
        }
        match self.program.names.resolve(self.scope, path, Namespace::Type).0 {
            Named::Type(id) => self.program.workspace_type(id, &[]),
            Named::Variant(id, _) => Ty::Workspace { id, arguments: [].into() },
            Named::External(full) => Ty::external(full),
            _ => Ty::Unknown,
        }
    }
}

/// An element of a list, map or tuple of like parts.
pub(super) fn element(ty: &Ty) -> Ty {
    match ty {
        Ty::List(of) => Ty::clone(of),
        Ty::Tuple(parts) => parts.iter().find(|ty| !ty.is_unknown()).cloned().unwrap_or_default(),
        _ => match (ty.name(), standard::held(ty)) {
            (_, Some(held)) => element_of_held(&held),
            (Some("HashMap" | "BTreeMap" | "IndexMap"), _) => ty.argument(1),
            _ => Ty::Unknown,
        },
    }
}

fn element_of_held(ty: &Ty) -> Ty {
    match ty {
        Ty::List(of) => Ty::clone(of),
        _ => Ty::Unknown,
    }
}
