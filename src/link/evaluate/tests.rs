//! Evaluation of small Rust programs; expected templates are worked out by hand.

use std::sync::Arc;

use crate::config::Settings;
use crate::ir::effect::ExpiryUnit;
use crate::ir::key::KeyTemplate;
use crate::link::Program;
use crate::source::{Language, Tree};

fn program(text: &str) -> Program {
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text.into())]);
    Program::build(Arc::new(tree), Settings::default())
}

/// The template of every first argument of calls of `probe`, in order.
fn keys(program: &Program) -> Vec<KeyTemplate> {
    let all = program.bodies.iter().flat_map(|own| {
        let probes = own.body.calls().filter(|(_, _, call)| call.callee.name() == Some("probe"));
        probes.map(|(_, _, call)| program.template(own.id, call.arguments[0].value))
    });
    all.collect()
}

/// Which of the probed keys are the same text in one run, as pairs of places.
fn same(text: &str) -> Vec<(usize, usize)> {
    let keys = keys(&program(text));
    let pairs =
        (0..keys.len()).flat_map(|left| (left + 1..keys.len()).map(move |right| (left, right)));
    pairs.filter(|(left, right)| keys[*left].same_text(&keys[*right])).collect()
}

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

/// The milliseconds that the first arguments of `probe` mean where milliseconds are wanted.
fn milliseconds(text: &str) -> Vec<Option<u64>> {
    let program = &program(text);
    let all = program.bodies.iter().flat_map(|own| {
        let probes = own.body.calls().filter(|(_, _, call)| call.callee.name() == Some("probe"));
        probes.map(|(_, _, call)| {
            let value = call.arguments[0].value;
            program.milliseconds(own.id, value, ExpiryUnit::Milliseconds)
        })
    });
    all.collect()
}

#[test]
fn durations_have_units() {
    let found = milliseconds(
        "use std::time::Duration;
        const LEASE: Duration = Duration::from_secs(30);
        const HALF: u64 = 5 * 1_000;
        fn run() { probe(LEASE.as_millis() as u64); probe(LEASE); probe(HALF); }",
    );
    assert_eq!(found, [Some(30_000), Some(30_000), Some(5_000)]);
}

#[test]
fn whole_numbers_are_cut_off() {
    let found = milliseconds(
        "use std::time::Duration;
        fn run() {
            probe(Duration::from_millis(500).as_secs());
            probe(Duration::from_millis(500).as_secs_f64() * 1000.0);
            probe(7 / 2);
            probe(7.0 / 2.0 * 2.0);
            probe((7 as f64 / 2.0) as u64);
            probe(Duration::new(2, 5_000_000));
            probe(chrono::Duration::weeks(1));
            probe(Duration::from_millis(2_500).subsec_millis());
            probe(2 * Duration::from_millis(30));
            probe(90 / Duration::from_millis(30));
        }",
    );
    let expected =
        [0, 500, 3, 7, 3, 2_005, 604_800_000].map(Some).into_iter().chain([None, Some(60), None]);
    assert_eq!(found, expected.collect::<Vec<_>>());
}

#[test]
fn sums_of_sums_end() {
    let mut text = "fn run() { let a0 = 1;".to_owned();
    for step in 1..60 {
        text.push_str(&format!(" let a{step} = a{} + a{};", step - 1, step - 1));
    }
    text.push_str(" probe(a38); probe(a59); }");
    assert_eq!(milliseconds(&text), [None, None]);
}

#[test]
fn closures_in_methods_keep_their_first_argument_and_what_they_capture() {
    let found = probed(
        r#"
        struct Shop { name: String }
        impl Shop {
            fn run(&self, order: u64) {
                let key = |id: u64| format!("{}:order:{id}", self.name);
                probe(key(order));
                let inner = || key(7);
                probe(inner());
            }
        }
        fn named(shop: u64) -> String { let key = |n: u64| format!("shop:{shop}:{n}"); key(3) }
        fn outer(berth: u64) { probe(named(berth)); }
        "#,
    );
    assert_eq!(found, ["<self.name>:order:<order>", "<self.name>:order:7", "shop:<berth>:3"]);
}

