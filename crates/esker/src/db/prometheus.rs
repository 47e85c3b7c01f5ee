//! What a database knows about itself, in the text format of Prometheus.
//!
//! Format: <https://prometheus.io/docs/instrumenting/exposition_formats/>, version 0.0.4. Each metric
//! has its HELP and TYPE lines once, before all of its samples.

use std::fmt::Write;
use std::time::Duration;

use crate::base::stats::statistics::{CounterUnit, Ticker};
use crate::db::statistics::{KeyspaceStats, LevelStats, Stats};

impl Stats {
    /// Everything here in the text format of Prometheus, to be served as
    /// `text/plain; version=0.0.4`: counters, and gauges by owner of memory, keyspace and level.
    ///
    /// Names begin with `esker_`; seconds and bytes are the units. What is a text for people
    /// (failures, settings) is left out, but for the state, which is the label of `esker_state`.
    ///
    /// ```
    /// # fn main() -> esker::Result<()> {
    /// # let dir = tempfile::tempdir().expect("a temporary directory");
    /// let db = esker::Db::open(dir.path())?;
    /// db.put("a", "1")?;
    /// let page = db.stats().to_prometheus();
    /// assert!(page.contains("\nesker_write_entries_total 1\n"));
    /// assert!(page.contains("\nesker_state{state=\"open\"} 1\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_prometheus(&self) -> String {
        let mut page = Page::default();
        self.put_counters(&mut page);
        self.put_memory(&mut page);
        self.put_locks(&mut page);
        self.put_files(&mut page);
        self.put_values(&mut page);
        self.put_keyspaces(&mut page);
        page.0
    }

    fn put_counters(&self, page: &mut Page) {
        for (name, doc, value) in &self.counters {
            page.head(name, "counter", doc);
            let ticker = Ticker::ALL.iter().find(|ticker| ticker.name() == *name);
            match ticker.map(|ticker| ticker.unit()) {
                Some(CounterUnit::Nanoseconds) => {
                    page.sample(name, &[], seconds(Duration::from_nanos(*value)));
                }
                _ => page.sample(name, &[], value),
            }
        }
        let doc = "Seconds that writers were held back since the database was opened.";
        page.head("esker_stalled_seconds_total", "counter", doc);
        page.sample("esker_stalled_seconds_total", &[], seconds(self.stalled));
    }

    fn put_memory(&self, page: &mut Page) {
        page.head("esker_state", "gauge", "The state of the database: 1.");
        page.sample("esker_state", &[("state", &self.state)], 1);
        let doc = "The memory limit in bytes.";
        page.gauge("esker_memory_limit_bytes", doc, self.memory_limit);
        let doc = "Bytes of the memory limit that are held, by owner.";
        page.head("esker_memory_bytes", "gauge", doc);
        for (owner, bytes) in &self.memory {
            page.sample("esker_memory_bytes", &[("owner", owner)], bytes);
        }
        let doc = "Blocks that left the cache while somebody held them.";
        page.gauge("esker_pinned_blocks", doc, self.pinned.block_count);
        let doc = "Flushed memtables that somebody holds.";
        page.gauge("esker_pinned_memtables", doc, self.pinned.memtable_count);
        let doc = "Live snapshots.";
        page.gauge("esker_snapshots", doc, self.snapshots.len());
        let ages = self.snapshots.iter().map(|snapshot| snapshot.age);
        let oldest = ages.max().unwrap_or(Duration::ZERO);
        let doc = "Age of the oldest live snapshot; 0 without one.";
        page.gauge("esker_oldest_snapshot_seconds", doc, seconds(oldest));
        let doc = "Transactions under way.";
        page.gauge("esker_transactions", doc, self.transactions.len());
        let ages = self.transactions.iter().map(|transaction| transaction.age);
        let oldest = ages.max().unwrap_or_default();
        let doc = "Age of the oldest transaction under way; 0 without one.";
        page.gauge("esker_oldest_transaction_seconds", doc, seconds(oldest));
        let doc = "Transactions that are prepared and not ended.";
        page.gauge("esker_prepared_transactions", doc, self.prepared.len());
        let oldest = self.prepared.iter().map(|prepared| prepared.age).max();
        let doc = "Age of the oldest prepared transaction; 0 without one.";
        let oldest = seconds(oldest.unwrap_or_default());
        page.gauge("esker_oldest_prepared_transaction_seconds", doc, oldest);
        let doc = "Jobs under way in the background, and one more where some wait until less is \
                   written.";
        page.gauge("esker_background_jobs", doc, self.job_count);
    }

    fn put_locks(&self, page: &mut Page) {
        let locks = &self.locks;
        let doc = "Locks that transactions and writes hold, each counted once for each holder.";
        page.gauge("esker_locks", doc, locks.held_count);
        let doc = "Transactions that hold locks.";
        page.gauge("esker_lock_holders", doc, locks.holder_count);
        let doc = "Transactions and writes that wait for a lock.";
        page.gauge("esker_lock_waiting", doc, locks.waiting_count);
        let doc = "Bytes of the table of locks.";
        page.gauge("esker_lock_table_bytes", doc, locks.table_bytes);
        let doc = "Waits for a lock that began.";
        page.head("esker_lock_waits_total", "counter", doc);
        page.sample("esker_lock_waits_total", &[], locks.wait_count);
        let doc = "Seconds that transactions and writes waited for locks.";
        page.head("esker_lock_wait_seconds_total", "counter", doc);
        page.sample("esker_lock_wait_seconds_total", &[], seconds(locks.waited));
        let doc = "Waits for a lock that would have been for oneself.";
        page.head("esker_deadlocks_total", "counter", doc);
        page.sample("esker_deadlocks_total", &[], locks.deadlock_count);
        let doc = "Waits for a lock that took too long.";
        page.head("esker_lock_timeouts_total", "counter", doc);
        page.sample("esker_lock_timeouts_total", &[], locks.timeout_count);
    }

    fn put_files(&self, page: &mut Page) {
        let doc = "Bytes of the files of the current version and of the log.";
        page.gauge("esker_disk_bytes", doc, self.disk_bytes);
        let doc = "Segments of the log that hold entries in no sorted file.";
        page.gauge("esker_wal_segments", doc, self.wal_segment_count);
        let doc = "Sorted files that are open.";
        page.gauge("esker_open_files", doc, self.open_file_count);
        let doc = "Sorted files that only a reader keeps on the disk.";
        page.gauge("esker_pinned_files", doc, self.pinned_file_count);
        let doc = "Sorted files that compactions leave out since one failed over them.";
        page.gauge("esker_left_out_files", doc, self.left_out.len());
        let doc = "Bytes that were torn off the log when the database was opened.";
        page.gauge("esker_torn_bytes", doc, self.torn_bytes);
    }

    fn put_values(&self, page: &mut Page) {
        let values = &self.values;
        let doc = "Segments of the value log.";
        page.gauge("esker_value_log_segments", doc, values.segment_count);
        let doc = "Bytes of the value log, by what they are.";
        page.head("esker_value_log_bytes", "gauge", doc);
        for (what, bytes) in [
            ("live", values.live_bytes),
            ("dead", values.dead_bytes),
            ("pinned", values.pinned_bytes),
            ("recent", values.recent_bytes),
        ] {
            page.sample("esker_value_log_bytes", &[("bytes", what)], bytes);
        }
        let doc = "Bytes of values that were not written yet, or not synced.";
        page.gauge("esker_value_unflushed_bytes", doc, values.unflushed_bytes);
        let doc = "Writers that waited for memory for large values.";
        page.head("esker_value_waits_total", "counter", doc);
        page.sample("esker_value_waits_total", &[], values.wait_count);
    }

    fn put_keyspaces(&self, page: &mut Page) {
        for metric in KEYSPACE_METRICS {
            page.head(metric.name, "gauge", metric.doc);
            for keyspace in &self.keyspaces {
                if let Some(value) = (metric.value)(keyspace) {
                    page.sample(metric.name, &[("keyspace", &keyspace.name)], value);
                }
            }
        }
        for metric in LEVEL_METRICS {
            page.head(metric.name, "gauge", metric.doc);
            for keyspace in &self.keyspaces {
                for level in &keyspace.levels {
                    let depth = level.depth.to_string();
                    let labels = [("keyspace", &keyspace.name[..]), ("level", &depth[..])];
                    page.sample(metric.name, &labels, (metric.value)(level));
                }
            }
        }
    }
}

