//! Changing entries: put, delete.

use std::io::Read;
use std::ops::Bound;
use std::time::Duration;

use clap::{Args, ValueEnum};
use esker::internals::base::options::catalog;
use esker::internals::base::options::codec::Value;
use esker::internals::base::types::limits::VALUE_BYTES_MAX;
use esker::internals::base::types::range::prefix_end;
use esker::{Durability, WriteOptions};
use serde_json::json;

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open::{self, Bounds};
use crate::out::Out;
use crate::quantity;
use crate::text::Format;

/// Length of an operand of the operators on uint64.
const NUMBER_BYTES: usize = size_of::<u64>();

/// What a write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Survives {
    /// Nothing: it is in memory until the next flush.
    Memory,
    /// A killed process.
    Buffered,
    /// Loss of power.
    Sync,
}

impl Survives {
    /// Write options with that durability; the database's own where nothing was said.
    pub fn options(choice: Option<Survives>) -> WriteOptions {
        let durability = choice.map(|choice| match choice {
            Survives::Memory => Durability::Memory,
            Survives::Buffered => Durability::Buffered,
            Survives::Sync => Durability::Sync,
        });
        WriteOptions {
            durability,
            ..WriteOptions::default()
        }
    }
}

/// Set the value of a key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker put ship:anna 'in port'        key and value
  esker put photo:7 < 7.jpg            the value from standard input, byte for byte
  esker put lock:7 held --ttl 30       gone after 30 seconds; 250ms, 10min, 7d are understood too
  esker put --key-format hex 00ff on   a key that is no text

