//! The process that gets killed: writes the ledger, and tells of each batch once it is safe.

use std::io::Write;

use clap::Args;
use esker::{Durability, WriteOptions};

use crate::demo::ledger;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;

/// The keyspace of the ledger.
pub const KEYSPACE: &str = "ledger";

/// Batches in one call: the parent kills long before; without one, the disk must not fill up.
const BATCHES_MAX: u64 = 5_000_000;

/// The part of the demo that gets killed
#[derive(Debug, Args)]
pub struct DemoWriter {
    /// The batch to begin with
    #[arg(long)]
    first: u64,
}

/// Writes batches; after each commit its number goes to standard output, 8 bytes little-endian.
pub fn demo_writer(shared: &GlobalFlags, args: &DemoWriter) -> Outcome {
    let db = open::builder(shared)?.create_if_missing(false).open()?;
    let ledger = db.keyspace(KEYSPACE)?;
    let options = WriteOptions {
        durability: Some(Durability::Buffered),
        ..WriteOptions::default()
    };
    let mut parent = std::io::stdout().lock();
    let mut batch = db.batch();
    for number in args.first..args.first.saturating_add(BATCHES_MAX) {
        for index in 0..ledger::entry_count(number) {
            let (key, value) = (ledger::key(number, index), ledger::value(number, index));
            batch.put(&ledger, key, value);
        }
        batch.commit_with(options)?;
        // Eight bytes enter a pipe as a whole or not at all.
        parent.write_all(&number.to_le_bytes())?;
        parent.flush()?;
    }
    Err(Failure::failed("nobody killed the demo's writer"))
}
