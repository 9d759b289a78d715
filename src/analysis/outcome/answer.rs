//! The two answers of an acquire, won and lost, as the callers of its function see them.

use super::{Abstract, Assumption};
use crate::ir::body::OpKind;
use crate::ir::effect::{BodyId, Effect, EffectKind, Site};
use crate::ir::index::TypeRef;
use crate::link::Program;

/// What an operation gives when an acquire was won, and when it was lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// When it was won.
    pub won: Abstract,
    /// When it was lost.
    pub lost: Abstract,
}

impl Answer {
    /// What a function that takes a lock answers, by its declared type alone; `None` for a type that does
    /// not say how a loss looks.
    #[must_use]
    pub fn of_type(ty: &TypeRef) -> Option<Self> {
        let ok = |inner: Abstract| Abstract::Ok(Box::new(inner));
        let name = ty.name()?;
        let (won, lost) = match (name, ty.payload().and_then(TypeRef::name)) {
            ("bool", _) => (Abstract::Truth(true), Abstract::Truth(false)),
            ("Option", _) => (Abstract::Some(Box::new(Abstract::Present)), Abstract::Nothing),
            (name, _) if !name.ends_with("Result") => return None,
            (_, Some("bool")) => (ok(Abstract::Truth(true)), ok(Abstract::Truth(false))),
            (_, Some("Option")) => {
                (ok(Abstract::Some(Box::new(Abstract::Present))), ok(Abstract::Nothing))
            }
            _ => (ok(Abstract::Present), Abstract::Err),
        };
        Some(Self { won, lost })
    }

    /// Whether who gets the answer can tell a winner from a loser.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.won != self.lost && self.lost != Abstract::Unknown
    }

    /// The answer of the operation at `site` as an operation that runs its body sees it; `None` where
    /// that does not get what the body gives back, or where a script tells nobody who won.
    #[must_use]
    pub fn seen_by(&self, program: &Program, site: Site, caller: Site) -> Option<Self> {
        match script_call(program, caller, site.body) {
            Some(effect) => self.through_script(program, site, effect),
            None => hands_on(program, caller, site.body).then(|| self.given_back(program, site))?,
        }
    }

    /// What the function of an operation gives back after it.
    #[must_use]
    pub fn given_back(&self, program: &Program, site: Site) -> Option<Self> {
        let body = &program.body(site.body)?.body;
        let (block, _) = body.position(site.op)?;
        let op = body.call_behind(site.op);
        let returned = |result: &Abstract| {
            let assumption = Assumption::new(program, site.body, op, result.clone());
            assumption.returned(block).unwrap_or(Abstract::Unknown)
        };
        Some(Self { won: returned(&self.won), lost: returned(&self.lost) })
    }

    /// What the client gets from a script; `None` where a script in which the acquire was won gives the
    /// same as one in which it was lost.
    fn through_script(&self, program: &Program, site: Site, call: &Effect) -> Option<Self> {
        self.given_back(program, site)?.sent(program, call)
    }

    /// What the client of a script gets where it sends this; `None` where both are the same.
    #[must_use]
    pub fn sent(self, program: &Program, call: &Effect) -> Option<Self> {
        let ok = |reply: Abstract| Abstract::Ok(Box::new(reply));
        let nothing = || match nil_read(program, call) {
            Some(NilRead::Failure) => Abstract::Err,
            _ => ok(Abstract::Reply(false)),
        };
        let (won, lost) = match (self.won, self.lost) {
            (won, lost) if won == lost => return None,
            (Abstract::Number(0), lost) => (Abstract::Number(0), ok(lost)),
            // The server makes 1 of true, and nothing of false. A fencing token is no 0.
            (_, Abstract::Nothing | Abstract::Truth(false)) => (Abstract::Reply(true), nothing()),
            (_, Abstract::Number(0)) => (Abstract::Reply(true), ok(Abstract::Reply(false))),
            (Abstract::Number(1) | Abstract::Truth(true), lost) => {
                (Abstract::Reply(true), ok(lost))
            }
            (Abstract::Unknown, _) => return None,
            (won, lost) => (won, ok(lost)),
        };
        Some(Self { won: ok(won), lost })
    }
}

/// What a client makes of a reply that is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NilRead {
    /// A value: nothing, false, none.
    Value,
    /// A failure: it can't be read as the type that is asked for.
    Failure,
}

