//! What a call gives back, and what it gives to the closures among its arguments.

use std::sync::Arc;

use super::infer::Group;
use super::written::Substitution;
use super::{Ty, library, standard};
use crate::catalog::ApiEffect;
use crate::ir::body::{Call, Callee};
use crate::ir::effect::BodyId;
use crate::ir::index::{Function, TypeRef};
use crate::ir::value::ValueId;
use crate::link::calls::Resolved;
use crate::link::{FunctionId, ProgramBody};

/// Methods that give their receiver in another form.
const FORMS: [&str; 26] = [
    "clone",
    "to_owned",
    "as_ref",
    "as_mut",
    "borrow",
    "borrow_mut",
    "deref",
    "deref_mut",
    "by_ref",
    "boxed",
    "boxed_local",
    "into_inner",
    "fuse",
    "shared",
    "instrument",
    "in_current_span",
    "compat",
    "as_deref",
    "as_deref_mut",
    "cloned",
    "copied",
    "into_future",
    "send_future",
    "with_subscriber",
    "as_any",
    "get_mut",
];

impl<'p> Group<'p> {
    /// The type of a call's result; closures among the arguments learn their parameters' types.
    pub(super) fn call(&mut self, own: &'p ProgramBody, call: &'p Call) -> Ty {
        let resolved = {
            let ty = |body: BodyId, value: ValueId| self.ty(body, value);
            self.program.resolve_call(&self.site(own.id, &ty), call)
        };
        let arguments: Vec<Ty> =
            call.arguments.iter().map(|argument| self.ty(own.id, argument.value)).collect();
        let receiver = call.receiver.map_or(Ty::Unknown, |value| self.ty(own.id, value));
        self.inform(call, &resolved, &receiver, &arguments);
        if let Some(id) = resolved.functions.first() {
            let on = if resolved.receiver.is_unknown() { receiver } else { resolved.receiver };
            return self.declared(*id, &on, &arguments);
        }
        if let Some(closure) = resolved.closure {
            return self.returned(closure);
        }
        let row = resolved.apis.first().copied();
        match &call.callee {
            Callee::Path(_) => match &resolved.path {
                Some(path) => library::function(self.program.catalog, path, row, &arguments),
                None => resolved.receiver,
            },
            Callee::Macro(_) => match (&resolved.path, row) {
                (Some(path), Some(_)) => Ty::derived(path.clone()),
                _ => Ty::Unknown,
            },
            Callee::Value(_) => match resolved.receiver {
                Ty::Function { returns, .. } => Ty::clone(&returns),
                _ => Ty::Unknown,
            },
            Callee::Method(name) => {
                let reply = call.type_arguments.last().map(|ty| self.written(ty));
                self.method_result(name, &resolved, &receiver, &arguments, reply)
            }
        }
    }

    fn method_result(
        &self,
        name: &str,
        resolved: &Resolved,
        receiver: &Ty,
        arguments: &[Ty],
        reply: Option<Ty>,
    ) -> Ty {
        let row = resolved.apis.first().copied();
        if row.is_some() {
            return library::method(self.program.catalog, row, &resolved.receiver, reply);
        }
        let list = match receiver {
            Ty::Tuple(parts) => {
                let first = parts.iter().find(|ty| !ty.is_unknown()).cloned().unwrap_or_default();
                Ty::List(Arc::new(first))
            }
            other => other.clone(),
        };
        if let Some(Ty::Closure(closure)) = arguments.first()
            && let Some(ty) = standard::mapped(&list, name, &self.returned(*closure))
        {
            return ty;
        }
        for on in [&list, &resolved.receiver] {
            if let Some(ty) = standard::method(on, name) {
                return ty;
            }
        }
        match receiver {
            _ if FORMS.contains(&name) => receiver.clone(),
            Ty::External { .. } | Ty::Derived { .. } => {
                library::method(self.program.catalog, None, &resolved.receiver, reply)
            }
            _ => Ty::Unknown,
        }
    }

