//! Transactions that are prepared: listed, committed, rolled back.

use clap::{Args, Subcommand};
use esker::PreparedStats;
use serde_json::{Value, json};

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::open;
use crate::out::Out;
use crate::quantity::{bytes, counted, duration};
use crate::text::{escape, unescape};

/// List, commit and roll back prepared transactions
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker prepared                       those that wait for a decision, one a line
  esker prepared commit 'arrival 7'    what it writes is there from now on
  esker prepared rollback 'arrival 7'  nothing of it was ever there

Who prepared a transaction decides on it: here it is for a program that is gone. Ids are printed
and read with the escapes of keys.")]
pub struct Prepared {
    #[command(subcommand)]
    action: Option<Action>,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Action {
    /// List them, as without a word
    List,
    /// Commit one
    Commit {
        /// Its id
        id: String,
    },
    /// Roll one back
    Rollback {
        /// Its id
        id: String,
    },
}

/// Lists, commits or rolls back.
pub fn prepared(shared: &GlobalFlags, args: &Prepared) -> Outcome {
    match &args.action {
        None | Some(Action::List) => list(shared),
        Some(Action::Commit { id }) => {
            let opened = open::for_changing(shared)?;
            opened.db.commit_prepared(bytes_of(id)?)?;
            opened.close()?;
            told(shared, "committed", id)
        }
        Some(Action::Rollback { id }) => {
            let opened = open::for_changing(shared)?;
            opened.db.rollback_prepared(bytes_of(id)?)?;
            opened.close()?;
            told(shared, "rolled_back", id)
        }
    }
}

fn list(shared: &GlobalFlags) -> Outcome {
    let db = open::database_for_reading(shared)?;
    let prepared = db.prepared();
    let mut out = Out::lock();
    if shared.json {
        out.json_page(&prepared.iter().map(to_json).collect())?;
    } else {
        for one in &prepared {
            let names = one.keyspaces.iter().map(|name| escape(name.as_bytes()));
            out.line(format!(
                "{}\t{}\t{}\t{}\t{}",
                escape(&one.id),
                counted(one.entries, "write"),
                bytes(one.size_bytes),
                duration(one.age),
                names.collect::<Vec<_>>().join(", "),
            ))?;
        }
    }
    Ok(out.finish()?)
}

/// What is known of one that is prepared.
pub fn to_json(one: &PreparedStats) -> Value {
    json!({
        "id": escape(&one.id),
        "entries": one.entries,
        "bytes": one.size_bytes,
        "claims": one.claim_count,
        "age_seconds": one.age.as_secs_f64(),
        "keyspaces": one.keyspaces,
    })
}

fn bytes_of(id: &str) -> Outcome<Vec<u8>> {
    unescape(id.as_bytes()).map_err(Failure::usage)
}

fn told(shared: &GlobalFlags, done: &str, id: &str) -> Outcome {
    if !shared.json {
        return Ok(());
    }
    let mut out = Out::lock();
    out.json(&json!({ done: id }))?;
    Ok(out.finish()?)
}
