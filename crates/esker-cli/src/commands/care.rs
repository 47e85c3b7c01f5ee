//! Taking care of a database: compact, verify.

use std::time::Instant;

use clap::Args;
use esker::{Damage, ErrorKind, VerifyReport};
use serde_json::{Value, json};

use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;
use crate::progress::{Bar, Spinner};
use crate::quantity;

/// How often a database is verified that another process writes to: only where it has more files
/// than may be open does one go away that we need.
const VERIFY_TRIES: usize = 4;

/// Merge files so that nothing obsolete is left
#[derive(Debug, Args)]
#[command(after_help = "\
Writes all entries of the keyspace into the last level, without deleted, overwritten and expired
ones. The engine compacts by itself; this is for the impatient and before a checkpoint.

Examples:
  esker compact                    the whole keyspace
  esker compact --from a --to m    only keys from a up to m
  esker compact --compression searchable    pack values one by one, by a dictionary trained from
                                   them: text takes a quarter of its size; the keyspace keeps the
                                   setting, and `--compression lz4` turns it back")]
pub struct Compact {
    /// How the keyspace is packed from now on: none, lz4, zstd, snappy or searchable
    #[arg(long, value_name = "PACKING")]
    compression: Option<String>,
    /// From this key on
    #[arg(long, value_name = "KEY")]
    from: Option<String>,
    /// Up to this key, exclusive
    #[arg(long, value_name = "KEY")]
    to: Option<String>,
}

/// Compacts.
pub fn compact(shared: &GlobalFlags, args: &Compact) -> Outcome {
    let bounds = open::bounds(shared, args.from.as_deref(), args.to.as_deref())?;
    let opened = open::for_changing(shared)?;
    if let Some(packing) = &args.compression {
        opened.keyspace.set("compression", packing)?;
    }
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

/// Read every byte and check it
#[derive(Debug, Args)]
#[command(after_help = "\
Reads every block of every sorted file and every record of the log, compares checksums, and checks
that the files are those that the manifest names. Changes nothing. Exits with 3 if there is damage.

Examples:
  esker verify
  esker verify --json | jq .damages")]
pub struct Verify {}

/// Verifies; damage is listed on standard output and exits with 3.
pub fn verify(shared: &GlobalFlags) -> Outcome {
    let report = verify_all(shared)?;
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&report_to_json(&report))?;
    } else {
        show_report(&mut out, &report)?;
    }
    out.finish()?;
    if report.is_whole() {
        return Ok(());
    }
    remark!("esker: there is damage; `esker repair` tells, changing nothing, what can be saved");
    Err(Failure::Silent(Code::NotFound))
}

/// Opens a database for reading, reads every byte, and shows how far that is. One that is too
/// damaged to open gives a report of that.
pub fn verify_all(shared: &GlobalFlags) -> Outcome<VerifyReport> {
    let mut tries = 0;
    loop {
        tries += 1;
        let verified = open::try_for_reading(shared)?.and_then(|db| {
            let mut bar = Bar::bytes("reading every byte", None);
            db.verify_with(|progress| bar.set_of(progress.done_bytes, progress.total_bytes))
        });
        match verified {
            Ok(report) => return Ok(report),
            // Who writes to it has removed a file since it was opened.
            Err(error) if error.kind() == ErrorKind::Busy && tries < VERIFY_TRIES => {}
            Err(error) if error.kind() == ErrorKind::Corruption => return Ok(unopened(&error)),
            Err(error) => return Err(error.into()),
        }
    }
}

/// A report as JSON.
pub fn report_to_json(report: &VerifyReport) -> Value {
    let damages = report.damages.iter();
    let damages = damages.map(|damage| json!({ "file": damage.file, "message": damage.message }));
    json!({
        "is_whole": report.is_whole(),
        "files": report.files,
        "bytes": report.bytes,
        "entries": report.entries,
        "damages": damages.collect::<Vec<_>>(),
    })
}

/// A report for people: what is damaged, then how much was read.
pub fn show_report(out: &mut Out, report: &VerifyReport) -> Outcome {
    for damage in &report.damages {
        out.line(format!("damaged: {}: {}", damage.file, damage.message))?;
    }
    out.line(format!(
        "read {}, {}, {} entries: {}",
        quantity::counted(report.files as u64, "file"),
        quantity::bytes(report.bytes),
        quantity::count(report.entries),
        if report.is_whole() {
            "all whole"
        } else {
            "damaged"
        }
    ))?;
    Ok(())
}

/// The report on a database that is too damaged to open.
fn unopened(error: &esker::Error) -> VerifyReport {
    let file = error.file().unwrap_or("the database").to_owned();
    let damage = Damage {
        file,
        message: error.to_string(),
    };
    VerifyReport {
        damages: vec![damage],
        ..VerifyReport::default()
    }
}
