//! What the command line may say of outputs: which formats, and where to.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::report::Format;

/// How and where findings are written.
#[derive(Args, Default)]
pub struct OutputArguments {
    /// Print this format and no other
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub format: Option<Format>,
    /// Print this format, or write it to a file (repeatable). Without one that is printed, `human` is
    #[arg(long, value_name = "FORMAT[=PATH]", value_parser = output)]
    pub output: Vec<Output>,
    /// Add nothing for the CI system that runs this
    #[arg(long)]
    pub no_ci: bool,
}

/// A format, and the file it goes to; printed when there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How.
    pub format: Format,
    /// Where to.
    pub path: Option<PathBuf>,
}

/// Reads the name of a format.
fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| {
        let (name, about) = format.names();
        PossibleValue::new(name).help(about)
    });
    PossibleValuesParser::new(names)
        .try_map(|name| Format::of_name(&name).ok_or("no format of ours"))
}

/// Reads `FORMAT` or `FORMAT=PATH`; the path `-` is the standard output.
fn output(word: &str) -> Result<Output, String> {
    let (name, path) = match word.split_once('=') {
        Some((name, path)) => (name, Some(path)),
        None => (word, None),
    };
    let format = Format::of_name(name).ok_or_else(|| {
        let names = Format::ALL.map(Format::name).join(", ");
        format!("there is no format `{name}`: expected one of {names}")
    })?;
    match path {
        Some("") => Err("the path is empty".to_owned()),
        Some("-") | None => Ok(Output { format, path: None }),
        Some(path) => Ok(Output { format, path: Some(path.into()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_a_format_and_perhaps_a_path() {
        let sarif = |path: Option<&str>| {
            Ok(Output { format: Format::Sarif, path: path.map(PathBuf::from) })
        };
        assert_eq!(output("sarif"), sarif(None));
        assert_eq!(output("sarif=-"), sarif(None));
        assert_eq!(output("sarif=a=b.sarif"), sarif(Some("a=b.sarif")));
        assert!(output("sarif=").is_err());
        assert!(output("xml=a").unwrap_err().contains("`xml`"));
    }

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::of_name(format.name()), Some(format));
        }
    }
}
