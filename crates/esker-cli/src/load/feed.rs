//! Writes records into a keyspace, batch by batch, and keeps count.

use esker::{ErrorKind, WriteBatch, WriteOptions};

use crate::fail::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::load::parser::Parser;
use crate::load::record::{Malformed, Record};
use crate::load::source::Source;
use crate::open::Opened;
use crate::progress::Bar;

/// Malformed records that are kept to be shown: enough to see a pattern.
const SHOWN_MAX: usize = 10;

/// What to do with a malformed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnError {
    /// Count it, show the first ten, go on.
    Skip,
    /// Stop there; what came before stays loaded.
    Stop,
}

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What to do with malformed records.
    pub on_error: OnError,
    /// Bytes of a batch after which it is committed.
    pub batch_bytes: usize,
    /// How batches are committed.
    pub write: WriteOptions,
}

/// What came of an input.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Records in the database.
    pub records: u64,
    /// Bytes of their keys and values.
    pub bytes: u64,
    /// Records that were malformed.
    pub malformed: u64,
    /// The first of them, each with its input.
    pub shown: Vec<(String, Malformed)>,
    /// Why it ended early, and the line it came to.
    pub cut_short: Option<(Cut, u64)>,
}

/// Why loading ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Somebody asked to stop.
    Interrupted,
    /// A malformed record is not to be skipped.
    Malformed,
}

/// Writes batches of one load.
pub struct Feed<'a> {
    opened: &'a Opened,
    settings: Settings,
    interrupt: &'a Interrupt,
    batch: WriteBatch,
    waiting: (u64, u64),
    tally: Tally,
}

impl<'a> Feed<'a> {
    /// A feed into the opened keyspace.
    pub fn new(opened: &'a Opened, settings: Settings, interrupt: &'a Interrupt) -> Feed<'a> {
        Feed {
            opened,
            settings,
            interrupt,
            batch: opened.db.batch(),
            waiting: (0, 0),
            tally: Tally::default(),
        }
    }

    /// What was loaded so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Loads one input to its end, or to where it has to stop. When this returns, every record
    /// that is counted is committed.
    pub fn take(&mut self, source: &mut Source, parser: &Parser, bar: &mut Bar) -> Outcome {
        loop {
            let found = match parser.next(&mut source.lines) {
                Ok(found) => found,
                Err(error) => {
                    self.commit()?;
                    let (name, line) = (&source.name, source.lines.number() + 1);
                    let doing = format!("cannot read {name} at line {line}");
                    return Err(Failure::system(doing, &error));
                }
            };
            let cut = match found {
                None => return self.commit(),
                Some(Ok(record)) => self.add(record, source, bar)?,
                Some(Err(malformed)) => self.skip(malformed, source, bar),
            };
            if let Some((cut, line)) = cut {
                self.tally.cut_short = Some((cut, line));
                return self.commit();
            }
        }
    }

    fn add(
        &mut self,
        record: Record,
        source: &Source,
        bar: &mut Bar,
    ) -> Outcome<Option<(Cut, u64)>> {
        let Record { line, key, value } = record;
        match self.batch.put(&self.opened.keyspace, &key, &value) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                let reason = error.message().to_owned();
                return Ok(self.skip(Malformed { line, reason }, source, bar));
            }
            Err(error) => return Err(error.into()),
        }
        self.waiting.0 += 1;
        self.waiting.1 += (key.len() + value.len()) as u64;
        if self.batch.size_bytes() < self.settings.batch_bytes {
            return Ok(None);
        }
        self.commit()?;
        bar.set(source.consumed_bytes());
        let is_asked = self.interrupt.is_raised();
        Ok(is_asked.then_some((Cut::Interrupted, line)))
    }

    /// Counts a malformed record; says whether to stop there.
    fn skip(&mut self, wrong: Malformed, source: &Source, bar: &mut Bar) -> Option<(Cut, u64)> {
        let line = wrong.line;
        self.tally.malformed += 1;
        if self.tally.shown.len() < SHOWN_MAX {
            bar.say(&format!("esker: {}:{line}: {}", source.name, wrong.reason));
            self.tally.shown.push((source.name.clone(), wrong));
        }
        match self.settings.on_error {
            OnError::Stop => Some((Cut::Malformed, line)),
            OnError::Skip if self.interrupt.is_raised() => Some((Cut::Interrupted, line)),
            OnError::Skip => None,
        }
    }

    fn commit(&mut self) -> Outcome {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch.commit_with(self.settings.write)?;
        let (records, bytes) = std::mem::take(&mut self.waiting);
        self.tally.records += records;
        self.tally.bytes += bytes;
        Ok(())
    }
}
