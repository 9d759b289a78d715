//! What scripts are lowered to.

use super::*;
use crate::ir::body::{BlockId, Body, Callee, OpId, OpKind, Terminator, Test};
use crate::ir::value::{Conversion, HOLE, Literal, TemplatePart, ValueId, ValueKind};
use crate::lang::Surroundings;
use crate::source::{FileId, Language, Span};

/// A value as a person would write it.
fn show(body: &Body, value: ValueId, depth: u32) -> String {
    if depth > 8 {
        return "…".to_owned();
    }
    let show = |value: &ValueId| show(body, *value, depth + 1);
    let list = |values: &[ValueId]| values.iter().map(&show).collect::<Vec<_>>().join(", ");
    match body.kind(value) {
        ValueKind::ScriptKey(n) => n.map_or("KEYS[?]".into(), |n| format!("KEYS[{n}]")),
        ValueKind::ScriptArgument(n) => n.map_or("ARGV[?]".into(), |n| format!("ARGV[{n}]")),
        ValueKind::Literal(Literal::Text(text)) => format!("'{}'", text.content),
        ValueKind::Literal(Literal::Integer(number)) => number.to_string(),
        ValueKind::Literal(Literal::Boolean(value)) => value.to_string(),
        ValueKind::Literal(Literal::Nothing) => "nil".into(),
        ValueKind::Path(path) => path.to_string(),
        ValueKind::Result(op) => format!("r{}", ordinal(body, *op)),
        ValueKind::Converted { value, conversion: Conversion::Same } => show(value),
        ValueKind::Converted { value, conversion } => format!("{conversion:?}({})", show(value)),
        ValueKind::Binary { operator, left, right } => {
            format!("({} {operator:?} {})", show(left), show(right))
        }
        ValueKind::Not(value) => format!("not {}", show(value)),
        ValueKind::Join(values) => format!("join({})", list(values)),
        ValueKind::List(values) => format!("{{{}}}", list(values)),
        ValueKind::Field { base, name } => format!("{}.{name}", show(base)),
        ValueKind::Element { base, index } => {
            format!("{}[{}]", show(base), index.as_ref().map_or("*".into(), show))
        }
        ValueKind::Template(parts) => parts
            .iter()
            .map(|part| match part {
                TemplatePart::Text(text) => text.content.clone(),
                TemplatePart::Hole(value) => format!("<{}>", show(value)),
            })
            .collect(),
        ValueKind::Matches { value, .. } => format!("ok({})", show(value)),
        ValueKind::Closure(index) => format!("closure {}", index.0),
        ValueKind::Captured(_) => "captured".into(),
        ValueKind::Parameter(n) => format!("parameter {n}"),
        _ => "?".into(),
    }
}

/// How many calls are written before this one.
fn ordinal(body: &Body, op: OpId) -> usize {
    let calls = body.ops.iter().take(op.0 as usize);
    calls.filter(|op| matches!(op.kind, OpKind::Call(_))).count()
}

/// The block that an edge leads to, blocks without content passed over.
fn target(body: &Body, mut id: BlockId) -> BlockId {
    for _ in 0..8 {
        match body.block(id) {
            Some(block) if block.ops.is_empty() => match block.end {
                Terminator::Goto(next) => id = next,
                _ => break,
            },
            _ => break,
        }
    }
    id
}

fn call_line(body: &Body, op: OpId) -> Option<String> {
    let OpKind::Call(call) = &body.op(op)?.kind else { return None };
    let name = match &call.callee {
        Callee::Path(path) if path.0 == ["redis", "call"] => String::new(),
        Callee::Path(path) => format!("{path} "),
        Callee::Method(name) => format!("{}:{name} ", show(body, call.receiver?, 0)),
        Callee::Value(value) => format!("({}) ", show(body, *value, 0)),
        Callee::Macro(_) => "macro".into(),
    };
    let words: Vec<String> =
        call.arguments.iter().map(|argument| show(body, argument.value, 0)).collect();
    Some(format!("r{} = {name}{}", ordinal(body, op), words.join(" ")))
}

