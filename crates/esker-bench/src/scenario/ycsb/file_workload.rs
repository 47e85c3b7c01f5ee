//! The file workload, checked: records are lines of a file, keys are numbers or fields of the line.

use std::path::PathBuf;

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::generators::Weighted;
use crate::scenario::ycsb::properties::Properties;
use crate::scenario::ycsb::record::{FIELD_BYTES_MAX, push_field};

/// A file workload, checked.
#[derive(Clone, Debug)]
pub struct FileWorkload {
    /// Where records come from, if they are wanted.
    pub data_path: Option<PathBuf>,
    /// Where keys to read come from; `None` reads YCSB's own keys.
    pub key_path: Option<PathBuf>,
    /// How lines become records.
    pub lines: LineShape,
    /// Records of one read.
    pub batch: usize,
    /// What is written in a run.
    pub writes: Writes,
    /// The table that a run writes to.
    pub write_table: String,
}

/// What a run writes.
#[derive(Clone, Debug)]
pub enum Writes {
    /// What a read found, so often, from 0 to 1.
    AfterReads(f64),
    /// Lines of the file, chosen by weight: whether to write.
    ByWeight(Weighted<bool>),
}

/// How a line becomes a key and a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineShape {
    /// What stands between two fields.
    pub delimiter: Vec<u8>,
    /// Names of the fields, those of the key included.
    pub names: Vec<String>,
    /// Places of the fields that make the key, in its order; none if keys are YCSB's own.
    pub key_places: Vec<usize>,
}

impl FileWorkload {
    /// The workload that the properties describe, for a load or a run.
    ///
    /// Errors: `Usage`, with the property and what it may be.
    pub fn from_properties(properties: &Properties, is_load: bool) -> Outcome<FileWorkload> {
        let has_own_keys = properties.flag("usecustomkey", false);
        let writes = writes(properties)?;
        let needs_lines = is_load || matches!(writes, Writes::ByWeight(_));
        let path = |name: &str, why: &str| match properties.get(name) {
            Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
            _ => Err(Failure::usage(format!(
                "{name} is missing: {why}; say -p {name}=<file>"
            ))),
        };
        let data_path = needs_lines
            .then(|| path("datafile", "records are lines of that file"))
            .transpose()?;
        let key_path = (has_own_keys && !is_load)
            .then(|| {
                path(
                    "keyfile",
                    "with usecustomkey=true reads take their keys from it",
                )
            })
            .transpose()?;
        let batch = properties.count("batchread", 1)?;
        if !(1..=BATCH_MAX).contains(&batch) {
            return Err(Failure::usage(format!(
                "batchread={batch} makes no sense; it is 1 to {BATCH_MAX}"
            )));
        }
        Ok(FileWorkload {
            data_path,
            key_path,
            lines: LineShape::from_properties(properties, has_own_keys)?,
            batch: usize::try_from(batch).expect("a million at most"),
            writes,
            write_table: properties
                .text("writetable", "usertable_for_write")
                .to_owned(),
        })
    }
}

/// Larger batches are a slip of the finger.
const BATCH_MAX: u64 = 1_000_000;

/// More fields than this are a slip of the finger.
const FIELDS_MAX: u64 = 100_000;

fn writes(properties: &Properties) -> Outcome<Writes> {
    if properties.flag("writeinread", true) {
        let rate = properties.number("writerate", 0.0)?;
        if rate > 1.0 {
            return Err(Failure::usage(format!(
                "writerate={rate} makes no sense; it is a share from 0 to 1"
            )));
        }
        return Ok(Writes::AfterReads(rate));
    }
    let read = properties.number("readproportion", 0.95)?;
    let write = properties.number("writeproportion", 0.05)?;
    let weighted = Weighted::new(&[(read, false), (write, true)]);
    weighted.map(Writes::ByWeight).ok_or_else(|| {
        Failure::usage("readproportion and writeproportion are both 0: there is nothing to do")
    })
}

