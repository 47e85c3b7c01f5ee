//! What a replica's keyspace says of itself, in the mark that comes with every batch.
//!
//! | offset | size | type | meaning |
//! |---|---|---|---|
//! | 0 | 1 | u8 | version: 1 |
//! | 1 | 8 | u64 | index of the last entry that was applied |
//! | 9 | 8 | u64 | its term |
//! | 17 | 8 | u64 | index of the entry with which the state began: the first, or that of an image |
//! | 25 | 8 | u64 | its term |
//! | 33 | 8 | u64 | the partition's clock: microseconds since 1970 |
//! | 41 | … | configuration | the members as of the last entry, as `esker-raft` writes them |
//!
//! Integers are little-endian. Valid if and only if the version is 1, indexes and terms are at most
//! 2^62, the state did not begin behind the last entry, and the configuration is valid and not
//! newer than that entry. A mark takes 334 bytes at the most.

use esker::{Error, ErrorKind, Result};
use esker_raft::{Configuration, Mark, Point};

/// Version of the layout.
const VERSION: u8 = 1;

/// Bytes before the configuration.
const HEAD_BYTES: usize = 1 + 5 * 8;

/// Largest index and term.
const NUMBER_MAX: u64 = 1 << 62;

/// A replica's mark: what consensus wants to know of its state, and the clock of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicaMark {
    /// Applied, begun, members.
    pub raft: Mark,
    /// The partition's clock: microseconds since 1970.
    pub clock_us: u64,
}

impl ReplicaMark {
    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let (applied, begun) = (self.raft.applied, self.raft.begun);
        let words = [
            applied.index,
            applied.term,
            begun.index,
            begun.term,
            self.clock_us,
        ];
        // Of a few members; each entry that is applied has a mark.
        let mut out = Vec::with_capacity(2 * HEAD_BYTES + 128);
        out.push(VERSION);
        words
            .iter()
            .for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        self.raft.configuration.encode(&mut out);
        out
    }

    /// The mark that `bytes` are.
    ///
    /// Errors: `Unsupported` for another version, `Corruption` for anything else that no replica
    /// wrote.
    pub fn decode(bytes: &[u8]) -> Result<ReplicaMark> {
        match bytes.first() {
            Some(&VERSION) => {}
            Some(version) => {
                let message = format!("a replica's mark has version {version}, this Esker knows 1");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
            None => return Err(damaged("is empty")),
        }
        let Some((head, members)) = bytes.split_at_checked(HEAD_BYTES) else {
            return Err(damaged("is too short"));
        };
        let word = |number: usize| {
            let at = 1 + 8 * number;
            let bytes = head[at..at + 8].try_into().expect("eight bytes");
            u64::from_le_bytes(bytes)
        };
        let point = |number: usize| Point {
            index: word(number),
            term: word(number + 1),
        };
        let (applied, begun) = (point(0), point(2));
        if (0..4).any(|number| word(number) > NUMBER_MAX) || begun.index > applied.index {
            return Err(damaged("names entries that cannot be"));
        }
        let configuration =
            Configuration::decode(members).map_err(|_| damaged("names members that cannot be"))?;
        if configuration.version > applied.index {
            return Err(damaged("has members of a later entry"));
        }
        Ok(ReplicaMark {
            raft: Mark {
                applied,
                begun,
                configuration,
            },
            clock_us: word(4),
        })
    }

    /// Whether the state is as it began: then nothing of it came from the log, and nothing of the
    /// log must be durable for it.
    pub fn is_as_begun(&self) -> bool {
        self.raft.applied == self.raft.begun
    }
}

fn damaged(why: &str) -> Error {
    Error::corruption(format!("the mark of a replica {why}"))
}

#[cfg(test)]
mod tests;
