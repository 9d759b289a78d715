//! Owner comparisons in every spelling, and near misses.

use super::*;
use crate::ir::body::{Argument, BodyKind, Call, Callee, Exit, OpKind, Test};
use crate::ir::effect::{BodyId, Condition, EffectKind, Expiry, RedisCommand, Site, Store, Word};
use crate::ir::index::Path;
use crate::ir::key::KeyTemplate;
use crate::ir::value::{Literal, Operator, Pattern, Text, ValueId, ValueKind};
use crate::lang::lua::lower_embedded;
use crate::source::{FileId, Span};

fn alone<'b>(body: &'b Body, effects: &'b [Effect]) -> Seen<'b> {
    Seen { body, effects, answers: &[], program: None }
}

/// Whether the owner of any key of the command at an operation was compared on every path to it.
fn owner_checked(seen: Seen<'_>, at: OpId) -> OwnerCheck {
    let commands = seen.effects.iter().filter(|effect| effect.site.op == at);
    let mut answers = commands
        .filter_map(|effect| match &effect.kind {
            EffectKind::Redis(command) => Some(&command.keys),
            _ => None,
        })
        .flatten()
        .map(|key| owner_of_key_checked(seen, at, key));
    let Some(first) = answers.next() else { return OwnerCheck::Unknown };
    answers.fold(first, better)
}

fn better(left: OwnerCheck, right: OwnerCheck) -> OwnerCheck {
    match (left, right) {
        (OwnerCheck::Checked { kind: a, .. }, OwnerCheck::Checked { kind: b, .. }) => {
            if b > a {
                right
            } else {
                left
            }
        }
        (OwnerCheck::Checked { .. }, _) | (OwnerCheck::Unknown, OwnerCheck::Unchecked) => left,
        _ => right,
    }
}

fn text_of(body: &Body, value: ValueId) -> Option<String> {
    match body.kind(value) {
        ValueKind::Literal(Literal::Text(text)) => Some(text.content.clone()),
        _ => None,
    }
}

/// The command of a call whose words are these, the first word its key.
fn effect(body: &Body, op: OpId, name: String, words: &[ValueId], client: &str) -> Effect {
    let call = body.call(op).unwrap();
    let options: Vec<String> = words.iter().filter_map(|word| text_of(body, *word)).collect();
    let absent = name.ends_with("SETNX") || options.iter().any(|word| word == "NX");
    let nowhere = Span::new(FileId(0), 0, 0);
    let word = |value: &ValueId| Word {
        value: Some(*value),
        text: text_of(body, *value),
        optional: false,
        span: nowhere,
    };
    let key = words.first().map(|value| Key {
        value: Some(*value),
        template: KeyTemplate::new([]),
        many: false,
        span: nowhere,
    });
    let command = RedisCommand {
        name,
        words: words.iter().map(word).collect(),
        keys: key.into_iter().collect(),
        value: None,
        condition: if absent { Condition::IfAbsent } else { Condition::None },
        expiry: Expiry::None,
        store: Store::default(),
        batch: None,
    };
    Effect {
        site: Site { body: BodyId(0), op },
        span: call.name_span,
        client: client.to_owned(),
        api: String::new(),
        kind: EffectKind::Redis(command),
        reply: Some(call.result),
        reply_type: None,
    }
}

/// The answer for the first command of a name in a script.
fn ask(script: &str, name: &str) -> OwnerCheck {
    let end = u32::try_from(script.len()).unwrap();
    let lowered = lower_embedded(&Text::verbatim(script, Span::new(FileId(0), 0, end)));
    assert_eq!(lowered.problems, []);
    let body = &lowered.bodies[0];
    let mut effects = Vec::new();
    for (_, op, call) in body.calls() {
        let words: Vec<ValueId> = call.arguments.iter().map(|argument| argument.value).collect();
        if call.callee == Callee::Path(Path(vec!["redis".into(), "call".into()])) {
            let name = text_of(body, words[0]).unwrap().to_uppercase();
            effects.push(effect(body, op, name, &words[1..], "lua"));
        }
    }
    let at = effects.iter().find(|effect| match &effect.kind {
        EffectKind::Redis(command) => {
            command.name == name
                && !command.words.iter().any(|word| word.text.as_deref() == Some("NX"))
        }
        _ => false,
    });
    owner_checked(alone(body, &effects), at.expect(script).site.op)
}

fn kind(script: &str, name: &str) -> Option<CheckKind> {
    match ask(script, name) {
        OwnerCheck::Checked { kind, .. } => Some(kind),
        _ => None,
    }
}

