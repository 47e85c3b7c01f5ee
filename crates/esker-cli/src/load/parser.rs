//! One parser for each format, and the choice between them.

use std::io;
use std::path::Path;

use crate::load::entry::{Found, Parsed};
use crate::load::jsonl::{self, Shape};
use crate::load::tsv::{self, Spelling};
use crate::text::Format;
use esker_bench::text::lines::Lines;
use esker_bench::text::record;
use esker_bench::text::snap;

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    /// Chosen by the file's name, else by its first line.
    Auto,
    /// Review records: `field: text` lines, a blank line between records.
    Snap,
    /// Key, tab, value.
    Tsv,
    /// One JSON object a line.
    Jsonl,
}

/// What the user said about the input.
#[derive(Clone, Debug)]
pub struct Wishes {
    /// Its format.
    pub format: InputFormat,
    /// The field of JSON objects that is the key.
    pub key_field: Option<String>,
    /// Whether backslashes in tab-separated text are backslashes.
    pub is_literal: bool,
    /// How keys are spelled.
    pub key_format: Format,
    /// How values are spelled.
    pub value_format: Format,
}

/// Makes records of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parser {
    /// Review records.
    Snap,
    /// Tab-separated lines.
    Tsv(Spelling),
    /// JSON lines.
    Jsonl(Shape),
}

impl Parser {
    /// The parser for an input of that name; `None` if nobody said which and neither its name
    /// nor its first line tells. An empty input goes to any parser.
    pub fn choose(wishes: &Wishes, name: &str, lines: &mut Lines) -> io::Result<Option<Parser>> {
        let format = match wishes.format {
            InputFormat::Auto => match by_name(name) {
                Some(format) => Some(format),
                None => by_first_line(lines)?,
            },
            chosen => Some(chosen),
        };
        let parser = format.map(|format| match format {
            InputFormat::Auto | InputFormat::Snap => Parser::Snap,
            InputFormat::Tsv => Parser::Tsv(Spelling {
                key: wishes.key_format,
                value: wishes.value_format,
                is_literal: wishes.is_literal,
            }),
            InputFormat::Jsonl => Parser::Jsonl(match &wishes.key_field {
                Some(field) => Shape::Field(field.clone()),
                None => Shape::KeyAndValue {
                    key: wishes.key_format,
                    value: wishes.value_format,
                },
            }),
        });
        Ok(parser)
    }

    /// The next entry, or what is wrong with the next lines; `None` at the end.
    pub fn next(&self, lines: &mut Lines) -> io::Result<Option<Parsed>> {
        match self {
            Parser::Snap => Ok(snap::next(lines)?.map(entry)),
            Parser::Tsv(spelling) => Ok(tsv::next(lines, *spelling)?.map(entry)),
            Parser::Jsonl(shape) => jsonl::next(lines, shape),
        }
    }
}

fn entry(parsed: record::Parsed) -> Parsed {
    parsed.map(|record| Found::Entry(record.into()))
}

fn by_name(name: &str) -> Option<InputFormat> {
    let lower = name.to_ascii_lowercase();
    let packed = [".gz", ".zst"];
    let plain = packed.iter().find_map(|end| lower.strip_suffix(end));
    let extension = Path::new(plain.unwrap_or(&lower)).extension()?;
    match extension.to_str()? {
        "tsv" | "tab" => Some(InputFormat::Tsv),
        "jsonl" | "ndjson" => Some(InputFormat::Jsonl),
        _ => None,
    }
}

fn by_first_line(lines: &mut Lines) -> io::Result<Option<InputFormat>> {
    let format = loop {
        let Some(line) = lines.next_line()? else {
            return Ok(Some(InputFormat::Tsv));
        };
        let start = line.start().trim_ascii_start();
        if start.is_empty() {
            continue;
        }
        if line.start().starts_with(snap::FIRST_FIELD) {
            break Some(InputFormat::Snap);
        }
        if start.starts_with(b"{") {
            break Some(InputFormat::Jsonl);
        }
        // The longest key is shorter than the start of a long line.
        break line.start().contains(&b'\t').then_some(InputFormat::Tsv);
    };
    lines.unread();
    Ok(format)
}

#[cfg(test)]
mod tests;
