//! What goes into building a sorted file, and what comes out of it and of a point read.

use esker_phrase::DictionaryId;

use crate::base::codec::compress::CompressionType;
use crate::base::options::sst::SstOptions;
use crate::base::types::bytes::Bytes;
use crate::base::types::comparator::Comparator;
use crate::base::types::error::Result;
use crate::base::types::ids::{FileNumber, KeyspaceId};
use crate::base::types::key::Trailer;
use crate::store::sst::props::Props;

/// How one sorted file is to be built.
#[derive(Clone, Debug)]
pub struct BuildSettings {
    /// Number of the file; mixed into every checksum.
    pub number: FileNumber,
    /// How its keys compare.
    pub comparator: Comparator,
    /// The keyspace's settings of sorted files.
    pub sst: SstOptions,
    /// How blocks are compressed: the level decides which of the two in `sst`.
    pub compression: CompressionType,
    /// Whose entries these are.
    pub keyspace: KeyspaceId,
    /// Wall time, for people; unix seconds.
    pub created_unix_s: u64,
}

/// How far a look at a file has come that says what will be read, and waits for nothing.
#[derive(Debug)]
pub enum Announced<P> {
    /// The file has no entry of the key that is visible, but for what range deletes say.
    Absent,
    /// A part of the index will be read soon; then the look is to go on.
    Index,
    /// Where the entry would be; what has to be read of it was announced.
    Place(P),
}

impl<P> Announced<P> {
    /// The same, with the place made into another.
    pub fn try_map<Q>(self, into: impl FnOnce(P) -> Result<Q>) -> Result<Announced<Q>> {
        Ok(match self {
            Announced::Absent => Announced::Absent,
            Announced::Index => Announced::Index,
            Announced::Place(place) => Announced::Place(into(place)?),
        })
    }
}

/// A sorted file that is complete and durable (its directory entry is the caller's matter).
#[derive(Clone, Debug)]
pub struct FinishedSst {
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// What the file says about itself.
    pub props: Props,
    /// Whether it is searched while it is compressed.
    pub is_searchable: bool,
    /// Values that phrases were looked for in; `None` without a dictionary.
    pub compressed: Option<CompressionTally>,
}

/// What became of values that were compressed anew, by a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionTally {
    /// The dictionary.
    pub dictionary: DictionaryId,
    /// Their bytes before.
    pub plain_bytes: u64,
    /// Their bytes in the file.
    pub compressed_bytes: u64,
}

impl CompressionTally {
    /// Nothing yet, by that dictionary.
    pub fn new(dictionary: DictionaryId) -> CompressionTally {
        CompressionTally {
            dictionary,
            plain_bytes: 0,
            compressed_bytes: 0,
        }
    }

    /// Counts what another one counted.
    ///
    /// # Panics
    /// When that was by another dictionary.
    pub fn add(&mut self, other: CompressionTally) {
        assert_eq!(self.dictionary, other.dictionary);
        self.plain_bytes += other.plain_bytes;
        self.compressed_bytes += other.compressed_bytes;
    }
}

/// An entry that a point read found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Sequence number and kind.
    pub trailer: Trailer,
    /// The raw value: for `PutExpiring` with the expiry in front.
    pub value: Bytes,
}
