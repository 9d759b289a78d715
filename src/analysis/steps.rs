//! The steps of a finding: from the first call to the command at fault, across files.

use super::Analysis;
use super::callgraph::call_site;
use super::identity::Identified;
use super::lease::KeyUse;
use super::slots::ClusterUse;
use crate::catalog::redis::Access;
use crate::finding::Step;
use crate::ir::effect::{BodyId, Key, RedisCommand, Site};
use crate::source::Span;

impl Analysis<'_> {
    /// A step at an operation; `None` when it has no place.
    #[must_use]
    pub fn step(&self, site: Site, message: impl Into<String>) -> Option<Step> {
        Some(Step { span: self.place(site)?, message: message.into() })
    }

    /// The step of the macro call that brings a place of a macro's definition into the program: the
    /// call that one of the steps lies in, else the first. `None` for a place in no definition.
    #[must_use]
    pub fn macro_step(&self, place: Span, steps: &[Step]) -> Option<Step> {
        let calls = self.program.macro_calls(place);
        let near = |call: &&(Span, String)| steps.iter().any(|step| call.0.covers(step.span));
        let (span, name) = calls.iter().find(near).or(calls.first())?;
        let others = match calls.len() - 1 {
            0 => String::new(),
            1 => ", and in one other place".to_owned(),
            others => format!(", and in {others} other places"),
        };
        Some(Step { span: *span, message: format!("`{name}!` is expanded here{others}") })
    }

    /// The calls that give a key its identity, outermost first.
    #[must_use]
    pub fn via_steps(&self, identified: &Identified) -> Vec<Step> {
        self.call_steps(&identified.via)
    }

    /// Some calls, outermost first.
    #[must_use]
    pub fn call_steps(&self, calls: &[Site]) -> Vec<Step> {
        let steps = calls.iter().filter_map(|site| {
            let name = self.call_name(*site).unwrap_or_else(|| "the function".to_owned());
            self.step(*site, format!("`{name}` is called here"))
        });
        steps.collect()
    }

    /// The step of a key use, with what it does said by the caller.
    #[must_use]
    pub fn use_step(&self, key_use: &KeyUse, message: impl Into<String>) -> Option<Step> {
        let span = self.effect_of(key_use)?.span;
        Some(Step { span, message: message.into() })
    }

    /// Where the lease of a use is acquired, when that is seen.
    #[must_use]
    pub fn acquire_step(&self, key_use: &KeyUse) -> Option<Step> {
        let (_, acquire) = self.leases.others(key_use, super::lease::Action::Acquire).next()?;
        self.use_step(acquire, "the lease is acquired here")
    }

    /// Where another release or renewal of the same key compares the owner.
    #[must_use]
    pub fn compared_step(&self, key_use: &KeyUse) -> Option<Step> {
        use super::lease::Action::{Release, Renew};
        let others =
            [Release, Renew].into_iter().flat_map(|action| self.leases.others(key_use, action));
        let (_, compared) = others.into_iter().find(|(_, other)| other.owner.compares())?;
        self.use_step(compared, "elsewhere the owner is compared first")
    }

    /// The name a call calls, as written.
    #[must_use]
    pub fn call_name(&self, site: Site) -> Option<String> {
        let body = &self.program.body(site.body)?.body;
        let behind = body.call_behind(site.op);
        body.call(behind)?.callee.name().map(str::to_owned)
    }

    /// The calls through which a use's key is what it is.
    #[must_use]
    pub fn key_steps(&self, key_use: &KeyUse) -> Vec<Step> {
        self.leases.telling_identity(key_use).map(|one| self.via_steps(one)).unwrap_or_default()
    }

    /// The template of a use's key as far out as its identity is known.
    #[must_use]
    pub fn key_text(&self, key_use: &KeyUse) -> Option<String> {
        match self.leases.telling_identity(key_use) {
            Some(identified) => Some(identified.template.to_string()),
            None => key_use.key.as_ref().map(|key| key.template.to_string()),
        }
    }

    /// The key of a use as seen through a chain of calls, quoted.
    #[must_use]
    pub fn key_at(&self, key_use: &KeyUse, chain: &[Site]) -> Option<String> {
        let calls: Vec<Site> = chain.iter().map(|site| call_site(self.program, *site)).collect();
        let shared = |one: &Identified| {
            let via = one.via.iter();
            via.filter(|site| calls.contains(&call_site(self.program, **site))).count()
        };
        let named = key_use.identities.iter().filter(|one| one.template.has_literal());
        let through = named.filter(|one| shared(one) > 0);
        let best = through.max_by_key(|one| (shared(one), std::cmp::Reverse(one.via.len())))?;
        Some(format!("`{}`", best.template))
    }

    /// A call that invokes a script.
    #[must_use]
    pub fn script_step(&self, script: BodyId) -> Option<Step> {
        let site = *self.program.script_callers(script).first()?;
        self.step(site, "the script is called here")
    }

    /// Whether a script only reads a constant key and says by the flags of its first line that it
    /// touches keys outside of KEYS.
    #[must_use]
    pub fn declared_free(&self, script: BodyId, command: &RedisCommand, key: &Key) -> bool {
        let reads = crate::catalog::redis::command(&command.name)
            .is_some_and(|known| known.access == Access::Read);
        reads
            && key.template.constant().is_some()
            && ["allow-cross-slot-keys", "no-cluster"].iter().any(|it| self.has_flag(script, it))
    }

    /// Whether a script's first line, `#!lua flags=…`, has a flag.
    #[must_use]
    pub fn has_flag(&self, script: BodyId, flag: &str) -> bool {
        let own = self.program.body(script);
        own.is_some_and(|own| own.body.flags.iter().any(|one| one == flag))
    }

    /// Whether the server that runs a script is a cluster.
    #[must_use]
    pub fn cluster_of_script(&self, script: BodyId) -> ClusterUse {
        let tags = self.hash_tags;
        let sites = self.program.script_callers(script);
        let effects = sites.iter().flat_map(|site| {
            self.program.effects(site.body).iter().filter(move |effect| effect.site == *site)
        });
        let uses: Vec<ClusterUse> = effects.map(|effect| self.cluster_use(effect)).collect();
        match () {
            () if uses.contains(&ClusterUse::Yes) => ClusterUse::Yes,
            () if !uses.is_empty() && uses.iter().all(|one| *one == ClusterUse::No) => {
                ClusterUse::No
            }
            () if tags => ClusterUse::Yes,
            () => ClusterUse::Unknown,
        }
    }
}
