//! One client for each partition, who writes row after row and counts, and never stops trying.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use esker_rpc::client::{CallSettings, MultiGet, Table};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::keys::{hash, partition_of};
use tokio::task::JoinHandle;

use crate::nemesis::timeline::Timeline;

/// How long one attempt takes at most: a client that waits longer would measure itself.
const ATTEMPT: Duration = Duration::from_millis(500);

/// After so many attempts in a row that came to nothing the next ones take twice as long: on a
/// machine that has much to do, no answer may come in less. At most as often as that.
const IN_VAIN: u32 = 8;
const DOUBLINGS_MAX: u32 = 5;

/// Between two writes.
const PACE: Duration = Duration::from_millis(20);

/// Between two attempts of which the first was refused.
const AGAIN: Duration = Duration::from_millis(10);

/// What the client of one partition has done.
#[derive(Default)]
pub struct Probe {
    pub timeline: Timeline,
    /// Rows of smaller numbers were acknowledged.
    pub rows: u64,
    /// Additions that were acknowledged, and those that may have been made.
    pub counted: i64,
    pub tried: i64,
}

/// The clients of all partitions of a table.
pub struct Probes {
    pub cells: Vec<Arc<Mutex<Probe>>>,
    tasks: Vec<JoinHandle<()>>,
    is_over: Arc<AtomicBool>,
}

/// A hash key of that partition.
pub fn hash_key(partition: u32, count: u32) -> String {
    let mut names = (0_u32..).map(|number| format!("harbour{number}"));
    let is_there = |name: &String| partition_of(hash(name.as_bytes()), count) == partition;
    names.find(is_there).unwrap()
}

fn sort_key(row: u64) -> [u8; 8] {
    row.to_be_bytes()
}

impl Probes {
    /// Begins to write to every partition.
    pub fn start(table: &Table, count: u32, began: Instant) -> Probes {
        let is_over = Arc::new(AtomicBool::new(false));
        let cells: Vec<Arc<Mutex<Probe>>> = (0..count).map(|_| Arc::default()).collect();
        let tasks = (0..count).zip(&cells).map(|(partition, cell)| {
            let (table, cell, is_over) = (table.clone(), Arc::clone(cell), Arc::clone(&is_over));
            tokio::spawn(async move {
                let key = hash_key(partition, count);
                let mut in_vain = 0;
                while !is_over.load(Ordering::SeqCst) {
                    let table = table.with(CallSettings {
                        timeout: patience(ATTEMPT, in_vain),
                        resends_writes: true,
                    });
                    let has_put = put(&table, &key, &cell, began).await;
                    let has_added = add(&table, &key, &cell, began).await;
                    in_vain = if has_put || has_added { 0 } else { in_vain + 1 };
                }
            })
        });
        Probes {
            tasks: tasks.collect(),
            cells,
            is_over,
        }
    }

    /// Rows that were acknowledged.
    pub fn rows(&self) -> u64 {
        let rows = self.cells.iter().map(|cell| cell.lock().unwrap().rows);
        rows.sum()
    }

    /// Whether each partition has taken a write that was asked for later than that.
    pub fn are_behind(&self, moment: Duration) -> bool {
        self.cells
            .iter()
            .all(|cell| cell.lock().unwrap().timeline.is_behind(moment))
    }

    /// Ends them, and looks for what was acknowledged; gives how many rows that was.
    pub async fn finish(self, table: &Table) -> u64 {
        self.is_over.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        let count = u32::try_from(self.cells.len()).unwrap();
        let mut rows = 0;
        for (partition, cell) in (0..count).zip(&self.cells) {
            let probe = std::mem::take(&mut *cell.lock().unwrap());
            let key = hash_key(partition, count);
            let found = found(table, &key).await;
            let lost = (0..probe.rows).find(|row| !found.contains(row));
            assert_eq!(
                lost, None,
                "a row of {} in partition {partition} is lost",
                probe.rows
            );
            let counted = table.get(key.as_bytes(), b"count").await.unwrap();
            let counted =
                counted.map_or(0, |text| String::from_utf8(text).unwrap().parse().unwrap());
            assert!(
                (probe.counted..=probe.tried).contains(&counted),
                "partition {partition} counts {counted}: {} were acknowledged, {} tried",
                probe.counted,
                probe.tried
            );
            rows += probe.rows;
        }
        rows
    }
}

/// How long the next attempt takes at most, after so many that came to nothing.
pub fn patience(attempt: Duration, in_vain: u32) -> Duration {
    attempt * 2_u32.pow((in_vain / IN_VAIN).min(DOUBLINGS_MAX))
}

/// Whether it was acknowledged; below as well.
async fn put(table: &Table, key: &str, cell: &Mutex<Probe>, began: Instant) -> bool {
    let row = cell.lock().unwrap().rows;
    let asked = began.elapsed();
    let put = table.set(key.as_bytes(), &sort_key(row), b"ship", 0).await;
    if put.is_ok() {
        let mut probe = cell.lock().unwrap();
        probe.rows += 1;
        probe.timeline.note(asked, began.elapsed());
    }
    tokio::time::sleep(if put.is_ok() { PACE } else { AGAIN }).await;
    put.is_ok()
}

async fn add(table: &Table, key: &str, cell: &Mutex<Probe>, began: Instant) -> bool {
    let asked = began.elapsed();
    cell.lock().unwrap().tried += 1;
    match table.incr(key.as_bytes(), b"count", 1, 0).await {
        Ok(_) => {
            let mut probe = cell.lock().unwrap();
            probe.counted += 1;
            probe.timeline.note(asked, began.elapsed());
            true
        }
        Err(error) => {
            if error.is_undone() {
                cell.lock().unwrap().tried -= 1;
            }
            tokio::time::sleep(AGAIN).await;
            false
        }
    }
}

/// The numbers of all rows below a hash key.
async fn found(table: &Table, key: &str) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    let mut request = MultiGet {
        hash_key: Blob::of(key.as_bytes()),
        max_kv_count: 1000,
        no_value: true,
        start_inclusive: true,
        ..MultiGet::default()
    };
    loop {
        let page = table.multi_get(&request).await.unwrap();
        for (sort_key, _) in &page.rows {
            let number = sort_key.as_slice().try_into().map(u64::from_be_bytes);
            found.extend(number.ok());
        }
        let Some((last, _)) = page.rows.last().filter(|_| page.is_incomplete) else {
            return found;
        };
        request.start_sortkey = Blob::of(last);
        request.start_inclusive = false;
    }
}