/// A metric that is told of many things, and its value for one of them.
struct Metric<T: ?Sized, V> {
    name: &'static str,
    doc: &'static str,
    value: fn(&T) -> V,
}

const KEYSPACE_METRICS: [Metric<KeyspaceStats, Option<u64>>; 4] = [
    Metric {
        name: "esker_keyspace_memtable_bytes",
        doc: "Bytes of a keyspace's live and sealed memtables.",
        value: |keyspace| Some(keyspace.memtable_bytes),
    },
    Metric {
        name: "esker_keyspace_sealed_memtables",
        doc: "Memtables of a keyspace that wait for their flush.",
        value: |keyspace| Some(keyspace.sealed_count as u64),
    },
    Metric {
        name: "esker_keyspace_debt_bytes",
        doc: "Bytes of a keyspace that compaction should already have merged.",
        value: |keyspace| Some(keyspace.debt_bytes),
    },
    Metric {
        name: "esker_keyspace_write_rate_bytes",
        doc: "Bytes per second that writers of a keyspace may write; no sample while nothing holds \
              them back.",
        value: |keyspace| keyspace.write_rate,
    },
];

const LEVEL_METRICS: [Metric<LevelStats, f64>; 7] = [
    Metric {
        name: "esker_level_runs",
        doc: "Runs of a level.",
        value: |level| level.run_count as f64,
    },
    Metric {
        name: "esker_level_files",
        doc: "Sorted files of a level.",
        value: |level| level.file_count as f64,
    },
    Metric {
        name: "esker_level_bytes",
        doc: "Bytes of a level's files.",
        value: |level| level.size_bytes as f64,
    },
    Metric {
        name: "esker_level_raw_bytes",
        doc: "Bytes of a level's keys and values before they were compressed.",
        value: |level| level.raw_bytes as f64,
    },
    Metric {
        name: "esker_level_entries",
        doc: "Entries of a level, deletes included.",
        value: |level| level.entry_count as f64,
    },
    Metric {
        name: "esker_level_deletes",
        doc: "Deletes of a level, range deletes included.",
        value: |level| level.delete_count as f64,
    },
    Metric {
        name: "esker_level_score",
        doc: "How near a level is to its compaction, which is due from 1 on.",
        value: |level| level.score,
    },
];

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// The text so far. Writing to a string does not fail.
#[derive(Default)]
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, kind: &str, doc: &str) {
        // In help texts only these two are escaped.
        let doc = doc.replace('\\', "\\\\").replace('\n', "\\n");
        self.0 += &format!("# HELP {name} {doc}\n# TYPE {name} {kind}\n");
    }

    fn gauge(&mut self, name: &str, doc: &str, value: impl std::fmt::Display) {
        self.head(name, "gauge", doc);
        self.sample(name, &[], value);
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0 += name;
        for (index, (label, text)) in labels.iter().enumerate() {
            self.0.push(if index == 0 { '{' } else { ',' });
            let text = text
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            self.0 += &format!("{label}=\"{text}\"");
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        writeln!(self.0, " {value}").expect("a string takes what is written to it");
    }
}

#[cfg(test)]
mod tests;
