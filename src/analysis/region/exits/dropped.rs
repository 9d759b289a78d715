//! Whether dropping a value may give back a lease.

use crate::analysis::Analysis;
use crate::analysis::region::holding::quiet;
use crate::ir::effect::BodyId;
use crate::link::TypeId;
use crate::link::types::Ty;

/// How deep types are looked into.
const DEEPEST: u32 = 4;

impl Analysis<'_> {
    /// Whether dropping a value of a type may give a lease back: by its own Drop, or that of a part. Of
    /// a value that carries the lease it is enough that it is not known what its Drop does.
    pub(super) fn releases_on_drop(&self, ty: &Ty, carries: bool) -> bool {
        self.drops(ty, carries, DEEPEST)
    }

    fn drops(&self, ty: &Ty, carries: bool, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.leases.library_guard(self.program, ty) {
            return true;
        }
        let inner = |ty: &Ty| self.drops(ty, carries, depth);
        match ty {
            Ty::Workspace { id, arguments } => {
                self.own_drop(*id, carries)
                    || self.program.ty(*id).is_some_and(|declared| {
                        declared
                            .fields
                            .iter()
                            .any(|(name, _)| inner(&self.program.field_type(*id, arguments, name)))
                    })
            }
            Ty::External { arguments, .. } => arguments.iter().any(inner),
            Ty::Tuple(all) => all.iter().any(inner),
            Ty::List(of) => inner(of),
            Ty::Bounds(_) => carries,
            _ => false,
        }
    }

    /// Whether the Drop of a type may give a lease back.
    fn own_drop(&self, ty: TypeId, carries: bool) -> bool {
        let Some(drop) = self.program.trait_method(ty, "Drop", "drop") else { return false };
        let Some(drop) = self.program.function_body(drop) else { return carries };
        let mut waiting = vec![drop];
        while let Some(body) = waiting.pop() {
            if self.regions.releases.leads_to_release(body)
                || (carries && self.calls_out_of_sight(body))
            {
                return true;
            }
            waiting.extend(self.program.nested_bodies(body));
        }
        false
    }

    /// Whether a body gives something to a call that is not resolved.
    fn calls_out_of_sight(&self, id: BodyId) -> bool {
        let Some(body) = self.program.body(id).map(|own| &own.body) else { return true };
        body.calls().any(|(_, op, call)| {
            let targets = self.program.targets(id, op);
            let known = targets.is_some_and(|it| !it.bodies.is_empty() || !it.apis.is_empty());
            !known && !quiet(body, call)
        })
    }
}
