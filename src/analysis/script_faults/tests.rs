//! Faults of small scripts.

use std::sync::Arc;

use crate::analysis::Analysis;
use crate::config::Settings;
use crate::link::Program;
use crate::source::{Language, Tree};

/// The lines, from 1, of what one question finds in a script.
fn lines(text: &str, found: impl Fn(&Analysis<'_>) -> Vec<u32>) -> Vec<usize> {
    let tree = Tree::from_texts(vec![("a.lua".into(), Language::Lua, text.into())]);
    let program = Program::build(Arc::new(tree), Settings::default());
    let analysis = Analysis::new(&program);
    let line = |start: u32| text[..start as usize].lines().count().max(1);
    found(&analysis).into_iter().map(line).collect()
}

fn nil(text: &str) -> Vec<usize> {
    lines(text, |analysis| analysis.nil_comparisons().iter().map(|it| it.span.start).collect())
}

fn number(text: &str) -> Vec<usize> {
    lines(text, |analysis| analysis.text_as_number().iter().map(|it| it.span.start).collect())
}

#[test]
fn a_test_on_the_way_takes_types_away() {
    let text = "local v = redis.call('GET', KEYS[1])
if v and v == nil then return 0 end
if not v then v = '7' end
local w = v == nil
local x = redis.call('GET', KEYS[2]) == nil
return x";
    assert_eq!(nil(text), [5]);
}

#[test]
fn a_loop_brings_what_its_turns_make() {
    let text = "local cursor = '0'
repeat
  local page = redis.call('SCAN', cursor)
  cursor = page[1]
until cursor == 0
local n = 0
repeat
  n = n + 1
until n == 0
return n";
    assert_eq!(number(text), [5]);
}

#[test]
fn and_and_or_choose_among_types() {
    let text = "local v = redis.call('GET', KEYS[1])
local a = v and tonumber(v) or 0
local b = (v or 0) == 0
local c = a > 3
local d = (v or 0) > 3
return d";
    assert_eq!(number(text), [5]);
}

#[test]
fn what_is_wrong_for_one_caller_only_is_not_told() {
    let text = "local function none(v)
  return v == nil
end
local function nothing(v)
  return v == nil
end
none(redis.call('GET', KEYS[1]))
nothing(redis.call('GET', KEYS[1]))
return nothing(ARGV[1])";
    assert_eq!(nil(text), [2]);
}
