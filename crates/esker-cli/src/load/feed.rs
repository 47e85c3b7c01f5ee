//! Writes records into a keyspace, batch by batch, and keeps count.

use std::collections::BTreeMap;

use esker::internals::base::options::catalog::set_keyspace;
use esker::{ErrorKind, Keyspace, KeyspaceOptions, WriteBatch, WriteOptions};

use crate::fail::{Failure, Outcome};
use crate::interrupt::Interrupt;
use crate::load::bulk::{Bulk, Ends};
use crate::load::entry::{Entry, Found};
use crate::load::parser::Parser;
use crate::load::whole::Head;
use crate::open::Opened;
use crate::progress::{Bar, Spinner};
use esker_bench::text::record::Malformed;
use esker_bench::text::source::Source;

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

/// An opened input.
pub struct Input {
    /// Its lines.
    pub source: Source,
    /// What makes entries of them.
    pub parser: Parser,
    /// What stood before the entries, when it is a whole dump.
    pub head: Option<Head>,
}

/// Writes batches of one load.
pub struct Feed<'a> {
    opened: &'a Opened,
    settings: Settings,
    interrupt: &'a Interrupt,
    /// The keyspaces that entries named so far.
    keyspaces: BTreeMap<String, Keyspace>,
    batch: WriteBatch,
    /// Takes the place of batches where it is there.
    bulk: Option<Bulk>,
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
            keyspaces: BTreeMap::new(),
            batch: opened.db.batch(),
            bulk: None,
            waiting: (0, 0),
            tally: Tally::default(),
        }
    }

    /// The same by sorted files, which the database gets at the end.
    pub fn by_files(self, bulk: Option<Bulk>) -> Feed<'a> {
        Feed { bulk, ..self }
    }

    /// Has the database take in what lies in sorted files. All that is counted is in it then.
    pub fn finish(&mut self, last_line: u64) -> Outcome {
        let Some(bulk) = self.bulk.take() else {
            return Ok(());
        };
        let _spinner = Spinner::start("taking the files in");
        let taken = bulk.finish(&self.opened.db, self.interrupt);
        if !matches!(taken, Ok(true)) {
            self.count_nothing();
        }
        if !taken? {
            self.tally.cut_short = Some((Cut::Interrupted, last_line));
        }
        Ok(())
    }

    /// Forgets what lies in sorted files, for a load that was stopped.
    pub fn give_up(&mut self) {
        if self.bulk.take().is_some() {
            self.count_nothing();
        }
    }

    fn count_nothing(&mut self) {
        (self.tally.records, self.tally.bytes) = (0, 0);
    }

    /// What was loaded so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Makes the keyspaces of a whole dump as they were, where they are not there.
    pub fn make_keyspaces(&mut self, head: &Head) -> Outcome {
        for (name, settings) in &head.0 {
            let mut options = KeyspaceOptions::default();
            for (setting, text) in settings {
                set_keyspace(&mut options, setting, text)?;
            }
            let db = &self.opened.db;
            let keyspace = match db.existing_keyspace(name) {
                Some(keyspace) if name == db.default_keyspace().name() => keyspace,
                _ => db.keyspace_with(name, options)?,
            };
            self.keyspaces.insert(name.clone(), keyspace);
        }
        Ok(())
    }

    /// Loads one input to its end, or to where it has to stop. When this returns, every record
    /// that is counted is committed. An input with a head is a whole dump, and has an end.
    pub fn take(&mut self, input: &mut Input, bar: &mut Bar) -> Outcome {
        let (source, parser) = (&mut input.source, &input.parser);
        let is_whole = input.head.is_some();
        let mut end = None;
        let seen_before = self.seen();
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
                None => break,
                Some(Ok(Found::Entry(entry))) => self.add(entry, is_whole, source, bar)?,
                Some(Ok(Found::End { entries, .. })) => {
                    end = Some(entries);
                    None
                }
                Some(Err(malformed)) => self.skip(malformed, source, bar),
            };
            if let Some((cut, line)) = cut {
                self.tally.cut_short = Some((cut, line));
                return self.commit();
            }
        }
        self.commit()?;
        if is_whole && end != Some(self.seen() - seen_before) {
            let what_is_there = match self.bulk {
                None => "what it has is loaded, but is not all that was dumped",
                Some(_) => "nothing was loaded",
            };
            return Err(Failure::failed(format!(
                "{} is not whole: it was cut short, or lines of it are missing; {what_is_there}",
                source.name
            )));
        }
        Ok(())
    }

    /// Entries that were found so far, committed or malformed.
    fn seen(&self) -> u64 {
        self.tally.records + self.tally.malformed
    }

    fn add(
        &mut self,
        entry: Entry,
        is_whole: bool,
        source: &Source,
        bar: &mut Bar,
    ) -> Outcome<Option<(Cut, u64)>> {
        let (line, bytes) = (entry.line, entry.key.len() + entry.value.len());
        let batch_bytes = self.settings.batch_bytes;
        // What fills a batch alone is written alone, without copying it into one.
        let is_alone = bytes >= batch_bytes;
        if is_alone {
            self.commit()?;
        }
        match self.put(&entry, is_whole, is_alone)? {
            Ok(()) => {}
            // What is wrong with the entry alone; settings were checked before.
            Err(error) if matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::Invalid) => {
                let reason = error.message().to_owned();
                return Ok(self.skip(Malformed { line, reason }, source, bar));
            }
            Err(error) => return Err(error.into()),
        }
        self.waiting.0 += 1;
        self.waiting.1 += bytes as u64;
        // Large values are no part of the batch's own size.
        let waiting_bytes = self.batch.size_bytes().max(self.waiting.1 as usize);
        if waiting_bytes < batch_bytes {
            return Ok(None);
        }
        self.commit()?;
        bar.set(source.consumed_bytes());
        let is_asked = self.interrupt.is_raised();
        Ok(is_asked.then_some((Cut::Interrupted, line)))
    }

    // A whole dump says of each entry how long it lives; any other input says nothing, or when an
    // entry ends, and the keyspace's time to live goes where it says nothing.
    fn put(&mut self, entry: &Entry, is_whole: bool, is_alone: bool) -> Outcome<esker::Result<()>> {
        let keyspace = match &entry.keyspace {
            None => &self.opened.keyspace,
            Some(name) => {
                if !self.keyspaces.contains_key(name) {
                    let keyspace = match self.opened.db.keyspace(name) {
                        Ok(keyspace) => keyspace,
                        refused => return Ok(refused.map(drop)),
                    };
                    self.keyspaces.insert(name.clone(), keyspace);
                }
                &self.keyspaces[name]
            }
        };
        let (key, value) = (&entry.key, &entry.value);
        let is_own = entry.expiry.is_none() && !is_whole;
        if let Some(bulk) = &mut self.bulk {
            let ends = match is_own {
                true => Ends::AsTheKeyspaceSays,
                false => Ends::At(entry.expiry),
            };
            return bulk.put(keyspace, key, value, ends);
        }
        if is_alone {
            let keyspace = keyspace.with_write(self.settings.write);
            return Ok(match is_own {
                true => keyspace.put(key, value),
                false => keyspace.put_until(key, value, entry.expiry),
            });
        }
        match is_own {
            true => self.batch.put(keyspace, key, value),
            false => {
                let expiry = entry.expiry;
                self.batch.put_until(keyspace, key, value, expiry)
            }
        };
        Ok(self.batch.take_refusal().map_or(Ok(()), Err))
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
        if !self.batch.is_empty() {
            self.batch.commit_with(self.settings.write)?;
        }
        let (records, bytes) = std::mem::take(&mut self.waiting);
        self.tally.records += records;
        self.tally.bytes += bytes;
        Ok(())
    }
}
