//! Taking care of a database: compact, checkpoint, verify, repair.

use std::time::Instant;

use clap::Args;
use serde_json::json;

use crate::fail::Outcome;
use crate::flags::Shared;
use crate::open;
use crate::out::Out;
use crate::progress::Spinner;
use crate::quantity;

/// Merge files so that nothing obsolete is left
#[derive(Debug, Args)]
#[command(after_help = "\
Writes all entries of the keyspace into the last level, without deleted, overwritten and expired
ones. The engine compacts by itself; this is for the impatient and before a checkpoint.

Examples:
  esker compact                    the whole keyspace
  esker compact --from a --to m    only keys from a up to m")]
pub struct Compact {
    /// From this key on
    #[arg(long, value_name = "KEY")]
    from: Option<String>,
    /// Up to this key, exclusive
    #[arg(long, value_name = "KEY")]
    to: Option<String>,
}

/// Compacts.
pub fn compact(shared: &Shared, args: &Compact) -> Outcome {
    let bounds = open::bounds(shared, args.from.as_deref(), args.to.as_deref())?;
    let opened = open::for_changing(shared)?;
    let before = opened.db.stats().disk_bytes;
    let began = Instant::now();
    {
        let _spinner = Spinner::start("compacting");
        opened.keyspace.compact(bounds)?;
    }
    let took = began.elapsed();
    let after = opened.db.stats().disk_bytes;
    opened.close()?;
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({
            "disk_bytes_before": before,
            "disk_bytes_after": after,
            "seconds": took.as_secs_f64(),
        }))?;
    } else {
        out.line(format!(
            "compacted in {}; {} before, {} after",
            quantity::duration(took),
            quantity::bytes(before),
            quantity::bytes(after)
        ))?;
    }
    Ok(out.finish()?)
}
