//! The segments of a directory back into an index, after a crash or a close.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use esker::internals::base::types::error::{Error, ErrorKind, Result};
use esker::internals::base::types::ids::FileNumber;
use esker::internals::env::fs::Fs;
use esker::internals::flow::write::chain::{Front, Link, chain, first_unbroken};
use esker::internals::store::names::FileName;
use esker::internals::store::wal::reader::{Tail, WalReader};
use esker_raft::{GroupId, ReplicaId};

use crate::disk_log::format::{Kind, Parts};
use crate::disk_log::index::Index;
use crate::disk_log::positions::Place;

/// What was lost of a log that was durable.
#[derive(Debug)]
pub struct Loss {
    /// Where, and what is wrong there.
    pub error: Error,
    /// The groups that may have lost something, and their replicas here: they know less than they
    /// promised, so the log has them destroyed, and none of them ever votes again. A group of which
    /// nothing is left, not even that it began, is not among them: who has a state of it and finds
    /// no log does as with these.
    pub groups: Vec<(GroupId, ReplicaId)>,
}

/// What was found in the directory of a log.
#[derive(Debug, Default)]
pub struct Opened {
    /// Bytes behind the last whole record that were dropped, as a crash leaves them: nobody was
    /// told that they are durable.
    pub torn_bytes: u64,
    /// What was lost, or was found damaged and not needed by any group.
    pub loss: Option<Loss>,
    /// Where segments were put that nobody needs any more who may vote, if something was lost.
    pub aside: Option<PathBuf>,
}

/// A log as it was read.
pub struct Replayed {
    /// What it knows.
    pub index: Index,
    /// Its segments, oldest first, with the end of what counts in each.
    pub segments: Vec<(FileNumber, u64)>,
    /// Segments of the directory that are no part of it.
    pub unused: Vec<FileNumber>,
    /// What is to be told.
    pub opened: Opened,
    /// The first damage.
    damage: Option<Error>,
    /// Whether records were lost that no checkpoint has made up for.
    is_broken: bool,
}