impl LineShape {
    fn from_properties(properties: &Properties, has_own_keys: bool) -> Outcome<LineShape> {
        let count = properties.count("fieldnum", 15)?;
        if !(1..=FIELDS_MAX).contains(&count) {
            return Err(Failure::usage(format!(
                "fieldnum={count} makes no sense; it is 1 to {FIELDS_MAX}"
            )));
        }
        let count = usize::try_from(count).expect("a hundred thousand at most");
        let mut names: Vec<String> = match properties.text("fieldnames", "") {
            "" => (0..count).map(|place| format!("field{place}")).collect(),
            text => text.split(',').map(|name| name.trim().to_owned()).collect(),
        };
        if names.len() < count {
            return Err(Failure::usage(format!(
                "fieldnames has {} names for fieldnum={count}; name all of them, those of the key \
                 too",
                names.len()
            )));
        }
        names.truncate(count);
        let mut key_places = Vec::new();
        let keyfield = properties.text("keyfield", "0");
        for text in keyfield.split(',').filter(|_| has_own_keys) {
            let place = text.trim().parse().ok();
            let place = place.filter(|place| *place < count && !key_places.contains(place));
            key_places.push(place.ok_or_else(|| {
                Failure::usage(format!(
                    "keyfield={keyfield} makes no sense; it is a list of fields counted from 0, \
                     each below fieldnum={count} and told once"
                ))
            })?);
        }
        Ok(LineShape {
            delimiter: delimiter(properties.get_raw("delimiter").unwrap_or("\t"))?,
            names,
            key_places,
        })
    }

    /// Makes a record of a line, and its key if fields make it. `None` if the line has too few
    /// fields, or would be too long for a record.
    pub fn parse(&self, line: &[u8], key: &mut Vec<u8>, record: &mut Vec<u8>) -> Option<()> {
        if line.len() as u64 > FIELD_BYTES_MAX {
            return None;
        }
        let fields = self.split(line)?;
        record.clear();
        for (place, (name, value)) in self.names.iter().zip(&fields).enumerate() {
            if !self.key_places.contains(&place) {
                push_field(record, name.as_bytes(), value);
            }
        }
        if !self.key_places.is_empty() {
            key.clear();
            for (turn, place) in self.key_places.iter().enumerate() {
                if turn > 0 {
                    key.extend_from_slice(&self.delimiter);
                }
                key.extend_from_slice(fields[*place]);
            }
        }
        Some(())
    }

    /// The fields of a line, as many as there are names; what follows is left out.
    fn split<'l>(&self, line: &'l [u8]) -> Option<Vec<&'l [u8]>> {
        let mut fields = Vec::with_capacity(self.names.len());
        let mut rest = Some(line);
        while fields.len() < self.names.len() {
            let left = rest?;
            let width = self.delimiter.len();
            let end = left
                .windows(width)
                .position(|window| window == self.delimiter);
            let (field, next) = match end {
                Some(end) => (&left[..end], Some(&left[end + width..])),
                None => (left, None),
            };
            fields.push(field);
            rest = next;
        }
        Some(fields)
    }
}

/// The bytes of a delimiter. It is a pattern elsewhere: a backslash before a sign means the sign,
/// and signs that would mean more are refused.
fn delimiter(pattern: &str) -> Outcome<Vec<u8>> {
    let refuse = || {
        Failure::usage(format!(
            "delimiter={pattern} makes no sense here; it is plain text such as a tab or a comma, \
             and not empty"
        ))
    };
    let mut plain = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => plain.push(match letters.next() {
                Some('t') => '\t',
                Some(sign) if !sign.is_alphanumeric() => sign,
                _ => return Err(refuse()),
            }),
            '[' | ']' | '(' | ')' | '{' | '}' | '*' | '+' | '?' | '^' | '$' | '.' => {
                return Err(refuse());
            }
            // Alone it can mean nothing but itself.
            '|' if pattern.len() > 1 => return Err(refuse()),
            plain_letter => plain.push(plain_letter),
        }
    }
    if plain.is_empty() {
        return Err(refuse());
    }
    Ok(plain.into_bytes())
}

#[cfg(test)]
mod tests;
