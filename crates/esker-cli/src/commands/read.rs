//! Reading entries: get, scan, count.

use std::ops::Bound;

use clap::Args;
use esker::internals::base::types::range::KeyRange;
use esker::{Bytes, Iter};
use serde_json::json;

use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open::{self, Bounds, Opened};
use crate::out::Out;
use crate::progress::Bar;
use crate::quantity::{self, whole};
use crate::text::{Format, escape};

/// Entries between two looks at the clock: rare enough to cost nothing.
const TOLD_EVERY: u64 = 4096;

/// Print the values of keys
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker get ship:anna                the value, and a line feed behind it
  esker get --raw photo:7 > 7.jpg    the bytes as they are
  esker get ship:anna ship:bela      a line for each that is there: key, tab, value
  esker get --hex 0001ff             key and value in hex
  esker get 'C:\\\\temp\\xff'          a key as `esker scan` prints it

A value is written as it is, to a terminal without what the terminal would obey; --raw leaves that
in, too.")]
pub struct Get {
    /// The key; of several, each that is there gives a line with key, tab and value
    #[arg(required = true)]
    key: Vec<String>,
    /// No line feed behind the value, and the bytes as they are
    #[arg(long)]
    raw: bool,
    /// The value is a number of the merge operators on uint64
    #[arg(long, conflicts_with = "raw")]
    number: bool,
}

/// Prints the values, or exits with 3 where a key is not there.
pub fn get(shared: &GlobalFlags, args: &Get) -> Outcome {
    let words = args.key.iter();
    let keys: Vec<Vec<u8>> = words
        .map(|word| open::key(shared, word))
        .collect::<Outcome<_>>()?;
    if args.raw && keys.len() > 1 {
        return Err(Failure::usage("--raw is for one key"));
    }
    let opened = open::for_reading(shared)?;
    let values = opened.keyspace.multi_get(&keys)?;
    let mut out = Out::lock();
    let mut missing = None;
    for (key, value) in keys.iter().zip(values) {
        if shared.json {
            let value = value.as_ref();
            let value = value.map(|value| json::spell(shared.value_format(), value));
            let key = json::spell(shared.key_format(), key);
            missing = missing.or(value.is_none().then_some(Failure::Silent(Code::NotFound)));
            out.json(&json!({ "key": key, "value": value }))?;
            continue;
        }
        match value {
            Some(value) if args.number => {
                let number = <[u8; 8]>::try_from(&value[..]).map(u64::from_le_bytes);
                let number = number.map_err(|_| {
                    Failure::failed("the value has not the 8 bytes of a number; leave out --number")
                })?;
                heading(&mut out, shared, key, keys.len())?;
                out.line(number.to_string())?;
            }
            Some(value) if keys.len() > 1 => line(&mut out, shared, key, Some(&value))?,
            Some(value) => show_value(&mut out, shared, args.raw, &value)?,
            None => {
                let failure = not_there(shared, key);
                // The last of them ends the command, the others are told on the way.
                if let Some(Failure::Told { message, .. }) = missing.replace(failure) {
                    remark!("esker: {message}");
                }
            }
        }
    }
    out.finish()?;
    missing.map_or(Ok(()), Err)
}

fn heading(out: &mut Out, shared: &GlobalFlags, key: &[u8], count: usize) -> Outcome {
    if count > 1 {
        out.raw(shared.key_format().show_field(key).as_bytes())?;
        out.raw(b"\t")?;
    }
    Ok(())
}

/// Writes a value as it is, or in its format; `is_raw` leaves out the line feed behind it and what
/// keeps a terminal from obeying it.
pub fn show_value(out: &mut Out, shared: &GlobalFlags, is_raw: bool, value: &[u8]) -> Outcome {
    match shared.value_format() {
        Format::Text if !is_raw && Out::is_terminal() => {
            out.text(String::from_utf8_lossy(value))?;
        }
        Format::Text => out.raw(value)?,
        coded => out.raw(coded.show_field(value).as_bytes())?,
    }
    if !is_raw {
        out.raw(b"\n")?;
    }
    Ok(())
}

fn not_there(shared: &GlobalFlags, key: &[u8]) -> Failure {
    Failure::not_found(format!(
        "there is no key \"{}\" in keyspace \"{}\"; `esker scan` lists those there are",
        shared.key_format().show_field(key),
        escape(shared.keyspace.as_bytes())
    ))
}

/// Print when keys expire
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker expiry lock:7             seconds from 1970 to when it is gone, or never
  esker expiry lock:7 lock:8      a line for each: key, tab, seconds
  date -d @$(esker expiry lock:7)")]
pub struct Expiry {
    /// The keys
    #[arg(required = true)]
    key: Vec<String>,
}

/// Prints expiries, or exits with 3 where a key is not there.
pub fn expiry(shared: &GlobalFlags, args: &Expiry) -> Outcome {
    let words = args.key.iter();
    let keys: Vec<Vec<u8>> = words
        .map(|word| open::key(shared, word))
        .collect::<Outcome<_>>()?;
    let opened = open::for_reading(shared)?;
    let mut out = Out::lock();
    for key in &keys {
        let Some(expiry) = opened.keyspace.expiry(key)? else {
            out.finish()?;
            return Err(not_there(shared, key));
        };
        if shared.json {
            let key = json::spell(shared.key_format(), key);
            out.json(&json!({ "key": key, "expires": expiry.map(json::expiry) }))?;
        } else {
            heading(&mut out, shared, key, keys.len())?;
            out.line(expiry.map_or_else(|| "never".into(), |expiry| expiry.to_string()))?;
        }
    }
    Ok(out.finish()?)
}

