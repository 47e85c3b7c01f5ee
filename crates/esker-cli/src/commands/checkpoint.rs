//! Making a second database from this one.

use std::path::{Path, PathBuf};

use clap::Args;
use esker::internals::env::bundle::Env;
use esker::{ErrorKind, VerifyReport};
use serde_json::json;

use crate::commands::care;
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;
use crate::progress::Spinner;

/// Make a second database from this one, by linking its files
#[derive(Debug, Args)]
#[command(after_help = "\
The second database holds everything written so far and shares its sorted files with the first, so
it takes nearly no space; each can then be written without the other. Linking takes no time. Then
every byte of the second is read and checked, unless --no-verify leaves that out: damage goes into
the copy as it is, and exits with 3.

The database may be open in another process, which is not disturbed. It is not asked either, so the
copy is one as of a process that was killed: with everything that was written before the command
began, but for writes that chose the durability `memory`. Without such a process the database is
opened, and what its log holds is put into files first.

Examples:
  esker checkpoint /backup/harbour-monday
  esker checkpoint --no-verify /backup/harbour-monday && esker verify --db /backup/harbour-monday")]
pub struct Checkpoint {
    /// The new directory
    #[arg(value_name = "DIR")]
    target: PathBuf,
    /// Link only; damage then goes into the copy untold
    #[arg(long)]
    no_verify: bool,
}

/// How a checkpoint came about.
#[derive(Default)]
struct Made {
    /// Another process had the database open, and goes on.
    is_beside_writer: bool,
    /// Intact records that were cut off the log when we opened the database.
    torn_records: u64,
}

/// Makes a checkpoint; damage in it is listed on standard output and exits with 3.
pub fn checkpoint(shared: &GlobalFlags, args: &Checkpoint) -> Outcome {
    let made = make(shared, &args.target)?;
    let report = match args.no_verify {
        true => None,
        false => Some(verify(shared, &args.target)?),
    };
    let mut out = Out::lock();
    let target = args.target.display().to_string();
    if shared.json {
        out.json(&json!({
            "checkpoint": target,
            "is_beside_writer": made.is_beside_writer,
            "verified": report.as_ref().map(care::report_to_json),
        }))?;
    } else {
        if let Some(report) = &report {
            care::show_report(&mut out, report)?;
        }
        out.line(format!(
            "checkpoint in {target}; open it with --db {target}"
        ))?;
    }
    out.finish()?;
    match report {
        Some(report) if !report.is_whole() => {
            remark!(
                "esker: the checkpoint has the damage that is listed, and so has the database; \
                 `esker repair --db {target}` tells, changing nothing, what can be saved"
            );
            Err(Failure::Silent(Code::NotFound))
        }
        // Told when the database was opened.
        Some(_) if made.torn_records > 0 => Err(Failure::Silent(Code::NotFound)),
        _ => Ok(()),
    }
}

fn make(shared: &GlobalFlags, target: &Path) -> Outcome<Made> {
    let db = match open::try_for_changing(shared)? {
        Err(error) if error.kind() == ErrorKind::Locked => {
            remark!(
                "esker: {}; the checkpoint is made beside it, and holds what was written before \
                 this moment",
                open::who_holds(&error)
            );
            let _spinner = Spinner::start("linking files");
            let dir = open::directory(shared)?;
            let comparators = shared.plugins.comparators();
            esker::checkpoint_beside_in(&Env::real(1), dir, target, comparators)?;
            return Ok(Made {
                is_beside_writer: true,
                ..Made::default()
            });
        }
        opened => opened?,
    };
    let torn_records = db.stats().torn_records;
    {
        let _spinner = Spinner::start("linking files");
        db.checkpoint(target)?;
    }
    db.close()?;
    Ok(Made {
        torn_records,
        ..Made::default()
    })
}

fn verify(shared: &GlobalFlags, target: &Path) -> Outcome<VerifyReport> {
    let copy = GlobalFlags {
        db: Some(target.to_path_buf()),
        ..shared.clone()
    };
    care::verify_all(&copy)
}