#[test]
fn every_spelling_of_an_owner_check_counts() {
    for script in [
        "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end",
        "if ARGV[1] == redis.call('get', KEYS[1]) then redis.call('DEL', KEYS[1]) else return 0 end",
        "local v = redis.call('GET', KEYS[1]) local id = ARGV[1] if v ~= id then return 0 end redis.call('DEL', KEYS[1])",
        "local v = redis.call('GET', KEYS[1]) if not v or v ~= ARGV[1] then return 0 end redis.call('DEL', KEYS[1])",
        "local v = redis.call('GET', KEYS[1]) if not (v and v == ARGV[1]) then return 0 end redis.call('DEL', KEYS[1])",
        "local v = redis.call('GET', KEYS[1]) if v == false then return 1 elseif v == ARGV[1] then redis.call('DEL', KEYS[1]) else return 0 end",
        "local k = KEYS[1] if redis.call('GET', k) ~= ARGV[1] then return 0 else redis.call('DEL', KEYS[1]) end",
        "local mine = redis.call('GET', KEYS[1]) == ARGV[1] if mine then redis.call('DEL', KEYS[1]) end",
        "if tostring(redis.call('GET', KEYS[1])) == tostring(ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        "if string.find(redis.call('GET', KEYS[1]), ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        "local v = redis.call('GET', KEYS[1]) if v and v:find(ARGV[1], 1, true) ~= nil then redis.call('DEL', KEYS[1]) end",
        "local v = redis.call('GET', KEYS[1]) if cjson.decode(v).owner == ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "local v = redis.call('GET', KEYS[1]) or '' if v == ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return nil end redis.call('DEL', KEYS[1])",
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('DEL', KEYS[1]) end",
        "if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[1] then return 0 end redis.call('DEL', KEYS[1])",
        "if not redis.call('HGET', KEYS[1], ARGV[1]) then return 0 end redis.call('DEL', KEYS[1])",
        "if redis.call('HMGET', KEYS[1], 'owner', 'n')[1] == ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then return 0 end redis.call('DEL', KEYS[1])",
        "if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then redis.call('DEL', KEYS[1]) end",
        "if redis.call('ZSCORE', KEYS[1], ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        "if redis.call('ZSCORE', KEYS[1], ARGV[1]) == false then return 0 end redis.call('DEL', KEYS[1])",
        "if redis.call('ZREM', KEYS[1], ARGV[1]) > 0 then redis.call('DEL', KEYS[1]) end",
        "assert(redis.call('GET', KEYS[1]) == ARGV[1], 'lost') redis.call('DEL', KEYS[1])",
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then error('lost') end redis.call('DEL', KEYS[1])",
        "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0",
        "local rcall = redis.call local function get(k) return rcall('GET', k) end if get(KEYS[1]) == ARGV[1] then rcall('DEL', KEYS[1]) end",
        "local function mine(k, t) if redis.call('GET', k) == t then return true end return false end if not mine(KEYS[1], ARGV[1]) then return 0 end redis.call('DEL', KEYS[1])",
        "for i = 1, #KEYS do if redis.call('GET', KEYS[i]) == ARGV[1] then redis.call('DEL', KEYS[i]) end end",
        "for _, k in ipairs(KEYS) do if redis.call('GET', k) == ARGV[1] then redis.call('DEL', k) end end",
        "local k = KEYS[1] .. ':lock' if redis.call('GET', KEYS[1] .. ':lock') == ARGV[1] then redis.call('DEL', k) end",
        "local ok, v = pcall(redis.call, 'GET', KEYS[1]) if v == ARGV[1] then redis.call('DEL', KEYS[1]) end",
    ] {
        assert_eq!(kind(script, "DEL"), Some(CheckKind::Owner), "{script}");
    }
}

#[test]
fn a_loop_that_leaves_at_the_first_stranger_compares_all() {
    let compare = "local values = redis.call('MGET', unpack(KEYS))
        for i, _ in ipairs(KEYS) do if values[i] ~= ARGV[1] then return false end end ";
    let del = format!("{compare} redis.call('DEL', unpack(KEYS))");
    assert_eq!(kind(&del, "DEL"), Some(CheckKind::Owner));
    let renew =
        format!("{compare} for _, k in ipairs(KEYS) do redis.call('PEXPIRE', k, ARGV[2]) end");
    assert_eq!(kind(&renew, "PEXPIRE"), Some(CheckKind::Owner));
    let each = "for i = 1, #KEYS do if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end end
        redis.call('DEL', unpack(KEYS))";
    assert_eq!(kind(each, "DEL"), Some(CheckKind::Owner));
    let filled = "local args = {}
        for _, key in ipairs(KEYS) do table.insert(args, key) table.insert(args, ARGV[1]) end
        local function mine()
          for _, key in ipairs(KEYS) do
            if redis.call('GETRANGE', key, 0, 7) ~= string.sub(ARGV[1], 1, 8) then return false end
          end
          return true
        end
        if redis.call('MSETNX', unpack(args)) ~= 1 then
          if mine() == false then return false end
          redis.call('MSET', unpack(args))
        end
        for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[3]) end";
    assert_eq!(kind(filled, "MSET"), Some(CheckKind::Owner));
    assert_eq!(kind(filled, "PEXPIRE"), Some(CheckKind::Owner));
    let stops = "for i = 1, #KEYS do if redis.call('GET', KEYS[i]) ~= ARGV[1] then break end end
        redis.call('DEL', unpack(KEYS))";
    assert_eq!(ask(stops, "DEL"), OwnerCheck::Unchecked);
    let one = "for i = 1, #KEYS do if redis.call('GET', KEYS[i]) ~= ARGV[1] then return 0 end end
        redis.call('DEL', KEYS[1])";
    assert_eq!(ask(one, "DEL"), OwnerCheck::Unchecked);
}

