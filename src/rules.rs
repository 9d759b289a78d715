//! The rules: one short file a rule, one page a rule, one list.
//!
//! A rule is a question asked of the [`Analysis`]. Its facts (summary, severity, confidence) stand
//! in the front matter of its page `rules/<id>.md` and nowhere else.

use std::sync::OnceLock;

use crate::analysis::Analysis;
use crate::config::{Settings, names};
use crate::finding::{Finding, Findings, number};
use crate::source::Span;

/// Declares `RULE` of a rule file: its id and the function that finds.
macro_rules! rule {
    ($id:literal, $check:path) => {
        /// The rule of this file.
        pub static RULE: $crate::rules::Rule = $crate::rules::Rule::new(
            $id,
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md")),
            $check,
        );
    };
}

/// What nearly every rule names.
mod prelude;
/// The front matter of a rule's page.
pub mod page;
/// Which rule stands where several hold at one place.
pub mod precedence;

pub mod setnx_without_expiry;
pub mod expiry_not_atomic;
pub mod constant_owner_value;
pub mod acquire_result_ignored;
pub mod acquire_error_as_success;
pub mod unbounded_wait;
pub mod expiry_unit_mismatch;
pub mod unconditional_del;
pub mod get_then_del;
pub mod release_not_guaranteed;
pub mod unconditional_pexpire;
pub mod lock_across_http;
pub mod unfenced_write;
pub mod check_then_act;
pub mod ignored_row_count;
pub mod unguarded_decrement;
pub mod read_modify_write;
pub mod lease_column_without_owner;
pub mod fence_not_compared;
pub mod fence_column_unsafe;
pub mod missing_nonnegative_check;
pub mod missing_idempotency_unique;
pub mod pii_in_key;
pub mod cross_slot_keys;
pub mod undeclared_script_key;
pub mod lua_nil_compare;
pub mod lua_number_as_string;
pub mod lua_zero_truthy;
pub mod lua_status_compare;
pub mod lua_global_variable;
pub mod lua_number_precision;
pub mod lua_pcall_ignored;
pub mod script_arity_mismatch;
pub mod lua_unknown_command;
pub mod script_argument_in_keys;
pub mod script_unbounded_loop;
pub mod keys_command;
pub mod syntax_error;
pub mod analysis_limit;
pub mod malformed_allow;
pub mod unknown_rule;
pub mod unused_allow;
pub mod expired_allow;
pub mod stale_baseline;

pub use page::RuleInfo;

/// Every rule, in the order of the README.
pub static RULES: &[&Rule] = &[
    &setnx_without_expiry::RULE,
    &expiry_not_atomic::RULE,
    &constant_owner_value::RULE,
    &acquire_result_ignored::RULE,
    &acquire_error_as_success::RULE,
    &unbounded_wait::RULE,
    &expiry_unit_mismatch::RULE,
    &unconditional_del::RULE,
    &get_then_del::RULE,
    &release_not_guaranteed::RULE,
    &unconditional_pexpire::RULE,
    &lock_across_http::RULE,
    &unfenced_write::RULE,
    &check_then_act::RULE,
    &ignored_row_count::RULE,
    &unguarded_decrement::RULE,
    &read_modify_write::RULE,
    &lease_column_without_owner::RULE,
    &fence_not_compared::RULE,
    &fence_column_unsafe::RULE,
    &missing_nonnegative_check::RULE,
    &missing_idempotency_unique::RULE,
    &pii_in_key::RULE,
    &cross_slot_keys::RULE,
    &undeclared_script_key::RULE,
    &lua_nil_compare::RULE,
    &lua_number_as_string::RULE,
    &lua_zero_truthy::RULE,
    &lua_status_compare::RULE,
    &lua_global_variable::RULE,
    &lua_number_precision::RULE,
    &lua_pcall_ignored::RULE,
    &script_arity_mismatch::RULE,
    &lua_unknown_command::RULE,
    &script_argument_in_keys::RULE,
    &script_unbounded_loop::RULE,
    &keys_command::RULE,
    &syntax_error::RULE,
    &analysis_limit::RULE,
    &malformed_allow::RULE,
    &unknown_rule::RULE,
    &unused_allow::RULE,
    &expired_allow::RULE,
    &stale_baseline::RULE,
];

