//! One file on standard output: lines of text, or one JSON object for each thing in it.

use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::global_flags::GlobalFlags;
use crate::json;
use crate::out::Out;
use crate::text::Format;

/// Whether all bytes could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wholeness {
    /// All of them.
    Whole,
    /// Not all of them.
    Damaged,
}

impl Wholeness {
    /// That of two files together.
    pub fn and(self, other: Wholeness) -> Wholeness {
        match self {
            Wholeness::Whole => other,
            Wholeness::Damaged => Wholeness::Damaged,
        }
    }
}

/// Where the contents of one file go.
pub struct Page<'a> {
    out: &'a mut Out,
    file: String,
    format: Format,
    is_json: bool,
    wholeness: Wholeness,
}

impl<'a> Page<'a> {
    /// A page for the file at `path`.
    pub fn new(out: &'a mut Out, shared: &GlobalFlags, path: &Path) -> Page<'a> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Page {
            out,
            file: name.to_string_lossy().into_owned(),
            format: shared.key_format(),
            is_json: shared.json,
            wholeness: Wholeness::Whole,
        }
    }

    /// Whether all that was shown so far could be read.
    pub fn wholeness(&self) -> Wholeness {
        self.wholeness
    }

    /// The name of the file and a few words about it. JSON has the name in every line.
    pub fn heading(&mut self, words: &str) -> io::Result<()> {
        match self.is_json {
            true => Ok(()),
            false => self.out.line(format!("{}: {words}", self.file)),
        }
    }

    /// One thing: as `text`, or as the object `fields` with the file and `item` before it.
    pub fn item(&mut self, text: &str, item: &str, fields: Value) -> io::Result<()> {
        if !self.is_json {
            return self.out.line(format!("  {text}"));
        }
        let mut line = json!({ "file": self.file, "item": item });
        if let (Value::Object(line), Value::Object(fields)) = (&mut line, fields) {
            line.extend(fields);
        }
        self.out.json(&line)
    }

    /// As [`Page::item`], for bytes that could not be read.
    pub fn damage(&mut self, message: &str, fields: Value) -> io::Result<()> {
        self.wholeness = Wholeness::Damaged;
        let mut fields = fields;
        if let Value::Object(fields) = &mut fields {
            fields.insert("message".into(), message.into());
        }
        self.item(&format!("damaged: {message}"), "damage", fields)
    }

    /// Bytes that are no intact record: from where, where the damage is seen, up to where.
    pub fn gap(&mut self, offset: u64, damaged_at: u64, end: u64) -> io::Result<()> {
        let message = format!("no intact record from {offset} up to {end}; seen at {damaged_at}");
        let fields = json!({ "offset": offset, "damaged_at": damaged_at, "end": end });
        self.damage(&message, fields)
    }

    /// A line of text that says in other words what the items say.
    pub fn note(&mut self, text: &str) -> io::Result<()> {
        match self.is_json {
            true => Ok(()),
            false => self.out.line(format!("  {text}")),
        }
    }

    /// A key on one line, in quotes where it is text.
    pub fn key(&self, key: &[u8]) -> String {
        let shown = self.format.show_field(key);
        match self.format {
            Format::Text => format!("\"{shown}\""),
            Format::Hex | Format::Base64 => shown,
        }
    }

    /// A key in JSON.
    pub fn json_key(&self, key: &[u8]) -> Value {
        json::spell(self.format, key)
    }
}
