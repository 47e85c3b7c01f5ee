//! A batch: many writes that happen together or not at all.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use esker::base::types::range::prefix_end;
use esker::{Keyspace, WriteBatch};
use serde_json::json;

use crate::commands::write::Survives;
use crate::fail::{Failure, Outcome};
use crate::flags::{Shared, keyspace_name};
use crate::load::lines::Line;
use crate::load::source::Source;
use crate::open::{self, Opened};
use crate::out::Out;

/// Write many entries together or not at all
#[derive(Debug, Args)]
#[command(after_help = "\
Each line is one write, its words apart by tabs and escaped as `esker --help` says:
  put KEY VALUE            set a value
  put KEY VALUE SECONDS    set it for so many seconds
  delete KEY               remove a key
  delete-range FROM TO     remove the keys from FROM up to TO, exclusive
  delete-prefix PREFIX     remove the keys that begin so
  merge KEY OPERAND        fold an operand into the value
  keyspace NAME            the lines below go to that keyspace, which is made if it is not there

If one line is wrong, nothing is written. After a crash all of the writes are there, or none.

Examples:
  printf 'put\\tship:anna\\tat sea\\ndelete\\tship:bela\\n' | esker batch
  esker batch moves.txt --durability sync")]
pub struct Batch {
    /// The file of writes; standard input if left out
    #[arg(default_value = "-", value_name = "FILE")]
    file: PathBuf,
    /// What the batch must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

/// Reads the writes and commits them as one.
pub fn batch(shared: &Shared, args: &Batch) -> Outcome {
    let mut source = Source::open(&args.file)?;
    let opened = open::for_filling(shared)?;
    let mut batch = opened.db.batch();
    let mut keyspace = opened.keyspace.clone();
    let failed = |name: &str, error| Failure::system(format!("cannot read {name}"), &error);
    loop {
        let name = source.name.clone();
        let number = source.lines.number() + 1;
        let line = match source.lines.next_line() {
            Err(error) => return Err(failed(&name, error)),
            Ok(None) => break,
            Ok(Some(Line::Text(b""))) => continue,
            Ok(Some(Line::TooLong)) => Err("the line is too long".to_owned()),
            Ok(Some(Line::Text(line))) => add(shared, &opened, &mut batch, &mut keyspace, line),
        };
        line.map_err(|reason| {
            Failure::usage(format!(
                "{name}:{number}: {reason}; nothing was written, `esker batch --help` tells the \
                 lines"
            ))
        })?;
    }
    let writes = batch.len();
    batch.commit_with(Survives::options(args.durability))?;
    drop(batch);
    drop(keyspace);
    opened.close()?;
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({ "writes": writes }))?;
    }
    Ok(out.finish()?)
}

fn add(
    shared: &Shared,
    opened: &Opened,
    batch: &mut WriteBatch,
    keyspace: &mut Keyspace,
    line: &[u8],
) -> Result<(), String> {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
    let key = |word: &[u8]| shared.key_format().parse_field(word);
    let value = |word: &[u8]| shared.value_format().parse_field(word);
    let written = match words[..] {
        [b"put", one, other] => batch.put(keyspace, key(one)?, value(other)?),
        [b"put", one, other, seconds] => {
            let ttl = Duration::from_secs(u64::from(parse_seconds(seconds)?));
            batch.put_with_ttl(keyspace, key(one)?, value(other)?, ttl)
        }
        [b"delete", one] => batch.delete(keyspace, key(one)?),
        [b"delete-range", from, to] => batch.delete_range(keyspace, key(from)?, key(to)?),
        [b"delete-prefix", prefix] => {
            let prefix = key(prefix)?;
            let end = prefix_end(&prefix).ok_or("a prefix that ends nowhere is a range")?;
            batch.delete_range(keyspace, prefix, end)
        }
        [b"merge", one, operand] => batch.merge(keyspace, key(one)?, value(operand)?),
        [b"keyspace", name] => {
            let name = std::str::from_utf8(name).map_err(|_| "the name is not UTF-8")?;
            let found = opened.db.keyspace(&keyspace_name(name)?);
            found.map(|found| *keyspace = found)
        }
        _ => return Err("it is no write with its words apart by tabs".into()),
    };
    written.map_err(|error| error.message().to_owned())
}

fn parse_seconds(word: &[u8]) -> Result<u32, String> {
    let text = std::str::from_utf8(word).ok();
    let seconds = text.and_then(|text| text.parse().ok());
    seconds.ok_or_else(|| "the last word is no count of seconds".into())
}
