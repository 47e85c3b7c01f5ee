//! Where a rewrite puts values that must lie elsewhere: into fresh segments of its own.
//!
//! Three kinds of values come here: those that live in a segment which is being emptied; those that
//! waited in memory until their memtable is flushed; and those that a rewrite made or met in the
//! tree and that are large enough to lie apart (what operands fold into, or what was written before
//! the threshold was lowered). New pointers and old ones
//! change places with the edit that installs the files, so a crash at any point leaves either the
//! one or the other; and a segment that no edit names is removed like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::codec::checksum::crc32c;
use crate::base::types::bytes::Bytes;
use crate::base::types::entry::Entry;
use crate::base::types::error::{ErrorKind, Result};
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::flow::values::value_log::{Pending, ValueLog};
use crate::store::vlog::format::SEGMENT_HEAD_BYTES;
use crate::store::vlog::packet::{PackedValue, Packet};
use crate::store::vlog::pointer::{ValuePointer, repointed};
use crate::store::vlog::value_pool::Found;
use crate::store::vlog::writer::VlogWriter;

/// What a rewrite does about values.
#[derive(Clone, Debug)]
pub struct RelocationSettings {
    /// The value log.
    pub log: Arc<ValueLog>,
    /// Bytes from which on a value is separated; 0 leaves all where they are.
    pub threshold_bytes: usize,
    /// Segments that are being emptied.
    pub victims: Arc<BTreeSet<FileNumber>>,
}

/// Writes values into segments of its own, front to back.
pub struct ValueRelocator {
    settings: RelocationSettings,
    keyspace: KeyspaceId,
    pending: Pending,
    /// The segment being filled, and what is to be written to it next.
    open: Option<(VlogWriter, Packet)>,
    /// Values of that packet which were in no file before.
    fresh: Vec<(ValuePointer, Bytes)>,
    tally: RelocationTally,
    unpaid_bytes: u64,
}

/// What a relocator did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelocationTally {
    /// Bytes of records written.
    pub written_bytes: u64,
    /// Bytes of values that had waited in memory until now.
    pub settled_bytes: u64,
    /// Segments that keep values which could not be read.
    pub stuck: BTreeSet<FileNumber>,
}

/// An entry with another kind or pointer.
pub type Moved = (Vec<u8>, Bytes);

impl ValueRelocator {
    /// A relocator for values of `keyspace`.
    pub fn new(settings: RelocationSettings, keyspace: KeyspaceId) -> ValueRelocator {
        ValueRelocator {
            pending: settings.log.pending(),
            settings,
            keyspace,
            open: None,
            fresh: Vec::new(),
            tally: RelocationTally::default(),
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
            kind if kind.is_separated() => self.move_on(&entry),
            Kind::Put | Kind::PutExpiring | Kind::PutExpiringMillis => self.part(&entry),
            _ => Ok(None),
        }
    }

    /// Bytes written since this was asked last: for who keeps a background_rate.
    pub fn take_unpaid(&mut self) -> u64 {
        std::mem::take(&mut self.unpaid_bytes)
    }

    /// Makes everything durable but the names of the segments; keeps them from being removed as
    /// long as the result lives.
    pub fn finish(mut self) -> Result<Relocated> {
        self.close()?;
        let log = Arc::clone(&self.settings.log);
        let pending = std::mem::replace(&mut self.pending, log.pending());
        Ok(Relocated {
            pending: Some(pending),
            tally: self.tally,
        })
    }

    fn move_on(&mut self, entry: &Entry<'_>) -> Result<Option<Moved>> {
        let Some(pointer) = ValuePointer::of(entry)? else {
            return Ok(None);
        };
        if pointer.is_to_no_place() {
            return self.settle(entry, &pointer).map(Some);
        }
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
        let moved = self.write(entry.key, value, pointer.crc)?;
        let internal_key = key::encode(entry.key, entry.trailer);
        Ok(Some((internal_key, repointed(entry, &moved))))
    }

    // Files never point to no place: a value that waited in memory is written now, if it was not
    // since. Its memtable keeps it until somebody holds the file.
    fn settle(&mut self, entry: &Entry<'_>, pointer: &ValuePointer) -> Result<Moved> {
        let values = Arc::clone(self.settings.log.values());
        let place = match values.pool().find(pointer) {
            Some(Found::There(place)) => place,
            Some(Found::Here(value)) => {
                let place = self.write(entry.key, value.clone(), pointer.crc)?;
                self.tally.settled_bytes += value.len() as u64;
                self.fresh.push((place, value));
                place
            }
            // Says what is wrong.
            None => return Err(values.stored_value(pointer).expect_err("it is nowhere")),
        };
        let internal_key = key::encode(entry.key, entry.trailer);
        Ok((internal_key, repointed(entry, &place)))
    }

    fn part(&mut self, entry: &Entry<'_>) -> Result<Option<Moved>> {
        let start = entry.kind().expiry_bytes();
        let threshold = self.settings.threshold_bytes;
        if threshold == 0 || entry.value.len() < threshold + start {
            return Ok(None);
        }
        let (expiry, value) = entry.value.split_at(start);
        let crc = crc32c(value);
        let pointer = self.write(entry.key, Bytes::copy_of(value), crc)?;
        let internal_key = key::encode(
            entry.key,
            Trailer::new(entry.seqno(), entry.kind().separated()),
        );
        let raw = [expiry, &pointer.encode()].concat();
        Ok(Some((internal_key, Bytes::from(raw))))
    }

    fn write(&mut self, user_key: &[u8], value: Bytes, crc: u32) -> Result<ValuePointer> {
        let compressed = PackedValue {
            keyspace: self.keyspace,
            key: user_key,
            value,
            crc,
        };
        let bytes = compressed.record_bytes();
        let fits = |(writer, packet): &(VlogWriter, Packet)| {
            packet.end() + bytes <= writer.capacity_bytes()
        };
        if !self.open.as_ref().is_some_and(fits) {
            self.close()?;
            let writer = self
                .settings
                .log
                .begin_separated(bytes, &mut self.pending)?;
            self.open = Some((writer, Packet::at(SEGMENT_HEAD_BYTES)));
        }
        let (writer, packet) = self.open.as_mut().expect("begun just now");
        let pointer = packet.add(writer, compressed);
        if packet.is_full() {
            self.write_packet()?;
        }
        self.tally.written_bytes += bytes;
        self.unpaid_bytes += bytes;
        Ok(pointer)
    }

    fn write_packet(&mut self) -> Result<()> {
        if let Some((writer, packet)) = &mut self.open {
            packet.write(writer)?;
        }
        // Readable in their files from here on, and in memory for as long as there is room.
        for (place, value) in self.fresh.drain(..) {
            self.settings.log.pool().keep_written(&place, value);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        self.write_packet()?;
        let Some((writer, packet)) = self.open.take() else {
            return Ok(());
        };
        self.settings.log.end_separated(&writer, packet.end());
        writer.file().sync()
    }
}

/// What a rewrite made of values: to be kept until its edit is installed, or given up.
#[derive(Default)]
pub struct Relocated {
    /// Keeps the new segments.
    pub pending: Option<Pending>,
    /// What was done.
    pub tally: RelocationTally,
}

impl std::fmt::Debug for Relocated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Relocated({:?})", self.tally)
    }
}
