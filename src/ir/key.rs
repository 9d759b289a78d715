//! Key templates: what is known of a Redis key (or of any text) before the program runs.
//!
//! Two templates *match* when they can produce the same text. *Slot relation* is must-share,
//! may-differ or must-differ, by the hash tag rule of Redis Cluster: if a key has a `{` and a later
//! `}` with at least one byte between, only the part between the first `{` and the first `}` after
//! it is hashed (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/>).

use super::index::TypeRef;
use crate::source::Span;

/// Text in parts.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyTemplate {
    /// In order; two texts never stand side by side, and no text is empty.
    pub parts: Vec<KeyPart>,
}

/// Literal text or a hole.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyPart {
    /// Literal.
    Text(String),
    /// A value.
    Hole(Hole),
}

/// What is known of a value that fills a hole.
#[derive(Clone, Debug, PartialEq)]
pub struct Hole {
    /// How the source names it, for messages: `user.email`, `shop_id`, `KEYS[1]`.
    pub label: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What was done to it on the way, first step first.
    pub steps: Vec<HoleStep>,
    /// Its declared type.
    pub ty: Option<TypeRef>,
    /// Where the value is written that the hole was traced to.
    pub span: Span,
    /// The hole itself, in the innermost template that it fills; `None` outside of templates.
    pub place: Option<Span>,
    /// The innermost template that it fills.
    pub template: Option<Span>,
}

/// Where a value comes from. Two holes of equal origin and steps hold the same text within one run
/// of the function they are seen from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The n-th parameter of the function in whose frame the template is seen.
    Parameter(u32),
    /// A field path of a parameter or of the receiver: `self.name`, `#0.customer.email`. A number
    /// behind `@` tells two values apart that are reached in the same way.
    Field(String),
    /// `KEYS[n]`.
    ScriptKey(u32),
    /// `ARGV[n]`.
    ScriptArgument(u32),
    /// A reply of Redis or a database, or of any other effect; the number tells two apart.
    Reply(u64),
    /// A fresh random value; `true` when from a cryptographic source. The number tells two apart.
    Random(bool, u64),
    /// A clock's reading; the number tells two apart.
    Clock(u64),
    /// A named constant whose text is not known (read from the environment or a file).
    Constant(String),
    /// Anything else; the number tells two apart.
    Unknown(u64),
}

/// What was done to a value before it filled the hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoleStep {
    /// A digest without a secret: `Sha256::digest`.
    Hash,
    /// A digest with a secret or salt: HMAC, keyed hash.
    KeyedHash,
    /// Encrypted.
    Encrypt,
    /// Encoded: hex, base64, percent.
    Encode,
    /// Changed in shape, still telling: lower case, trimmed, a part.
    Shape,
    /// Went through a function that is not known.
    Opaque,
}

/// How two keys' slots relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotRelation {
    /// Same hash tag, or the same key.
    MustShare,
    /// Nothing proves either.
    MayDiffer,
    /// Constant keys of different slots, or templates that differ outside any tag.
    MustDiffer,
}

impl KeyPart {
    /// Whether two parts make the same text in one run of the function they are seen from.
    #[must_use]
    pub fn same_text(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) => left == right,
            (Self::Hole(left), Self::Hole(right)) => {
                left.origin == right.origin && left.steps == right.steps
            }
            _ => false,
        }
    }
}

