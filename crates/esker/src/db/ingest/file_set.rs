//! The list of a file set: which files there are, whose, and what they hold.
//!
//! The file `FILES` of a set:
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | bytes | `eskerfs\n`: this lists sorted files of Esker |
//! | 8 | 4 | u32 | version: 1, or 2 where a file or a `ttl` has milliseconds |
//! | 12 | 1 | u8 | 0 written by an `SstWriter`, 1 exported from a database |
//! | 13 | 16 | bytes | id of that database; zero where there is none |
//! | 29 | – | changes | as in `store/version/format`: they make keyspaces and files of nothing |
//! | end - 4 | 4 | u32 | masked CRC32C of all bytes before |
//!
//! Integers are little-endian. Valid if and only if the checksum is right, the version is known,
//! the kind is one named here, and the changes make a version, by themselves.

use std::path::Path;

use crate::base::codec::checksum::{crc32c, mask};
use crate::base::codec::fixed::put_u32;
use crate::base::codec::reader::ByteReader;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::env::fs::Fs;
use crate::store::version::apply::apply;
use crate::store::version::decode::decode_edit;
use crate::store::version::edit::Change;
use crate::store::version::encode::encode_edit;
use crate::store::version::format::DATABASE_ID_BYTES;
use crate::store::version::state::{Identity, Orders, Version, has_millis};

/// Name of the list in the directory of a set. Whatever has no such file is no set, or not a
/// finished one.
pub const LIST_NAME: &str = "FILES";

const MAGIC: [u8; 8] = *b"eskerfs\n";
const VERSION: u32 = 1;

/// The first version that lists files in which expiries have milliseconds, and keyspaces in which
/// they are to have some.
const MILLIS_VERSION: u32 = 2;

const CHECKSUM_BYTES: usize = 4;

/// Longest list that is read: some hundred bytes for each file, and no set has a million.
const LIST_BYTES_MAX: u64 = 1 << 30;

/// What the list is called until it is whole.
const DRAFT_NAME: &str = "FILES.draft";

/// Makes the directory of a set if it is not there. Errors: `Invalid` when it is not empty.
pub fn make_empty_dir(fs: &dyn Fs, dir: &Path) -> Result<()> {
    fs.create_dir_all(dir)?;
    match fs.list(dir)?.into_iter().min() {
        None => Ok(()),
        Some(name) => Err(Error::invalid(format!(
            "{} is not empty: it has {name}; name a directory that is empty or not there",
            dir.display()
        ))),
    }
}

/// Takes the list away, as far as it was written: its maker failed, and takes the files away too.
pub fn remove_list(fs: &dyn Fs, dir: &Path) {
    for name in [LIST_NAME, DRAFT_NAME] {
        // Why it failed is being told already; what is not there need not go, and what cannot go
        // names files that are missing.
        let _ = fs.remove_file(&dir.join(name));
    }
}

/// Who made a file set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// An `SstWriter`: what the files say is done to the keyspace that takes them in, deletes and
    /// merges too.
    Writer,
    /// A database: the files are all that a keyspace held at one moment.
    Export,
}

/// What a set lists.
#[derive(Clone, Debug)]
pub struct FileSet {
    /// Who made it.
    pub maker: Maker,
    /// Its keyspaces and their files.
    pub version: Version,
}