    /// The declared return type of a workspace function, with what the call says of its type
    /// parameters.
    fn declared(&self, id: FunctionId, receiver: &Ty, arguments: &[Ty]) -> Ty {
        let Some(function) = self.program.function(id) else { return Ty::Unknown };
        let known = self.substitution(function, receiver, arguments);
        let scope = self.program.scope_of_function(id, function);
        self.program.written_type(scope, &function.returns, &known)
    }

    fn substitution(&self, function: &Function, receiver: &Ty, arguments: &[Ty]) -> Substitution {
        let mut known = Substitution::new();
        let mut learn = |written: &TypeRef, ty: &Ty| {
            if let TypeRef::Named { path, arguments } = written
                && let ([name], []) = (path.0.as_slice(), arguments.as_slice())
                && function.generics.iter().any(|(own, _)| own == name)
                && !matches!(ty, Ty::Unknown | Ty::Closure(_) | Ty::Item(_))
            {
                known.entry(name.clone()).or_insert_with(|| ty.clone());
            }
        };
        for (parameter, ty) in function.parameters.iter().zip(arguments) {
            learn(&parameter.ty, ty);
        }
        if let Some(TypeRef::Named { arguments: written, .. }) = &function.owner {
            for (at, written) in written.iter().enumerate() {
                learn(written, &receiver.argument(at));
            }
        }
        if function.owner.is_none() && function.of_trait.is_some() && !receiver.is_unknown() {
            known.insert("Self".to_owned(), receiver.clone());
        }
        known
    }

    /// Tells closures among the arguments what they are called with.
    fn inform(&mut self, call: &Call, resolved: &Resolved, receiver: &Ty, arguments: &[Ty]) {
        for (at, ty) in arguments.iter().enumerate() {
            let Ty::Closure(closure) = ty else { continue };
            let types = match resolved.functions.first() {
                Some(id) => self.expected(*id, at, &resolved.receiver, arguments),
                None => self.expected_by_library(call, resolved, receiver, arguments),
            };
            self.give(*closure, types);
        }
    }

    fn expected(&self, id: FunctionId, at: usize, receiver: &Ty, arguments: &[Ty]) -> Vec<Ty> {
        let Some(function) = self.program.function(id) else { return Vec::new() };
        let Some(parameter) = function.parameters.get(at) else { return Vec::new() };
        let known = self.substitution(function, receiver, arguments);
        let scope = self.program.scope_of_function(id, function);
        match self.program.written_type(scope, &parameter.ty, &known) {
            Ty::Function { parameters, .. } => parameters.to_vec(),
            _ => Vec::new(),
        }
    }

    fn expected_by_library(
        &self,
        call: &Call,
        resolved: &Resolved,
        receiver: &Ty,
        arguments: &[Ty],
    ) -> Vec<Ty> {
        let row = resolved.apis.first();
        let Callee::Method(name) = &call.callee else {
            // `redis::transaction(conn, keys, |conn, pipe| …)`
            let begins = row.filter(|row| row.effect == ApiEffect::TxBegin);
            let connection = begins.and_then(|row| arguments.get(row.argument("connection")?));
            return connection.cloned().into_iter().collect();
        };
        if row.is_some_and(|row| row.effect == ApiEffect::TxBegin) {
            return vec![match row.map(|row| row.library.as_str()) {
                Some("sqlx") => Ty::external(crate::ir::index::Path::parse("sqlx::Transaction")),
                _ => resolved.receiver.clone(),
            }];
        }
        match receiver {
            Ty::Tuple(parts) => {
                let first = parts.iter().find(|ty| !ty.is_unknown()).cloned().unwrap_or_default();
                standard::closure_parameters(&Ty::List(Arc::new(first)), name)
            }
            Ty::External { path, .. }
                if !receiver.is_standard() && standard::held(receiver).is_none() =>
            {
                vec![Ty::derived(path.as_ref().clone())]
            }
            Ty::Derived { .. } => vec![receiver.clone()],
            _ => standard::closure_parameters(receiver, name),
        }
    }
}
