//! Who a data directory belongs to: the file `NODE`.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 8 | bytes | `ESKRNODE` |
//! | 8 | 1 | u8 | version: 1 or 2 |
//! | 9 | 8 | u64 | cluster, above 0 |
//! | 17 | 8 | u64 | node, above 0 |
//! | 25 | 8 | u64 | incarnation: how often the directory was opened |
//! | 33 | 1 | u8 | 1 once the keyspace `node` has cluster and node as well |
//! | 34 | 8 × 17 | u64 | from version 2 on: what the last processes drew, newest first, or 0 |
//! | … | 4 | u32 | CRC32C of all before it |
//!
//! Integers are little-endian. Valid if and only if it is exactly so long, begins as it should, the
//! checksum is right, the flag is known, and cluster and node are above 0. The file is written anew
//! under another name and then renamed, so a crash leaves the old one or the new one. Version 1 is
//! read, and version 2 is written.

use std::path::{Path, PathBuf};

use esker::internals::base::codec::checksum::crc32c;
use esker::internals::base::codec::reader::ByteReader;
use esker::internals::env::bundle::Env;
use esker::{Error, ErrorKind, Result};
use esker_raft::NodeId;

use crate::node::limits::LINEAGE;

/// Name of the file.
pub const FILE: &str = "NODE";

/// Name of one that is being written.
const FILE_ASIDE: &str = "NODE.new";

const MAGIC: [u8; 8] = *b"ESKRNODE";

/// Versions of the layout, with the processes that each has room for.
const VERSIONS: [(u8, usize); 2] = [(1, 0), (2, 1 + LINEAGE)];

const HEAD_BYTES: usize = 8 + 1 + 3 * 8 + 1;

const CRC_BYTES: usize = 4;

/// Who a node says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The cluster that it is of.
    pub cluster: u64,
    /// Its number in the cluster.
    pub node: NodeId,
    /// Which life of the process this is: it rises with every opening.
    pub incarnation: u64,
    /// The database of the directory says the same: one that does not was wiped.
    pub is_settled: bool,
    /// The number that the process drew which has the directory open; 0 if it drew none.
    pub instance: u64,
    /// Those of the processes before it, the last one first; 0 where none is known. Of two holders
    /// of a number, others tell by that whether one comes from the other.
    pub before: [u64; LINEAGE],
}

/// Whose directory it is; `None` if it is nobody's yet.
///
/// Errors: `Corruption` of a file that is damaged, or is missing where a node's files lie;
/// `Unsupported` of another version; those of files.
pub fn read(env: &Env, dir: &Path) -> Result<Option<Identity>> {
    let path = dir.join(FILE);
    if !env.fs.exists(&path)? {
        let lost = ["db", "raft"].map(|name| dir.join(name));
        for part in lost {
            if env.fs.exists(&part)? {
                let why = "is missing, and a node's files are here";
                return Err(damaged(&path, why));
            }
        }
        return Ok(None);
    }
    let file = env.fs.open_read(&path)?;
    let len = usize::try_from(file.size_bytes()).unwrap_or(usize::MAX);
    if !VERSIONS.iter().any(|version| len == file_bytes(version.1)) {
        return Err(damaged(&path, "has another length"));
    }
    let mut bytes = vec![0; len];
    file.read_at(0, &mut bytes)?;
    decode(&bytes, &path).map(Some)
}

/// Says whose a new directory is: once, at the first start.
///
/// Errors: `Invalid` if it is somebody's already, or for numbers of 0; those of files.
pub fn create(env: &Env, dir: &Path, cluster: u64, node: NodeId) -> Result<()> {
    if cluster == 0 || node.0 == 0 {
        return Err(Error::invalid(
            "clusters and nodes have numbers above 0: 0 is nobody",
        ));
    }
    env.fs.create_dir_all(dir)?;
    if let Some(known) = read(env, dir)? {
        let message = format!(
            "the directory belongs to node {} of cluster {:016x} already",
            known.node.0, known.cluster
        );
        return Err(Error::invalid(message).in_file(dir.display()));
    }
    let identity = Identity {
        cluster,
        node,
        incarnation: 0,
        is_settled: false,
        instance: 0,
        before: [0; LINEAGE],
    };
    write(env, dir, identity)
}

