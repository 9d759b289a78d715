//! The rules: one short file a rule.