/// What the client of a command or script call makes of a missing reply, by the type that it is read
/// as; `None` when that is not known.
#[must_use]
pub fn nil_read(program: &Program, effect: &Effect) -> Option<NilRead> {
    let library = program.catalog.library(&effect.client)?;
    let ty = effect.reply_type.as_ref()?;
    let name = match ty {
        TypeRef::Tuple(parts) if parts.is_empty() => "()",
        TypeRef::Tuple(_) => "(..)",
        ty => ty.name()?,
    };
    let named = |list: &[String]| list.iter().any(|one| one == name);
    match () {
        () if named(&library.nil_reads_as) => Some(NilRead::Value),
        () if named(&library.nil_fails_as) => Some(NilRead::Failure),
        () => None,
    }
}

/// Whether an operation gives its own body what the callee returns. What a library runs (a handler
/// given to a framework) runs some time, and gives its result to the library: only calls and awaits
/// of the workspace hand an answer on.
fn hands_on(program: &Program, site: Site, callee: BodyId) -> bool {
    let waits = program.body(site.body).and_then(|it| it.body.op(site.op));
    let targets = program.targets(site.body, site.op);
    matches!(waits.map(|op| &op.kind), Some(OpKind::Await { .. }))
        || targets.is_some_and(|targets| targets.bodies.contains(&callee))
}

/// The call at an operation that has the server run a script.
#[must_use]
pub fn script_call(program: &Program, site: Site, script: BodyId) -> Option<&Effect> {
    let mut effects = program.effects(site.body).iter();
    effects.find(|effect| match &effect.kind {
        EffectKind::Script(call) => effect.site == site && call.scripts.contains(&script),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::config::Settings;
    use crate::ir::body::OpId;
    use crate::source::{Language, Tree};

    fn program(text: &str) -> Program {
        let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
        Program::build(Arc::new(tree), Settings::default())
    }

    /// What a `SET … NX` that is read as this type gives when it is lost.
    fn read_as(client: &str, ty: &str) -> Option<NilRead> {
        let call = match client {
            "fred" => {
                "client.set(\"k\", \"v\", None, Some(fred::types::SetOptions::NX), false).await"
            }
            _ => "redis::cmd(\"SET\").arg(\"k\").arg(\"v\").arg(\"NX\").query_async(client).await",
        };
        let parameter = match client {
            "fred" => "&fred::clients::Client",
            _ => "&mut redis::aio::MultiplexedConnection",
        };
        let program = program(&format!(
            "async fn f(client: {parameter}) {{ let _won: {ty} = {call}.unwrap(); }}"
        ));
        let mut effects = program.bodies.iter().flat_map(|body| program.effects(body.id));
        let set = effects.find(|effect| matches!(effect.kind, EffectKind::Redis(_))).unwrap();
        nil_read(&program, set)
    }

    #[test]
    fn a_missing_reply_is_a_value_or_a_failure_by_its_type_and_client() {
        for ty in ["()", "Option<String>", "bool", "redis::Value"] {
            assert_eq!(read_as("redis", ty), Some(NilRead::Value), "{ty}");
        }
        for ty in ["String", "i64"] {
            assert_eq!(read_as("redis", ty), Some(NilRead::Failure), "{ty}");
        }
        assert_eq!(read_as("redis", "Taken"), None);
        assert_eq!(read_as("fred", "bool"), Some(NilRead::Failure));
        assert_eq!(read_as("fred", "Option<String>"), Some(NilRead::Value));
    }

    /// The answer of the call of `ask` in `f`, which `g` calls.
    fn told(body: &str) -> Answer {
        let text = format!("async fn f() -> R {{ {body} }} async fn g() {{ f().await; }}");
        let program = program(&text);
        let call = |name: &str| {
            program.bodies.iter().find_map(|own| {
                let named = |op: OpId| own.body.call(own.body.call_behind(op))?.callee.name();
                let mut all = own.body.operations();
                let waits = |kind: &OpKind| matches!(kind, OpKind::Await { .. });
                let (_, op, _) =
                    all.find(|(_, op, it)| waits(&it.kind) && named(*op) == Some(name))?;
                Some(Site { body: own.id, op })
            })
        };
        let reply = |won| Abstract::Ok(Box::new(Abstract::Reply(won)));
        let answer = Answer { won: reply(true), lost: reply(false) };
        answer.seen_by(&program, call("ask").unwrap(), call("f").unwrap()).unwrap()
    }

    #[test]
    fn callers_get_what_winners_and_losers_give_back() {
        let asked = told("match ask().await? { true => Ok(Ours), false => Ok(Theirs) }");
        let name = |name: &str| Abstract::Ok(Box::new(Abstract::Named(name.into())));
        assert_eq!(asked, Answer { won: name("Ours"), lost: name("Theirs") });
        assert!(asked.tells());
        let failing = told("if !ask().await? { return Err(Busy); } Ok(())");
        assert_eq!(failing.lost, Abstract::Err);
        assert!(failing.tells());
        assert!(!told("let _won = ask().await?; Ok(7)").tells());
    }
}
