//! The names that a type knows when it is read: fields of a structure, words of an enumeration; and
//! the one among them that a wrong name comes nearest to.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The names of the fields of a structure, or of the variants of an enumeration, as they are written;
/// none for other types.
#[must_use]
pub fn of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // It always fails: there is nothing to read. What it was asked for is the answer.
    let _ = T::deserialize(Asked { names: &mut names });
    names
}

/// Notes which names it is asked for.
struct Asked<'n> {
    names: &'n mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = serde::de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(Self::Error::custom("nothing to read"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.names = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        *self.names = variants;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// Letters of a wrong name that are compared.
const COMPARED: usize = 100;

/// The name nearest to a word that is none of them, if one is near enough to be meant.
#[must_use]
pub fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let word: String = word.to_lowercase().replace('_', "-").chars().take(COMPARED).collect();
    let distance = |name: &&str| strsim::osa_distance(&word, name);
    let best = names.into_iter().min_by_key(distance)?;
    (distance(&best) <= best.len() / 3).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, Severity};

    #[test]
    fn a_type_tells_its_names() {
        assert!(of::<Settings>().contains(&"min-confidence"));
        assert_eq!(of::<Severity>(), ["note", "warning", "error"]);
        assert!(of::<String>().is_empty());
    }

    #[test]
    fn near_names_are_found() {
        let names = ["unconditional-del", "exclude", "fail-on"];
        assert_eq!(nearest("unconditional-dell", names), Some("unconditional-del"));
        assert_eq!(nearest("fail_on", names), Some("fail-on"));
        assert_eq!(nearest("exlcude", names), Some("exclude"));
        assert_eq!(nearest("no-such-thing", names), None);
    }
}
