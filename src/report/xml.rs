//! What both XML formats need: a writer, and texts that XML can hold.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

use super::one_line;

/// Where XML is put together.
pub(super) type Xml = Writer<Vec<u8>>;

/// Writes a document whose root `content` writes. `##` begins commands in the logs of some CI
/// systems; here it only stands in texts, and there it has another spelling.
pub(super) fn write(
    out: &mut dyn Write,
    content: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    content(&mut xml)?;
    let text = String::from_utf8(xml.into_inner()).map_err(io::Error::other)?;
    writeln!(out, "{}", text.replace("##", "#&#35;"))
}

/// A text on one line; the two characters that are neither controls nor allowed in XML are replaced.
pub(super) fn text(text: &str) -> String {
    one_line(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
