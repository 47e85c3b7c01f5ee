//! First act: text becomes entries.

use std::path::Path;

use esker::Db;

use crate::demo::measure::Timings;
use crate::demo::stage::{Act, Books, checksum};
use crate::demo::texts::{self, Texts};
use crate::fail::{Failure, Outcome};
use crate::load::entry::Found;
use crate::load::parser::{InputFormat, Parser, Wishes};
use crate::load::source::Source;
use crate::progress::Bar;
use crate::text::Format;

/// What the first act leaves behind.
pub struct Filled {
    /// Its line in the summary.
    pub act: Act,
    /// Every key with the checksum of its value.
    pub books: Books,
    /// Bytes of all keys and values that were put.
    pub raw_bytes: u64,
}

/// Puts every record, one call each.
pub fn fill(db: &Db, texts: &Texts) -> Outcome<Filled> {
    let mut timings = Timings::new();
    let mut books = Books::new();
    let mut raw_bytes = 0;
    let mut bar = Bar::bytes("loading", None);
    let mut put = |key: &[u8], value: &[u8]| -> Outcome {
        timings.time(|| db.put(key, value))?;
        books.insert(key.to_vec(), checksum(value));
        raw_bytes += (key.len() + value.len()) as u64;
        bar.set(raw_bytes);
        Ok(())
    };
    match texts {
        Texts::File(path) => records_of(path, &mut put)?,
        Texts::Folders { folders, .. } => texts::for_each_record(folders, &mut put)?,
    }
    drop(bar);
    if books.is_empty() {
        return Err(Failure::failed(
            "the text has no records; name another file in ESKER_DATA",
        ));
    }
    // What is in memory only would not show in the picture and the sizes.
    db.flush()?;
    let proved = "every record is put by a call of its own".into();
    let act = Act {
        name: "load",
        unit: "puts",
        timings,
        proved,
    };
    Ok(Filled {
        act,
        books,
        raw_bytes,
    })
}

fn records_of(path: &Path, put: &mut dyn FnMut(&[u8], &[u8]) -> Outcome) -> Outcome {
    let mut source = Source::open(path)?;
    let failed = |name: &str, error| Failure::system(format!("cannot read {name}"), &error);
    let wishes = Wishes {
        format: InputFormat::Auto,
        key_field: None,
        is_literal: false,
        key_format: Format::Text,
        value_format: Format::Text,
    };
    let name = source.name.clone();
    let parser = Parser::choose(&wishes, &name, &mut source.lines);
    let Some(parser) = parser.map_err(|error| failed(&name, error))? else {
        return Err(Failure::failed(format!(
            "cannot see the format of {name}; ESKER_DATA names reviews, tsv or JSON lines"
        )));
    };
    let mut malformed = 0_u64;
    loop {
        match parser
            .next(&mut source.lines)
            .map_err(|error| failed(&name, error))?
        {
            None => break,
            Some(Ok(Found::Entry(entry))) => put(&entry.key, &entry.value)?,
            Some(Ok(Found::End { .. })) => {}
            Some(Err(_)) => malformed += 1,
        }
    }
    if malformed > 0 {
        remark!("{malformed} malformed records were left out");
    }
    Ok(())
}
