//! Values of the value log, read for repair: each by its pointer, whatever is wrong around it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::base::codec::checksum::crc32c;
use crate::base::types::entry::Entry;
use crate::base::types::error::{Error, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::env::copy::append_range;
use crate::env::fs::{Fs, ReadFile};
use crate::store::names::FileName;
use crate::store::sst::saving::only_damage;
use crate::store::vlog::format::{SEGMENT_HEAD_BYTES, SegmentHead};
use crate::store::vlog::pointer::ValuePointer;

/// Segments open at the same time, far below what systems allow a process.
const OPEN_SEGMENTS_MAX: usize = 64;

/// The segments of a directory. A pointer says all that reading its value takes, so a segment
/// whose head is damaged still gives its values.
pub struct Segments<'a> {
    fs: &'a dyn Fs,
    dir: &'a Path,
    listed: &'a [FileNumber],
    open: BTreeMap<FileNumber, Arc<dyn ReadFile>>,
    /// What is wrong with the heads of segments that were asked for; `None` where nothing is.
    heads: BTreeMap<FileNumber, Option<Error>>,
}

impl<'a> Segments<'a> {
    /// The segments `listed`, ascending, in `dir`.
    pub fn new(fs: &'a dyn Fs, dir: &'a Path, listed: &'a [FileNumber]) -> Segments<'a> {
        Segments {
            fs,
            dir,
            listed,
            open: BTreeMap::new(),
            heads: BTreeMap::new(),
        }
    }

    /// Why the value of an entry is lost, if it lies apart and is; and in which segment it lay.
    ///
    /// Errors: those of reading that are no damage.
    pub fn lost_value(&mut self, entry: &Entry<'_>) -> Result<Option<(FileNumber, Error)>> {
        let Some(pointer) = ValuePointer::of(entry)? else {
            return Ok(None);
        };
        let read = self.check(&pointer);
        Ok(only_damage(read)?
            .err()
            .map(|error| (pointer.segment, error)))
    }

    fn check(&mut self, pointer: &ValuePointer) -> Result<()> {
        let name = FileName::Vlog(pointer.segment);
        let file = self
            .segment(pointer.segment)
            .map_err(|error| error.in_file(name))?;
        let offset = u64::from(pointer.offset);
        let mut value = Vec::new();
        if offset + u64::from(pointer.len) > file.size_bytes() {
            let error = Error::corruption("a value lies behind the end of its segment");
            return Err(error.in_file(name).at_offset(offset));
        }
        file.read_onto(offset, pointer.len as usize, &mut value)
            .map_err(|error| error.in_file(name).at_offset(offset))?;
        if crc32c(&value) == pointer.crc {
            return Ok(());
        }
        let message = format!(
            "a value of {} bytes does not match its checksum",
            value.len()
        );
        Err(Error::corruption(message).in_file(name).at_offset(offset))
    }

    fn segment(&mut self, number: FileNumber) -> Result<Arc<dyn ReadFile>> {
        if let Some(file) = self.open.get(&number) {
            return Ok(Arc::clone(file));
        }
        if self.listed.binary_search(&number).is_err() {
            return Err(Error::corruption("a segment of the value log is missing"));
        }
        let path = self.dir.join(FileName::Vlog(number).to_string());
        let file = self.fs.open_read(&path)?;
        let head = only_damage(read_head(&*file, number))?;
        self.heads.insert(number, head.err());
        if self.open.len() >= OPEN_SEGMENTS_MAX {
            self.open.clear();
        }
        self.open.insert(number, Arc::clone(&file));
        Ok(file)
    }

    /// The segments that were asked for and have a damaged head, and what is wrong with each.
    pub fn broken_heads(&self) -> impl Iterator<Item = (FileNumber, &Error)> {
        let heads = self.heads.iter();
        heads.filter_map(|(number, error)| Some((*number, error.as_ref()?)))
    }
}

fn read_head(file: &dyn ReadFile, number: FileNumber) -> Result<SegmentHead> {
    let mut bytes = [0; SEGMENT_HEAD_BYTES as usize];
    file.read_at(0, &mut bytes)?;
    SegmentHead::decode(&bytes, number)
}

/// Writes a segment anew, all but its head as it is, under the name `temporary`, and gives it its
/// own name: whoever has the old file by another name keeps that.
pub fn mend_head(fs: &dyn Fs, dir: &Path, head: SegmentHead, temporary: FileName) -> Result<()> {
    let path = dir.join(FileName::Vlog(head.number).to_string());
    let temporary = dir.join(temporary.to_string());
    let source = fs.open_read(&path)?;
    let mut target = fs.create(&temporary)?;
    target.append(&head.encode())?;
    append_range(
        &*source,
        &mut *target,
        SEGMENT_HEAD_BYTES..source.size_bytes(),
    )?;
    target.sync()?;
    fs.rename(&temporary, &path)?;
    fs.sync_dir(dir)
}

/// The delete that takes the place of an entry whose value is lost: the key is gone then, where
/// otherwise an older value of it would pass for the newest.
pub fn delete_for(internal_key: &[u8]) -> Vec<u8> {
    let (user_key, trailer) = key::split(internal_key);
    key::encode(user_key, Trailer::new(trailer.seqno(), Kind::Delete))
}