impl KeyTemplate {
    /// A template of one literal.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![KeyPart::Text(text.into())])
    }

    /// A template of the given parts: empty texts go, neighbouring texts merge.
    #[must_use]
    pub fn new(parts: impl IntoIterator<Item = KeyPart>) -> Self {
        let mut merged: Vec<KeyPart> = Vec::new();
        for part in parts {
            match (merged.last_mut(), part) {
                (_, KeyPart::Text(text)) if text.is_empty() => {}
                (Some(KeyPart::Text(before)), KeyPart::Text(text)) => before.push_str(&text),
                (_, part) => merged.push(part),
            }
        }
        Self { parts: merged }
    }

    /// The text, when there is no hole.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [KeyPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// All holes in order.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.parts.iter().filter_map(|part| match part {
            KeyPart::Hole(hole) => Some(hole),
            KeyPart::Text(_) => None,
        })
    }

    /// All literal text, holes left out, joined by a space.
    #[must_use]
    pub fn literals(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            KeyPart::Text(text) => Some(text.as_str()),
            KeyPart::Hole(_) => None,
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Whether there is a letter or digit of literal text: the least that tells one kind of key
    /// from another.
    #[must_use]
    pub fn has_literal(&self) -> bool {
        self.literals().chars().any(char::is_alphanumeric)
    }

    /// Literal text with every hole as `{}`: equal skeletons are the same kind of key.
    #[must_use]
    pub fn skeleton(&self) -> String {
        let part = |part: &KeyPart| match part {
            KeyPart::Text(text) => text.replace('{', "{{").replace('}', "}}"),
            KeyPart::Hole(_) => "{}".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }

    /// The hash tag's parts: what lies between the first `{` and the next `}` after it; `None` when
    /// the whole key is hashed. Holes are taken to be free of braces.
    #[must_use]
    pub fn hash_tag(&self) -> Option<Vec<KeyPart>> {
        let mut tag: Option<Vec<KeyPart>> = None;
        for part in &self.parts {
            let text = match part {
                KeyPart::Hole(_) => {
                    if let Some(tag) = &mut tag {
                        tag.push(part.clone());
                    }
                    continue;
                }
                KeyPart::Text(text) => text.as_str(),
            };
            let rest = match &tag {
                Some(_) => text,
                None => match text.split_once('{') {
                    Some((_, after)) => {
                        tag = Some(Vec::new());
                        after
                    }
                    None => continue,
                },
            };
            let Some(open) = &mut tag else { continue };
            if let Some((inside, _)) = rest.split_once('}') {
                open.push(KeyPart::Text(inside.to_owned()));
                let tag = Self::new(tag.unwrap_or_default()).parts;
                return (!tag.is_empty()).then_some(tag);
            }
            open.push(KeyPart::Text(rest.to_owned()));
        }
        None
    }

    /// Whether two templates make the same text in one run of the function they are seen from,
    /// wherever they are written.
    #[must_use]
    pub fn same_text(&self, other: &Self) -> bool {
        !self.parts.is_empty() && same_parts(&self.parts, &other.parts)
    }

    /// How the slots of two keys, both seen from one run of one function, relate.
    #[must_use]
    pub fn slot_relation(&self, other: &Self) -> SlotRelation {
        if let (Some(left), Some(right)) = (self.constant(), other.constant()) {
            return if slot(left) == slot(right) {
                SlotRelation::MustShare
            } else {
                SlotRelation::MustDiffer
            };
        }
        let left = self.hash_tag().unwrap_or_else(|| self.parts.clone());
        let right = other.hash_tag().unwrap_or_else(|| other.parts.clone());
        if same_parts(&left, &right) {
            return SlotRelation::MustShare;
        }
        let differ = certainly_differ(&left, &right);
        if differ { SlotRelation::MustDiffer } else { SlotRelation::MayDiffer }
    }
}

/// Whether two runs of parts make the same text in one run of the function.
fn same_parts(left: &[KeyPart], right: &[KeyPart]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(l, r)| l.same_text(r))
}

/// Whether the two texts are certainly different: after equal parts are cut from both ends, what
/// is left on one side is literal and differs from the literal start or end of the other.
fn certainly_differ(left: &[KeyPart], right: &[KeyPart]) -> bool {
    let (mut left, mut right) = (left, right);
    while let ([l, left_rest @ ..], [r, right_rest @ ..]) = (left, right) {
        if !l.same_text(r) {
            break;
        }
        (left, right) = (left_rest, right_rest);
    }
    while let ([left_rest @ .., l], [right_rest @ .., r]) = (left, right) {
        if !l.same_text(r) {
            break;
        }
        (left, right) = (left_rest, right_rest);
    }
    match (left, right) {
        ([], []) => false,
        ([KeyPart::Text(_)], []) | ([], [KeyPart::Text(_)]) => true,
        _ => starts_differ(left, right) || ends_differ(left, right),
    }
}