#[test]
fn what_is_no_owner_check() {
    for script in [
        "redis.call('DEL', KEYS[1])",
        "if redis.call('GET', KEYS[1]) then redis.call('DEL', KEYS[1]) end",
        "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DEL', KEYS[1]) end",
        "if redis.call('GET', KEYS[1]) == 'locked' then redis.call('DEL', KEYS[1]) end",
        "if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "if redis.call('GET', KEYS[1]) ~= ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "if redis.call('GETDEL', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end",
        "if redis.call('GET', KEYS[1]) == ARGV[1] or ARGV[2] == 'force' then redis.call('DEL', KEYS[1]) end",
        "local v = redis.call('GET', KEYS[1]) if v == ARGV[1] then redis.call('PING') end redis.call('DEL', KEYS[1])",
        "if redis.call('HEXISTS', KEYS[1], ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        "if redis.call('HEXISTS', KEYS[1], 'owner') == 1 then redis.call('DEL', KEYS[1]) end",
        "if ARGV[1] == ARGV[2] then redis.call('DEL', KEYS[1]) end",
        "for i = 1, 3 do if i == 2 and redis.call('GET', KEYS[1]) == ARGV[1] then break end end redis.call('DEL', KEYS[1])",
        "local ok = true if redis.call('GET', KEYS[1]) == ARGV[1] then ok = true end if ok then redis.call('DEL', KEYS[1]) end",
    ] {
        assert_eq!(ask(script, "DEL"), OwnerCheck::Unchecked, "{script}");
    }
}

#[test]
fn taking_the_lease_or_finding_it_free_is_said_apart() {
    let acquire = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    assert_eq!(kind(acquire, "PEXPIRE"), Some(CheckKind::Acquired));
    let set = "if redis.call('SET', KEYS[1], ARGV[1], 'NX') then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    assert_eq!(kind(set, "PEXPIRE"), Some(CheckKind::Acquired));
    let old = "local old = redis.call('SET', KEYS[1], ARGV[1], 'NX', 'GET') if OLD then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    let asked = |test: &str| ask(&old.replace("OLD", test), "PEXPIRE");
    assert_eq!(kind(&old.replace("OLD", "not old"), "PEXPIRE"), Some(CheckKind::Acquired));
    assert_eq!(kind(&old.replace("OLD", "old == ARGV[1]"), "PEXPIRE"), Some(CheckKind::Owner));
    assert_eq!(asked("old"), OwnerCheck::Unchecked);
    let place = "if redis.call('ZADD', KEYS[1], 'NX', ARGV[2], ARGV[1]) == 0 then return 0 end
        redis.call('PEXPIREAT', KEYS[1], ARGV[3])";
    assert_eq!(kind(place, "PEXPIREAT"), Some(CheckKind::Acquired));
    let free = "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], ARGV[1], 1) redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    assert_eq!(kind(free, "PEXPIRE"), Some(CheckKind::Absent));
    let reentrant = "if redis.call('EXISTS', KEYS[1]) == 0 or redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end";
    assert_eq!(kind(reentrant, "PEXPIRE"), Some(CheckKind::Owner));
    let renew = "if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then return 1 end redis.call('SET', KEYS[1], ARGV[1], 'XX', 'PX', ARGV[2])";
    assert_eq!(ask(renew, "SET"), OwnerCheck::Unchecked);
}

