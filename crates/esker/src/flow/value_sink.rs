//! Where a rewrite puts values that must lie elsewhere: into fresh segments of its own.
//!
//! Two kinds of values come here: those that live in a segment which is being emptied, and those
//! that a rewrite made or met in the tree and that are large enough to lie apart (what operands
//! fold into, or what was written before the threshold was lowered). New pointers and old ones
//! change places with the edit that installs the files, so a crash at any point leaves either the
//! one or the other; and a segment that no edit names is removed like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::entry::{EXPIRY_BYTES, Entry};
use crate::base::types::error::{ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::flow::value_log::{Pending, ValueLog};
use crate::store::vlog::format::SEGMENT_HEAD_BYTES;
use crate::store::vlog::pointer::{ValuePointer, repointed};
use crate::store::vlog::writer::{NewValue, VlogWriter};

/// What a rewrite does about values.
#[derive(Clone, Debug)]
pub struct SinkSettings {
    /// The value log.
    pub log: Arc<ValueLog>,
    /// Bytes from which on a value lies apart; 0 leaves all where they are.
    pub threshold_bytes: usize,
    /// Segments that are being emptied.
    pub victims: Arc<BTreeSet<FileNumber>>,
}

/// Writes values into segments of its own, front to back.
pub struct ValueSink {
    settings: SinkSettings,
    keyspace: KeyspaceId,
    pending: Pending,
    /// The segment being filled, and where it ends so far.
    open: Option<(VlogWriter, u64)>,
    tally: SinkTally,
    unpaid_bytes: u64,
}

/// What a sink did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SinkTally {
    /// Bytes of records written.
    pub written_bytes: u64,
    /// Segments that keep values which could not be read.
    pub stuck: BTreeSet<FileNumber>,
}

/// An entry with another kind or pointer.
pub type Moved = (Vec<u8>, Bytes);

impl ValueSink {
    /// A sink for values of `keyspace`.
    pub fn new(settings: SinkSettings, keyspace: KeyspaceId) -> ValueSink {
        ValueSink {
            pending: settings.log.pending(),
            settings,
            keyspace,
            open: None,
            tally: SinkTally::default(),
            unpaid_bytes: 0,
        }
    }

    /// Moves the value of an entry, if it must lie elsewhere; gives the entry that stands for it
    /// then.
    ///
    /// Errors: those of reading and writing. A value that is damaged stays where it is.
    #[inline]
    pub fn take(&mut self, internal_key: &[u8], raw: &[u8]) -> Result<Option<Moved>> {
        let entry = Entry::from_internal(internal_key, raw);
        match entry.kind() {
            Kind::PutApart | Kind::PutApartExpiring if !self.settings.victims.is_empty() => {
                self.move_on(&entry)
            }
            Kind::Put => self.part(&entry, 0, Kind::PutApart),
            Kind::PutExpiring => self.part(&entry, EXPIRY_BYTES, Kind::PutApartExpiring),
            _ => Ok(None),
        }
    }

    /// Bytes written since this was asked last: for who keeps a pace.
    pub fn take_unpaid(&mut self) -> u64 {
        std::mem::take(&mut self.unpaid_bytes)
    }

    /// Makes everything durable but the names of the segments; keeps them from being removed as
    /// long as the result lives.
    pub fn finish(mut self) -> Result<Sunk> {
        self.close()?;
        let log = Arc::clone(&self.settings.log);
        let pending = std::mem::replace(&mut self.pending, log.pending());
        Ok(Sunk {
            pending: Some(pending),
            tally: self.tally,
        })
    }

    fn move_on(&mut self, entry: &Entry<'_>) -> Result<Option<Moved>> {
        let Some(pointer) = ValuePointer::of(entry)? else {
            return Ok(None);
        };
        if !self.settings.victims.contains(&pointer.segment) {
            return Ok(None);
        }
        let value = match self.settings.log.values().value(&pointer) {
            Ok(value) => value,
            Err(error) if error.kind() == ErrorKind::Corruption => {
                self.tally.stuck.insert(pointer.segment);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let moved = self.write(entry.key, &value)?;
        let internal_key = key::encode(entry.key, entry.trailer);
        Ok(Some((internal_key, repointed(entry, &moved))))
    }

    fn part(&mut self, entry: &Entry<'_>, start: usize, kind: Kind) -> Result<Option<Moved>> {
        let threshold = self.settings.threshold_bytes;
        if threshold == 0 || entry.value.len() < threshold + start {
            return Ok(None);
        }
        let (expiry, value) = entry.value.split_at(start);
        let pointer = self.write(entry.key, value)?;
        let internal_key = key::encode(entry.key, Trailer::new(entry.seqno(), kind));
        let raw = [expiry, &pointer.encode()].concat();
        Ok(Some((internal_key, Bytes::from(raw))))
    }

    fn write(&mut self, user_key: &[u8], value: &[u8]) -> Result<ValuePointer> {
        let new = NewValue {
            keyspace: self.keyspace,
            key: user_key,
            value,
        };
        let bytes = new.record_bytes();
        let fits = |(writer, end): &(VlogWriter, u64)| end + bytes <= writer.capacity_bytes();
        if !self.open.as_ref().is_some_and(fits) {
            self.close()?;
            let writer = self.settings.log.begin_apart(bytes, &mut self.pending)?;
            self.open = Some((writer, SEGMENT_HEAD_BYTES));
        }
        let (writer, end) = self.open.as_mut().expect("begun just now");
        let pointer = writer.write(*end, &new)?;
        *end += bytes;
        self.tally.written_bytes += bytes;
        self.unpaid_bytes += bytes;
        Ok(pointer)
    }

    fn close(&mut self) -> Result<()> {
        let Some((writer, end)) = self.open.take() else {
            return Ok(());
        };
        self.settings.log.end_apart(&writer, end);
        writer.file().sync()
    }
}

/// What a rewrite made of values: to be kept until its edit is installed, or given up.
#[derive(Default)]
pub struct Sunk {
    /// Keeps the new segments.
    pub pending: Option<Pending>,
    /// What was done.
    pub tally: SinkTally,
}

impl std::fmt::Debug for Sunk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sunk({:?})", self.tally)
    }
}
