//! What small functions do with a result.

use std::sync::Arc;

use super::*;
use crate::config::Settings;
use crate::source::{Language, Tree};

type Question = fn(&Program, Site) -> ResultUse;

/// What a question says of the call of `ask`.
fn answer(question: Question, body: &str) -> &'static str {
    let text = format!("async fn f() -> Result<(), Error> {{ {body} }}");
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text)]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let own = program.bodies.iter().find(|own| own.parent.is_none()).unwrap();
    let mut operations = own.body.operations();
    let waits = |op: OpId| {
        let call = own.body.call(own.body.call_behind(op));
        call.is_some_and(|call| call.callee.name() == Some("ask"))
    };
    let found =
        operations.find(|(_, op, it)| matches!(it.kind, OpKind::Await { .. }) && waits(*op));
    match question(&program, Site { body: own.id, op: found.unwrap().1 }) {
        ResultUse::Dropped => "dropped",
        ResultUse::Tested(_) => "tested",
        ResultUse::Returned(_) => "returned",
        ResultUse::Passed(_) => "passed",
    }
}

#[test]
fn a_failure_that_is_passed_on_is_no_look_at_the_payload() {
    let passed_on = "ask().await?; Ok(())";
    assert_eq!(answer(result_use, passed_on), "dropped");
    assert_eq!(answer(failure_use, passed_on), "tested");
    let logged = "if let Err(error) = ask().await { warn!(\"{error}\"); } Ok(())";
    assert_eq!(answer(result_use, logged), "dropped");
    assert_eq!(answer(failure_use, logged), "tested");
}

#[test]
fn a_failure_counts_where_it_is_returned_mapped_or_a_panic() {
    assert_eq!(answer(failure_use, "ask().await.map_err(Error::from)"), "returned");
    assert_eq!(answer(failure_use, "ask().await.unwrap(); Ok(())"), "tested");
    assert_eq!(answer(failure_use, "let ok = ask().await.is_ok(); tell(ok); Ok(())"), "passed");
}

#[test]
fn thrown_away_is_dropped_for_every_question() {
    for body in ["let _ = ask().await; Ok(())", "ask().await.ok(); Ok(())"] {
        assert_eq!(answer(result_use, body), "dropped");
        assert_eq!(answer(presence_use, body), "dropped");
        assert_eq!(answer(failure_use, body), "dropped");
    }
}

#[test]
fn that_something_is_there_is_a_payload_of_an_option_only() {
    let mapped = "let there = ask().await?.map(|_| 1); tell(there); Ok(())";
    assert_eq!(answer(result_use, mapped), "dropped");
    assert_eq!(answer(presence_use, mapped), "passed");
}

/// What `presence_use` says of the call of `ask` in a closure.
fn in_closure(header: &str, inside: &str, after: &str) -> &'static str {
    let text = format!(
        "async fn f() -> Result<(), Error> {{ let run = {header} {{ {inside} }}; {after} }}"
    );
    let tree = Tree::from_texts(vec![("a.rs".into(), Language::Rust, text)]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let found = program.bodies.iter().find_map(|own| {
        let mut calls = own.body.calls();
        let found = calls.find(|(.., call)| call.callee.name() == Some("ask"))?;
        Some(Site { body: own.id, op: found.1 })
    });
    match presence_use(&program, found.unwrap()) {
        ResultUse::Dropped => "dropped",
        ResultUse::Tested(_) => "tested",
        ResultUse::Returned(_) => "returned",
        ResultUse::Passed(_) => "passed",
    }
}

/// `ask()?` is a number of rows.
#[test]
fn a_closure_whose_success_holds_nothing_tells_by_its_success() {
    let told = "ask()?.checked_sub(1).ok_or(Error::Gone).map(|_| ())";
    for header in ["|| -> Result<(), Error>", "||", "async || -> Result<(), Error>", "async ||"] {
        assert_eq!(in_closure(header, told, "run()"), "returned");
        assert_eq!(in_closure(header, told, "run()?; Ok(())"), "returned");
    }
    assert_eq!(in_closure("|| -> Result<(), Error>", "ask()", "run()"), "dropped");
    assert_eq!(in_closure("async || -> Result<(), Error>", "ask()", "run()"), "dropped");
    assert_eq!(in_closure("|| -> Result<u64, Error>", "ask()", "run()"), "returned");
}
