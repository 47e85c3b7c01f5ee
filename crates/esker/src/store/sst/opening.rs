//! What opening a sorted file takes, whatever its kind: the footer, and parts that stay in memory.

use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::base::types::range_delete::RangeDelete;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::sst::adoption::FileBinding;
use crate::store::sst::block::fetch::BlockSource;
use crate::store::sst::format::{
    BlockHandle, FOOTER_BYTES, SEARCHABLE_VERSION, number_of, version_of,
};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;

/// The last bytes of a sorted file, of which only the version is looked at.
#[derive(Clone, Copy, Debug)]
pub struct RawFooter {
    number: FileNumber,
    bound: FileNumber,
    offset: u64,
    bytes: [u8; FOOTER_BYTES],
}

impl RawFooter {
    /// Reads what should be the footer of the file that is known so. Errors name the file.
    pub fn read(file: &dyn ReadFile, binding: impl Into<FileBinding>) -> Result<RawFooter> {
        let FileBinding { number, bound, .. } = binding.into();
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
            bound,
            offset,
            bytes,
        })
    }

    /// Number of the file.
    pub fn number(&self) -> FileNumber {
        self.number
    }

    /// The number that it says the file was written under; it was not checked.
    pub fn stored_number(&self) -> FileNumber {
        number_of(&self.bytes)
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
        decode(&self.bytes, self.bound, self.offset).map_err(|error| {
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

/// What every open sorted file has, whatever its kind.
#[derive(Debug)]
pub struct OpenSst {
    source: BlockSource,
    comparator: Comparator,
    range_deletes: Arc<[RangeDelete]>,
    props: Props,
}

/// Where what stays in memory lies in a file.
#[derive(Clone, Copy, Debug)]
pub struct KeptParts {
    /// Where the first of all these parts begins: they lie side by side in front of the footer.
    pub start: u64,
    /// The properties.
    pub props: BlockHandle,
    /// The range deletes, if there are any.
    pub range_deletes: Option<BlockHandle>,
}

impl OpenSst {
    /// Reads the properties and the range deletes, and says that what lies beside them will be read
    /// soon.
    ///
    /// Errors: `Invalid` for another order of keys than the file was written with, `NotBuilt` for
    /// one that is compressed in a way which this build does not have, else `Corruption`.
    pub fn open(source: BlockSource, comparator: Comparator, parts: KeptParts) -> Result<OpenSst> {
        source.prefetch(parts.start, source.size_bytes().saturating_sub(parts.start));
        let in_file = |error: Error| error.in_file(FileName::Sst(source.number()));
        let props = read_part(&source, parts.props, Props::decode)?;
        check_readable(&props, &comparator).map_err(in_file)?;
        let range_deletes = match parts.range_deletes {
            None => Vec::new(),
            Some(handle) => read_part(&source, handle, |plain| {
                range_deletes::decode(&comparator, plain)
            })?,
        };
        if range_deletes.len() as u64 != props.range_delete_count {
            let error = Error::corruption("the number of range deletes is not what it was");
            return Err(in_file(error));
        }
        Ok(OpenSst {
            range_deletes: range_deletes.into(),
            source,
            comparator,
            props,
        })
    }

    /// Where the file's blocks come from.
    #[inline]
    pub fn source(&self) -> &BlockSource {
        &self.source
    }

    /// The same, of a file that nobody else has.
    pub fn source_mut(&mut self) -> &mut BlockSource {
        &mut self.source
    }

    /// How the file's keys compare.
    #[inline]
    pub fn comparator(&self) -> &Comparator {
        &self.comparator
    }

    /// The file's range deletes, by ascending start.
    #[inline]
    pub fn range_deletes(&self) -> &Arc<[RangeDelete]> {
        &self.range_deletes
    }

    /// What the file says about itself.
    #[inline]
    pub fn props(&self) -> &Props {
        &self.props
    }

    /// Number of the file.
    #[inline]
    pub fn number(&self) -> FileNumber {
        self.source.number()
    }

    /// Bytes of memory that the range deletes take.
    pub fn pinned_bytes(&self) -> usize {
        range_deletes::size_bytes(&self.range_deletes)
    }
}

/// Whether this program can read a file that says that about itself, with keys in that order.
///
/// Errors: `Invalid` for another order than the file was written with, `NotBuilt` for one that is
/// compressed in a way which this build does not have.
pub fn check_readable(props: &Props, comparator: &Comparator) -> Result<()> {
    match props.comparator_name == comparator.name() {
        true => props.compression.check_built(),
        false => Err(another_comparator(props, comparator)),
    }
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
