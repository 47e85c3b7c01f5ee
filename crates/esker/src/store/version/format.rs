//! Byte layout of the manifest's records and of CURRENT.
//!
//! A manifest is a log (`store/wal`) whose first record is a snapshot and whose other records
//! are edits; empty records are the log's own marks, and say nothing. Integers are
//! little-endian, or varints where it says so; `bytes` and `text` (which is UTF-8) have their
//! length in front as a varint.
//!
//! Snapshot record:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | bytes | `eskermf\n`: this is a manifest of Esker |
//! | 8 | 4 | u32 | format version of the database, at least 1 |
//! | 12 | 8 | u64 | number of this manifest's file |
//! | 20 | 16 | bytes | database id |
//! | 36 | 8 | u64 | when the database was created, unix seconds |
//! | 44 | – | changes | those that make the version out of nothing |
//!
//! Edit record: changes, one behind the other. A change is a tag (u8), the length of its body
//! (varint), and the body:
//!
//! | tag | change | body |
//! |---|---|---|
//! | 0x01 | add file | keyspace varint, level u8, run varint, file |
//! | 0x02 | remove file | keyspace varint, level u8, number varint |
//! | 0x03 | create keyspace | id varint, name text, order text, merge, settings |
//! | 0x04 | drop keyspace | id varint |
//! | 0x05 | change settings | id varint, merge, settings |
//! | 0x06 | set first log | number varint |
//! | 0x07 | set next file | number varint |
//! | 0x08 | set last seqno | seqno varint |
//! | 0x09 | set next keyspace | id varint |
//! | 0x0a | set format | version varint |
//! | 0x0b | set flushed | keyspace varint, seqno varint |
//! | 0x0c | set mark | keyspace varint, mark bytes; from format 2 on |
//! | 0x0d | set clock | keyspace varint, unix milliseconds varint; from format 4 on |
//!
//! Changes act in their order, but for those to files: of all that a record does to the files of a
//! keyspace, removals come first. What is set under the tags 0x06 to 0x09, 0x0b and 0x0d never goes
//! back: a smaller number changes nothing. A keyspace that is dropped takes its files with it.
//!
//! - file: number varint, size varint, flags u8 (bit 0: the largest key is exclusive; bit 1: an
//!   expiry follows; bit 2: live bytes of the value log follow; bit 3: the file is searchable; bit
//!   4: raw bytes follow; bit 5: what passes follows; bit 6: it was adopted; from format 2 on;
//!   bit 7: an expiry in it has milliseconds; from format 3 on),
//!   smallest bytes, largest bytes, smallest seqno varint, largest seqno varint, entries varint,
//!   deletes varint, range deletes varint, with bit 1 newest expiry u32, with bit 2 what
//!   `store/vlog/live_bytes` describes, at least one, with bit 4 the bytes of user keys and values
//!   before packing, varint, at least 1, with bit 5 what passes by itself, as in
//!   `store/sst/passing`, with bit 6 the number under which the file was written, varint, and the
//!   smallest seqno in it, varint, as in `store/sst/adoption`: every seqno is as much larger here
//!   than in the file as smallest seqno is. Keys and seqnos are those of range deletes too: largest
//!   is exclusive where it is the end of one.
//! - merge: u8 0, or u8 1 and the operator's name as text.
//! - settings: count varint, then name text and value text of each, names ascending.
//! - first log: segments of the write-ahead log with smaller numbers count no more. Flushed: no
//!   entry of the keyspace up to that seqno counts that lies in the log.
//! - mark: at most 512 bytes, whose meaning is the user's; none takes the mark away. Only of a
//!   keyspace with the setting `unlogged` = `true`, which no change of its settings changes, and
//!   which is in databases of format 2 on.
//! - clock: what time it is for what ends in the files of the keyspace. Only of one with the
//!   setting `own_clock` = `true`, which no change of its settings changes, and which has
//!   `unlogged` = `true` too.
//!
//! Tags from 0x80 on are optional (none is in use yet): a program that does not know one skips
//! it. Others it must know: the record was written by a newer Esker otherwise.
//!
//! Valid if and only if the first record that is not empty is a snapshot, of a known version and
//! with the number in the file's name; every body ends where its length says; every flag and level
//! is one named here; keys, names (not empty), marks and seqnos are within `base/types/limits.rs`;
//! a run is 0 below level 0; and each record fits what those before it came to
//! (`store/version/apply`).
//!
//! CURRENT is text of two lines, of which the first says which manifest counts: its name, a
//! space, the CRC32C of that name as eight hexadecimal digits, a line feed. The second is the
//! durable mark: the offset up to which that manifest was known to be durable, as ten decimal
//! digits, a space, the CRC32C of name, space and digits, a line feed. CURRENT is valid if and only
//! if it begins with exactly the first. The second is durable with the first when a manifest is
//! begun, and then written over in place after each synced edit, without a sync of its own: where
//! it is not exactly that, as a power cut may leave it, nothing is known. A manifest that ends
//! before its mark has lost edits that were acknowledged
//! (docs/decisions/0014-current-says-how-far.md).

