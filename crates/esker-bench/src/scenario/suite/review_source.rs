//! Where reviews come from: a file of them, or made text.

use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::make::prose::Prose;
use crate::quantity;
use crate::scenario::suite::review_mix::Mix;
use crate::text::snap;
use crate::text::source::Source;

/// Mean bytes of a made record, to tell how many there will be.
const RECORD_BYTES: u64 = 1000;

/// Bytes of a file's reviews that others are recombined from: all of a sample, and of a large file
/// what memory has room for.
const MIX_BYTES_MAX: u64 = 256 << 20;

/// Reviews one after another, until there are no more or as many bytes as wanted.
pub struct Reviews {
    told: String,
    bytes_left: u64,
    /// Bytes given so far.
    bytes_given: u64,
    /// How many times the bytes of the file are wanted, 1 at least.
    factor: f64,
    /// Reviews of the file, where more are to be made of them.
    kept: Vec<(Vec<u8>, Vec<u8>)>,
    malformed: u64,
    inner: Inner,
}

enum Inner {
    File(Source),
    Mixed(Mix),
    Made(Box<Prose>),
}

impl Reviews {
    /// The reviews of the file at `path`, or made ones without a file; `bytes_max` bounds what
    /// is taken. With a `factor` above 1 there are so many times as many bytes: behind those of
    /// the file come others that are recombined from them.
    ///
    /// Errors: `Failed` where the file cannot be read.
    pub fn open(path: Option<&Path>, bytes_max: u64, factor: f64) -> Outcome<Reviews> {
        let factor = factor.max(1.0);
        let (inner, told) = match path {
            Some(path) => {
                let source = Source::open(path)?;
                let told = format!("reviews of {}", source.name);
                (Inner::File(source), told)
            }
            None => {
                let bytes_max = times(bytes_max, factor);
                let prose = Prose::new(bytes_max / RECORD_BYTES, 1);
                let told = "made text in the shape of reviews, because neither --data nor \
                            ESKER_DATA names a file of real ones"
                    .to_owned();
                (Inner::Made(Box::new(prose)), told)
            }
        };
        let (bytes_max, more) = match &inner {
            Inner::Made(_) => (times(bytes_max, factor), String::new()),
            _ if factor > 1.0 => {
                let told = ", and recombined from them as many as make it";
                (bytes_max, format!("{told} {factor} times that"))
            }
            _ => (bytes_max, String::new()),
        };
        Ok(Reviews {
            told: format!(
                "{told}; at most {}{more}",
                quantity::bytes(bytes_max as f64)
            ),
            bytes_left: bytes_max,
            bytes_given: 0,
            factor,
            kept: Vec::new(),
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
        let mut found = self.next_within()?;
        if found.is_none() && self.begin_mix() {
            found = self.next_within()?;
        }
        if let Some((key, text)) = &found {
            let bytes = (key.len() + text.len()) as u64;
            self.bytes_left = self.bytes_left.saturating_sub(bytes);
            self.bytes_given += bytes;
        }
        Ok(found)
    }

    /// The next one of the present source and within the bound.
    fn next_within(&mut self) -> Outcome<Option<(Vec<u8>, Vec<u8>)>> {
        if self.bytes_left == 0 {
            return Ok(None);
        }
        let source = match &mut self.inner {
            Inner::Made(prose) => return Ok(Some(prose.next_record())),
            Inner::Mixed(mix) => return Ok(mix.next_review()),
            Inner::File(source) => source,
        };
        loop {
            let parsed = snap::next(&mut source.lines)
                .map_err(|error| Failure::system(format!("cannot read {}", source.name), &error))?;
            match parsed {
                None => return Ok(None),
                Some(Ok(record)) => {
                    let pair = (record.key, record.value);
                    if self.factor > 1.0 && self.bytes_given < MIX_BYTES_MAX {
                        self.kept.push(pair.clone());
                    }
                    return Ok(Some(pair));
                }
                Some(Err(_)) => self.malformed += 1,
            }
        }
    }

    /// Turns from the file to what is recombined from it; says whether there is any of that.
    fn begin_mix(&mut self) -> bool {
        let is_wanted = self.factor > 1.0 && matches!(self.inner, Inner::File(_));
        if is_wanted {
            self.inner = Inner::Mixed(Mix::new(std::mem::take(&mut self.kept)));
            self.bytes_left = times(self.bytes_given, self.factor - 1.0);
        }
        is_wanted
    }
}

/// Bytes by a factor; both are far below where either loses a byte.
fn times(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor) as u64
}

#[cfg(test)]
mod tests;
