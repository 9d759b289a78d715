//! `.sqlx/query-*.json`: a query that `sqlx` has checked against a database.

use crate::ir::value::Text;
use crate::source::SourceFile;

/// The text of the query in such a file; `None` when the file is none.
#[must_use]
pub fn offline_query(file: &SourceFile) -> Option<Text> {
    let json: serde_json::Value = serde_json::from_str(&file.text).ok()?;
    let query = json.get("query")?.as_str()?;
    Some(decoded(file, query).unwrap_or_else(|| Text::verbatim(query, file.whole())))
}

/// The query as it is written: each escape knows its place.
fn decoded(file: &SourceFile, query: &str) -> Option<Text> {
    let (before, rest) = file.text.split_once("\"query\"")?;
    let opened = rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
    let mut at = before.len() + "\"query\"".len() + rest.len() - opened.len();
    let mut text = Text::default();
    let mut left = query;
    while !left.is_empty() {
        let raw = file.text.get(at..)?;
        let said = left.chars().next()?;
        let length = match raw.strip_prefix('\\') {
            Some(escape) if escape.starts_with('u') && said.len_utf16() == 2 => 12,
            Some(escape) if escape.starts_with('u') => 6,
            Some(_) => 2,
            None => said.len_utf8(),
        };
        let (one, others) = left.split_at(said.len_utf8());
        text.push(one, file.range(at, at + length));
        (left, at) = (others, at + length);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Language};

    fn file(text: &str) -> SourceFile {
        SourceFile::new(FileId(0), ".sqlx/query-1.json", Language::Other, text)
    }

    #[test]
    fn the_text_points_into_the_file() {
        let file =
            file(r#"{"db_name":"PostgreSQL","query":"SELECT\n \"a\", \u00e9","describe":{}}"#);
        let text = offline_query(&file).unwrap();
        assert_eq!(text.content, "SELECT\n \"a\", \u{e9}");
        assert_eq!(file.slice(text.place(0, 7)), r"SELECT\n");
        assert_eq!(file.slice(text.place(8, text.content.len())), r#"\"a\", \u00e9"#);
    }

    #[test]
    fn other_files_hold_no_query() {
        assert!(offline_query(&file("{}")).is_none());
        assert!(offline_query(&file("SELECT 1")).is_none());
    }
}
