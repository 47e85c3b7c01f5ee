//! Moving keyspaces between databases by their files.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use esker::{Db, FileSetSummary, IngestOptions, Keyspace, Place, Transfer};
use serde_json::{Value, json};

use crate::fail::Outcome;
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;
use crate::progress::Spinner;
use crate::quantity;
use crate::text::escape;

/// Put the files of a keyspace into a directory, for `ingest`
#[derive(Debug, Args)]
#[command(after_help = "\
The directory gets second names of the files, which take no space and nearly no time, and a list of
them. Files never change: what becomes of the database does not touch the directory, and it may be
moved, copied to another machine, or removed. On another disk they are copied.

It holds the keyspace as of the moment of the export, large values and expiries too. As text, for
other programs or another order of keys: `esker dump`.

Examples:
  esker export /transfer/harbour                      the keyspace `default`
  esker export --keyspace visits /transfer/visits
  esker export --all /transfer/everything             all keyspaces, as of one moment")]
pub struct Export {
    /// The new directory
    #[arg(value_name = "DIR")]
    target: PathBuf,
    /// All keyspaces instead of one
    #[arg(long)]
    all: bool,
}

/// Take files into a keyspace: of an export, or as a program wrote them
#[derive(Debug, Args)]
#[command(after_help = "\
The directory is one that `export`, `load --bulk` or a program with an SstWriter made. What is in it
comes as if it were written now, all at one moment, and newer than all that is there; with --below
only keys come that have no value yet. After a crash either all of it is there or nothing.

Every file is read and checked first, unless --no-verify leaves that out; one that is damaged, or
has its keys in another order, is refused, and nothing is changed. The files themselves become files
of the database, by second names where both lie on one disk. (An export with large values, or one
that comes among other data with deletes in it, is written anew.)

Examples:
  esker ingest /transfer/harbour                      into the keyspace `default`
  esker ingest --keyspace ships /transfer/ships       into `ships`, made if it is not there
  esker ingest --all /transfer/everything             each keyspace under the name it had
  esker ingest --below /transfer/older                fill in only what is missing
  esker ingest --move --no-verify /transfer/ships     fastest; the directory is empty then")]
pub struct Ingest {
    /// The directory
    #[arg(value_name = "DIR")]
    source: PathBuf,
    /// All keyspaces that the directory holds, under their own names
    #[arg(long)]
    all: bool,
    /// Only keys that have no value yet
    #[arg(long)]
    below: bool,
    /// Copy the files, also where second names would do
    #[arg(long, conflicts_with = "move")]
    copy: bool,
    /// Empty the directory when all of it is in the database
    #[arg(long = "move")]
    r#move: bool,
    /// Leave out reading the files first
    #[arg(long)]
    no_verify: bool,
}

/// Makes an export.
pub fn export(shared: &GlobalFlags, args: &Export) -> Outcome {
    let began = Instant::now();
    let (summary, names) = match args.all {
        false => {
            let opened = open::for_changing(shared)?;
            let _spinner = Spinner::start("linking files");
            let summary = opened.keyspace.export(&args.target)?;
            opened.close()?;
            (summary, vec![shared.keyspace.clone()])
        }
        true => {
            let db = open::try_for_changing(shared)??;
            let _spinner = Spinner::start("linking files");
            let names = db.keyspaces();
            let found = names.iter().filter_map(|name| db.existing_keyspace(name));
            let keyspaces: Vec<Keyspace> = found.collect();
            let all: Vec<&Keyspace> = keyspaces.iter().collect();
            let summary = db.export_all(&all, &args.target)?;
            db.close()?;
            (summary, names)
        }
    };
    let target = args.target.display().to_string();
    show(shared, ("exported", &names), &summary, began.elapsed())?;
    if !shared.json {
        let mut out = Out::lock();
        out.line(format!(
            "into {target}; take it in elsewhere with `esker ingest {target}`"
        ))?;
        out.finish()?;
    }
    Ok(())
}

/// Takes files in.
pub fn ingest(shared: &GlobalFlags, args: &Ingest) -> Outcome {
    let transfer = match (args.copy, args.r#move) {
        (true, _) => Transfer::Copy,
        (_, true) => Transfer::Move,
        _ => Transfer::Link,
    };
    let place = match args.below {
        true => Place::Below,
        false => Place::Above,
    };
    let options = IngestOptions::default();
    let options = options.transfer(transfer).place(place);
    let options = options.verify(!args.no_verify);
    let opened = open::for_filling(shared)?;
    let began = Instant::now();
    let taken = take(
        &opened.db,
        &opened.keyspace,
        (&args.source, args.all),
        &options,
    );
    let closed = opened.close();
    let (summary, names) = taken?;
    closed?;
    show(shared, ("took in", &names), &summary, began.elapsed())
}

fn take(
    db: &Db,
    keyspace: &Keyspace,
    (source, is_all): (&Path, bool),
    options: &IngestOptions,
) -> Outcome<(FileSetSummary, Vec<String>)> {
    let _spinner = Spinner::start("taking files in");
    Ok(match is_all {
        false => {
            let summary = keyspace.ingest(source, options)?;
            (summary, vec![keyspace.name().to_owned()])
        }
        true => db.ingest_by_name(source, options)?,
    })
}

fn show(
    shared: &GlobalFlags,
    (done, names): (&str, &[String]),
    summary: &FileSetSummary,
    took: Duration,
) -> Outcome {
    let mut out = Out::lock();
    if shared.json {
        out.json(&summary_to_json(summary, names, took))?;
    } else {
        let names: Vec<_> = names.iter().map(|name| escape(name.as_bytes())).collect();
        out.line(format!(
            "{done} {} of {}: {}, {} in {}",
            quantity::counted_as(summary.entry_count, "entry", "entries"),
            names.join(", "),
            quantity::counted(summary.file_count as u64, "file"),
            quantity::bytes(summary.size_bytes),
            quantity::duration(took)
        ))?;
    }
    out.finish()?;
    Ok(())
}

/// What a set of files holds, as JSON.
fn summary_to_json(summary: &FileSetSummary, names: &[String], took: Duration) -> Value {
    json!({
        "keyspaces": names,
        "files": summary.file_count,
        "bytes": summary.size_bytes,
        "entries": summary.entry_count,
        "range_deletes": summary.range_delete_count,
        "seconds": took.as_secs_f64(),
    })
}
