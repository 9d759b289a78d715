//! What the catalog says of a call whose result is a value: random, clock, digest, duration, reply.

use crate::catalog::{Api, ApiEffect, TimeUnit};
use crate::ir::effect::Site;
use crate::ir::key::{HoleStep, Origin};
use crate::link::Program;

impl Program {
    /// The catalog row a call most likely is.
    fn row_of(&self, site: Site) -> Option<&'static Api> {
        self.targets(site.body, site.op)?.apis.first().copied()
    }

    /// Where the result of a call comes from, when the catalog says: a random source, a clock, a
    /// reply of a server or database.
    pub(super) fn value_source(&self, site: Site) -> Option<Origin> {
        let row = self.row_of(site)?;
        let number = (u64::from(site.body.0) << 32) | u64::from(site.op.0);
        match row.effect {
            ApiEffect::RandomToken => Some(Origin::Random(row.csprng.unwrap_or(true), number)),
            ApiEffect::WallClock | ApiEffect::MonotonicClock => Some(Origin::Clock(number)),
            ApiEffect::RedisCommand
            | ApiEffect::ScriptInvoke
            | ApiEffect::SqlExec
            | ApiEffect::SqlRead
            | ApiEffect::HttpCall => Some(Origin::Reply(number)),
            _ => None,
        }
    }

    /// What a call does to what goes into it, when it is a digest, an encoding or an encryption.
    pub(super) fn digest_step(&self, site: Site) -> Option<HoleStep> {
        let row = self.row_of(site)?;
        match row.effect {
            ApiEffect::Digest if row.keyed => Some(HoleStep::KeyedHash),
            ApiEffect::Digest => Some(HoleStep::Hash),
            ApiEffect::Encode => Some(HoleStep::Encode),
            ApiEffect::Encrypt => Some(HoleStep::Encrypt),
            _ => None,
        }
    }

    /// How many milliseconds one unit is, when a call makes a duration of a number or a number of
    /// a duration.
    pub(super) fn duration_unit(&self, site: Site) -> Option<f64> {
        let row = self.row_of(site)?;
        let unit = row.unit.filter(|_| row.effect == ApiEffect::Duration)?;
        Some(match unit {
            TimeUnit::Nanoseconds => 1.0e-6,
            TimeUnit::Microseconds => 1.0e-3,
            TimeUnit::Milliseconds => 1.0,
            TimeUnit::Seconds => 1_000.0,
            TimeUnit::Minutes => 60_000.0,
            TimeUnit::Hours => 3_600_000.0,
            TimeUnit::Days => 86_400_000.0,
            _ => return None,
        })
    }
}