/// A rule: its name, its page, and the function that finds.
pub struct Rule {
    /// Its id, in kebab case: names the defect and reads after "allow".
    pub id: &'static str,
    /// The text of its page.
    pub page: &'static str,
    /// Reports every place where the rule holds.
    pub check: fn(&Analysis<'_>, &mut Findings),
    info: OnceLock<RuleInfo>,
}

impl Rule {
    /// A rule of the given page.
    #[must_use]
    pub const fn new(
        id: &'static str,
        page: &'static str,
        check: fn(&Analysis<'_>, &mut Findings),
    ) -> Self {
        Self { id, page, check, info: OnceLock::new() }
    }

    /// What the page's front matter says.
    pub fn info(&self) -> &RuleInfo {
        self.info.get_or_init(|| RuleInfo::of_page(self.id, self.page).unwrap_or_default())
    }

    /// A finding of this rule with the severity and confidence of its page. `message` is what is
    /// wrong, lower case, without a full stop.
    pub fn finding(&self, primary: Span, message: impl Into<String>) -> Finding {
        let info = self.info();
        Finding {
            rule: self.id,
            severity: info.severity,
            confidence: info.confidence,
            primary,
            message: message.into(),
            help: String::new(),
            steps: Vec::new(),
            fixes: Vec::new(),
            subject: String::new(),
            function: None,
            fingerprint: None,
            moved_from: None,
            unshown: Vec::new(),
            alike: Vec::new(),
        }
    }

    /// Whether the settings ask for this rule.
    pub fn is_active(&self, settings: &Settings) -> bool {
        let named = |list: &[String]| list.iter().any(|id| id == self.id);
        let chosen = if settings.select.is_empty() {
            !self.info().pedantic
        } else {
            named(&settings.select)
        };
        (chosen || named(&settings.extend_select)) && !named(&settings.ignore)
    }
}

/// The rule of this id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// The id nearest to a word that is none, if one is near enough to be meant.
#[must_use]
pub fn nearest(word: &str) -> Option<&'static str> {
    names::nearest(word, RULES.iter().map(|rule| rule.id))
}

/// Everything that the active rules find, in the order of their places.
#[must_use]
pub fn run(analysis: &Analysis<'_>, settings: &Settings) -> Vec<Finding> {
    let mut findings = Findings::default();
    for rule in RULES.iter().filter(|rule| rule.is_active(settings)) {
        (rule.check)(analysis, &mut findings);
    }
    for finding in findings.iter_mut() {
        if let Some(step) = analysis.macro_step(finding.primary, &finding.steps) {
            let at = finding.steps.iter().rposition(|step| step.span == finding.primary);
            finding.steps.insert(at.unwrap_or(finding.steps.len()), step);
        }
    }
    let mut findings = findings.finish();
    number(&mut findings, &analysis.program.tree);
    precedence::most_specific(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_find_their_rule() {
        assert_eq!(nearest("unconditional-dell"), Some("unconditional-del"));
        assert_eq!(nearest("no-such-thing"), None);
    }

    #[test]
    fn selecting_is_alone_extending_is_too_and_ignoring_wins() {
        let rule = find("unconditional-del").unwrap();
        let list = |id: &str| vec![id.to_owned()];
        assert!(rule.is_active(&Settings::default()));
        assert!(!rule.is_active(&Settings { select: list("pii-in-key"), ..Settings::default() }));
        let both = Settings {
            select: list("pii-in-key"),
            extend_select: list("unconditional-del"),
            ..Settings::default()
        };
        assert!(rule.is_active(&both));
        assert!(!rule.is_active(&Settings { ignore: list("unconditional-del"), ..both }));
    }
}