/// Numbers of the segments in a directory, in order.
pub fn segments_in(fs: &dyn Fs, dir: &Path) -> Result<Vec<FileNumber>> {
    let names = fs.list(dir)?;
    let numbers = names.iter().filter_map(|name| match FileName::parse(name) {
        // One that nobody gave out would leave no number behind it.
        Some(FileName::Wal(number)) if number.0 < u64::MAX / 2 => Some(number),
        _ => None,
    });
    let mut numbers: Vec<_> = numbers.collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Reads all segments. Changes nothing.
///
/// Errors: those of reading files; `Unsupported` for what another version wrote. Damage is no
/// error: what may have been lost is told.
pub fn replay(fs: &dyn Fs, dir: &Path) -> Result<Replayed> {
    let fronts = Fronts::read(fs, dir)?;
    let links = chain(fs, dir, &fronts.begun)?;
    let first = first_unbroken(&links).unwrap_or(FileNumber(u64::MAX));
    let first = first.max(fronts.oldest_of(&links));
    let mut replayed = Replayed {
        index: Index::default(),
        segments: Vec::new(),
        unused: fronts.never_begun,
        opened: Opened::default(),
        damage: None,
        is_broken: false,
    };
    for link in &links {
        if let Front::Nothing(Tail::Torn { dropped_bytes, .. }) = &link.front {
            replayed.opened.torn_bytes += dropped_bytes;
        }
        if !link.is_part || !link.is_begun() || link.number < first {
            replayed.unused.push(link.number);
            continue;
        }
        if let Some(error) = replayed.read_segment(fs, dir, link)? {
            replayed.is_broken = true;
            replayed.damage.get_or_insert(error);
        }
    }
    replayed.judge();
    Ok(replayed)
}

/// What the segments of a directory begin with.
#[derive(Default)]
struct Fronts {
    /// Segments in order.
    begun: Vec<FileNumber>,
    /// Those of which no checkpoint was written behind the head. These are no part of the log, and
    /// their heads say nothing of others: where an opening was cut off that had found damage, such
    /// a head would hide it.
    never_begun: Vec<FileNumber>,
    /// The oldest segment of the log, as the checkpoint of each says that can be read.
    oldest: BTreeMap<FileNumber, FileNumber>,
}

impl Fronts {
    fn read(fs: &dyn Fs, dir: &Path) -> Result<Fronts> {
        let mut fronts = Fronts::default();
        for number in segments_in(fs, dir)? {
            let path = dir.join(FileName::Wal(number).to_string());
            let mut reader = WalReader::new(fs.open_read(&path)?, number);
            match fronts.note(number, &mut reader) {
                // Damage is told when it is read.
                Err(error) if error.kind() == ErrorKind::Corruption => fronts.begun.push(number),
                noted => noted?,
            }
        }
        Ok(fronts)
    }

    fn note(&mut self, number: FileNumber, reader: &mut WalReader) -> Result<()> {
        if reader.next()?.is_none() {
            // One without a head is the chain's to judge.
            self.begun.push(number);
            return Ok(());
        }
        let Some(second) = reader.next()? else {
            self.never_begun.push(number);
            return Ok(());
        };
        if let Ok((Kind::Checkpoint(oldest), _)) = Parts::of(second) {
            self.oldest.insert(number, oldest);
        }
        self.begun.push(number);
        Ok(())
    }

    // As the newest checkpoint says; segments before were given back, and wait to be used again.
    fn oldest_of(&self, links: &[Link]) -> FileNumber {
        let parts = links.iter().rev();
        let mut parts = parts.filter(|link| link.is_part && link.is_begun());
        let told = parts.find_map(|link| self.oldest.get(&link.number));
        told.copied().unwrap_or(FileNumber(0))
    }
}

impl Replayed {
    // Damage in it is given, and what lies behind in it is passed over.
    fn read_segment(&mut self, fs: &dyn Fs, dir: &Path, link: &Link) -> Result<Option<Error>> {
        let mut end = 0;
        let read = self.follow(&mut link.reader(fs, dir)?, link.number, &mut end);
        self.segments.push((link.number, end));
        let damage = match read {
            Ok(Tail::Clean) => None,
            Ok(Tail::Torn { dropped_bytes, .. }) => {
                self.opened.torn_bytes += dropped_bytes;
                None
            }
            Err(error) if error.kind() == ErrorKind::Corruption => {
                Some(error.in_file(FileName::Wal(link.number)))
            }
            Err(error) => return Err(error),
        };
        // A segment is durable before the next one is begun.
        Ok(damage.or_else(|| {
            let told = link.end.filter(|told| end < *told)?;
            let message =
                format!("it ends at {end}, and the next one says that it ended at {told}");
            let error = Error::corruption(message);
            Some(error.in_file(FileName::Wal(link.number)).at_offset(end))
        }))
    }

    fn follow(
        &mut self,
        reader: &mut WalReader,
        segment: FileNumber,
        end: &mut u64,
    ) -> Result<Tail> {
        let mut count = 0;
        while let Some(record) = reader.next_placed()? {
            let place = Place {
                segment,
                offset: record.offset,
            };
            let record_end = record.end;
            match count {
                // The head, which the chain has read.
                0 => {}
                _ if record.payload.is_empty() => {}
                _ => self.follow_record(record.payload, place, count == 1)?,
            }
            *end = record_end;
            count += 1;
        }
        Ok(reader.tail())
    }

    fn follow_record(&mut self, payload: &[u8], place: Place, is_second: bool) -> Result<()> {
        let (kind, mut parts) = Parts::of(payload)?;
        if matches!(kind, Kind::Checkpoint(_)) != is_second {
            let message =
                "a segment of the raft log has its checkpoint elsewhere than behind its head";
            return Err(Error::corruption(message));
        }
        if !is_second {
            while !parts.is_at_end() {
                self.index.follow(&parts.record()?, place)?;
            }
            return Ok(());
        }
        let told = Index::from_checkpoint(parts)?;
        self.index.follow_destroyed(&told);
        if !self.segments.is_empty() && !self.is_broken && !self.index.agrees_with(&told) {
            let message =
                "a checkpoint of the raft log says something else than the records before it";
            self.damage
                .get_or_insert(Error::corruption(message).in_file(FileName::Wal(place.segment)));
            self.index = told;
        } else if self.segments.is_empty() || self.is_broken {
            // Where an entry lay that lost records may have taken the place of nobody knows: all of
            // before are missing.
            self.index = told;
            self.is_broken = false;
        }
        Ok(())
    }

    // Who may have lost something: behind damage that no checkpoint made up for everyone, else
    // those that lack entries.
    fn judge(&mut self) {
        let suspects = self.index.groups();
        let suspects = suspects.filter(|(_, known)| self.is_broken || known.has_lost());
        let groups: Vec<_> = suspects.map(|(id, known)| (id, known.replica)).collect();
        let missing = || Error::corruption("segments of the raft log are missing");
        let error = self.damage.take();
        let error = error.or_else(|| (!groups.is_empty()).then(missing));
        self.opened.loss = error.map(|error| Loss { error, groups });
    }
}