/// The blocks that a path from the entry reaches, in the order they are met.
pub(super) fn render(body: &Body) -> String {
    let mut order = vec![BlockId(0)];
    let mut lines = Vec::new();
    let mut at = 0;
    while let Some(id) = order.get(at).copied() {
        at += 1;
        let block = body.block(id).unwrap();
        let mut number = |id: BlockId| {
            let target = target(body, id);
            let position = order.iter().position(|seen| *seen == target);
            position.unwrap_or_else(|| {
                order.push(target);
                order.len() - 1
            })
        };
        let end = match &block.end {
            Terminator::Goto(to) => format!("b{}", number(*to)),
            Terminator::Branch { test, then, otherwise, .. } => {
                let test = match test {
                    Test::True(value) => show(body, *value, 0),
                    _ => "?".into(),
                };
                format!("if {test} b{} else b{}", number(*then), number(*otherwise))
            }
            Terminator::Return { value, .. } => {
                value.map_or("return".into(), |value| format!("return {}", show(body, value, 0)))
            }
            Terminator::Panic(_) => "panic".into(),
            Terminator::Choice(blocks) => {
                let blocks: Vec<String> =
                    blocks.iter().map(|to| format!("b{}", number(*to))).collect();
                format!("any of {}", blocks.join(" "))
            }
            Terminator::Unreachable => "unreachable".into(),
        };
        let mut parts: Vec<String> =
            block.ops.iter().filter_map(|op| call_line(body, *op)).collect();
        parts.push(end);
        let depth = "~".repeat(block.loop_depth as usize);
        lines.push(format!("{depth}{}: {}", at - 1, parts.join("; ")));
    }
    lines.join("\n")
}

fn text(script: &str) -> Text {
    let end = u32::try_from(script.len()).unwrap();
    Text::verbatim(script, Span::new(FileId(0), 0, end))
}

fn lowered(script: &str) -> String {
    let lowered = lower_embedded(&text(script));
    assert_eq!(lowered.problems, [], "{script}");
    render(&lowered.bodies[0])
}

fn check(script: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    assert_eq!(lowered(script), expected.join("\n"), "{script}");
}

#[test]
fn a_guarded_release() {
    check(
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0",
        "0: r0 = 'GET' KEYS[1]; if (r0 Equal ARGV[1]) b1 else b2
         1: r1 = 'DEL' KEYS[1]; return r1
         2: return 0",
    );
}

/// Every spelling of the same call is the same call.
#[test]
fn aliases_of_redis_call() {
    for spelling in [
        "local rcall = redis.call rcall('DEL', KEYS[1])",
        "local R = redis R.call('DEL', KEYS[1])",
        "redis['call']('DEL', KEYS[1])",
        "server.call('DEL', KEYS[1])",
        "pcall(redis.call, 'DEL', KEYS[1])",
        "local function call(...) return redis.call(...) end call('DEL', KEYS[1])",
        "local function del(key) redis.call('DEL', key) end del(KEYS[1])",
        "local t = { k = KEYS[1] } redis.call('DEL', t.k)",
        "local t = {} t.k = KEYS[1] redis.call('DEL', t['k'])",
        "local M = {} function M.drop(k) redis.call('DEL', k) end M.drop(KEYS[1])",
        "local M = {} function M:drop(k) redis.call('DEL', k) end M:drop(KEYS[1])",
        "function drop(k) redis.call('DEL', k) end drop(KEYS[1])",
        "redis.call('DEL', unpack({ KEYS[1] }))",
        "local i = 2 redis.call('DEL', KEYS[i - 1])",
    ] {
        assert!(lowered(spelling).contains("= 'DEL' KEYS[1]"), "{spelling}\n{}", lowered(spelling));
    }
    assert!(lowered("redis.pcall('DEL', KEYS[1])").contains("redis::pcall 'DEL' KEYS[1]"));
    assert!(lowered("redis.call('DEL', unpack(KEYS))").contains("'DEL' KEYS[*]"));
}