use crate::base::codec::checksum::crc32c;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::FileNumber;
use crate::store::names::FileName;

/// The format in which a database begins, and stays until something is written to it that this
/// format does not have: an Esker that knows no newer one reads it as long as that
/// (docs/decisions/0020-typed-log-records.md).
pub const FORMAT_VERSION: u32 = 1;

/// The newest format that this program reads, and writes where it is needed. Format 2 has records
/// of other kinds than batches in the write-ahead log, adopted files, and keyspaces that are kept
/// out of the log; format 3 has expiries that are no whole seconds; format 4 has keyspaces with a
/// clock of their own.
pub const FORMAT_NEWEST: u32 = 4;

/// The first format whose log may have transactions that are prepared.
pub const TWO_PHASES_FORMAT: u32 = 2;

/// The first format in which a file may be an adopted one.
pub const ADOPTED_FORMAT: u32 = 2;

/// The first format in which a keyspace may be unlogged: an Esker that knows no such thing would
/// log writes to it.
pub const UNLOGGED_FORMAT: u32 = 2;

/// The first format in which an expiry may be another moment than a whole second.
pub const MILLIS_FORMAT: u32 = 3;

/// The first format in which a keyspace may have a clock of its own: an Esker that knows no such
/// thing would drop by the machine's clock what has not ended.
pub const CLOCK_FORMAT: u32 = 4;

/// What a snapshot record begins with. The line feed shows a copy that was treated as text.
pub const SNAPSHOT_MAGIC: [u8; 8] = *b"eskermf\n";

/// Bytes of a snapshot record before its changes.
pub const SNAPSHOT_HEAD_BYTES: usize = 44;

/// Bytes of a database id.
pub const DATABASE_ID_BYTES: usize = 16;

const _: () = assert!(SNAPSHOT_HEAD_BYTES == 8 + 4 + 8 + DATABASE_ID_BYTES + 8);

/// Tags from here on may be skipped by a program that does not know them.
pub const OPTIONAL_TAG: u8 = 0x80;

/// See the table of changes above.
pub const TAG_ADD_FILE: u8 = 0x01;
/// See the table of changes above.
pub const TAG_REMOVE_FILE: u8 = 0x02;
/// See the table of changes above.
pub const TAG_CREATE_KEYSPACE: u8 = 0x03;
/// See the table of changes above.
pub const TAG_DROP_KEYSPACE: u8 = 0x04;
/// See the table of changes above.
pub const TAG_CHANGE_SETTINGS: u8 = 0x05;
/// See the table of changes above.
pub const TAG_SET_FIRST_LOG: u8 = 0x06;
/// See the table of changes above.
pub const TAG_SET_NEXT_FILE: u8 = 0x07;
/// See the table of changes above.
pub const TAG_SET_LAST_SEQNO: u8 = 0x08;
/// See the table of changes above.
pub const TAG_SET_NEXT_KEYSPACE: u8 = 0x09;
/// See the table of changes above.
pub const TAG_SET_FORMAT: u8 = 0x0a;
/// See the table of changes above.
pub const TAG_SET_FLUSHED: u8 = 0x0b;

