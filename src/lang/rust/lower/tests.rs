//! What lowering promises of any source: places are exact, nothing panics, nothing is invented.

use super::{MAX_DEPTH, lower};
use crate::ir::body::{Lowered, OpKind, ProblemKind, Terminator};
use crate::ir::index::{FileIndex, Function, ItemId, Path, Receiver, Role, TypeRef};
use crate::ir::value::{Literal, ValueKind};
use crate::lang::Surroundings;
use crate::source::{FileId, Language, SourceFile, Tree};

/// A file that is one function.
fn lowered(text: &str) -> (SourceFile, Lowered) {
    let file = SourceFile::new(FileId(0), "src/a.rs", Language::Rust, text);
    let mut index = FileIndex::new(file.id);
    index.functions.push(Function {
        name: "f".to_owned(),
        scope: Path::default(),
        owner: None,
        of_trait: None,
        receiver: Receiver::None,
        parameters: Vec::new(),
        returns: TypeRef::Unknown,
        generics: Vec::new(),
        is_async: false,
        has_body: true,
        role: Role::Product,
        span: file.whole(),
        made: None,
        name_span: file.whole(),
    });
    let lowered = lower(&file, &index, ItemId::Function(0), &Surroundings::files(&Tree::default()));
    (file, lowered)
}

#[test]
fn a_call_is_placed_by_its_name() {
    let (file, lowered) = lowered("async fn f(c: &mut C) { c.set_nx(\"k\", é).await?; }");
    let body = &lowered.bodies[0];
    let (_, op, call) = body.calls().next().unwrap();
    assert_eq!(file.slice(call.name_span), "set_nx");
    assert_eq!(file.slice(body.op(op).unwrap().span), "set_nx(\"k\", é)");
    assert_eq!(file.slice(body.value(call.result).unwrap().span), "c.set_nx(\"k\", é)");
    let exit = body.blocks.iter().find_map(|block| match block.end {
        Terminator::Return { span, value: Some(_), .. } => Some(span),
        _ => None,
    });
    assert_eq!(file.slice(exit.unwrap()), "c.set_nx(\"k\", é).await");
}

#[test]
fn text_of_a_format_string_points_into_it() {
    let (file, lowered) = lowered(r#"fn f(id: u8) { g(format!("a{{{id}\t-{X}")); }"#);
    let body = &lowered.bodies[0];
    let places: Vec<&str> = body
        .values
        .iter()
        .filter_map(|value| match &value.kind {
            ValueKind::Template(parts) => Some(parts),
            _ => None,
        })
        .flatten()
        .filter_map(|part| match part {
            crate::ir::value::TemplatePart::Text(text) => Some(text.place(0, text.content.len())),
            crate::ir::value::TemplatePart::Hole(_) => None,
        })
        .map(|span| file.slice(span))
        .collect();
    // The second brace of a pair stands for nothing and is no part of the text's place.
    assert_eq!(places, ["a{", r"\t-"]);
    let constant = body.values.iter().find(|value| matches!(value.kind, ValueKind::Path(_)));
    assert_eq!(file.slice(constant.unwrap().span), "X");
}

#[test]
fn text_joined_to_itself_stays_within_a_bound() {
    let doubled = "s.push_str(&s.clone());".repeat(35);
    let (_, lowered) =
        lowered(&format!("fn f() {{ let mut s = String::from(\"lock\"); {doubled} }}"));
    let longest = lowered.bodies[0].values.iter().map(|value| match &value.kind {
        ValueKind::Literal(Literal::Text(text)) => text.size(),
        ValueKind::Template(parts) => parts.iter().map(crate::ir::value::TemplatePart::size).sum(),
        _ => 0,
    });
    assert!(longest.max().unwrap() <= crate::ir::value::LARGEST_TEXT);
}

#[test]
fn many_variables_and_ways_out_are_read_in_time() {
    let many = |count: usize| {
        let lets: String = (0..count).map(|n| format!("let x{n} = g({n})?;")).collect();
        lowered(&format!("fn f() -> R {{ {lets} }}")).1
    };
    assert_eq!(many(1_000).problems, []);
    assert_eq!(many(2_000).problems[0].kind, ProblemKind::Limit);
}

#[test]
fn source_that_does_not_parse_is_a_problem_and_an_empty_body() {
    let (file, lowered) = lowered("fn f() { let x = ; }");
    assert_eq!(lowered.bodies.len(), 1);
    assert_eq!(lowered.problems[0].kind, ProblemKind::Syntax);
    assert_eq!(file.slice(lowered.problems[0].span), ";");
}

/// Runs on a stack of the size that workers have.
fn on_worker(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_given_up_with_a_word() {
    on_worker(|| {
        let deep = |count: usize| {
            let text = format!("fn f() {{ {}x{} }}", "g(".repeat(count), ")".repeat(count));
            lowered(&text).1
        };
        assert!(deep(MAX_DEPTH as usize / 2).problems.is_empty());
        let given_up = deep(MAX_DEPTH as usize + 50);
        assert_eq!(given_up.problems.len(), 1);
        assert_eq!(given_up.problems[0].kind, ProblemKind::Limit);
    });
}

#[test]
fn blocks_closures_and_branches_nest_deep_without_harm() {
    on_worker(|| {
        for (open, close) in
            [("{ ", " }"), ("|| ", ""), ("if x { ", " }"), ("async { ", " }"), ("!", "")]
        {
            let text = format!("fn f() {{ {}x{} }}", open.repeat(280), close.repeat(280));
            let (_, lowered) = lowered(&text);
            assert!(!lowered.bodies.is_empty(), "{open}");
        }
    });
}

#[test]
fn every_number_names_something() {
    let source = "fn f(a: A) -> R { loop { if a.b() { break; return 1; } match a { X => continue, \
                  _ => unreachable!() } a.c(); } let y = vec![a; 2]; panic!(); y.d() }";
    let (_, lowered) = lowered(source);
    let body = &lowered.bodies[0];
    for block in &body.blocks {
        for next in block.end.successors() {
            assert!(body.block(next).is_some());
        }
    }
    for (_, _, op) in body.operations() {
        if let OpKind::Call(call) = &op.kind {
            assert!(call.arguments.iter().all(|argument| body.value(argument.value).is_some()));
            assert!(body.value(call.result).is_some());
        }
    }
}

#[test]
fn joins_list_their_ways_in_block_order() {
    let (_, lowered) = lowered("fn f(won: bool) -> u8 { if !won { 1 } else { 2 } }");
    let body = &lowered.bodies[0];
    let ways = body.values.iter().find_map(|value| match &value.kind {
        ValueKind::Join(ways) => Some(ways.clone()),
        _ => None,
    });
    let numbers: Vec<i128> = ways
        .unwrap()
        .into_iter()
        .filter_map(|way| match body.kind(way) {
            ValueKind::Literal(Literal::Integer(number)) => Some(*number),
            _ => None,
        })
        .collect();
    // Block 1 is where `won` holds, block 2 where it does not.
    assert_eq!(numbers, [2, 1]);
}
