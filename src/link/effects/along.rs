//! Effects as certain calls lead to them: what those pass decides what a parameter is.

use std::sync::Arc;

use super::context::Context;
use super::external;
use crate::ir::effect::{BodyId, Effect, EffectKind, ExpiryUnit, Site, Timeout};
use crate::link::Program;

impl Program {
    /// The time limit that an effect is, or that a call out of the process has, as these calls lead to
    /// it: outermost first, the last is the effect's own site. Unknown for any other effect.
    #[must_use]
    pub fn time_limit_along(&self, chain: &[Site], effect: &Effect) -> Timeout {
        match &effect.kind {
            EffectKind::External(call) => match entered(self, chain) {
                calls if calls.is_empty() => call.timeout,
                calls => Context::of_calls(self, effect.site.body, calls)
                    .and_then(|context| external::limit_of(&context, effect))
                    .unwrap_or(call.timeout),
            },
            EffectKind::TimeLimit { milliseconds: Some(milliseconds), .. } => {
                Timeout::Milliseconds(*milliseconds)
            }
            EffectKind::TimeLimit { milliseconds: None, amount } => {
                let calls = chain.split_last().map_or(chain, |(_, calls)| calls);
                let unit = ExpiryUnit::Milliseconds;
                let passed = amount
                    .and_then(|it| self.milliseconds_through(calls, effect.site.body, it, unit));
                passed.map_or(Timeout::Some, Timeout::Milliseconds)
            }
            _ => Timeout::Unknown,
        }
    }
}

/// The calls of a chain that enter functions and what each enters, as far down to the last as every one
/// is known.
fn entered(program: &Program, chain: &[Site]) -> Arc<[(Site, BodyId)]> {
    let mut found = Vec::new();
    for (site, next) in chain.iter().zip(chain.iter().skip(1)) {
        let Some(own) = program.body(site.body) else { return Arc::from([]) };
        let op = own.body.call_behind(site.op);
        let targets = program.targets(site.body, op);
        if targets.is_some_and(|targets| targets.bodies.contains(&next.body)) {
            found.push((Site { op, ..*site }, next.body));
        } else if program.body(next.body).is_none_or(|inner| inner.parent != Some(site.body)) {
            // A closure runs in its function's frame; what else is run is told nothing here.
            found.clear();
        }
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;
    use crate::source::{Language, Tree};

    /// The limits that calls of `section` pass down to the effect in `inner`, in order.
    fn limits(text: &str) -> Vec<Timeout> {
        let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
        let program = Program::build(Arc::new(tree), Settings::default());
        let body = |name: &str| {
            let found = program.bodies.iter().find(|own| program.qualified_name(own.id) == name);
            found.unwrap().id
        };
        let inner = body("inner");
        let kind = |effect: &&Effect| {
            matches!(effect.kind, EffectKind::External(_) | EffectKind::TimeLimit { .. })
        };
        let effect = program.effects(inner).iter().find(kind).unwrap();
        let section = body("section");
        let calls = program.body(section).unwrap().body.calls();
        let calls = calls.filter(|(.., call)| call.callee.name() == Some("inner"));
        let ways = calls.map(|(_, op, _)| [Site { body: section, op }, effect.site]);
        ways.map(|way| program.time_limit_along(&way, effect)).collect()
    }

    #[test]
    fn the_limit_of_a_client_is_that_of_the_one_which_is_passed() {
        let text = r#"
            use std::time::Duration;
            use reqwest::Client;
            async fn inner(client: &Client) { let _ = client.post("https://a.example").send().await; }
            async fn section(own: &Client) {
                let client = Client::builder().timeout(Duration::from_secs(7)).build().unwrap();
                inner(&client).await;
                let other = client.clone();
                inner(&other).await;
                inner(&Client::new()).await;
                inner(own).await;
            }
        "#;
        let seven = Timeout::Milliseconds(7_000);
        assert_eq!(limits(text), [seven, seven, Timeout::None, Timeout::Unknown]);
    }

    #[test]
    fn a_time_that_is_passed_is_the_limit() {
        let text = r#"
            use std::time::Duration;
            async fn inner(milliseconds: u64) {
                let limit = Duration::from_millis(milliseconds);
                let _ = tokio::time::timeout(limit, work()).await;
            }
            async fn section(own: u64) {
                inner(250).await;
                inner(2 * 1_000).await;
                inner(own).await;
            }
        "#;
        let [short, long] = [250, 2_000].map(Timeout::Milliseconds);
        assert_eq!(limits(text), [short, long, Timeout::Some]);
    }
}