/// Which keys.
#[derive(Debug, Args)]
pub struct Keys {
    /// Only keys that begin so
    prefix: Option<String>,
    /// From this key on
    #[arg(long, value_name = "KEY")]
    from: Option<String>,
    /// Behind this key: the last one that a page before showed
    #[arg(long, value_name = "KEY", conflicts_with = "from")]
    after: Option<String>,
    /// Up to this key, exclusive
    #[arg(long, value_name = "KEY")]
    to: Option<String>,
}

impl Keys {
    /// What they spell; asked before the database is opened, so that a wrong word costs nothing.
    pub fn parse(&self, shared: &GlobalFlags) -> Outcome<Chosen> {
        let mut bounds = open::bounds(shared, self.from.as_deref(), self.to.as_deref())?;
        if let Some(after) = &self.after {
            bounds.0 = Bound::Excluded(open::key(shared, after)?);
        }
        let Some(prefix) = &self.prefix else {
            return Ok(Chosen::Bounds(bounds));
        };
        let prefix = open::key(shared, prefix)?;
        Ok(match bounds {
            (Bound::Unbounded, Bound::Unbounded) => Chosen::Prefix(prefix),
            bounds => Chosen::Bounds(within(bounds, KeyRange::prefix(&prefix))),
        })
    }
}

/// What of `bounds` lies in `range` as well.
fn within((lower, upper): Bounds, range: KeyRange) -> Bounds {
    // A bound of the command line counts where it is the narrower of the two.
    let lower = match (lower, range.lower) {
        (Bound::Included(key), Bound::Included(first)) => Bound::Included(key.max(first)),
        (Bound::Excluded(key), Bound::Included(first)) if key >= first => Bound::Excluded(key),
        (_, first) => first,
    };
    let upper = match (upper, range.upper) {
        (Bound::Excluded(key), Bound::Excluded(end)) => Bound::Excluded(key.min(end)),
        (upper, Bound::Unbounded) => upper,
        (_, end) => end,
    };
    (lower, upper)
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
  esker scan ship: --limit 10 --after ship:cleo      the next page, behind the last key of the one
                                                     before; --reverse --to ship:cleo goes back

Keys and values are escaped as `esker --help` says; with --hex or --base64 they need no such care.
With --json each line is an object.")]
pub struct Scan {
    #[command(flatten)]
    keys: Keys,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    limit: Option<u64>,
    /// From the last key to the first
    #[arg(long)]
    reverse: bool,
    /// Leave out the values
    #[arg(long)]
    keys_only: bool,
}

/// Prints entries.
pub fn scan(shared: &GlobalFlags, args: &Scan) -> Outcome {
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

fn line(out: &mut Out, shared: &GlobalFlags, key: &[u8], value: Option<&Bytes>) -> Outcome {
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
  esker count --approximate --from ship:a --to ship:m
                         about how many these are, and what they take on the disk

Counts by reading keys, and no value; with --json their bytes, too. --approximate asks the indexes
of the files alone: within a block of each file in which an end of the range lies, and what was
overwritten and not merged away yet is counted, too.")]
pub struct Count {
    #[command(flatten)]
    keys: Keys,
    /// Tell about how many, and their bytes on the disk, without reading them
    #[arg(long)]
    approximate: bool,
}

/// Counts entries and the bytes of their keys.
pub fn count(shared: &GlobalFlags, args: &Count) -> Outcome {
    let chosen = args.keys.parse(shared)?;
    let opened = open::for_reading(shared)?;
    if args.approximate {
        return approximate(shared, &opened, chosen.into_bounds());
    }
    let (mut entries, mut key_bytes) = (0, 0);
    let mut bar = Bar::things("counting", None);
    // No value is read: nobody asked for any, and it may be damaged.
    for key in chosen.iter(&opened)?.keys() {
        entries += 1;
        key_bytes += key?.len() as u64;
        if entries % TOLD_EVERY == 0 {
            bar.set(entries);
        }
    }
    drop(bar);
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({ "entries": entries, "key_bytes": key_bytes }))?;
    } else {
        out.line(entries.to_string())?;
    }
    Ok(out.finish()?)
}

fn approximate(shared: &GlobalFlags, opened: &Opened, bounds: Bounds) -> Outcome {
    let told = opened.keyspace.approximate(&[bounds])?[0];
    let mut out = Out::lock();
    if shared.json {
        out.json(&json!({
            "keys": told.key_count(),
            "entries": told.entry_count,
            "deletes": told.delete_count,
            "file_bytes": told.file_bytes,
            "value_log_bytes": told.value_bytes,
        }))?;
        return Ok(out.finish()?);
    }
    let (files, values) = (told.file_bytes, told.value_bytes);
    out.line(format!("keys       about {}", told.key_count()))?;
    out.line(format!(
        "entries    about {}, {} of them deletes",
        told.entry_count, told.delete_count
    ))?;
    out.line(format!("files      about {}", quantity::bytes(files)))?;
    out.line(format!("value log  about {}", quantity::bytes(values)))?;
    Ok(out.finish()?)
}
