//! What a database knows about itself, as a page for people.

use std::fmt;

use crate::db::preparing::PreparedStats;
use crate::db::statistics::{
    KeyspaceStats, LeftOutStats, PinnedStats, SnapshotStats, Stats, ValueLogStats,
};
use crate::db::transaction_statistics::{LockStats, LockWaitStats, TransactionStats};

/// A page for people.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "state        {}", self.state)?;
        writeln!(f, "disk         {}", size(self.disk_bytes))?;
        writeln!(f, "log          {} segments", self.wal_segment_count)?;
        if self.torn_bytes > 0 {
            let (bytes, records) = (self.torn_bytes, self.torn_records);
            writeln!(
                f,
                "torn         {bytes} bytes of the log, {records} intact records in them"
            )?;
        }
        if self.values != ValueLogStats::default() {
            writeln!(f, "value log    {}", self.values)?;
        }
        let held: u64 = self.memory.iter().map(|(_, bytes)| bytes).sum();
        let limit = size(self.memory_limit);
        writeln!(f, "memory       {} of {limit}", size(held))?;
        for (owner, bytes) in &self.memory {
            writeln!(f, "  {owner:<20} {:>12}", size(*bytes))?;
        }
        if self.pinned != PinnedStats::default() {
            writeln!(f, "pinned       {}", self.pinned)?;
        }
        writeln!(f, "stalled      {:.3} s", self.stalled.as_secs_f64())?;
        for snapshot in &self.snapshots {
            writeln!(f, "snapshot     {snapshot}")?;
        }
        for transaction in &self.transactions {
            writeln!(f, "transaction  {transaction}")?;
        }
        for prepared in &self.prepared {
            writeln!(f, "prepared     {prepared}")?;
        }
        if self.locks != LockStats::default() {
            writeln!(f, "locks        {}", self.locks)?;
        }
        for file in &self.left_out {
            writeln!(f, "left out     {file}")?;
        }
        for failure in &self.failures {
            writeln!(f, "failure      {failure}")?;
        }
        for keyspace in &self.keyspaces {
            write!(f, "{keyspace}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TransactionStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, age) = (self.number, self.age.as_secs_f64());
        let (isolation, mode) = (self.isolation.name(), self.mode.name());
        write!(f, "{number}, {age:.1} s old, {isolation}, {mode}")?;
        if let Some(owner) = &self.owner {
            write!(f, ", of {owner:?}")?;
        }
        if self.lock_count > 0 {
            write!(f, ", holds {} locks", self.lock_count)?;
        }
        match &self.waits_for {
            Some(wait) => write!(f, ", {wait}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PreparedStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\", {:.1} s old, {} writes, {}, claims {} keys and ranges",
            self.id.escape_ascii(),
            self.age.as_secs_f64(),
            self.entries,
            size(self.size_bytes),
            self.claim_count
        )
    }
}

impl fmt::Display for LockWaitStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "waits {:.1} s for ", self.waited.as_secs_f64())?;
        if let Some(key) = &self.key {
            write!(f, "key b\"{}\" of ", key.escape_ascii())?;
        }
        match &self.keyspace {
            Some(name) => write!(f, "keyspace {name:?}")?,
            None => write!(f, "a keyspace that was dropped")?,
        }
        for (index, number) in self.transactions.iter().enumerate() {
            let before = if index == 0 { ", held up by " } else { ", " };
            write!(f, "{before}{number}")?;
        }
        Ok(())
    }
}

impl fmt::Display for LockStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} held by {} transactions, {}; {} wait; {} waits so far, {:.3} s, {} deadlocks, {} \
             timeouts",
            self.held_count,
            self.holder_count,
            size(self.table_bytes),
            self.waiting_count,
            self.wait_count,
            self.waited.as_secs_f64(),
            self.deadlock_count,
            self.timeout_count
        )
    }
}

impl fmt::Display for SnapshotStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seqno, age) = (self.seqno, self.age.as_secs_f64());
        write!(f, "at {seqno}, {age:.1} s old, held by {}", self.owner)
    }
}

impl fmt::Display for PinnedStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} blocks, {}, by cursors and values; {} flushed memtables, {}, by cursors",
            self.block_count,
            size(self.block_bytes),
            self.memtable_count,
            size(self.memtable_bytes),
        )?;
        match self.oldest {
            Some(age) => write!(f, ", for up to {:.1} s", age.as_secs_f64()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for LeftOutStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, tried {} times, again ", self.file, self.try_count)?;
        match self.next_try {
            Some(delay) => write!(f, "in {:.1} s", delay.as_secs_f64())?,
            None => write!(f, "when asked to compact")?,
        }
        write!(f, ": {}", self.error)
    }
}

impl fmt::Display for ValueLogStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} segments, {}: {} live, {} dead, {} pinned, {} recent; {} in memory, {} not \
             flushed, {} never written; {} packets, {} waits",
            self.segment_count,
            size(self.size_bytes),
            size(self.live_bytes),
            size(self.dead_bytes),
            size(self.pinned_bytes),
            size(self.recent_bytes),
            size(self.buffer_bytes),
            size(self.unflushed_bytes),
            size(self.unwritten_bytes),
            self.packet_count,
            self.wait_count
        )
    }
}

impl fmt::Display for KeyspaceStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "keyspace {:?}", self.name)?;
        let (bytes, sealed) = (size(self.memtable_bytes), self.sealed_count);
        writeln!(
            f,
            "  memtables {bytes}, {sealed} sealed; debt {}",
            size(self.debt_bytes)
        )?;
        if let Some(rate) = self.write_rate {
            let since = self
                .hindrance
                .as_ref()
                .map(|what| format!(", since {what}"));
            let since = since.unwrap_or_default();
            writeln!(f, "  held back to {}/s{since}", size(rate))?;
        }
        if self.is_unlogged {
            match &self.flushed_mark {
                Some(mark) => writeln!(f, "  unlogged; flushed up to mark {}", hex(mark))?,
                None => writeln!(f, "  unlogged; no mark is flushed")?,
            }
            if self.is_parked {
                writeln!(f, "  its flush waits until its own log is durable")?;
            }
        }
        if let Some(rule) = &self.retain_rule {
            write!(
                f,
                "  retain rule {:?} dropped {} values",
                rule.name, rule.dropped_count
            )?;
            match rule.has_failed {
                true => writeln!(f, "; it failed, and is asked by `compact` alone")?,
                false => writeln!(f)?,
            }
        }
        writeln!(
            f,
            "  level  runs  files         size  ratio      entries      deletes  score"
        )?;
        for level in &self.levels {
            writeln!(
                f,
                "  L{:<5} {:>4} {:>6} {:>12} {:>6.2} {:>12} {:>12} {:>6.2}",
                level.depth,
                level.run_count,
                level.file_count,
                size(level.size_bytes),
                level.ratio(),
                level.entry_count,
                level.delete_count,
                level.score
            )?;
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}