#[test]
fn equal_origins_are_equal_values() {
    let elements = "fn run(ids: &[u64], i: usize) {
        probe(ids[0]); probe(ids[1]); probe(ids[0]); probe(ids[i]); probe(ids[i]);
    }";
    assert_eq!(same(elements), [(0, 2), (3, 4)]);
    let next = "async fn run(rx: &mut Receiver<u64>, order: &Order) {
        let one = rx.recv().await; probe(&one); let other = rx.recv().await; probe(&other); probe(&one);
        probe(order.id()); probe(order.id());
    }";
    assert_eq!(same(next), [(0, 2), (3, 4)]);
    let closures = "fn run(all: Vec<u64>, some: Vec<u64>) {
        all.iter().for_each(|id| { probe(id); probe(id); });
        some.iter().for_each(|id| probe(id));
    }";
    assert_eq!(same(closures), [(0, 1)]);
    let random = "fn token() -> String { uuid::Uuid::new_v4().to_string() }
    fn run() { let one = token(); let two = token(); probe(&one); probe(&two); probe(&one); }";
    assert_eq!(same(random), [(0, 2)]);
    let loops = "fn run(ids: Vec<u64>) {
        for id in &ids { probe(id); probe(id); }
        for id in &ids { probe(id); }
    }";
    assert_eq!(same(loops), [(0, 1)]);
}

#[test]
fn what_a_callee_makes_is_told_apart_by_the_call() {
    let text = "fn open() -> String { let id = ticket(1); probe(&id); format!(\"gate:{id}\") }
    fn gate(ids: &[u64]) -> u64 { probe(ids[2]); ids[2] }
    fn run(mine: &[u64]) { let one = open(); let two = open(); gate(mine); }";
    let program = program(text);
    let site = |name: &str, nth: usize| crate::link::tests::site(&program, name, nth);
    let keys = keys(&program);
    let (first, second) = (site("open", 0), site("open", 1));
    let callee = program.targets(first.body, first.op).unwrap().bodies[0];
    let seen = |site| program.into_caller(&keys[0], callee, site);
    assert!(seen(first).same_text(&seen(first)));
    assert!(!seen(first).same_text(&seen(second)));
    let gate = site("gate", 0);
    let callee = program.targets(gate.body, gate.op).unwrap().bodies[0];
    let outer = program.into_caller(&keys[1], callee, gate);
    let origin = outer.holes().next().map(|hole| hole.origin.clone());
    assert_eq!(origin, Some(crate::ir::key::Origin::Field("#0[2]".into())));
}

/// One reading shown twice in the same place of the code is one text; two showings may differ.
#[test]
fn a_clock_shown_in_another_form_is_a_clock() {
    let text = r#"
        use chrono::Utc;
        fn run(names: &Names) {
            let now = Utc::now();
            let time = now.timestamp();
            probe(time);
            probe(time);
            probe(now.hour());
            probe(names.timestamp());
        }
    "#;
    let clocks: Vec<bool> = keys(&program(text))
        .iter()
        .map(|key| key.holes().all(|hole| matches!(hole.origin, crate::ir::key::Origin::Clock(_))))
        .collect();
    assert_eq!(clocks, [true, true, true, false]);
    assert_eq!(same(text), [(0, 1)]);
}

/// What is shared stays, whole words only; what lies between is one hole.
#[test]
fn alternatives_keep_what_they_have_in_common() {
    let text = r#"
        struct Store { namespace: Option<String> }
        impl Store {
            fn lock(&self, id: u64) -> String {
                match &self.namespace {
                    Some(ns) => format!("{ns}:order_lock:{id}"),
                    None => format!("order_lock:{id}"),
                }
            }
            fn kind(&self, hot: bool, id: u64) -> String {
                if hot { format!("cache:hot:{id}") } else { format!("cache:cold:{id}:x") }
            }
            fn word(&self, hot: bool) -> &'static str {
                if hot { "block" } else { "flock" }
            }
            fn overlap(&self, hot: bool) -> &'static str {
                if hot { "a:a" } else { "a" }
            }
            fn run(&self, order: u64, hot: bool) {
                probe(self.lock(order));
                probe(self.kind(hot, order));
                probe(self.word(hot));
                probe(self.overlap(hot));
            }
        }
    "#;
    let shown: Vec<String> = keys(&program(text)).iter().map(ToString::to_string).collect();
    let expected = ["<…>order_lock:<order>", "cache:<…>", "<self.word(hot)>", "a<…>"];
    assert_eq!(shown, expected);
}

