//! Evaluation of small Rust programs; expected templates are worked out by hand.

use std::sync::Arc;

use crate::config::Settings;
use crate::ir::effect::ExpiryUnit;
use crate::link::Program;
use crate::source::{Language, Tree};

/// The templates of every first argument of calls of `probe`, in order.
fn probed(text: &str) -> Vec<String> {
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let mut all = Vec::new();
    for body in &program.bodies {
        for (_, _, call) in body.body.calls() {
            if call.callee.name() == Some("probe")
                && let Some(argument) = call.arguments.first()
            {
                let shown = program.templates(body.id, argument.value);
                all.push(shown.iter().map(ToString::to_string).collect::<Vec<_>>().join(" | "));
            }
        }
    }
    all
}

#[test]
fn locals_constants_and_key_builders() {
    let found = probed(
        r#"
        const PREFIX: &str = "lock";
        fn key(id: u64) -> String { format!("{PREFIX}:order:{}", id) }
        struct Names;
        impl Names { const JOB: &'static str = "job"; fn full(&self, name: &str) -> String { format!("{}:{name}", Self::JOB) } }
        fn run(order: u64, names: &Names) {
            let one = key(order);
            probe(&one);
            probe(names.full("weekly"));
            probe("{queue}:waiting".replace("{queue}", &one));
            let either = if order > 3 { "a" } else { "b" };
            probe(format!("x:{either}"));
        }
        "#,
    );
    assert_eq!(
        found,
        ["lock:order:<order>", "job:weekly", "lock:order:<order>:waiting", "x:a | x:b"]
    );
}

#[test]
fn fields_of_constructors_and_display() {
    let found = probed(
        r#"
        use std::fmt;
        struct Lock { key: String, token: String }
        impl Lock {
            fn new(shop: u64, token: String) -> Self { Self { key: format!("lock:shop:{shop}"), token } }
            fn show(&self) { probe(&self.key); probe(&self.token); }
        }
        struct Page(u64);
        impl fmt::Display for Page {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "page:{}", self.0) }
        }
        fn page(number: u64) { let page = Page(number); probe(format!("cache:{page}")); }
        "#,
    );
    assert_eq!(found, ["lock:shop:<shop>", "<self.token>", "cache:page:<number>"]);
}

#[test]
fn durations_have_units() {
    let text = r#"
        use std::time::Duration;
        const LEASE: Duration = Duration::from_secs(30);
        const HALF: u64 = 5 * 1_000;
        fn run() { probe(LEASE.as_millis() as u64); probe(LEASE); probe(HALF); }
    "#;
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let mut all = Vec::new();
    for body in &program.bodies {
        for (_, _, call) in body.body.calls() {
            if call.callee.name() == Some("probe") {
                let value = call.arguments[0].value;
                all.push(program.milliseconds(body.id, value, ExpiryUnit::Milliseconds));
            }
        }
    }
    assert_eq!(all, [Some(30_000), Some(30_000), Some(5_000)]);
}

#[test]
fn an_implementation_for_self_ends() {
    let found = probed(
        r#"
        struct Seat(u64);
        trait Shown { fn fmt(&self) -> String; }
        impl Display for Self { fn fmt(&self) -> String { String::new() } }
        fn run(seat: Seat) { probe(format!("seat:{}", Seat(seat.0))); }
        "#,
    );
    assert_eq!(found, ["seat:<Seat(seat.0)>"]);
}