/// A client: `let v = con.get(key)?; if v != token { return } con.del(key)`.
fn client(test: impl FnOnce(&mut Body, ValueId, ValueId) -> Test, deletes_if: bool) -> OwnerCheck {
    let nowhere = Span::new(FileId(0), 0, 0);
    let mut body = Body::new(BodyKind::Function, None, nowhere);
    let key = body.add_value(ValueKind::Parameter(0), nowhere);
    let token = body.add_value(ValueKind::Parameter(1), nowhere);
    let entry = BlockId(0);
    let get = call(&mut body, entry, "get", key);
    let read = body.call(get).unwrap().result;
    let payload = ValueKind::Payload { of: read, variant: "?".into(), field: "0".into() };
    let stored = body.add_value(payload, nowhere);
    let test = test(&mut body, stored, token);
    let (deletes, leaves) = (body.add_block(0), body.add_block(0));
    let (then, otherwise) = if deletes_if { (deletes, leaves) } else { (leaves, deletes) };
    body.end(entry, Terminator::Branch { test, then, otherwise, span: nowhere });
    let del = call(&mut body, deletes, "del", key);
    for block in [deletes, leaves] {
        body.end(block, Terminator::Return { value: None, exit: Exit::Tail, span: nowhere });
    }
    let effects = [
        effect(&body, get, "GET".into(), &[key], "redis"),
        effect(&body, del, "DEL".into(), &[key], "redis"),
    ];
    owner_checked(alone(&body, &effects), del)
}

fn call(body: &mut Body, block: BlockId, name: &str, argument: ValueId) -> OpId {
    let nowhere = Span::new(FileId(0), 0, 0);
    let result = body.add_value(ValueKind::Unknown, nowhere);
    let call = Call {
        callee: Callee::Method(name.into()),
        receiver: None,
        arguments: vec![Argument { name: None, value: argument }],
        type_arguments: Vec::new(),
        result,
        name_span: nowhere,
    };
    let op = body.add_op(block, OpKind::Call(call), nowhere);
    body.values[result.0 as usize].kind = ValueKind::Result(op);
    op
}

#[test]
fn a_client_that_compares_is_seen_too() {
    let nowhere = Span::new(FileId(0), 0, 0);
    let compare = |operator: Operator| {
        move |body: &mut Body, left, right| {
            Test::True(body.add_value(ValueKind::Binary { operator, left, right }, nowhere))
        }
    };
    let checked = OwnerCheck::Checked { by: nowhere, kind: CheckKind::Owner };
    assert_eq!(client(compare(Operator::NotEqual), false), checked);
    assert_eq!(client(compare(Operator::Equal), true), checked);
    assert_eq!(client(compare(Operator::Equal), false), OwnerCheck::Unchecked);
    let some = |body: &mut Body, stored, token| {
        let fields = vec![("0".to_owned(), token)];
        let some = ValueKind::Aggregate { path: Path::single("Some"), fields, base: None };
        let right = body.add_value(some, nowhere);
        let equal = ValueKind::Binary { operator: Operator::Equal, left: stored, right };
        Test::True(body.add_value(equal, nowhere))
    };
    assert_eq!(client(some, true), checked);
    let is_some = |_: &mut Body, value, _| {
        let fields = vec![("0".to_owned(), Pattern::Any)];
        Test::Matches { value, pattern: Pattern::Variant { path: Path::single("Some"), fields } }
    };
    assert_eq!(client(is_some, true), OwnerCheck::Unchecked);
    let helper = |body: &mut Body, stored, _| {
        let op = call(body, BlockId(0), "is_mine", stored);
        Test::True(body.call(op).unwrap().result)
    };
    assert_eq!(client(helper, true), OwnerCheck::Unknown);
}

/// The same answers from the effects of a linked program.
#[test]
fn effects_of_a_program_serve() {
    use crate::config::Settings;
    use crate::link::Program;
    use crate::source::{Language, Tree};
    let scripts = [
        (
            "free.lua",
            "local v = redis.call('GET', KEYS[1]) if v ~= ARGV[1] then return 0 end return redis.call('DEL', KEYS[1])",
        ),
        ("force.lua", "return redis.call('DEL', KEYS[1])"),
        (
            "semaphore.lua",
            "if redis.call('ZSCORE', KEYS[1], ARGV[1]) then redis.call('DEL', KEYS[1]) end",
        ),
        (
            "take.lua",
            "if redis.call('SET', KEYS[1], ARGV[1], 'NX') then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end",
        ),
    ];
    let texts = scripts.map(|(path, text)| (path.to_owned(), Language::Lua, text.to_owned()));
    let tree = std::sync::Arc::new(Tree::from_texts(texts.to_vec()));
    let program = Program::build(tree, Settings::default());
    let mut answers = Vec::new();
    for body in &program.bodies {
        let effects = program.effects(body.id);
        for effect in effects {
            if let EffectKind::Redis(command) = &effect.kind
                && command.is(&["DEL", "PEXPIRE"])
            {
                let kind = match owner_checked(alone(&body.body, effects), effect.site.op) {
                    OwnerCheck::Checked { kind, .. } => Some(kind),
                    _ => None,
                };
                answers.push(kind);
            }
        }
    }
    let expected =
        [None, Some(CheckKind::Owner), Some(CheckKind::Owner), Some(CheckKind::Acquired)];
    assert_eq!(answers, expected);
}