#[test]
fn conditions_are_branches() {
    check(
        "local v = redis.call('GET', KEYS[1])
         if not v or v ~= ARGV[1] then return 0 end
         return redis.call('DEL', KEYS[1])",
        "0: r0 = 'GET' KEYS[1]; if r0 b1 else b2
         1: if (r0 NotEqual ARGV[1]) b2 else b3
         2: return 0
         3: r1 = 'DEL' KEYS[1]; return r1",
    );
    check(
        "local a = KEYS[1] and redis.call('GET', KEYS[1]) or 'none' return a",
        "0: if KEYS[1] b1 else b2
         1: r0 = 'GET' KEYS[1]; b2
         2: return join(r0, 'none')",
    );
    check(
        "assert(redis.call('GET', KEYS[1]) == ARGV[1]) redis.call('DEL', KEYS[1])",
        "0: r0 = 'GET' KEYS[1]; if (r0 Equal ARGV[1]) b1 else b2
         1: r1 = 'DEL' KEYS[1]; return
         2: panic",
    );
}

#[test]
fn a_guard_in_a_helper_is_seen_at_its_caller() {
    check(
        "local function mine(key, token) return redis.call('GET', key) == token end
         if mine(KEYS[1], ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        "0: r0 = 'GET' KEYS[1]; b1
         1: if (r0 Equal ARGV[1]) b2 else b3
         2: r1 = 'DEL' KEYS[1]; b3
         3: return",
    );
}

#[test]
fn a_constant_that_a_path_brings_decides_the_next_branch() {
    check(
        "local function mine(key, token)
           if redis.call('GET', key) == token then return 1 end
           return 0
         end
         if mine(KEYS[1], ARGV[1]) ~= 1 then return -1 end
         return redis.call('DEL', KEYS[1])",
        "0: r0 = 'GET' KEYS[1]; if (r0 Equal ARGV[1]) b1 else b2
         1: r1 = 'DEL' KEYS[1]; return r1
         2: return -1",
    );
    check(
        "local ok
         if redis.call('GET', KEYS[1]) == ARGV[1] then ok = true end
         if ok then redis.call('DEL', KEYS[1]) end",
        "0: r0 = 'GET' KEYS[1]; if (r0 Equal ARGV[1]) b1 else b2
         1: r1 = 'DEL' KEYS[1]; b2
         2: return",
    );
}

#[test]
fn a_computed_name_chooses_among_the_functions_of_a_table() {
    check(
        "local t = {}
         t.free = function(k) return redis.call('DEL', k) end
         t.show = function(k) return redis.call('GET', k) end
         return t[ARGV[1]](KEYS[1])",
        "0: any of b1 b2
         1: r0 = 'DEL' KEYS[1]; b3
         2: r1 = 'GET' KEYS[1]; b3
         3: return join(r0, r1)",
    );
}

#[test]
fn loops_join_what_they_change() {
    check(
        "local cursor = '0'
         repeat
           local page = redis.call('SCAN', cursor)
           cursor = page[1]
         until cursor == '0'
         return cursor",
        "0: b1
         ~1: r0 = 'SCAN' join('0', r0[0]); if (r0[0] Equal '0') b2 else b1
         2: return r0[0]",
    );
    check(
        "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end
         for _, k in ipairs(KEYS) do if k == ARGV[1] then break end end",
        "0: r0 = # KEYS; b1
         ~1: if ? b2 else b3
         ~2: r1 = 'DEL' KEYS[?]; b1
         ~3: if ? b4 else b5
         ~4: if (KEYS[?] Equal ARGV[1]) b5 else b3
         5: return",
    );
}

#[test]
fn keys_are_templates() {
    let shown = lowered(
        "redis.call('GET', KEYS[1] .. ':' .. ARGV[1])
         redis.call('GET', ('%s:x%%'):format(KEYS[1]))
         redis.call('GET', string.format('%.0f', ARGV[1]))
         redis.call('GET', 'a' .. 'b' .. 1)
         redis.call('GET', tostring(tonumber(ARGV[2])))",
    );
    for key in [
        "'GET' <KEYS[1]>:<ARGV[1]>",
        "'GET' <KEYS[1]>:x%",
        "string::format '%.0f' ARGV[1]",
        "'GET' 'ab1'",
        "'GET' Display(Number(ARGV[2]))",
    ] {
        assert!(shown.contains(key), "{key}\n{shown}");
    }
}

#[test]
fn a_function_that_calls_itself_is_a_body() {
    let lowered = lower_embedded(&text(
        "local function walk(k) local n = redis.call('GET', k) if n then walk(n) end end walk(KEYS[1])",
    ));
    assert_eq!(render(&lowered.bodies[0]), "0: r0 = (closure 1) KEYS[1]; return");
    assert_eq!(
        render(&lowered.bodies[1]),
        "0: r0 = 'GET' parameter 0; if r0 b1 else b2\n1: r1 = (captured) r0; b2\n2: return"
    );
}

#[test]
fn holes_stay_holes_and_places_hold() {
    let script = format!(
        "redis.call('DEL', 'lock:{HOLE}:{HOLE}', {HOLE}) redis.call('EXPIRE', KEYS[{HOLE}], {HOLE})"
    );
    assert_eq!(lowered(&script), "0: r0 = 'DEL' lock:<?>:<?> ?; r1 = 'EXPIRE' KEYS[?] ?; return");
    let lowered = lower_embedded(&text("return redis.call( 'GET', KEYS[1])"));
    let call = lowered.bodies[0].calls().next().unwrap().2;
    assert_eq!(call.name_span, Span::new(FileId(0), 20, 23));
}

#[test]
fn what_does_not_parse_is_said_and_the_rest_is_read() {
    let lowered = lower_embedded(&text(
        "redis.call('DEL', KEYS[1])\nlocal = = 3\nredis.call('GET', KEYS[2])",
    ));
    assert!(lowered.problems.iter().all(|problem| problem.kind == ProblemKind::Syntax));
    assert!(!lowered.problems.is_empty());
    assert_eq!(lowered.bodies[0].calls().count(), 2);
    let deep = format!("return {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let lowered = lower_embedded(&text(&deep));
    assert_eq!(lowered.problems[0].kind, ProblemKind::Limit);
    for broken in [
        "if",
        "function",
        "local function f(",
        "return redis.call(",
        "\u{FFFC}",
        "for",
        "a.b.c.",
        "'",
    ] {
        let _ = lower_embedded(&text(broken));
    }
}

fn tree(files: &[(&str, &str)]) -> Tree {
    let lua = |(path, text): &(&str, &str)| ((*path).to_owned(), Language::Lua, (*text).to_owned());
    Tree::from_texts(files.iter().map(lua).collect())
}

fn functions(path: &str, script: &str) -> Vec<String> {
    let tree = tree(&[(path, script)]);
    let file = &tree.files()[0];
    let index = LuaFrontend.index(file, &tree);
    (0..index.functions.len())
        .map(|n| {
            let item = ItemId::Function(u32::try_from(n).unwrap());
            let lowered = LuaFrontend.lower(file, &index, item, &Surroundings::files(&tree));
            let function = &index.functions[n];
            format!(
                "{} {:?}\n{}",
                function.name,
                file.slice(function.name_span),
                render(&lowered.bodies[0])
            )
        })
        .collect()
}

#[test]
fn a_file_is_a_script_a_library_or_a_host() {
    let script = functions("lua/release.lua", "-- frees\nreturn redis.call('DEL', KEYS[1])");
    assert_eq!(script, ["release.lua \"\"\n0: r0 = 'DEL' KEYS[1]; return r0"]);
    let library = functions(
        "lib.lua",
        "#!lua name=lib
         local function drop(keys, args) return redis.call('DEL', keys[1], args[1]) end
         redis.register_function('drop', drop)
         redis.register_function{ function_name = 'get', callback = function(keys) return redis.call('GET', keys[1]) end }",
    );
    assert_eq!(
        library,
        [
            "drop \"'drop'\"\n0: r0 = 'DEL' KEYS[1] ARGV[1]; return r0",
            "get \"'get'\"\n0: r0 = 'GET' KEYS[1]; return r0",
        ]
    );
    let host = functions(
        "limit.lua",
        "local ngx = ngx\nlocal release = [[\nreturn redis.call('DEL', KEYS[1])\n]]\nreturn red:eval(release, 1, key)",
    );
    assert_eq!(host, ["release \"release\"\n0: r0 = 'DEL' KEYS[1]; return r0"]);
    assert!(functions("init.lua", "vim.opt.number = true").is_empty());
    assert!(
        functions("init.lua", "local redis = require 'redis'\nreturn redis.connect()").is_empty()
    );
    assert!(
        functions("includes/a.lua", "local function a() redis.call('GET', KEYS[1]) end").is_empty()
    );
    assert!(functions("a.lua", "local function a(k) redis.call('GET', k) end").is_empty());
}

#[test]
fn what_a_table_holds_is_known_until_it_is_written() {
    for (script, key) in [
        ("local k = { KEYS[1], KEYS[2] } redis.call('DEL', k[1])", "KEYS[1]"),
        ("local t = { k = 1 } t['k'] = KEYS[2] redis.call('DEL', t.k)", "KEYS[2]"),
        ("local k = { KEYS[1] } k[1] = KEYS[2] redis.call('DEL', k[1])", "KEYS[2]"),
        ("local k = { KEYS[1] } k[ARGV[1]] = KEYS[2] redis.call('DEL', k[1])", "?"),
        ("local t = { k = KEYS[1] } if ARGV[1] then t.k = 1 end redis.call('DEL', t.k)", "?"),
        ("local t = { k = KEYS[1] } for i = 1, 2 do redis.call('DEL', t.k) t.k = 1 end", "?"),
        ("local t = { redis.call('TIME'), KEYS[1] } redis.call('DEL', t[2])", "KEYS[1]"),
        ("local page = redis.call('SCAN', 0) redis.call('DEL', page[2])", "r0[1]"),
    ] {
        let lowered = lowered(script);
        assert!(lowered.contains(&format!("= 'DEL' {key}")), "{script}\n{lowered}");
    }
    let body = lower_embedded(&text("local t = { a = 1 } t.a = 2 t['b'] = 3 t[4] = 5")).bodies;
    let places = body[0].ops.iter().filter_map(|op| match op.kind {
        OpKind::Store { place, .. } => Some(show(&body[0], place, 7)),
        _ => None,
    });
    assert_eq!(places.collect::<Vec<_>>(), ["?.a", "?.b", "?[3]"]);
}

#[test]
fn much_of_one_kind_is_read_in_time() {
    let scripts: String = (0..2_000)
        .map(|n| format!("local s{n} = [[return redis.call('GET', KEYS[1])]]\n"))
        .collect();
    assert_eq!(functions("host.lua", &format!("local ngx = ngx\n{scripts}")).len(), 2_000);
    let holes = format!("return 1{}", HOLE.to_string().repeat(100_000));
    assert_eq!(lower_embedded(&text(&holes)).problems, []);
    let negative = "return -(-170141183460469231731687303715884105727 - 1)";
    assert_eq!(lower_embedded(&text(negative)).problems, []);
}

#[test]
fn includes_are_part_of_the_script() {
    let tree = tree(&[
        (
            "jobs/includes/free.lua",
            "local function free(k, t)\n  if redis.call('GET', k) == t then return redis.call('DEL', k) end\nend\n",
        ),
        ("jobs/move-1.lua", "--- @include \"includes/free\"\nreturn free(KEYS[1], ARGV[1])\n"),
    ]);
    let file = tree.at("jobs/move-1.lua").unwrap();
    let index = LuaFrontend.index(file, &tree);
    let lowered = LuaFrontend.lower(file, &index, ItemId::Function(0), &Surroundings::files(&tree));
    let body = &lowered.bodies[0];
    assert_eq!(
        render(body),
        "0: r0 = 'GET' KEYS[1]; if (r0 Equal ARGV[1]) b1 else b2\n1: r1 = 'DEL' KEYS[1]; b2\n2: return join(r1, nil)"
    );
    let call = body.calls().nth(1).unwrap().2;
    assert_eq!(tree.file(call.name_span.file).unwrap().path, "jobs/includes/free.lua");
    assert_eq!(tree.file(call.name_span.file).unwrap().slice(call.name_span), "DEL");
}

#[test]
fn only_texts_that_call_redis_are_scripts() {
    for script in [
        "return redis.call('GET', KEYS[1])",
        "redis . pcall(x)",
        "x=redis[ 'call']",
        "server.call(1)",
    ] {
        assert!(looks_like_script(script), "{script}");
    }
    for other in [
        "myredis.call(x)",
        "redis.callback()",
        "hello redis",
        "self.redis.call(x)",
        "server.callout()",
    ] {
        assert!(!looks_like_script(other), "{other}");
    }
}
