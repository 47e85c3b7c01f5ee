//! The keys that a transaction read to write to them, which its commit depends on.

use std::sync::Arc;

use crate::base::types::seqno::SeqNo;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::read::newest::Target;
use crate::flow::write::validation::Unchanged;

/// Such keys, in the order of the reads.
///
/// Shape: 8 bytes and its own for each key, one behind the other, and 24 for each change of the
/// keyspace or of the number between two reads: who reads a million has one such change.
#[derive(Default)]
pub struct ForUpdate {
    bytes: Vec<u8>,
    /// Where each key ends in the bytes.
    ends: Vec<usize>,
    spans: Vec<Span>,
}

/// Reads of one keyspace at one number, one after the other.
struct Span {
    parts: Arc<KeyspaceParts>,
    seen: SeqNo,
    /// How many reads there were up to its last one.
    end: usize,
}

const _: () = assert!(size_of::<Span>() == 24);

impl ForUpdate {
    /// A key was read at that number.
    pub fn push(&mut self, parts: &Arc<KeyspaceParts>, key: &[u8], seen: SeqNo) {
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        let end = self.ends.len();
        match self.spans.last_mut() {
            Some(span) if Arc::ptr_eq(&span.parts, parts) && span.seen == seen => span.end = end,
            _ => self.spans.push(Span {
                parts: Arc::clone(parts),
                seen,
                end,
            }),
        }
    }

    /// That nobody wrote to any of them since it was read.
    pub fn unchanged(&self) -> Vec<Unchanged<'_>> {
        let mut conditions = Vec::with_capacity(self.ends.len());
        let (mut first, mut start) = (0, 0);
        for span in &self.spans {
            for &end in &self.ends[first..span.end] {
                conditions.push(Unchanged {
                    keyspace: span.parts.id,
                    current: &span.parts.current,
                    target: Target::Key(&self.bytes[start..end]),
                    seen: span.seen,
                });
                start = end;
            }
            first = span.end;
        }
        conditions
    }
}

#[cfg(test)]
mod tests;
