//! The stripes into which live snapshots cut the sequence numbers.
//!
//! Two entries lie in the same stripe when no snapshot can tell them apart.

use crate::base::types::seqno::SeqNo;

/// Live snapshots, oldest first, and the stripes they cut.
#[derive(Clone, Debug, Default)]
pub struct Stripes {
    snapshots: Vec<SeqNo>,
}

impl Stripes {
    /// The stripes between `snapshots`, which are in ascending order.
    pub fn new(snapshots: Vec<SeqNo>) -> Stripes {
        assert!(snapshots.is_sorted());
        Stripes { snapshots }
    }

    /// The snapshots, ascending.
    pub fn snapshots(&self) -> &[SeqNo] {
        &self.snapshots
    }

    /// The stripe of what no live snapshot sees.
    pub fn newest(&self) -> usize {
        self.snapshots.len()
    }

    /// The stripe of an entry: how many snapshots are too old to see it. 0 is the oldest.
    pub fn of(&self, seqno: SeqNo) -> usize {
        self.snapshots.partition_point(|snapshot| *snapshot < seqno)
    }
}

#[cfg(test)]
mod tests;
