//! Single keys of a table: get, set, del, exists, ttl, incr.

use std::time::Duration;

use clap::Args;
use esker_rpc::client::{ClientError, Table};
use esker_rpc::error::Status;
use serde_json::json;

use crate::commands::read::show_value;
use crate::commands::write::{parse_value, read_value, ttl};
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open;
use crate::out::Out;
use crate::remote::link::Link;
use crate::remote::refusal::write_failure;

/// Longest time to live: servers tell what is left of it in so many bits. 68 years.
const TTL_S_MAX: u32 = i32::MAX.cast_unsigned();

/// What every command on keys works with.
pub struct Place<'a> {
    /// The flags of every command.
    pub shared: &'a GlobalFlags,
    /// The cluster.
    pub link: &'a Link,
    /// The table.
    pub table: &'a Table,
    /// Its name.
    pub name: &'a str,
}

/// A hash key and a sort key.
#[derive(Debug, Args)]
pub struct KeyWords {
    /// The hash key: rows of one hash key lie together and change together
    hash: String,
    /// The sort key; empty if left out
    #[arg(default_value = "")]
    sort: String,
}

/// A key as its bytes.
pub struct Key {
    /// Hash key.
    pub hash: Vec<u8>,
    /// Sort key.
    pub sort: Vec<u8>,
}

impl Key {
    /// The key that two words spell.
    pub fn parse(shared: &GlobalFlags, hash: &str, sort: &str) -> Outcome<Key> {
        Ok(Key {
            hash: open::key(shared, hash)?,
            sort: open::key(shared, sort)?,
        })
    }

    /// It as the beginning of an object.
    pub fn spell(&self, shared: &GlobalFlags) -> serde_json::Value {
        json!({
            "hash_key": json::spell(shared.key_format(), &self.hash),
            "sort_key": json::spell(shared.key_format(), &self.sort),
        })
    }
}

impl KeyWords {
    fn parse(&self, shared: &GlobalFlags) -> Outcome<Key> {
        Key::parse(shared, &self.hash, &self.sort)
    }
}

impl Place<'_> {
    /// One object on standard output, of a key and what is told of it.
    pub fn tell(&self, key: &Key, name: &str, value: serde_json::Value) -> Outcome {
        let mut out = Out::lock();
        let mut object = key.spell(self.shared);
        object[name] = value;
        out.json(&object)?;
        Ok(out.finish()?)
    }

    fn not_there(&self, key: &Key) -> Failure {
        let format = self.shared.key_format();
        Failure::not_found(format!(
            "there is no key \"{}\" \"{}\" in table \"{}\"; `esker kv scan` with \
             the hash key lists its rows",
            format.show_field(&key.hash),
            format.show_field(&key.sort),
            crate::remote::link::shown(self.name)
        ))
    }
}

/// Print the value of a key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv get --table temp ship:anna state         the value, and a line feed behind it
  esker kv get --table temp --raw ship:anna state   the bytes as they are

Exits with 3 if the key is not there.")]
pub struct Get {
    #[command(flatten)]
    key: KeyWords,
    /// No line feed behind the value, and the bytes as they are
    #[arg(long)]
    raw: bool,
}

/// Prints a value, or exits with 3.
pub fn get(place: &Place<'_>, args: &Get) -> Outcome {
    let key = args.key.parse(place.shared)?;
    let call = place.table.get(&key.hash, &key.sort);
    let value = place.link.wait("cannot read the key", call)?;
    if place.shared.json {
        let spelled = value
            .as_ref()
            .map(|value| json::spell(place.shared.value_format(), value));
        place.tell(&key, "value", json!(spelled))?;
        return value.map_or(Err(Failure::Silent(Code::NotFound)), |_| Ok(()));
    }
    let value = value.ok_or_else(|| place.not_there(&key))?;
    let mut out = Out::lock();
    show_value(&mut out, place.shared, args.raw, &value)?;
    Ok(out.finish()?)
}

/// Set the value of a key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv set --table temp ship:anna state 'in port'      hash key, sort key, value
  esker kv set --table temp lock:7 '' held --ttl 10min     gone after ten minutes; no sort key
  esker kv set --table temp photo:7 jpg --stdin < 7.jpg    the value from standard input
  esker kv set --table temp -- dive depth -m7              behind -- nothing is an option

A key and its value have 1 MiB together at most.
A cluster of Esker has it on the disks of most replicas when the command ends well.")]
pub struct Set {
    /// The hash key: rows of one hash key lie together and change together
    hash: String,
    /// The sort key, which may be empty
    sort: String,
    /// The value
    #[arg(required_unless_present = "stdin", allow_negative_numbers = true)]
    value: Option<String>,
    /// Take the value from standard input, byte for byte
    #[arg(long, conflicts_with = "value")]
    stdin: bool,
    /// Time after which the key is as if deleted: seconds, or with a unit, such as 10min or 7d
    #[arg(long, value_name = "TIME", value_parser = whole_seconds, allow_negative_numbers = true)]
    ttl: Option<u32>,
}

/// A time that the wire can say: whole seconds, one at least.
pub fn whole_seconds(text: &str) -> Result<u32, String> {
    let time: Duration = ttl(text)?;
    match u32::try_from(time.as_secs()) {
        Ok(seconds @ 1..=TTL_S_MAX) if time.subsec_nanos() == 0 => Ok(seconds),
        _ => Err(format!(
            "in a cluster a time is a whole number of seconds, from 1 to {TTL_S_MAX}"
        )),
    }
}

