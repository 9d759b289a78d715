//! The questions a rule may ask of the program.
//!
//! Each question says which way it errs. *Held* is may: one path is enough. *Owner-checked* is
//! must: every path. *Released* is per path. Where a lease, token or guard goes to a call that is
//! not resolved it escapes, and claims end there.

pub mod callgraph;
pub mod check_act;
pub mod choice;
pub mod counter;
pub mod derived;
pub mod duration;
pub mod expiry;
pub mod fence;
pub mod guard;
pub mod identity;
pub mod labels;
pub mod lease;
pub mod level;
pub mod lifted;
pub mod lock_words;
pub mod loops;
pub mod outcome;
pub mod outcome_use;
pub mod owner_value;
pub mod personal;
pub mod reach;
pub mod record;
pub mod region;
pub mod region_writes;
pub mod result_use;
pub mod row_guard;
pub mod row_lease;
pub mod row_write;
pub mod schema;
pub mod script_arity;
pub mod script_commands;
pub mod script_errors;
pub mod script_faults;
pub mod schema_faults;
pub mod script_globals;
pub mod script_key_use;
pub mod script_keys;
pub mod script_loops;
pub mod script_precision;
pub mod script_values;
pub mod slots;
pub mod stale_value;
pub mod steps;
pub mod time_unit;
pub mod unknown;
pub mod waiting;
pub mod writes;

use crate::config::words::Words;
use crate::ir::body::Problem;
use crate::ir::effect::{BodyId, Effect, RedisCommand, Site};
use crate::link::Program;

/// A linked program with everything that was found out about it. Rules see this and nothing below.
pub struct Analysis<'p> {
    /// The program.
    pub program: &'p Program,
    /// Which bodies run where.
    pub graph: callgraph::CallGraph,
    /// Which keys are leases.
    pub leases: lease::Leases,
    /// Where leases may be held.
    pub regions: region::Regions,
    /// Which external calls can be reached.
    pub reach: reach::Reach,
    /// The tables that migrations leave.
    pub schemas: schema::Schemas,
    /// Whether any key of the program has a hash tag.
    pub hash_tags: bool,
    /// The types of the values of every script.
    script_values: std::collections::BTreeMap<BodyId, script_values::ScriptValues<'p>>,
    /// Word lists, the settings' own words included.
    pub words: &'p Words,
}

impl<'p> Analysis<'p> {
    /// Analyses a program.
    #[must_use]
    pub fn new(program: &'p Program) -> Self {
        let graph = callgraph::CallGraph::new(program);
        let leases = lease::Leases::new(program, &graph);
        let regions = region::Regions::new(program, &graph, &leases);
        let reach = reach::Reach::new(program, &graph);
        let schemas = schema::Schemas::of(program);
        let hash_tags = slots::uses_hash_tags(program);
        let script_values = script_values::of_program(program);
        let words = &program.words;
        Self { program, graph, leases, regions, reach, schemas, hash_tags, script_values, words }
    }

    /// What could not be read of the program's files and of its SQL files.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        let sql = self.schemas.files.values().flat_map(|file| &file.parsed.problems);
        self.program.problems.iter().chain(sql)
    }

    /// All effects of the program in body order.
    pub fn effects(&self) -> impl Iterator<Item = &'p Effect> {
        let program = self.program;
        program.bodies.iter().flat_map(move |body| program.effects(body.id))
    }

    /// The effect of a key use.
    #[must_use]
    pub fn effect_of(&self, key_use: &lease::KeyUse) -> Option<&Effect> {
        let own = self.program.effects(key_use.site.body).get(key_use.effect);
        own.or_else(|| self.leases.wrapped(key_use))
    }

    /// The Redis command of a key use; `None` for a library's call.
    #[must_use]
    pub fn command_of(&self, key_use: &lease::KeyUse) -> Option<(&Effect, &RedisCommand)> {
        let effect = self.effect_of(key_use)?;
        match &effect.kind {
            crate::ir::effect::EffectKind::Redis(command) => Some((effect, command)),
            _ => None,
        }
    }

    /// Whether a release leaves the key with an empty value instead of deleting it.
    #[must_use]
    pub fn empties(&self, release: &lease::KeyUse) -> bool {
        self.command_of(release).is_some_and(|(_, command)| lease::empties(command))
    }

    /// The qualified name of the function around a body, for findings.
    #[must_use]
    pub fn function_name(&self, body: BodyId) -> Option<String> {
        Some(self.program.qualified_name(body)).filter(|name| !name.is_empty())
    }

    /// The place of an operation, as a finding shows it: the called name.
    #[must_use]
    pub fn place(&self, site: Site) -> Option<crate::source::Span> {
        let body = &self.program.body(site.body)?.body;
        let behind = body.call_behind(site.op);
        match body.call(behind) {
            Some(call) => Some(call.name_span),
            None => Some(body.op(site.op)?.span),
        }
    }
}