/// The next life of the node, as the process that drew `instance`: the incarnation is another one.
/// It is not begun yet, and nothing may be said under it.
///
/// Errors: `Invalid` of a directory that is nobody's; those of [`read`].
pub fn next_life(env: &Env, dir: &Path, instance: u64) -> Result<Identity> {
    let Some(known) = read(env, dir)? else {
        let message = "the directory is no node's yet: a node begins by an explicit first start";
        return Err(Error::invalid(message).in_file(dir.display()));
    };
    let mut before = [known.instance; LINEAGE];
    before[1..].copy_from_slice(&known.before[..LINEAGE - 1]);
    Ok(Identity {
        incarnation: known.incarnation + 1,
        instance,
        before,
        ..known
    })
}

/// Begins that life, durably: from now on something may be said under it. A start that is refused
/// before uses up no number, and takes no place among the processes that others are told.
///
/// Errors: those of files.
pub fn begin_life(env: &Env, dir: &Path, next: Identity) -> Result<()> {
    write(env, dir, next)
}

/// From now on the directory's database says the same.
///
/// Errors: those of files.
pub fn settle(env: &Env, dir: &Path, identity: Identity) -> Result<Identity> {
    let settled = Identity {
        is_settled: true,
        ..identity
    };
    write(env, dir, settled)?;
    Ok(settled)
}

fn write(env: &Env, dir: &Path, identity: Identity) -> Result<()> {
    let aside: PathBuf = dir.join(FILE_ASIDE);
    let mut file = env.fs.create(&aside)?;
    file.append(&encode(identity))?;
    file.sync()?;
    drop(file);
    env.fs.rename(&aside, &dir.join(FILE))?;
    env.fs.sync_dir(dir)
}

fn encode(identity: Identity) -> Vec<u8> {
    let (version, processes) = VERSIONS[1];
    let mut out = MAGIC.to_vec();
    out.push(version);
    for word in [identity.cluster, identity.node.0, identity.incarnation] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.push(u8::from(identity.is_settled));
    for number in [&[identity.instance], &identity.before[..]].concat() {
        out.extend_from_slice(&number.to_le_bytes());
    }
    let crc = crc32c(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    assert_eq!(out.len(), file_bytes(processes));
    out
}

fn file_bytes(processes: usize) -> usize {
    HEAD_BYTES + 8 * processes + CRC_BYTES
}

fn decode(bytes: &[u8], path: &Path) -> Result<Identity> {
    let (content, crc) = bytes.split_at(bytes.len() - CRC_BYTES);
    let is_whole = content.starts_with(&MAGIC) && crc32c(content).to_le_bytes() == crc;
    if !is_whole {
        return Err(damaged(path, "is not what was written"));
    }
    let mut reader = ByteReader::new(&content[MAGIC.len()..]);
    let version = reader.byte();
    let known = VERSIONS.iter().find(|known| Some(known.0) == version);
    let Some((_, processes)) = known.filter(|known| bytes.len() == file_bytes(known.1)) else {
        let message = "the file that says whose a directory is has another version";
        return Err(Error::new(ErrorKind::Unsupported, message).in_file(path.display()));
    };
    let words = [reader.u64(), reader.u64(), reader.u64()];
    let is_settled = reader.byte().filter(|flag| *flag <= 1);
    let mut drawn = [0; 1 + LINEAGE];
    for number in drawn.iter_mut().take(*processes) {
        *number = reader.u64().unwrap_or(0);
    }
    let (instance, before) = (drawn[0], std::array::from_fn(|at| drawn[at + 1]));
    match (words, is_settled) {
        ([Some(cluster), Some(node), Some(incarnation)], Some(flag)) if cluster > 0 && node > 0 => {
            Ok(Identity {
                cluster,
                node: NodeId(node),
                incarnation,
                is_settled: flag == 1,
                instance,
                before,
            })
        }
        _ => Err(damaged(path, "names nobody")),
    }
}

fn damaged(path: &Path, why: &str) -> Error {
    // Nobody has a copy of it who has none of the directory.
    let message = format!(
        "the file that says whose a directory is {why}: bring it back, or put the directory aside \
         and start the node with an empty one and --join of others: so it joins the cluster as a \
         new node and gets its share from them (without --join it begins another cluster); what \
         they do not have as well is in the old one alone"
    );
    Error::corruption(message).in_file(path.display())
}

#[cfg(test)]
mod tests;