/// The origins of the holes of every probed key, by kind.
fn origins(text: &str) -> Vec<&'static str> {
    use crate::ir::key::Origin;
    let kind = |origin: &Origin| match origin {
        Origin::Constant(_) => "constant",
        Origin::Random(..) => "random",
        Origin::Unknown(_) => "unknown",
        Origin::Field(_) => "field",
        _ => "other",
    };
    let keys = keys(&program(text));
    keys.iter()
        .flat_map(|key| key.holes().map(|hole| kind(&hole.origin)).collect::<Vec<_>>())
        .collect()
}

/// What names the process is the same at every call; a setting is told by its name.
#[test]
fn names_of_the_process_and_its_settings_are_constants() {
    let text = r#"
        fn run(name: &str) {
            probe(nix::unistd::getpid());
            probe(std::env::var("POD").unwrap());
            probe(gethostname::gethostname().to_string_lossy().to_string());
            probe(std::env::var("ZONE").unwrap());
            probe(std::env::var("POD").unwrap());
            probe(std::env::var(name).unwrap());
        }
    "#;
    let expected = ["constant", "constant", "constant", "constant", "constant", "unknown"];
    assert_eq!(origins(text), expected);
    assert_eq!(same(text), [(1, 4)]);
}

/// A static is made once, a function each time it is called; what is written as a variable and is
/// none is not known.
#[test]
fn a_static_is_the_same_ever_after() {
    let text = r#"
        use std::sync::LazyLock;
        static ONCE: LazyLock<String> = LazyLock::new(|| uuid::Uuid::new_v4().to_string());
        fn each() -> String { uuid::Uuid::new_v4().to_string() }
        fn run() {
            probe(ONCE.clone());
            probe(ONCE.as_str());
            probe(each());
            probe(each());
            probe(made_by_a_macro);
            probe(elsewhere::NAME);
            probe(env!("CARGO_PKG_NAME"));
        }
    "#;
    assert_eq!(
        origins(text),
        ["constant", "constant", "random", "random", "unknown", "constant", "constant"]
    );
    assert_eq!(same(text), [(0, 1)]);
}

/// A field that some code writes to later is not what its constructor set.
#[test]
fn a_field_that_is_assigned_is_not_known() {
    let text = r#"
        struct Desk { name: String, holder: String }
        impl Desk {
            fn new() -> Self { Self { name: "front".to_owned(), holder: "nobody".to_owned() } }
            fn sit(&mut self, holder: String) { self.holder = holder; }
            fn run(&self) { probe(&self.name); probe(&self.holder); }
        }
        struct Queue { name: String, last: String, next: String, count: u64 }
        impl Queue {
            fn new() -> Self { Self { name: "q".to_owned(), last: "a".to_owned(), next: "b".to_owned(), count: 0 } }
            fn go(&mut self) { self.last.push_str("x"); fill(&mut self.next); let mut name = self.name.clone(); name.push_str("y"); }
            fn run(&self) { probe(&self.name); probe(&self.last); probe(&self.next); }
        }
        fn fill(text: &mut String) { text.clear(); }
        fn local() {
            let mut queue = Queue { name: "r".to_owned(), last: String::new(), next: String::new(), count: 1 };
            queue.count += 1;
            probe(queue.count);
        }
        static mut TURN: u64 = 0;
        fn turn() { probe(TURN); }
    "#;
    let expected = [
        "front",
        "<self.holder>",
        "<self.name>",
        "<self.last>",
        "<self.next>",
        "<queue.count>",
        "<TURN>",
    ];
    assert_eq!(probed(text), expected);
}

/// What a body inside changes is not what it was when the body began, however many bodies are between.
#[test]
fn a_captured_text_that_is_changed_is_not_what_it_was() {
    let text = r#"
        fn run(more: &str) {
            let mut one = String::from("a-");
            let longer = || { one.push_str(more); probe(&one) };
            let mut two = String::from("b-");
            let later = async || { two.push_str(more); probe(&two) };
            let mut three = String::from("c-");
            let deeper = || { let inside = || { three.clear(); probe(&three) }; inside() };
            let four = String::from("d-");
            let same = async || { probe(&four) };
        }
    "#;
    assert_eq!(probed(text), ["a-<more>", "b-<more>", "c- | <three.clear()>", "d-"]);
}