/// Sets a value.
pub fn set(place: &Place<'_>, args: &Set) -> Outcome {
    let key = Key::parse(place.shared, &args.hash, &args.sort)?;
    let value = match &args.value {
        Some(word) => parse_value(place.shared, word)?,
        None => read_value(place.shared)?,
    };
    let ttl_s = args.ttl.unwrap_or(0);
    let call = place.table.set(&key.hash, &key.sort, &value, ttl_s);
    place.link.write("cannot set the key", call)?;
    match place.shared.json {
        true => place.tell(&key, "value_bytes", json!(value.len())),
        false => Ok(()),
    }
}

/// Remove a key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv del --table temp ship:anna state

No error if the key is not there.")]
pub struct Del {
    #[command(flatten)]
    key: KeyWords,
}

/// Removes a key, there or not.
pub fn del(place: &Place<'_>, args: &Del) -> Outcome {
    let key = args.key.parse(place.shared)?;
    let call = place.table.remove(&key.hash, &key.sort);
    place.link.write("cannot remove the key", call)?;
    if place.shared.json {
        let mut out = Out::lock();
        out.json(&key.spell(place.shared))?;
        out.finish()?;
    }
    Ok(())
}

/// Tell whether a key is there
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv exists --table temp ship:anna state    true, and exit code 0; or false, and 3")]
pub struct Exists {
    #[command(flatten)]
    key: KeyWords,
}

/// Prints true, or false and exits with 3.
pub fn exists(place: &Place<'_>, args: &Exists) -> Outcome {
    let key = args.key.parse(place.shared)?;
    let call = place.table.exists(&key.hash, &key.sort);
    let is_there = place.link.wait("cannot read the key", call)?;
    if place.shared.json {
        place.tell(&key, "exists", json!(is_there))?;
    } else {
        let mut out = Out::lock();
        out.line(is_there.to_string())?;
        out.finish()?;
    }
    match is_there {
        true => Ok(()),
        false => Err(Failure::Silent(Code::NotFound)),
    }
}

/// Print how many seconds a key has left
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv ttl --table temp ship:anna state    seconds from now on, or never

Exits with 3 if the key is not there.")]
pub struct Ttl {
    #[command(flatten)]
    key: KeyWords,
}

/// Prints the seconds that a key has left.
pub fn ttl_of(place: &Place<'_>, args: &Ttl) -> Outcome {
    let key = args.key.parse(place.shared)?;
    let call = place.table.ttl(&key.hash, &key.sort);
    let left = place.link.wait("cannot read the key", call)?;
    if place.shared.json {
        // Null is what lives for ever; of a key that is not there nothing is told but that.
        match left {
            Some(left) => return place.tell(&key, "ttl_seconds", json!(left)),
            None => {
                place.tell(&key, "exists", json!(false))?;
                return Err(Failure::Silent(Code::NotFound));
            }
        }
    }
    let left = left.ok_or_else(|| place.not_there(&key))?;
    let mut out = Out::lock();
    out.line(left.map_or_else(|| "never".into(), |left| left.to_string()))?;
    Ok(out.finish()?)
}

/// Add to a number, and print the sum
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv incr --table temp visits anna             one more; a key that is not there counts as 0
  esker kv incr --table temp visits anna -5          five less
  esker kv incr --table temp visits anna 0           what it is, which is written as any other sum
  esker kv incr --table temp visits anna --ttl 1d    it ends a day from now on

The number is kept as text. A time to live stays as it was unless --ttl or --no-ttl changes it.")]
pub struct Incr {
    /// The hash key
    hash: String,
    /// The sort key, which may be empty
    sort: String,
    /// What is added
    #[arg(default_value = "1", value_parser = summand, allow_negative_numbers = true)]
    by: i64,
    /// Time after which the key is as if deleted
    #[arg(long, value_name = "TIME", value_parser = whole_seconds, allow_negative_numbers = true)]
    ttl: Option<u32>,
    /// From now on the key does not end by itself
    #[arg(long, conflicts_with = "ttl")]
    no_ttl: bool,
}

fn summand(text: &str) -> Result<i64, String> {
    let told = |_| "give a whole number of at most 63 bits, such as 5 or -5".to_owned();
    text.parse().map_err(told)
}

/// Adds to a number.
pub fn incr(place: &Place<'_>, args: &Incr) -> Outcome {
    let key = Key::parse(place.shared, &args.hash, &args.sort)?;
    let expiry = match (args.ttl, args.no_ttl) {
        (Some(ttl_s), _) => place.table.now().after(ttl_s).to_bits(),
        (None, true) => -1,
        (None, false) => 0,
    };
    let call = place.table.incr(&key.hash, &key.sort, args.by, expiry);
    let sum = match place.link.attempt(call) {
        Err(ClientError::Status(Status::INVALID_ARGUMENT)) => {
            return Err(Failure::failed(
                "cannot add to the key: its value is no number, or the sum has more than 64 bits; \
                 nothing was changed",
            ));
        }
        done => done.map_err(|error| write_failure("cannot add to the key", &error))?,
    };
    if place.shared.json {
        return place.tell(&key, "value", json!(sum));
    }
    let mut out = Out::lock();
    out.line(sum.to_string())?;
    Ok(out.finish()?)
}