/// See the table of changes above.
pub const TAG_SET_MARK: u8 = 0x0c;
/// See the table of changes above.
pub const TAG_SET_CLOCK: u8 = 0x0d;

/// The largest key is the end of a range delete.
pub const FLAG_LARGEST_EXCLUSIVE: u8 = 1;
/// Every entry of the file expires.
pub const FLAG_EXPIRES: u8 = 2;
/// Entries of the file point into the value log.
pub const FLAG_VALUES: u8 = 4;
/// The file is searched while it is compressed.
pub const FLAG_SEARCHABLE: u8 = 8;
/// It is told how many bytes were packed.
pub const FLAG_RAW_BYTES: u8 = 16;
/// It is told what of the file passes by itself.
pub const FLAG_PASSING: u8 = 32;
/// The file was written elsewhere.
pub const FLAG_ADOPTED: u8 = 64;
/// An expiry in it has milliseconds.
pub const FLAG_MILLIS: u8 = 128;
// A flag more needs a second byte.
const _: () = assert!(
    FLAG_LARGEST_EXCLUSIVE
        | FLAG_EXPIRES
        | FLAG_VALUES
        | FLAG_SEARCHABLE
        | FLAG_RAW_BYTES
        | FLAG_PASSING
        | FLAG_ADOPTED
        | FLAG_MILLIS
        == u8::MAX
);

/// What a snapshot record says before its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotHead {
    /// Format version of the database.
    pub format_version: u32,
    /// The manifest's own number.
    pub manifest: FileNumber,
    /// Random bytes by which the database is known, for ever.
    pub database_id: [u8; DATABASE_ID_BYTES],
    /// When the database was created, in unix seconds.
    pub created_unix_s: u64,
}

/// Refuses formats that no Esker wrote (`Corruption`) or only a newer one does (`Unsupported`).
pub fn check_format(version: u32) -> Result<()> {
    match version {
        0 => Err(Error::corruption("format version 0 was never written")),
        1..=FORMAT_NEWEST => Ok(()),
        _ => Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "written by a newer Esker: format version {version}, and this program knows \
                 up to {FORMAT_NEWEST}; open the database with a newer program"
            ),
        )),
    }
}

/// What CURRENT says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// The manifest that counts.
    pub manifest: FileNumber,
    /// Up to where it was known to be durable; 0 where nothing is known.
    pub durable_end: u64,
}

/// The first line of CURRENT.
pub fn encode_current(number: FileNumber) -> String {
    let name = FileName::Manifest(number).to_string();
    let sum = crc32c(name.as_bytes());
    format!("{name} {sum:08x}\n")
}

/// The second line of CURRENT: the manifest with that number is durable up to `durable_end`. It
/// is as long for every offset that a manifest may have.
pub fn encode_mark(number: FileNumber, durable_end: u64) -> String {
    let name = FileName::Manifest(number).to_string();
    let sum = crc32c(format!("{name} {durable_end:010}").as_bytes());
    format!("{durable_end:010} {sum:08x}\n")
}

/// Reads the contents of CURRENT; `None` when they are not valid.
pub fn decode_current(contents: &[u8]) -> Option<Current> {
    let front = contents.split_inclusive(|byte| *byte == b'\n').next()?;
    let (name, _) = std::str::from_utf8(front).ok()?.split_once(' ')?;
    match FileName::parse(name)? {
        FileName::Manifest(manifest) if encode_current(manifest).as_bytes() == front => {
            let mark = decode_mark(manifest, &contents[front.len()..]);
            Some(Current {
                manifest,
                durable_end: mark.unwrap_or(0),
            })
        }
        _ => None,
    }
}

fn decode_mark(number: FileNumber, line: &[u8]) -> Option<u64> {
    let (digits, _) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let durable_end = digits.parse().ok()?;
    (encode_mark(number, durable_end).as_bytes() == line).then_some(durable_end)
}

#[cfg(test)]
mod tests;
