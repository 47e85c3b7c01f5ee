//! What lies in a segment of the value log: its records, each value held against its checksum.

use std::path::Path;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::env::bundle::Env;
use crate::store::names::FileName;
use crate::store::vlog::reader::VlogReader;

/// What lies in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlogContents {
    /// The database that wrote it.
    pub database_id: [u8; 16],
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Its values, in the order in which they lie there. Which of them still count is known to the
    /// tree alone.
    pub values: Vec<VlogValue>,
    /// Where the first place begins that holds no record. Others may lie behind it, where a
    /// process was killed before it wrote here.
    pub end: u64,
}

/// One value in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VlogValue {
    /// Where its record begins.
    pub offset: u64,
    /// The keyspace.
    pub keyspace: KeyspaceId,
    /// The key.
    pub key: Bytes,
    /// Bytes of the value.
    pub value_len: u64,
    /// What is wrong with the value, if anything is.
    pub damage: Option<String>,
}

/// What lies in the segment at `path`. Errors: `Invalid` when the name is not that of a segment;
/// `Corruption` for a damaged head; `Unsupported` for a newer format; what reading gives.
pub fn vlog(path: impl AsRef<Path>) -> Result<VlogContents> {
    vlog_in(&Env::real(1), path.as_ref())
}

/// As [`vlog`], in any world.
pub fn vlog_in(env: &Env, path: &Path) -> Result<VlogContents> {
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(FileName::Vlog(number)) = name.and_then(FileName::parse) else {
        let place = path.display();
        return Err(Error::invalid(format!(
            "{place} is not named as a segment of the value log is, such as 000012.vlog; its \
             number is part of every checksum"
        )));
    };
    let file = env.fs.open_read(path)?;
    let reader = VlogReader::of(Arc::clone(&file), number)?;
    let mut values = Vec::new();
    let mut records = reader.records();
    while let Some(record) = records.next().transpose()? {
        let damage = match reader.value(&record.pointer) {
            Ok(_) => None,
            Err(error) if error.kind() == ErrorKind::Corruption => Some(error.message().into()),
            Err(error) => return Err(error),
        };
        values.push(VlogValue {
            offset: record.offset,
            keyspace: record.head.keyspace,
            key: Bytes::from(record.key),
            value_len: u64::from(record.head.value_len),
            damage,
        });
    }
    Ok(VlogContents {
        database_id: reader.head().database_id,
        size_bytes: reader.size_bytes(),
        values,
        end: records.offset(),
    })
}
