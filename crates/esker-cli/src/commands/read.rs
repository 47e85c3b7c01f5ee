//! Reading entries: get, scan, count.

use clap::Args;
use esker::base::types::range::KeyRange;
use esker::{Bytes, Iter, Readable};
use serde_json::json;

use crate::fail::{Code, Failure, Outcome};
use crate::flags::Shared;
use crate::json;
use crate::open::{self, Bounds, Opened};
use crate::out::Out;
use crate::progress::Bar;
use crate::text::Format;

/// Entries between two looks at the clock: rare enough to cost nothing.
const TOLD_EVERY: u64 = 4096;

/// Print the value of a key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker get ship:anna                the value, and a line feed behind it
  esker get --raw photo:7 > 7.jpg    the bytes as they are
  esker get --hex 0001ff             key and value in hex")]
pub struct Get {
    /// The key
    key: String,
    /// No line feed behind the value
    #[arg(long)]
    raw: bool,
}

/// Prints the value, or exits with 3.
pub fn get(shared: &Shared, args: &Get) -> Outcome {
    let key = open::key(shared, &args.key)?;
    let opened = open::for_reading(shared)?;
    let value = opened.keyspace.get(&key)?;
    let mut out = Out::lock();
    if shared.json {
        let spelled = value
            .as_ref()
            .map(|value| json::spell(shared.value_format(), value));
        out.json(&json!({ "key": json::spell(shared.key_format(), &key), "value": spelled }))?;
        out.finish()?;
        return value.map(drop).ok_or(Failure::Silent(Code::NotFound));
    }
    let Some(value) = value else {
        return Err(Failure::not_found(format!(
            "there is no key {:?} in keyspace {}; `esker scan` lists those there are",
            args.key, shared.keyspace
        )));
    };
    match shared.value_format() {
        Format::Text => out.raw(&value)?,
        coded => out.raw(coded.show_field(&value).as_bytes())?,
    }
    if !args.raw {
        out.raw(b"\n")?;
    }
    Ok(out.finish()?)
}

/// Which keys.
#[derive(Debug, Args)]
pub struct Keys {
    /// Only keys that begin so
    #[arg(conflicts_with_all = ["from", "to"])]
    prefix: Option<String>,
    /// From this key on
    #[arg(long, value_name = "KEY")]
    from: Option<String>,
    /// Up to this key, exclusive
    #[arg(long, value_name = "KEY")]
    to: Option<String>,
}

impl Keys {
    /// What they spell; asked before the database is opened, so that a wrong word costs nothing.
    pub fn parse(&self, shared: &Shared) -> Outcome<Chosen> {
        if let Some(prefix) = &self.prefix {
            return Ok(Chosen::Prefix(open::key(shared, prefix)?));
        }
        let bounds = open::bounds(shared, self.from.as_deref(), self.to.as_deref())?;
        Ok(Chosen::Bounds(bounds))
    }
}

/// The keys that the command line chooses.
pub enum Chosen {
    /// Those that begin so.
    Prefix(Vec<u8>),
    /// Those between.
    Bounds(Bounds),
}

impl Chosen {
    /// The entries under these keys.
    pub fn iter(self, opened: &Opened) -> Outcome<Iter> {
        Ok(match self {
            Chosen::Prefix(prefix) => opened.keyspace.prefix(prefix)?,
            Chosen::Bounds(bounds) => opened.keyspace.range(bounds)?,
        })
    }

    /// The same keys as bounds.
    pub fn into_bounds(self) -> Bounds {
        match self {
            Chosen::Prefix(prefix) => {
                let range = KeyRange::prefix(&prefix);
                (range.lower, range.upper)
            }
            Chosen::Bounds(bounds) => bounds,
        }
    }
}

/// Print entries in the order of their keys
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker scan                             everything, one entry a line: key, tab, value
  esker scan ship:                       keys that begin so
  esker scan --from a --to m --limit 10  the first ten from a up to m
  esker scan --reverse --keys-only       keys, the last first

Tabs, line feeds, backslashes and bytes that are no text are shown as \\t, \\n, \\\\ and \\xNN; with
--hex or --base64 they need no such care. With --json each line is an object.")]
pub struct Scan {
    #[command(flatten)]
    keys: Keys,
    /// At most so many
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// From the last key to the first
    #[arg(long)]
    reverse: bool,
    /// Leave out the values
    #[arg(long)]
    keys_only: bool,
}

/// Prints entries.
pub fn scan(shared: &Shared, args: &Scan) -> Outcome {
    let chosen = args.keys.parse(shared)?;
    let opened = open::for_reading(shared)?;
    let mut iter = chosen.iter(&opened)?;
    let mut out = Out::lock();
    let mut left = args.limit.unwrap_or(u64::MAX);
    if args.keys_only {
        let mut keys = iter.keys();
        while left > 0
            && let Some(key) = if args.reverse {
                keys.next_back()
            } else {
                keys.next()
            }
        {
            line(&mut out, shared, &key?, None)?;
            left -= 1;
        }
        return Ok(out.finish()?);
    }
    while left > 0 {
        let next = if args.reverse {
            iter.next_back()
        } else {
            iter.next()
        };
        let Some(entry) = next else { break };
        let (key, value) = entry?;
        line(&mut out, shared, &key, Some(&value))?;
        left -= 1;
    }
    Ok(out.finish()?)
}

fn line(out: &mut Out, shared: &Shared, key: &[u8], value: Option<&Bytes>) -> Outcome {
    let (keys, values) = (shared.key_format(), shared.value_format());
    if shared.json {
        let key = json::spell(keys, key);
        let object = match value {
            Some(value) => json!({ "key": key, "value": json::spell(values, value) }),
            None => json!({ "key": key }),
        };
        return Ok(out.json(&object)?);
    }
    out.raw(keys.show_field(key).as_bytes())?;
    if let Some(value) = value {
        out.raw(b"\t")?;
        out.raw(values.show_field(value).as_bytes())?;
    }
    Ok(out.raw(b"\n")?)
}

/// Count entries
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker count            all entries of the keyspace
  esker count ship:      those whose keys begin so

Counts by reading: an estimate that costs nothing is in `esker stats`.")]
pub struct Count {
    #[command(flatten)]
    keys: Keys,
}

/// Counts entries and their bytes.
pub fn count(shared: &Shared, args: &Count) -> Outcome {
    let chosen = args.keys.parse(shared)?;
    let opened = open::for_reading(shared)?;
    let (mut entries, mut bytes) = (0, 0);
    let mut bar = Bar::things("counting", None);
    let mut count = |len: usize| {
        entries += 1;
        bytes += len as u64;
        if entries % TOLD_EVERY == 0 {
            bar.set(entries);
        }
    };
    let iter = chosen.iter(&opened)?;
    if shared.json {
        for entry in iter {
            let (key, value) = entry?;
            count(key.len() + value.len());
        }
    } else {
        // No value is read that nobody asked for.
        for key in iter.keys() {
            count(key?.len());
        }
    }
    drop(bar);
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({ "entries": entries, "bytes": bytes }))?;
    } else {
        out.line(entries.to_string())?;
    }
    Ok(out.finish()?)
}
