//! Personal data that is written out in the literal text of a key: an e-mail address, a phone number.

use super::PersonalData;

/// Fewest and most digits of a phone number with its country.
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;

/// The personal data in a literal, and its text.
pub(super) fn in_text(text: &str) -> Option<(PersonalData, &str)> {
    let email = || text.match_indices('@').find_map(|(at, _)| email_at(text, at));
    let phone = || text.match_indices('+').find_map(|(plus, _)| phone_at(text, plus));
    email()
        .map(|found| (PersonalData::Email, found))
        .or_else(|| phone().map(|found| (PersonalData::Phone, found)))
}

/// `name@host.tld` around an `@`; a host needs a last part of letters, so `jobs@v1.2` is none.
fn email_at(text: &str, at: usize) -> Option<&str> {
    let (before, after) = text.split_at_checked(at)?;
    let after = after.get(1..)?;
    let local = |letter: char| letter.is_ascii_alphanumeric() || "._%+-".contains(letter);
    let start = before.trim_end_matches(local).len();
    let host = |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
    let length = after.len() - after.trim_start_matches(host).len();
    let domain = after.get(..length)?.trim_end_matches(['.', '-']);
    let (_, last) = domain.rsplit_once('.')?;
    let named = before.get(start..)?.chars().any(|letter| letter.is_ascii_alphanumeric());
    let top = last.len() >= 2 && last.chars().all(|letter| letter.is_ascii_alphabetic());
    if named && top { text.get(start..at + 1 + domain.len()) } else { None }
}

/// `+44 20 7946 0958`: a plus, not after a letter or digit, and the digits of a number.
fn phone_at(text: &str, plus: usize) -> Option<&str> {
    let (before, after) = text.split_at_checked(plus)?;
    let after = after.get(1..)?;
    let part = |letter: char| letter.is_ascii_digit() || " -()".contains(letter);
    let length = after.len() - after.trim_start_matches(part).len();
    let number = after.get(..length)?.trim_end_matches([' ', '-', '(']);
    let digits = number.chars().filter(char::is_ascii_digit).count();
    let apart = !before.ends_with(|letter: char| letter.is_alphanumeric());
    let country = number.starts_with(|digit: char| ('1'..='9').contains(&digit));
    if apart && country && DIGITS.contains(&digits) {
        text.get(plus..plus + 1 + number.len())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_numbers_are_told_from_what_looks_like_them() {
        let email = Some((PersonalData::Email, "ada@analytical.example"));
        assert_eq!(in_text("basket:ada@analytical.example:items"), email);
        let phone = Some((PersonalData::Phone, "+44 20 7946 0958"));
        assert_eq!(in_text("calls:+44 20 7946 0958:"), phone);
        for text in ["jobs@v1.2", "deploy@host", "a@", "@b.c", "at:2026-01-31+10000000000", "x:+12"]
        {
            assert_eq!(in_text(text), None, "{text}");
        }
    }
}