The database and the keyspace are created if they are not there.")]
pub struct Put {
    /// The key
    key: String,
    /// The value; from standard input if left out
    value: Option<String>,
    /// Time after which the key is as if deleted, in 2106 at the latest: seconds, or with a unit,
    /// such as 250ms, 10min or 7d
    #[arg(long, value_name = "TIME", value_parser = ttl, allow_negative_numbers = true)]
    ttl: Option<Duration>,
    /// What the write must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

/// A time as the setting `ttl` is spelled; nothing, for a put may end at once; parts of a second.
pub fn ttl(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    if let Some(millis) = text
        .strip_suffix("ms")
        .and_then(|millis| millis.parse().ok())
    {
        return Ok(Duration::from_millis(millis));
    }
    if let Some(time) = quantity::seconds(text.strip_suffix('s').unwrap_or(text)) {
        return Ok(time);
    }
    let setting = catalog::find("ttl").map_err(|error| error.message().to_owned())?;
    match setting.parse(text) {
        Ok(Value::Whole(millis)) if millis > 0 => Ok(Duration::from_millis(millis.unsigned_abs())),
        _ => Err("give seconds, or a number with a unit, such as 250ms, 90s, 10min or 7d".into()),
    }
}

/// Sets a value.
pub fn put(shared: &GlobalFlags, args: &Put) -> Outcome {
    let key = open::key(shared, &args.key)?;
    let value = match &args.value {
        Some(word) => parse_value(shared, word)?,
        None => read_value(shared)?,
    };
    let opened = open::for_filling(shared)?;
    let keyspace = opened
        .keyspace
        .with_write(Survives::options(args.durability));
    match args.ttl {
        Some(ttl) => keyspace.put_with_ttl(&key, &value, ttl)?,
        None => keyspace.put(&key, &value)?,
    }
    opened.close()?;
    if shared.json {
        let mut out = Out::lock();
        let key = json::spell(shared.key_format(), &key);
        out.json(&json!({ "key": key, "value_bytes": value.len() }))?;
        out.finish()?;
    }
    Ok(())
}

/// The value that a word of the command line spells.
pub fn parse_value(shared: &GlobalFlags, word: &str) -> Outcome<Vec<u8>> {
    let parsed = shared.value_format().parse(word);
    parsed.map_err(|reason| Failure::usage(format!("cannot read the value {word:?}: {reason}")))
}

/// The value that standard input has.
pub fn read_value(shared: &GlobalFlags) -> Outcome<Vec<u8>> {
    // The longest spelling, hex, has two characters a byte; one more tells that it is too long.
    let bytes_max = match shared.value_format() {
        Format::Text => VALUE_BYTES_MAX,
        Format::Hex | Format::Base64 => 2 * VALUE_BYTES_MAX + 2,
    };
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(bytes_max as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::system("cannot read the value from standard input", &error))?;
    if bytes.len() > bytes_max {
        return Err(Failure::failed(
            "the value on standard input is too long: values hold 1 GiB at most; cut it into \
             several",
        ));
    }
    match shared.value_format() {
        Format::Text => Ok(bytes),
        coded => coded
            .parse_field(bytes.trim_ascii())
            .map_err(|reason| Failure::usage(format!("cannot read the value: {reason}"))),
    }
}

/// Fold an operand into the value of a key, by the keyspace's merge operator
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker keyspaces create visits --set merge_operator=uint64add
  esker merge --keyspace visits --number ship:anna 1    a counter, 8 bytes little-endian
  esker get --keyspace visits --number ship:anna        what it counts
  esker merge --set merge_operator=append log:7 'in port'

Operators: uint64add, uint64max, uint64min, append (or append:; with a delimiter of your own),
bytesxor, put. Operands of the first three are given with --number. The keyspace `default` takes the
one that --set names when it has none; a keyspace keeps its operator.")]
pub struct Merge {
    /// The key
    key: String,
    /// The operand
    operand: String,
    /// The operand is a number of the operators on uint64
    #[arg(long)]
    number: bool,
    /// What the write must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

/// Merges an operand.
pub fn merge(shared: &GlobalFlags, args: &Merge) -> Outcome {
    let key = open::key(shared, &args.key)?;
    let word = &args.operand;
    let wrong = |reason| Failure::usage(format!("cannot read the operand \"{word}\": {reason}"));
    let operand = match args.number {
        true => word
            .parse::<u64>()
            .map(|number| number.to_le_bytes().to_vec())
            .map_err(|error| wrong(error.to_string()))?,
        false => shared.value_format().parse(word).map_err(wrong)?,
    };
    let opened = open::for_filling(shared)?;
    // Those operators take an operand of any other length for nothing, without an error.
    let of_numbers = opened
        .keyspace
        .own_settings()
        .into_iter()
        .find(|(name, text)| *name == "merge_operator" && text.starts_with("uint64"));
    if let Some((_, operator)) = of_numbers.filter(|_| operand.len() != NUMBER_BYTES) {
        return Err(Failure::usage(format!(
            "the operator {operator} takes {NUMBER_BYTES} bytes, and the operand has {}; \
             --number takes it as a number",
            operand.len()
        )));
    }
    let keyspace = opened
        .keyspace
        .with_write(Survives::options(args.durability));
    keyspace.merge(&key, &operand)?;
    drop(keyspace);
    opened.close()
}

/// Remove a key, a prefix or a range
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker delete ship:anna            one key
  esker delete --prefix ship:       all keys that begin so
  esker delete --from a --to m      all keys from a up to m, exclusive

A prefix or a range is one record, however many keys it hides. No error if a key is not there.")]
pub struct Delete {
    /// The key
    #[arg(required_unless_present_any = ["prefix", "from", "to"])]
    key: Option<String>,
    /// All keys that begin so
    #[arg(long, value_name = "PREFIX", conflicts_with = "key")]
    prefix: Option<String>,
    /// From this key on
    #[arg(long, value_name = "KEY", conflicts_with_all = ["key", "prefix"])]
    from: Option<String>,
    /// Up to this key, exclusive
    #[arg(long, value_name = "KEY", conflicts_with_all = ["key", "prefix"])]
    to: Option<String>,
    /// What the write must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

/// Removes a key or a range of keys.
pub fn delete(shared: &GlobalFlags, args: &Delete) -> Outcome {
    let bounds = match (&args.key, &args.prefix) {
        (Some(_), _) => None,
        (None, Some(prefix)) => Some(prefix_bounds(open::key(shared, prefix)?)?),
        (None, None) => Some(open::bounds(
            shared,
            args.from.as_deref(),
            args.to.as_deref(),
        )?),
    };
    let key = args
        .key
        .as_deref()
        .map(|word| open::key(shared, word))
        .transpose()?;
    let opened = open::for_changing(shared)?;
    let keyspace = opened
        .keyspace
        .with_write(Survives::options(args.durability));
    match (&key, bounds) {
        (Some(key), _) => keyspace.delete(key)?,
        (None, Some(bounds)) => keyspace.delete_range(bounds)?,
        (None, None) => {}
    }
    opened.close()?;
    let format = shared.key_format();
    let word = |word: &Option<String>| -> Outcome<Option<serde_json::Value>> {
        let bytes = word.as_deref().map(|word| open::key(shared, word));
        Ok(bytes.transpose()?.map(|bytes| json::spell(format, &bytes)))
    };
    let what = match key {
        Some(key) => json!({ "key": json::spell(format, &key) }),
        None => json!({
            "prefix": word(&args.prefix)?,
            "from": word(&args.from)?,
            "to": word(&args.to)?,
        }),
    };
    shared.tell_done("deleted", what)
}

/// The range of all keys that begin with `prefix`.
fn prefix_bounds(prefix: Vec<u8>) -> Outcome<Bounds> {
    if prefix.is_empty() {
        return Err(Failure::usage(
            "an empty prefix is every key; if that is meant, write --from ''",
        ));
    }
    let upper = prefix_end(&prefix).map_or(Bound::Unbounded, Bound::Excluded);
    Ok((Bound::Included(prefix), upper))
}