impl FileSet {
    /// The bytes of the list.
    fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        put_u32(&mut out, self.list_version());
        out.push(u8::from(self.maker == Maker::Export));
        out.extend_from_slice(&self.version.identity.database_id);
        out.extend_from_slice(&encode_edit(&self.version.to_edit()));
        let sum = mask(crc32c(&out));
        put_u32(&mut out, sum);
        out
    }

    fn list_version(&self) -> u32 {
        let mut states = self.version.keyspaces.values();
        let has_millis = states.any(|state| {
            let mut files = state.levels.files();
            has_millis(&state.settings) || files.any(|(_, file)| file.has_millis)
        });
        match has_millis {
            true => MILLIS_VERSION,
            false => VERSION,
        }
    }

    /// Reads a list. Errors: `Corruption` for damage, `Unsupported` for one that a newer Esker
    /// wrote, and for an order of keys that is not among `comparators`.
    fn decode(bytes: &[u8], comparators: &Orders) -> Result<FileSet> {
        let cut_off = || Error::corruption("is no list of sorted files, or a part of one");
        let (covered, sum) = bytes
            .split_last_chunk::<CHECKSUM_BYTES>()
            .ok_or_else(cut_off)?;
        let mut reader = ByteReader::new(covered);
        if reader.bytes(MAGIC.len()) != Some(&MAGIC) {
            return Err(cut_off());
        }
        let version = reader.u32().ok_or_else(cut_off)?;
        if version > MILLIS_VERSION {
            let message = format!("written by a newer Esker: a list of version {version}");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        if u32::from_le_bytes(*sum) != mask(crc32c(covered)) {
            return Err(Error::corruption("the checksum of the list differs"));
        }
        let maker = match reader.byte() {
            Some(0) => Maker::Writer,
            Some(1) => Maker::Export,
            _ => return Err(cut_off()),
        };
        let id = reader.bytes(DATABASE_ID_BYTES).ok_or_else(cut_off)?;
        let identity = Identity {
            database_id: *id.first_chunk().ok_or_else(cut_off)?,
            created_unix_s: 0,
        };
        let edit = decode_edit(reader.rest())?.changes;
        let is_making = |change: &Change| {
            !matches!(
                change,
                Change::RemoveFile { .. } | Change::DropKeyspace { .. }
            )
        };
        if version == 0 || !edit.iter().all(is_making) {
            return Err(cut_off());
        }
        let version = apply(&Version::empty(identity, comparators.clone()), &edit)?;
        version.check()?;
        Ok(FileSet { maker, version })
    }

    /// Writes the list into the directory of the set, whose files are durable but for their names,
    /// and makes all names durable. After an error there is no list.
    pub fn write(&self, fs: &dyn Fs, dir: &Path) -> Result<()> {
        // Before it is listed what is listed.
        fs.sync_dir(dir)?;
        self.write_list(fs, dir)
            .inspect_err(|_| remove_list(fs, dir))
    }

    fn write_list(&self, fs: &dyn Fs, dir: &Path) -> Result<()> {
        let draft = dir.join(DRAFT_NAME);
        let mut file = fs.create_new(&draft)?;
        file.append(&self.encode())?;
        file.sync()?;
        fs.rename(&draft, &dir.join(LIST_NAME))?;
        fs.sync_dir(dir)
    }

    /// Reads the list in a directory.
    ///
    /// Errors: `Invalid` when there is none; `Corruption` when it is damaged; `Unsupported` for one
    /// that a newer Esker wrote, and for an order of keys that is not among `comparators`.
    pub fn read(fs: &dyn Fs, dir: &Path, comparators: &Orders) -> Result<FileSet> {
        let path = dir.join(LIST_NAME);
        let file = fs
            .open_read(&path)
            .map_err(|error| match error.is_missing_file() {
                true => Error::invalid(format!(
                    "{} holds no finished set of files: it has no {LIST_NAME}; name a directory \
                     that an export or an SstWriter made",
                    dir.display()
                )),
                false => error,
            })?;
        let in_list = |error: Error| error.in_file(path.display());
        let len = file.size_bytes();
        if len > LIST_BYTES_MAX {
            return Err(in_list(Error::corruption(
                "is too long for a list of files",
            )));
        }
        let mut bytes = Vec::new();
        file.read_onto(
            0,
            usize::try_from(len).expect("it is no longer"),
            &mut bytes,
        )?;
        FileSet::decode(&bytes, comparators).map_err(in_list)
    }
}

#[cfg(test)]
mod tests;
