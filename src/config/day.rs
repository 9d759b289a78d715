//! A day of the calendar, as an allow comment names the last one on which it holds.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// The day, in UTC, of a moment in seconds since 1970; `None` for one no calendar has.
    #[must_use]
    pub fn of_moment(seconds: i64) -> Option<Self> {
        let moment = jiff::Timestamp::from_second(seconds).ok()?;
        Some(Self(jiff::tz::Offset::UTC.to_datetime(moment).date()))
    }
}

impl FromStr for Day {
    type Err = String;

    /// Reads `YYYY-MM-DD` and no other way to write a day.
    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || format!("`{text}` is no day written `YYYY-MM-DD`");
        let shape = |(at, byte): (usize, u8)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != 10 || !text.bytes().enumerate().all(shape) {
            return Err(fault());
        }
        text.parse().map(Self).map_err(|_| fault())
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_one_way_only() {
        let day = |text: &str| text.parse::<Day>();
        assert_eq!(day("2028-02-29").unwrap().to_string(), "2028-02-29");
        assert!(day("2026-12-31").unwrap() < day("2027-01-01").unwrap());
        for wrong in
            ["2026-02-29", "2026-13-01", "26-01-01", "2026-1-1", "20260101", "2026-01-01T00:00", ""]
        {
            assert!(day(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Day::of_moment(951_782_400), Some(day("2000-02-29").unwrap()));
    }
}