fn starts_differ(left: &[KeyPart], right: &[KeyPart]) -> bool {
    match (left.first(), right.first()) {
        (Some(KeyPart::Text(left)), Some(KeyPart::Text(right))) => {
            !left.starts_with(right.as_str()) && !right.starts_with(left.as_str())
        }
        _ => false,
    }
}

fn ends_differ(left: &[KeyPart], right: &[KeyPart]) -> bool {
    match (left.last(), right.last()) {
        (Some(KeyPart::Text(left)), Some(KeyPart::Text(right))) => {
            !left.ends_with(right.as_str()) && !right.ends_with(left.as_str())
        }
        _ => false,
    }
}

impl std::fmt::Display for KeyTemplate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in &self.parts {
            match part {
                KeyPart::Text(text) => f.write_str(text)?,
                KeyPart::Hole(hole) => write!(f, "<{}>", hole.label)?,
            }
        }
        Ok(())
    }
}

/// The hash slot of a constant key, `0..16384`: CRC16 (XMODEM) of the hash tag or the whole key.
#[must_use]
pub fn slot(key: &str) -> u16 {
    let bytes = key.as_bytes();
    let tagged = key.find('{').and_then(|open| {
        let after = bytes.get(open + 1..)?;
        let close = after.iter().position(|byte| *byte == b'}')?;
        after.get(..close).filter(|tag| !tag.is_empty())
    });
    crc16(tagged.unwrap_or(bytes)) % 16384
}

/// CRC16 with polynomial 0x1021, initial value 0, no reflection.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn hole(name: &str) -> KeyPart {
        KeyPart::Hole(Hole {
            label: name.into(),
            origin: Origin::Field(name.into()),
            steps: Vec::new(),
            ty: None,
            span: Span::new(FileId(0), 0, 0),
            place: None,
            template: None,
        })
    }

    fn text(text: &str) -> KeyPart {
        KeyPart::Text(text.into())
    }

    /// Values read off a Redis 7.0.15 cluster node (CLUSTER KEYSLOT).
    #[test]
    fn slots_are_those_of_a_real_server() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        for (key, expected) in [
            ("a", 15495),
            ("{a}b", 15495),
            ("bar", 5061),
            ("foo{bar}{zap}", 5061),
            ("{}a", 10875),
            ("foo{{bar}}zap", 4015),
            ("foo{}{bar}", 8363),
            ("}a{b}", 3300),
            ("foo", 12182),
        ] {
            assert_eq!(slot(key), expected, "{key}");
        }
    }

    #[test]
    fn a_tag_with_the_same_hole_shares_and_without_it_differs() {
        let tagged =
            |suffix: &str| KeyTemplate::new([text("q:{"), hole("n"), text("}:"), text(suffix)]);
        let plain =
            |suffix: &str| KeyTemplate::new([text("q:"), hole("n"), text(":"), text(suffix)]);
        assert_eq!(tagged("a").slot_relation(&tagged("b")), SlotRelation::MustShare);
        assert_eq!(plain("a").slot_relation(&plain("b")), SlotRelation::MustDiffer);
        assert_eq!(plain("a").slot_relation(&plain("a")), SlotRelation::MustShare);
        let other = KeyTemplate::new([hole("m")]);
        assert_eq!(plain("a").slot_relation(&other), SlotRelation::MayDiffer);
        let prefix = |prefix: &str| KeyTemplate::new([text(prefix), hole("n")]);
        assert_eq!(prefix("sess:").slot_relation(&prefix("sesslock:")), SlotRelation::MustDiffer);
    }

    #[test]
    fn skeletons_keep_braces_apart_from_holes() {
        let key = KeyTemplate::new([text("{q}"), hole("n")]);
        assert_eq!(key.skeleton(), "{{q}}{}");
        assert_eq!(key.to_string(), "{q}<n>");
        assert!(!KeyTemplate::new([hole("n"), text(":")]).has_literal());
    }
}
