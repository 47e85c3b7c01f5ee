//! Where reviews come from: a file of them, or made text.

use std::path::Path;

use crate::disk::space::bytes_text;
use crate::fail::{Failure, Outcome};
use crate::make::prose::Prose;
use crate::text::snap;
use crate::text::source::Source;

/// Mean bytes of a made record, to tell how many there will be.
const RECORD_BYTES: u64 = 1000;

/// Reviews one after another, until there are no more or as many bytes as wanted.
pub struct Reviews {
    told: String,
    bytes_left: u64,
    malformed: u64,
    inner: Inner,
}

enum Inner {
    File(Source),
    Made(Box<Prose>),
}

impl Reviews {
    /// The reviews of the file at `path`, or made ones without a file; `bytes_max` bounds what
    /// is taken.
    ///
    /// Errors: `Failed` where the file cannot be read.
    pub fn open(path: Option<&Path>, bytes_max: u64) -> Outcome<Reviews> {
        let (inner, told) = match path {
            Some(path) => {
                let source = Source::open(path)?;
                let told = format!("reviews of {}", source.name);
                (Inner::File(source), told)
            }
            None => {
                let prose = Prose::new(bytes_max / RECORD_BYTES, 1);
                let told = "made text in the shape of reviews, because neither --data nor \
                            ESKER_DATA names a file of real ones"
                    .to_owned();
                (Inner::Made(Box::new(prose)), told)
            }
        };
        Ok(Reviews {
            told: format!("{told}; at most {}", bytes_text(bytes_max)),
            bytes_left: bytes_max,
            malformed: 0,
            inner,
        })
    }

    /// What they are, for people.
    pub fn told(&self) -> &str {
        &self.told
    }

    /// Records left out because they were malformed.
    pub fn malformed(&self) -> u64 {
        self.malformed
    }

    /// The next key and its text.
    pub fn next_review(&mut self) -> Outcome<Option<(Vec<u8>, Vec<u8>)>> {
        if self.bytes_left == 0 {
            return Ok(None);
        }
        let found = match &mut self.inner {
            Inner::Made(prose) => Some(prose.next_record()),
            Inner::File(source) => loop {
                let parsed = snap::next(&mut source.lines);
                let parsed = parsed.map_err(|error| {
                    Failure::system(format!("cannot read {}", source.name), &error)
                })?;
                match parsed {
                    None => break None,
                    Some(Ok(record)) => break Some((record.key, record.value)),
                    Some(Err(_)) => self.malformed += 1,
                }
            },
        };
        if let Some((key, text)) = &found {
            let bytes = (key.len() + text.len()) as u64;
            self.bytes_left = self.bytes_left.saturating_sub(bytes);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests;
