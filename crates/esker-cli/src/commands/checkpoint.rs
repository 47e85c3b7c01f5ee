//! Making a second database from this one.

use std::path::PathBuf;

use clap::Args;
use esker::ErrorKind;
use serde_json::json;

use crate::fail::{Failure, Outcome};
use crate::flags::Shared;
use crate::open;
use crate::out::Out;
use crate::progress::Spinner;

/// Make a second database from this one, by linking its files
#[derive(Debug, Args)]
#[command(after_help = "\
The second database holds everything written so far and shares its sorted files with the first, so
it takes no time and nearly no space; each can then be written without the other. No other process
may have the database open: from one that has, `esker dump --all` takes a copy.

Example:
  esker checkpoint /backup/harbour-monday")]
pub struct Checkpoint {
    /// The new directory
    #[arg(value_name = "DIR")]
    target: PathBuf,
}

/// Makes a checkpoint.
pub fn checkpoint(shared: &Shared, args: &Checkpoint) -> Outcome {
    let db = match open::try_for_changing(shared)? {
        Err(error) if error.kind() == ErrorKind::Locked => return Err(held(&error)),
        opened => opened?,
    };
    {
        let _spinner = Spinner::start("linking files");
        db.checkpoint(&args.target)?;
    }
    db.close()?;
    let mut out = Out::lock();
    let target = args.target.display().to_string();
    if shared.json {
        out.json(&json!({ "checkpoint": target }))?;
    } else {
        out.line(format!(
            "checkpoint in {target}; open it with --db {target}"
        ))?;
    }
    Ok(out.finish()?)
}

/// Only who writes a database can say which of its files belong together, so a checkpoint of one
/// that is open elsewhere is that process's to make.
fn held(error: &esker::Error) -> Failure {
    let told = error.message();
    let who = told.split(';').next().unwrap_or(told);
    Failure::failed(format!(
        "{who}, and files that are being written cannot be linked from outside; have that process \
         call Db::checkpoint, or copy what it holds now with `esker dump --all | esker load --db \
         DIR -`"
    ))
}
