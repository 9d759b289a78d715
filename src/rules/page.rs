//! The front matter of a rule's page: flat `key: value` lines between two `---` lines.

use crate::config::{Confidence, Severity};
use crate::finding::fix::Applicability;

/// Where the pages can be read, when the tool prints a link to one.
const PAGES: &str = "https://github.com/leaselint/leaselint/blob/main/rules";

/// What the front matter of a page says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// One line: the defect.
    pub summary: String,
    /// How bad, unless the rule finds a reason for another.
    pub severity: Severity,
    /// How sure, unless the rule finds a reason for another.
    pub confidence: Confidence,
    /// The languages it works in: `rust`, `lua`, `sql`.
    pub languages: Vec<String>,
    /// The part of the story it belongs to: `acquire`, `release`, `renew`, `critical section`,
    /// `database`, `keys`, `cluster`, `script`, `housekeeping`.
    pub group: String,
    /// The version that brought it.
    pub since: String,
    /// Off unless selected.
    pub pedantic: bool,
    /// Whether a finding comes with a change that mends it, and whether a tool may make it unasked.
    pub fixes: Option<Applicability>,
    /// A link to the page.
    pub url: String,
}

impl Default for RuleInfo {
    fn default() -> Self {
        Self {
            summary: String::new(),
            severity: Severity::Warning,
            confidence: Confidence::Medium,
            languages: Vec::new(),
            group: String::new(),
            since: String::new(),
            pedantic: false,
            fixes: None,
            url: String::new(),
        }
    }
}

impl RuleInfo {
    /// Reads the front matter of a page.
    ///
    /// # Errors
    /// When there is none, or a line of it is not understood, or one is missing.
    pub fn of_page(id: &str, page: &str) -> Result<Self, String> {
        let (front, _) = split(page).ok_or("the page has no front matter")?;
        let mut info = Self { url: format!("{PAGES}/{id}.md"), ..Self::default() };
        let mut keys = Vec::new();
        for line in front.lines() {
            let (key, value) = line.split_once(": ").ok_or(format!("no `key: value`: {line}"))?;
            info.set(key, value.trim())?;
            keys.push(key);
        }
        for needed in ["summary", "severity", "confidence", "languages", "group", "since"] {
            if !keys.contains(&needed) {
                return Err(format!("`{needed}` is missing"));
            }
        }
        Ok(info)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let unknown = || format!("`{value}` is no {key}");
        match key {
            "summary" => value.clone_into(&mut self.summary),
            "severity" => self.severity = Severity::of_word(value).ok_or_else(unknown)?,
            "confidence" => self.confidence = Confidence::of_word(value).ok_or_else(unknown)?,
            "languages" => self.languages = value.split(", ").map(str::to_owned).collect(),
            "group" => value.clone_into(&mut self.group),
            "since" => value.clone_into(&mut self.since),
            "pedantic" => self.pedantic = value.parse().map_err(|_| unknown())?,
            "fixes" => {
                let known = [Applicability::Safe, Applicability::Unsafe];
                let named = known.into_iter().find(|one| one.word() == value);
                self.fixes = Some(named.ok_or_else(unknown)?);
            }
            _ => return Err(format!("`{key}` is no key of a page")),
        }
        Ok(())
    }
}

/// A page's front matter, and what follows it.
#[must_use]
pub fn split(page: &str) -> Option<(&str, &str)> {
    page.strip_prefix("---\n")?.split_once("\n---\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_is_read_and_mistakes_are_named() {
        let page = |lines: &str| format!("---\n{lines}\n---\n\n# x\n");
        let good = "summary: a: b\nseverity: error\nconfidence: high\nlanguages: rust, lua\n\
                    group: release\nsince: 0.1.0";
        let info = RuleInfo::of_page("x", &page(good)).unwrap();
        assert_eq!(info.summary, "a: b");
        assert_eq!(info.severity, Severity::Error);
        assert_eq!(info.languages, ["rust", "lua"]);
        assert!(info.url.ends_with("/x.md"));
        assert!(RuleInfo::of_page("x", &page("summary: a")).is_err());
        assert!(RuleInfo::of_page("x", &page(&good.replace("error", "loud"))).is_err());
        assert!(RuleInfo::of_page("x", "# x").is_err());
    }
}
