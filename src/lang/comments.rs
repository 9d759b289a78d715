//! Where the comments of a file are, told apart from texts that look like one. Never fails; what is
//! not closed goes on to the end of the file, or of the line where the language's lexer says so.

use std::ops::Range;

use super::{lua, rust, sql};
use crate::source::{Language, SourceFile};

/// What kind of comment it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// To the end of its line.
    Line,
    /// Between two signs.
    Block,
    /// For readers of the documentation.
    Documentation,
}

/// A comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its bytes, the line's end not included.
    pub range: Range<usize>,
    /// Bytes of the sign it begins with (`//`, `--`, `#`, `/*`).
    pub opening: usize,
    /// What kind it is.
    pub kind: Kind,
}

/// The comments of a file, in order.
#[must_use]
pub fn of(file: &SourceFile, dialect: sql::Dialect) -> Vec<Comment> {
    match file.language {
        Language::Rust => rust::comments::of(&file.text),
        Language::Lua => lua::comments::of(&file.text),
        Language::Sql => sql::comments::of(&file.text, dialect),
        Language::Other => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use sql::Dialect;

    fn shown(language: Language, text: &str, dialect: Dialect) -> Vec<(String, Kind)> {
        let file = SourceFile::new(FileId(0), "a", language, text);
        let comments = of(&file, dialect).into_iter();
        comments
            .map(|it| (file.text[it.range.start + it.opening..it.range.end].into(), it.kind))
            .collect()
    }

    fn check(language: Language, dialect: Dialect, text: &str, expected: &[(&str, Kind)]) {
        let expected: Vec<_> =
            expected.iter().map(|(words, kind)| ((*words).to_owned(), *kind)).collect();
        assert_eq!(shown(language, text, dialect), expected, "{text}");
    }

    #[test]
    fn comments_of_rust() {
        let text = "#!/bin/x // no\n//! d\n/// e\n//// f\nlet a = \"// no\"; // g\r\nlet b = r#\"\n// no\n\"#;\n/* h /* i */ */ /** j */ /**/ // k";
        let expected = [
            (" d", Kind::Documentation),
            (" e", Kind::Documentation),
            ("// f", Kind::Line),
            (" g", Kind::Line),
            (" h /* i */ ", Kind::Block),
            (" j ", Kind::Documentation),
            ("", Kind::Block),
            (" k", Kind::Line),
        ];
        check(Language::Rust, Dialect::Generic, text, &expected);
    }

    #[test]
    fn comments_of_lua() {
        let text = "#!/usr/bin/lua -- no\nlocal a = '-- no' -- a\nlocal b = [==[\n-- no ]]\n]==] --[[ b\nc ]] --- d\nlocal c = 'open\n-- e\nlocal d = \"\\\" -- no\"\n--[=[ f";
        let expected = [
            (" a", Kind::Line),
            (" b\nc ", Kind::Block),
            (" d", Kind::Documentation),
            (" e", Kind::Line),
            (" f", Kind::Block),
        ];
        check(Language::Lua, Dialect::Generic, text, &expected);
    }

    #[test]
    fn comments_of_sql() {
        let text = "SELECT '-- no', $$ -- no $$; -- a\n# b isn't\nSELECT a # c\n/* d */";
        let generic = [(" a", Kind::Line), (" b isn't", Kind::Line), (" d ", Kind::Block)];
        check(Language::Sql, Dialect::Postgres, text, &generic);
        let text = "SELECT '-- no'; -- a\nSELECT a # c\n/* d */";
        let mysql = [(" a", Kind::Line), (" c", Kind::Line), (" d ", Kind::Block)];
        check(Language::Sql, Dialect::MySql, text, &mysql);
    }
}
