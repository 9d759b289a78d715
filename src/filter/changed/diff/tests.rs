//! What diffs look like, and what they do not mean.

use super::*;

fn parse(text: &[u8]) -> Diff {
    read(text, &|_| true).unwrap()
}

fn path(name: &Option<Name>) -> Option<&str> {
    name.as_ref().map(|name| std::str::from_utf8(&name.path).unwrap())
}

/// Old name, new name, and each hunk as its start and the signs of its lines.
fn told(diff: &Diff) -> Vec<String> {
    let sign = |(kind, _): &(Kind, String)| match kind {
        Kind::Kept => ' ',
        Kind::Added => '+',
        Kind::Removed => '-',
    };
    let file = |file: &FileDiff| {
        let hunks = file.hunks.iter().map(|hunk| {
            format!(" {}:{}", hunk.start, hunk.lines.iter().map(sign).collect::<String>())
        });
        let (old, new) = (path(&file.old).unwrap_or("-"), path(&file.new).unwrap_or("-"));
        format!("{old} {new}{}", hunks.collect::<String>())
    };
    diff.files.iter().map(file).collect()
}

#[test]
fn lines_are_counted_not_guessed() {
    // A deleted SQL comment looks like a header, and so does what follows it.
    let text = b"diff --git a/a.sql b/a.sql\nindex 1..2 100644\n--- a/a.sql\n+++ b/a.sql\n\
        @@ -1,3 +1,2 @@ select\n--- a comment\n-++ more\n+++ b/added.sql\n kept\n\
        @@ -9 +8,0 @@\n-gone\n\\ No newline at end of file\n";
    let diff = parse(text);
    assert_eq!(told(&diff), ["a/a.sql b/a.sql 1:--+  8:-"]);
    assert_eq!(diff.files[0].hunks[0].lines[2], (Kind::Added, "++ b/added.sql".into()));
}

#[test]
fn new_deleted_and_renamed_files_have_the_names_they_have() {
    let text = b"diff --git a/n.rs b/n.rs\nnew file mode 100644\n--- /dev/null\n+++ b/n.rs\n\
        @@ -0,0 +1,2 @@\n+a\n+b\n\
        diff --git a/d.rs b/d.rs\ndeleted file mode 100644\n--- a/d.rs\n+++ /dev/null\n\
        @@ -1 +0,0 @@\n-a\n\
        diff --git a/b/o.rs b/b/p.rs\nsimilarity index 100%\nrename from b/o.rs\nrename to b/p.rs\n\
        diff --git a/q.rs b/r.rs\nsimilarity index 90%\nrename from q.rs\nrename to r.rs\n\
        --- a/q.rs\n+++ b/r.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\
        diff --git a/x.png b/x.png\nBinary files a/x.png and b/x.png differ\n";
    let diff = parse(text);
    let expected = ["- b/n.rs 1:++", "a/d.rs - 0:-", "b/o.rs b/p.rs", "q.rs r.rs 1: -+"];
    assert_eq!(told(&diff), expected);
    let bare = diff.files.iter().map(|file| file.old.as_ref().is_some_and(|name| name.bare));
    assert_eq!(bare.collect::<Vec<_>>(), [false, false, true, true]);
}

#[test]
fn quoted_names_and_names_with_blanks_are_read() {
    let text = b"--- \"a/\\303\\244\\t\\\"\\\\\\n.rs\"\n+++ \"b/\\303\\244\\t\\\"\\\\\\n.rs\"\n\
        @@ -0,0 +1 @@\n+x\n--- a/two words.rs\t\n+++ b/two words.rs\t2024-01-01 00:00:00\n@@ -1 +1 @@\n\
        -a\n+b\n";
    let diff = parse(text);
    let expected = ["a/ä\t\"\\\n.rs b/ä\t\"\\\n.rs 1:+", "a/two words.rs b/two words.rs 1:-+"];
    assert_eq!(told(&diff), expected);
}

#[test]
fn line_ends_of_windows_are_line_ends() {
    let text = b"--- a/a.rs\r\n+++ b/a.rs\r\n@@ -1,3 +1,3 @@\r\n a\r\n\r\n-b\r\n+c\r\n";
    let diff = parse(text);
    assert_eq!(told(&diff), ["a/a.rs b/a.rs 1:  -+"]);
    assert_eq!(diff.files[0].hunks[0].lines[3].1, "c");
}

#[test]
fn a_diff_of_two_parents_is_read() {
    let text = b"diff --cc a.rs\nindex 1,2..3\n--- a/a.rs\n+++ b/a.rs\n@@@ -1,3 -1,3 +1,3 @@@\n\
        \x20 kept\n +theirs\n+ ours\n- gone\n -other\n";
    let diff = parse(text);
    assert_eq!(told(&diff), ["a/a.rs b/a.rs 1: ++--"]);
    assert!(!diff.files[0].hunks[0].one_parent);
}

#[test]
fn text_around_a_diff_is_passed_over() {
    let text = b"From 1 Mon\nSubject: x\n\n--- is no header\n@@ is no hunk\n---\n a.rs | 2 +-\n\n\
        diff --git a/a.rs b/a.rs\n--- a/a.rs\n+++ b/a.rs\n@@ -1 +1 @@\n-a\n+b\n-- \n2.47\n";
    assert_eq!(told(&parse(text)), ["a/a.rs b/a.rs 1:-+"]);
    assert!(!parse(b"\n \n").has_text);
    assert!(parse(b"hello\n").has_text);
}

#[test]
fn submodules_are_told() {
    let text = b"Submodule li b/s..x 1234567..89abcde (commits not present)\n\
        Submodule sub contains modified content\nSubmodule sub 0000000...89abcde (new submodule)\n\
        diff --git a/sub/a.rs b/sub/a.rs\n--- a/sub/a.rs\n+++ b/sub/a.rs\n@@ -1 +1 @@\n-a\n+b\n";
    let diff = parse(text);
    let says: Vec<_> = diff.submodules.iter().map(|one| (&one.path[..], &one.says[..])).collect();
    let expected = [
        (&b"li b/s..x"[..], "1234567..89abcde (commits not present)"),
        (b"sub", "contains modified content"),
        (b"sub", "0000000...89abcde (new submodule)"),
    ];
    assert_eq!(says, expected);
    assert_eq!(told(&diff), ["a/sub/a.rs b/sub/a.rs 1:-+"]);
}

#[test]
fn half_a_diff_is_an_error_and_hostile_counts_cost_nothing() {
    for text in [
        &b"--- a/a\n+++ b/a\n@@ -1 +1,2 @@\n-a\n+b\n"[..],
        b"--- a/a\n+++ b/a\n@@ -1,4294967295 +1,4294967295 @@\n-a\n",
        b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\nx\n",
        b"--- a/a\n+++ b/a\n@@ -1 +99999999999 @@\n-a\n+x\n",
        b"--- a/a\n+++ b/a\n@@@@@@@@@@@@@@@@@@@@ +1 @@\n",
        b"\xff\xfed\0i\0f\0f\0",
    ] {
        assert!(read(text, &|_| true).is_err(), "{}", String::from_utf8_lossy(text));
    }
    let unwanted = read(&b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"[..], &|_| false).unwrap();
    assert_eq!(told(&unwanted), ["a/a b/a 1:"]);
}
