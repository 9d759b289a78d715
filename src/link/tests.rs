//! Small programs, linked: what each call of them is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::Resolution;
use super::{Program, calls::Targets};
use crate::config::Settings;
use crate::ir::effect::{BodyId, Site};
use crate::source::{Language, Tree};

/// A program of Rust files.
pub(super) fn program(files: &[(&str, &str)]) -> Program {
    let language = |path: &str| match path.rsplit('.').next() {
        Some("rs") => Language::Rust,
        Some("lua") => Language::Lua,
        _ => Language::Other,
    };
    let texts =
        files.iter().map(|(path, text)| ((*path).to_owned(), language(path), (*text).to_owned()));
    let settings = Settings { no_prefilter: true, ..Settings::default() };
    Program::build(Arc::new(Tree::from_texts(texts.collect())), settings)
}

/// The site of the `nth` call (0-based, in source order) whose name is `name`.
pub(super) fn site(program: &Program, name: &str, nth: usize) -> Site {
    let mut all: Vec<_> = program
        .bodies
        .iter()
        .flat_map(|own| {
            own.body
                .calls()
                .filter(|(_, _, call)| call.callee.name() == Some(name))
                .map(|(_, op, call)| (call.name_span, Site { body: own.id, op }))
        })
        .collect();
    all.sort();
    all.get(nth).map(|(_, site)| *site).unwrap_or_else(|| panic!("no call {nth} of {name}"))
}

fn targets<'p>(program: &'p Program, name: &str, nth: usize) -> Option<&'p Targets> {
    let site = site(program, name, nth);
    program.targets(site.body, site.op)
}

fn bodies(program: &Program, all: &[BodyId]) -> Vec<String> {
    all.iter().map(|body| program.qualified_name(*body)).collect()
}

/// Names of the functions a call may run.
fn called(program: &Program, name: &str, nth: usize) -> Vec<String> {
    targets(program, name, nth).map_or_else(Vec::new, |targets| bodies(program, &targets.bodies))
}

/// The id of the best row of a call; empty when there is none.
fn row(program: &Program, name: &str, nth: usize) -> &'static str {
    targets(program, name, nth)
        .and_then(|targets| targets.apis.first())
        .map_or("", |row| row.id.as_str())
}

#[test]
fn trait_objects_run_every_implementation() {
    let program = program(&[(
        "dock.rs",
        "use std::sync::Arc;
         pub trait BayLock { async fn take(&self, bay: u32) -> Option<String>; }
         pub struct RedisBayLock { pool: u8 }
         impl BayLock for RedisBayLock { async fn take(&self, bay: u32) -> Option<String> { None } }
         pub struct LocalBayLock { held: u8 }
         impl BayLock for LocalBayLock { async fn take(&self, bay: u32) -> Option<String> { None } }
         pub struct Dock { pub bays: Arc<dyn BayLock> }
         impl Dock { pub async fn unload(&self) { self.bays.take(1).await; } }",
    )]);
    assert_eq!(called(&program, "take", 0), ["RedisBayLock::take", "LocalBayLock::take"]);
    assert_eq!(targets(&program, "take", 0).unwrap().resolution, Resolution::Dispatch);
}

