//! Repairing a damaged database: a dry run that tells, and the repair itself.

use clap::Args;
use esker::internals::env::bundle::Env;
use esker::{
    KeyGap, LogGap, LostFile, LostValues, ManifestState, MendedSegment, RepairOptions, RepairReport,
};
use serde_json::{Value, json};

use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open;
use crate::out::Out;
use crate::progress::Spinner;
use crate::text::Format;

/// Tell what of a damaged database can be saved, and save it
#[derive(Debug, Args)]
#[command(after_help = "\
Without --yes this is a dry run: it reads every byte, tells what a repair would keep and lose, and
changes nothing. With --yes it repairs. Nothing is deleted: what is taken out of the database
goes into its folder `lost`. No other process may have the database open.

Exits with 3 when a dry run finds that something is lost; with 0 when nothing is lost, and after a
repair.

Examples:
  esker repair                     tell what a repair would do
  esker repair --yes               repair
  esker repair --json | jq .lost_files")]
pub struct Repair {
    /// Repair, instead of telling what a repair would do
    #[arg(long)]
    yes: bool,
    /// Only tell, as without --yes
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// Repairs, or tells what a repair would do.
pub fn repair(shared: &GlobalFlags, args: &Repair) -> Outcome {
    let dir = open::directory(shared)?;
    open::refuse_absent(dir)?;
    let options = RepairOptions { dry_run: !args.yes };
    let report = {
        let _spinner = Spinner::start("reading every byte");
        esker::repair_in(&Env::real(1), dir, options, shared.plugins.comparators())?
    };
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&report_to_json(shared.key_format(), &report))?;
    } else {
        out.text(report.to_string())?;
    }
    out.finish()?;
    if report.is_whole() || !report.is_dry_run {
        return Ok(());
    }
    if report.is_lossy() {
        remark!(
            "esker: nothing was changed, and something is lost; restore a backup, or run `esker \
             repair --yes` to keep the rest"
        );
        return Err(Failure::Silent(Code::NotFound));
    }
    remark!("esker: nothing was changed; run `esker repair --yes`, which loses nothing");
    Ok(())
}

/// A report as JSON.
pub fn report_to_json(format: Format, report: &RepairReport) -> Value {
    let kept = report.kept.iter().map(|kept| {
        json!({
            "keyspace": kept.name,
            "files": kept.file_count,
            "bytes": kept.size_bytes,
            "entries": kept.entry_count,
        })
    });
    let lost = report.lost_files.iter();
    let values = report.lost_values.iter();
    let mended = report.mended_segments.iter().map(|segment| {
        let MendedSegment { name, cause } = segment;
        json!({ "file": name, "message": cause })
    });
    let log = &report.log;
    json!({
        "is_dry_run": report.is_dry_run,
        "is_whole": report.is_whole(),
        "is_lossy": report.is_lossy(),
        "manifest": manifest_to_json(&report.manifest),
        "kept": kept.collect::<Vec<_>>(),
        "lost_files": lost.map(|lost| lost_to_json(format, lost)).collect::<Vec<_>>(),
        "lost_values": values.map(|lost| values_to_json(format, lost)).collect::<Vec<_>>(),
        "forgotten_marks": report.forgotten_marks,
        "mended_segments": mended.collect::<Vec<_>>(),
        "log": {
            "segments": log.segment_count,
            "is_salvaged": log.is_salvaged,
            "batches": log.batch_count,
            "entries": log.entry_count,
            "lost_bytes": log.lost_bytes,
            "gaps": log.gaps.iter().map(gap_to_json).collect::<Vec<_>>(),
        },
        "moved": report.moved,
    })
}

fn manifest_to_json(state: &ManifestState) -> Value {
    match state {
        ManifestState::Whole => json!({ "state": "whole" }),
        ManifestState::Found { name, cause } => {
            json!({ "state": "found", "file": name, "message": cause })
        }
        ManifestState::Rebuilt { cause, names_from } => {
            json!({ "state": "rebuilt", "names_from": names_from, "message": cause })
        }
    }
}

fn lost_to_json(format: Format, lost: &LostFile) -> Value {
    let keys = lost.keys.as_ref();
    json!({
        "file": lost.name,
        "keyspace": lost.keyspace,
        "smallest": keys.map(|(smallest, _)| json::spell(format, smallest)),
        "largest": keys.map(|(_, largest)| json::spell(format, largest)),
        "entries": lost.entry_count,
        "saved_entries": lost.saved_entry_count,
        "gaps": lost.gaps.iter().map(|gap| key_gap_to_json(format, gap)).collect::<Vec<_>>(),
        "message": lost.cause,
    })
}

fn key_gap_to_json(format: Format, gap: &KeyGap) -> Value {
    json!({
        "what": gap.what,
        "from": gap.after.as_ref().map(|key| json::spell(format, key)),
        "up_to": gap.before.as_ref().map(|key| json::spell(format, key)),
        "message": gap.cause,
    })
}

fn values_to_json(format: Format, lost: &LostValues) -> Value {
    let (first, last) = &lost.keys;
    json!({
        "file": lost.file,
        "keyspace": lost.keyspace,
        "smallest": json::spell(format, first),
        "largest": json::spell(format, last),
        "values": lost.count,
        "message": lost.cause,
    })
}

fn gap_to_json(gap: &LogGap) -> Value {
    json!({
        "file": gap.name,
        "offset": gap.offset,
        "bytes": gap.len_bytes,
        "message": gap.cause,
        "batches_behind": gap.batches_behind,
        "entries_behind": gap.entries_behind,
    })
}
