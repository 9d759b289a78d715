//! What the catalog says of a call whose result is a value: random, clock, name of the process,
//! digest, duration, reply.

use crate::catalog::{Api, ApiEffect};
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
            ApiEffect::ProcessName => self.process_name(site, row),
            ApiEffect::RedisCommand
            | ApiEffect::ScriptInvoke
            | ApiEffect::SqlExec
            | ApiEffect::SqlRead
            | ApiEffect::HttpCall => Some(Origin::Reply(number)),
            _ => None,
        }
    }

    /// What is the same at every call in one process: of settings, the one of that name.
    fn process_name(&self, site: Site, row: &Api) -> Option<Origin> {
        let Some(index) = row.argument("name") else {
            return Some(Origin::Constant(row.id.clone()));
        };
        let call = self.body(site.body)?.body.call(site.op)?;
        let setting = self.template(site.body, call.arguments.get(index)?.value);
        Some(Origin::Constant(format!("{} {}", row.id, setting.constant()?)))
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

    /// How many nanoseconds one unit is of those that a call counts in a duration; `None` for any other
    /// call.
    #[must_use]
    pub fn counted_nanoseconds(&self, site: Site) -> Option<i128> {
        let row = self.row_of(site)?;
        let counts = row.effect == ApiEffect::Duration && row.place("duration").is_some();
        row.unit.filter(|_| counts)?.nanoseconds()
    }

    /// What a call does that makes a duration of a number or a number of a duration.
    pub(super) fn duration_unit(&self, site: Site) -> Option<DurationUnit> {
        let row = self.row_of(site)?;
        let unit = row.unit.filter(|_| row.effect == ApiEffect::Duration)?;
        #[allow(clippy::cast_precision_loss)]
        let milliseconds = unit.nanoseconds()? as f64 / 1.0e6;
        let makes = row.place("duration").is_none();
        Some(DurationUnit { milliseconds, makes, nanoseconds: row.argument("nanos") })
    }
}

/// A call of a duration's interface.
#[derive(Clone, Copy, Debug)]
pub(super) struct DurationUnit {
    /// How many milliseconds one unit is.
    pub(super) milliseconds: f64,
    /// Whether it makes a duration; else it counts the units of one.
    pub(super) makes: bool,
    /// Which argument is nanoseconds more.
    pub(super) nanoseconds: Option<usize>,
}