#[test]
fn modules_by_path_attribute_and_key_builders_resolve() {
    let program = program(&[
        (
            "bad.rs",
            "#[path = \"bad_store.rs\"] mod store;
             use store::{Store, keys::lock_key as key_of};
             pub struct Jobs { store: Store }
             impl Jobs { pub async fn begin(&self) {
                 let key = key_of(1);
                 self.store.set_if_absent(&key).await;
             } }",
        ),
        (
            "bad_store.rs",
            "pub mod keys { pub fn lock_key(id: u64) -> String { format!(\"lock:{id}\") } }
             pub struct Store { pool: deadpool_redis::Pool }
             impl Store { pub async fn set_if_absent(&self, key: &str) {
                 let mut conn = self.pool.get().await?;
                 redis::cmd(\"SET\").arg(key).query_async(&mut conn).await?;
             } }",
        ),
    ]);
    assert_eq!(called(&program, "key_of", 0), ["lock_key"]);
    assert_eq!(called(&program, "set_if_absent", 0), ["Store::set_if_absent"]);
    assert_eq!(row(&program, "get", 0), "deadpool-redis.Pool.get");
    assert_eq!(row(&program, "arg", 0), "redis.Cmd.arg");
    assert!(
        row(&program, "query_async", 0).starts_with("redis."),
        "{}",
        row(&program, "query_async", 0)
    );
    let callee = program.callers(site(&program, "get", 0).body);
    assert_eq!(callee, [site(&program, "set_if_absent", 0)]);
}

#[test]
fn commands_need_a_connection() {
    let program = program(&[(
        "a.rs",
        "use redis::AsyncCommands;
         use std::collections::HashMap;
         pub async fn a(con: &mut redis::aio::MultiplexedConnection, seen: HashMap<String, u64>) {
             let _: () = con.set(\"a\", 1).await?;
             seen.get(\"a\");
         }
         pub async fn b<C: AsyncCommands>(con: &mut C) { let _: i64 = con.del(\"a\").await?; }
         pub async fn c(session: tower_sessions::Session) { session.get::<u64>(\"a\").await?; }
         pub async fn d(map: &Shelf) { map.get(\"a\"); }
         pub struct Shelf;",
    )]);
    assert_eq!(row(&program, "set", 0), "redis.commands.set");
    assert_eq!(row(&program, "del", 0), "redis.commands.del");
    assert_eq!(row(&program, "get", 0), "");
    assert_eq!(row(&program, "get", 1), "");
    assert_eq!(row(&program, "get", 2), "");
}

#[test]
fn globs_and_block_imports_bring_traits() {
    let program = program(&[(
        "a.rs",
        "use fred::prelude::*;
         pub async fn a(redis: &Client) { let _: i64 = redis.del(\"a\").await?; }
         pub async fn b(pool: &bb8::Pool<bb8_redis::RedisConnectionManager>) {
             use redis::AsyncCommands;
             let mut con = pool.get().await.unwrap();
             con.del::<_, ()>(\"a\").await?;
         }",
    )]);
    assert!(row(&program, "del", 0).starts_with("fred."));
    assert_eq!(row(&program, "get", 0), "bb8-redis.Pool.get");
    assert_eq!(row(&program, "del", 1), "redis.commands.del");
}

#[test]
fn closures_and_futures_run_where_the_wrapper_runs_them() {
    let program = program(&[(
        "a.rs",
        "pub async fn with_lease<F, Fut>(f: F) where F: FnOnce() -> Fut, Fut: Future<Output = ()> { f().await; }
         pub async fn with_lock(body: impl Future<Output = ()>) { body.await; }
         pub async fn run() { with_lease(|| async { mail(); }).await; with_lock(async { mail(); }).await; }
         pub async fn item() { with_lease(remind).await; }
         async fn remind() {}
         fn mail() {}
         pub async fn detached() { tokio::spawn(async move { mail(); }); tokio::spawn(remind()); }",
    )]);
    let wrapper =
        program.bodies.iter().find(|own| program.qualified_name(own.id) == "with_lease").unwrap();
    let (_, op, _) = wrapper.body.calls().next().unwrap();
    let run = program.targets(wrapper.id, op).unwrap();
    assert_eq!(bodies(&program, &run.bodies), ["run", "remind"]);
    let spawn = targets(&program, "spawn", 0).unwrap();
    assert!(spawn.spawned);
    assert_eq!(bodies(&program, &spawn.runs), ["detached"]);
    assert!(targets(&program, "remind", 0).unwrap().spawned);
    // Every `mail` is in a block; each block has one place that runs it.
    let blocks: BTreeMap<BodyId, usize> = (0..3)
        .map(|nth| site(&program, "mail", nth).body)
        .map(|body| (body, program.callers(body).len()))
        .collect();
    assert_eq!(blocks.values().copied().collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn workspace_crates_reexports_and_aliases_resolve() {
    let program = program(&[
        ("core/Cargo.toml", "[package]\nname = \"shop-core\"\n"),
        ("core/src/lib.rs", "mod lock; pub use lock::Lease; pub mod prelude { pub use redis::AsyncCommands; pub type Con = redis::aio::ConnectionManager; }"),
        ("core/src/lock.rs", "pub struct Lease; impl Lease { pub fn release(self) {} pub fn open() -> Self { Lease } }"),
        ("app/Cargo.toml", "[package]\nname = \"app\"\n"),
        (
            "app/src/main.rs",
            "use shop_core::{Lease, prelude::*};
             async fn go(con: &mut Con) { let lease = Lease::open(); lease.release(); con.expire(\"a\", 1).await?; }",
        ),
    ]);
    assert_eq!(called(&program, "open", 0), ["Lease::open"]);
    assert_eq!(called(&program, "release", 0), ["Lease::release"]);
    assert_eq!(row(&program, "expire", 0), "redis.commands.expire");
}

#[test]
fn unknown_receivers_need_proof() {
    let program = program(&[(
        "a.rs",
        "use redis::AsyncCommands;
         pub async fn a() {
             let mut con = state().con;
             con.set(\"a\", 1).await?;
             redis::cmd(\"PING\").query_async(&mut con).await?;
             let other = thing().part;
             other.set(\"a\", 1);
         }",
    )]);
    assert_eq!(row(&program, "set", 0), "redis.commands.set");
    assert_eq!(row(&program, "set", 1), "");
}

#[test]
fn trait_paths_are_methods() {
    let program = program(&[(
        "a.rs",
        "pub async fn a(con: &mut redis::aio::MultiplexedConnection) {
             let _: i64 = redis::AsyncCommands::del(con, \"a\").await?;
         }",
    )]);
    assert_eq!(row(&program, "del", 0), "redis.commands.del");
    let site = site(&program, "del", 0);
    let call = program.body(site.body).unwrap().body.call(site.op).unwrap();
    assert!(call.receiver.is_some());
    assert_eq!(call.arguments.len(), 1);
}

#[test]
fn test_code_says_nothing_of_the_program() {
    let program = program(&[(
        "a.rs",
        "pub fn ship() { helper(); } fn helper() {}
         #[cfg(test)] mod tests { #[test] fn t() { super::helper(); } }",
    )]);
    let helper = site(&program, "helper", 0);
    let body = program.targets(helper.body, helper.op).unwrap().bodies.first().copied().unwrap();
    assert_eq!(program.callers(body), [helper]);
}

#[test]
fn wrappers_deref_and_library_traits_on_own_types() {
    let program = program(&[(
        "a.rs",
        "use std::ops::Deref; use redis::AsyncCommands; use redis::aio::{ConnectionLike, ConnectionManager};
         pub struct Con(ConnectionManager);
         impl Deref for Con { type Target = ConnectionManager; fn deref(&self) -> &ConnectionManager { &self.0 } }
         pub struct Own { inner: ConnectionManager }
         impl ConnectionLike for Own {}
         pub struct Cache { inner: ConnectionManager }
         impl Cache { pub async fn get(&self, key: &str) -> u64 { 1 } }
         pub async fn a(con: Con, own: Own, cache: Cache) {
             con.del(\"a\").await?;
             own.unlink(\"a\").await?;
             cache.get(\"a\").await;
             cache.set(\"a\", 1).await;
         }",
    )]);
    assert_eq!(row(&program, "del", 0), "redis.commands.del");
    assert_eq!(row(&program, "unlink", 0), "redis.commands.unlink");
    assert_eq!(called(&program, "get", 0), ["Cache::get"]);
    assert_eq!(row(&program, "set", 0), "");
}

#[test]
fn pipelines_stay_pipelines_and_channels_give_what_was_sent() {
    let program = program(&[(
        "a.rs",
        "pub struct Ticket { con: redis::aio::ConnectionManager }
         pub async fn a(con: &mut redis::Connection, inbox: tokio::sync::mpsc::Receiver<Ticket>) {
             redis::pipe().atomic().cmd(\"SET\").arg(1).ignore().cmd(\"DEL\").arg(2).ignore().query(con)?;
             let ticket = inbox.recv().await.unwrap();
             redis::cmd(\"GET\").query_async(&mut ticket.con).await?;
         }",
    )]);
    assert_eq!(row(&program, "cmd", 1), "redis.Pipeline.cmd");
    assert_eq!(row(&program, "query", 0), "redis.Pipeline.query");
    let site = site(&program, "query_async", 0);
    let call = program.body(site.body).unwrap().body.call(site.op).unwrap();
    let con = call.arguments.first().unwrap().value;
    assert_eq!(program.type_of(site.body, con).name(), Some("ConnectionManager"));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let text = |name: &str| {
        format!(
            "use redis::AsyncCommands; pub struct {name} {{ con: redis::aio::ConnectionManager }}
             impl {name} {{ pub async fn go(&mut self, key: &str) {{ self.con.del(key).await?; }} }}
             pub async fn run(mut it: {name}) {{ it.go(\"a\").await; spawn(|| it.go(\"b\")); }}"
        )
    };
    let texts: Vec<(String, String)> =
        (0..24).map(|at| (format!("f{at:02}.rs"), text(&format!("Shop{at}")))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let said = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let program = program(&files);
            format!("{:?} {:?} {:?}", program.types, program.calls.targets, program.calls.callers)
        })
    };
    assert_eq!(said(1), said(4));
}

/// Programs whose every step leads to several more: each must end soon.
#[test]
fn programs_without_an_end_are_linked_soon() {
    let started = std::time::Instant::now();
    let wide = format!("type A = ({}); fn f(a: A) {{ a.x(); }}", "A, ".repeat(12));
    let returned = |name: &str, next: &str| {
        let ways = format!("if n {{ return {next}(n); }}").repeat(12);
        format!("fn {name}(n: bool) -> impl Fn() {{ {ways} {next}(n) }}")
    };
    let names: Vec<String> = (0..9).map(|at| format!("step{at}")).collect();
    let mut steps: String = names.windows(2).map(|pair| returned(&pair[0], &pair[1])).collect();
    steps.push_str("fn step8(n: bool) -> impl Fn() { || () } fn run(n: bool) { hold(step0(n)); } fn hold(f: impl Fn()) { f() }");
    let mut arms = "fn run(n: u8) { let a0 = || ();".to_owned();
    for at in 0..8 {
        let all: String = (0..40).map(|n| format!("{n} => a{at}, ")).collect();
        arms.push_str(&format!(" let a{} = match n {{ {all} _ => a{at} }};", at + 1));
    }
    arms.push_str(" hold(a8); } fn hold(f: impl Fn()) { f() }");
    let clones = format!(
        "fn run(a: String) {{ let b = a; {} probe(b); }}",
        "let b = b.clone(); ".repeat(3_000)
    );
    for text in [
        "type A = A::X; fn f(a: A::Y) { A::Z::run(a); }",
        "type A = B::X; type B = A::Y; fn f(a: A::C) { B::Z::run(a); }",
        "trait Tr { fn go(&self); } impl Tr for Self { fn go(&self) {} } fn f(a: impl Tr) { a.go(); }",
        &wide,
        &steps,
        &arms,
        &clones,
    ] {
        let _ = program(&[("a.rs", text)]);
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn trait_paths_stay_methods_when_a_client_is_proven_elsewhere() {
    let program = program(&[(
        "a.rs",
        "use cache_kit::Pool;
         pub async fn claim(pool: &Pool) { let mut c = pool.lend().await?; c.set_nx(\"a\", 1).await?; }
         pub async fn free(con: &mut redis::aio::MultiplexedConnection) {
             let _: i64 = redis::AsyncCommands::del(con, \"a\").await?;
         }",
    )]);
    assert!(!program.foreign.is_empty());
    assert_eq!(row(&program, "del", 0), "redis.commands.del");
    let site = site(&program, "del", 0);
    assert_eq!(program.effects(site.body).len(), 1);
}

#[test]
fn a_wrapper_derefs_with_its_own_type_arguments() {
    let program = program(&[(
        "a.rs",
        "use redis::AsyncCommands;
         pub struct Lent<T> { inner: T }
         impl<C> std::ops::Deref for Lent<C> { type Target = C; fn deref(&self) -> &C { &self.inner } }
         pub struct Desk { con: redis::aio::ConnectionManager }
         pub async fn a(mut lent: Lent<redis::aio::ConnectionManager>) { lent.get(\"a\").await; }
         pub async fn b(lent: Lent<Desk>) { lent.con.get(\"b\").await; }",
    )]);
    assert_eq!(row(&program, "get", 0), "redis.commands.get");
    assert_eq!(row(&program, "get", 1), "redis.commands.get");
}

#[test]
fn a_result_set_is_no_result() {
    let external = |path: &str| super::types::Ty::external(crate::ir::index::Path::parse(path));
    assert!(!external("sqlx::postgres::PgQueryResult").is_fallible());
    assert!(external("std::Result").is_fallible());
}

#[test]
fn of_configured_twins_the_first_counts_and_a_guess_says_so() {
    let program = program(&[(
        "a.rs",
        "pub struct Desk;
         #[cfg(unix)] impl Desk { pub fn seat_guests(&self) -> u8 { 1 } }
         #[cfg(windows)] impl Desk { pub fn seat_guests(&self) -> u8 { 2 } }
         pub fn a(desk: &Desk) { desk.seat_guests(); }
         pub fn b(any: &dyn Unknown) { made().seat_all(); }
         pub struct Hall; impl Hall { pub fn seat_all(&self) {} }",
    )]);
    let (twin, guess) = (site(&program, "seat_guests", 0), site(&program, "seat_all", 0));
    let body = program.targets(twin.body, twin.op).unwrap().bodies[0];
    let first =
        program.bodies.iter().find(|own| program.qualified_name(own.id) == "Desk::seat_guests");
    assert_eq!(Some(body), first.map(|own| own.id));
    assert!(!program.is_guess(twin));
    assert!(program.is_guess(guess));
}
