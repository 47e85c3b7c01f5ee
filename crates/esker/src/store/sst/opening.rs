//! What opening a sorted file takes, whatever its kind: the footer, and parts that stay in memory.

use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::range_delete::RangeDelete;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::format::{BlockHandle, FOOTER_BYTES, SEARCHABLE_VERSION, version_of};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;

/// The last bytes of a sorted file, of which only the version is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RawFooter {
    number: FileNumber,
    offset: u64,
    bytes: [u8; FOOTER_BYTES],
}

impl RawFooter {
    /// Reads what should be the footer of the file `number`. Errors name the file.
    pub fn read(file: &dyn ReadFile, number: FileNumber) -> Result<RawFooter> {
        let size_bytes = file.size_bytes();
        let offset = size_bytes.checked_sub(FOOTER_BYTES as u64).ok_or_else(|| {
            let message =
                format!("is {size_bytes} bytes long, which is too short for a sorted file");
            Error::corruption(message).in_file(FileName::Sst(number))
        })?;
        let mut bytes = [0; FOOTER_BYTES];
        file.read_at(offset, &mut bytes)
            .map_err(|error| error.in_file(FileName::Sst(number)))?;
        Ok(RawFooter {
            number,
            offset,
            bytes,
        })
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    /// Whether it says that the file is a searchable one; it was not checked.
    pub fn is_searchable(&self) -> bool {
        version_of(&self.bytes) == SEARCHABLE_VERSION
    }

    /// Has it checked by `decode`. Errors name the file and the footer's offset.
    pub fn decode<T>(
        &self,
        decode: impl FnOnce(&[u8; FOOTER_BYTES], FileNumber, u64) -> Result<T>,
    ) -> Result<T> {
        decode(&self.bytes, self.number, self.offset).map_err(|error| {
            let error = error.at_offset(self.offset);
            error.in_file(FileName::Sst(self.number))
        })
    }
}

/// Reads the block of one part, and has it understood by `read`. Errors name file and block.
pub fn read_part<T>(
    source: &BlockSource,
    handle: BlockHandle,
    read: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<T> {
    let plain = source.read_plain(handle)?;
    read(&plain).map_err(|error| source.at(error, handle))
}

/// Reads the properties and the range deletes of a file whose keys are to be in `order`.
///
/// Errors: `Invalid` for another order than the file was written with, `NotBuilt` for one that is
/// compressed in a way which this build does not have, else `Corruption`.
pub fn read_description(
    source: &BlockSource,
    comparator: &Comparator,
    props: BlockHandle,
    range_deletes: Option<BlockHandle>,
) -> Result<(Props, Arc<[RangeDelete]>)> {
    let in_file = |error: Error| error.in_file(FileName::Sst(source.number()));
    let props = read_part(source, props, Props::decode)?;
    if props.comparator_name != comparator.name() {
        return Err(in_file(another_comparator(&props, comparator)));
    }
    props.compression.check_built().map_err(in_file)?;
    let range_deletes = match range_deletes {
        None => Vec::new(),
        Some(handle) => read_part(source, handle, |plain| {
            range_deletes::decode(comparator, plain)
        })?,
    };
    if range_deletes.len() as u64 != props.range_delete_count {
        let error = Error::corruption("the number of range deletes is not what it was");
        return Err(in_file(error));
    }
    Ok((props, range_deletes.into()))
}

fn another_comparator(props: &Props, comparator: &Comparator) -> Error {
    let written = props.comparator_name.escape_ascii();
    Error::new(
        ErrorKind::Invalid,
        format!(
            "keys are in the order of comparator \"{written}\", but the keyspace was \
             opened with \"{}\"",
            comparator.name()
        ),
    )
}
