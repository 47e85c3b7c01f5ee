//! Several sort keys of one hash key at once: multi-get, multi-set, multi-del.

use std::io::Read as _;

use clap::Args;
use esker_rpc::client::{ClientError, MultiGet as Request, Table};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use serde_json::json;

use crate::commands::write::parse_value;
use crate::fail::{Code, Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open;
use crate::out::Out;
use crate::remote::keys::{Place, whole_seconds};

/// Bytes of standard input that are read: servers refuse larger writes.
const INPUT_BYTES_MAX: u64 = 64 << 20;

/// Sort keys that are named where they are missing.
const NAMED_MAX: usize = 5;

/// Print the values of several sort keys of one hash key
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv multi-get --table temp ship:bela state port    a line for each that is there: sort key,
                                                          tab, value

Sorted by sort key. Exits with 3 if one of them is not there. `esker kv scan` reads ranges.")]
pub struct MultiGet {
    /// The hash key
    hash: String,
    /// The sort keys
    #[arg(required = true)]
    sort: Vec<String>,
}

/// Prints those of the rows that there are.
pub fn multi_get(place: &Place<'_>, args: &MultiGet) -> Outcome {
    let shared = place.shared;
    let hash = open::key(shared, &args.hash)?;
    let mut sorts = parse_keys(shared, &args.sort)?;
    sorts.sort();
    sorts.dedup();
    let call = read_all(place.table, &hash, &sorts);
    let rows = place.link.wait("cannot read the keys", call)?;
    let (keys, values) = (shared.key_format(), shared.value_format());
    let mut out = Out::lock();
    let mut missing = Vec::new();
    for sort in &sorts {
        let row = rows.binary_search_by(|(there, _)| there.cmp(sort));
        let value = row.ok().map(|place| &rows[place].1);
        if shared.json {
            let value = value.map(|value| json::spell(values, value));
            let (hash, sort) = (json::spell(keys, &hash), json::spell(keys, sort));
            out.json(&json!({ "hash_key": hash, "sort_key": sort, "value": value }))?;
        } else if let Some(value) = value {
            let (sort, value) = (keys.show_field(sort), values.show_field(value));
            out.raw(format!("{sort}\t{value}\n").as_bytes())?;
        }
        if value.is_none() {
            missing.push(keys.show_field(sort));
        }
    }
    out.finish()?;
    match missing.len() {
        0 => Ok(()),
        _ if shared.json => Err(Failure::Silent(Code::NotFound)),
        count => {
            missing.truncate(NAMED_MAX);
            Err(Failure::not_found(format!(
                "{count} of {} sort keys are not there: {}{}",
                sorts.len(),
                missing.join(", "),
                if count > NAMED_MAX { ", …" } else { "" }
            )))
        }
    }
}

/// Reads the rows of sort keys that are sorted, in as many calls as the server needs.
async fn read_all(
    table: &Table,
    hash: &[u8],
    sorts: &[Vec<u8>],
) -> Result<Vec<(Vec<u8>, Vec<u8>)>, ClientError> {
    let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    let mut left = sorts;
    loop {
        let request = Request {
            hash_key: Blob::of(hash),
            sort_keys: left.iter().map(|sort| Blob::of(sort)).collect(),
            ..Request::default()
        };
        let told = table.multi_get(&request).await?;
        let last = told.rows.iter().map(|(sort, _)| sort).max().cloned();
        rows.extend(told.rows);
        if !told.is_incomplete {
            rows.sort();
            return Ok(rows);
        }
        // A server that stops goes by order; one that gives nothing would do so for ever.
        let last = last.ok_or(ClientError::Status(Status::INCOMPLETE))?;
        left = &left[left.partition_point(|sort| *sort <= last)..];
        if left.is_empty() {
            return Ok(rows);
        }
    }
}

/// Set several sort keys of one hash key, all or none
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv multi-set --table temp ship:bela state 'at sea' port kiel    sort key, value, and so on
  esker kv multi-set --table temp ship:cleo --stdin < rows.tsv    lines of sort key, tab, value
  esker kv scan --table temp ship:bela | cut -f2,3 | esker kv multi-set --table temp copy --stdin

Lines are escaped as `esker kv multi-get` prints them: a tab in a key or a value is \\t. --hex and
--base64 need no escapes. All rows together have 1 MiB at most.")]
pub struct MultiSet {
    /// The hash key
    hash: String,
    /// Sort keys and values by turns
    #[arg(
        value_name = "SORT VALUE",
        required_unless_present = "stdin",
        allow_negative_numbers = true
    )]
    pairs: Vec<String>,
    /// Take them from the lines of standard input
    #[arg(long, conflicts_with = "pairs")]
    stdin: bool,
    /// Time after which all of them are as if deleted: seconds, or with a unit
    #[arg(long, value_name = "TIME", value_parser = whole_seconds)]
    ttl: Option<u32>,
}

/// Sets several values.
pub fn multi_set(place: &Place<'_>, args: &MultiSet) -> Outcome {
    let shared = place.shared;
    let hash = open::key(shared, &args.hash)?;
    let rows = match args.stdin {
        true => read_lines(shared)?,
        false => parse_pairs(shared, &args.pairs)?,
    };
    let told: Vec<(&[u8], &[u8])> = rows
        .iter()
        .map(|(sort, value)| (&sort[..], &value[..]))
        .collect();
    let call = place.table.multi_set(&hash, &told, args.ttl.unwrap_or(0));
    place.link.write("cannot set the keys", call)?;
    tell_count(shared, &hash, "set", rows.len())
}

type Row = (Vec<u8>, Vec<u8>);

fn parse_pairs(shared: &GlobalFlags, words: &[String]) -> Outcome<Vec<Row>> {
    let pair = |pair: &[String]| match pair {
        [sort, value] => Ok((open::key(shared, sort)?, parse_value(shared, value)?)),
        _ => Err(Failure::usage(
            "the last sort key has no value; give sort keys and values by turns",
        )),
    };
    words.chunks(2).map(pair).collect()
}

fn read_lines(shared: &GlobalFlags) -> Outcome<Vec<Row>> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(INPUT_BYTES_MAX)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::system("cannot read standard input", &error))?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    let rows: Vec<Row> = lines
        .map(|(at, line)| parse_line(shared, line).map_err(|reason| told_of_line(at, &reason)))
        .collect::<Outcome<_>>()?;
    match rows.is_empty() {
        true => Err(Failure::usage("no sort key and value was given")),
        false => Ok(rows),
    }
}

fn parse_line(shared: &GlobalFlags, line: &[u8]) -> Result<Row, String> {
    let tab = line.iter().position(|byte| *byte == b'\t');
    let tab = tab.ok_or("it has no tab between sort key and value")?;
    let (sort, value) = (&line[..tab], &line[tab + 1..]);
    // What `scan` prints has the hash key before, and would become part of a value.
    if value.contains(&b'\t') {
        return Err("it has more than one tab; a tab in a value is \\t".into());
    }
    let sort = shared.key_format().parse_field(sort)?;
    let value = shared.value_format().parse_field(value)?;
    Ok((sort, value))
}

fn told_of_line(at: usize, reason: &str) -> Failure {
    Failure::usage(format!("cannot read line {}: {reason}", at + 1))
}

/// Remove several sort keys of one hash key, all or none
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv multi-del --table temp ship:bela state port

No error if one of them is not there.")]
pub struct MultiDel {
    /// The hash key
    hash: String,
    /// The sort keys
    #[arg(required = true)]
    sort: Vec<String>,
}

/// Removes several keys, there or not.
pub fn multi_del(place: &Place<'_>, args: &MultiDel) -> Outcome {
    let hash = open::key(place.shared, &args.hash)?;
    let sorts = parse_keys(place.shared, &args.sort)?;
    let told: Vec<&[u8]> = sorts.iter().map(|sort| &sort[..]).collect();
    let call = place.table.multi_remove(&hash, &told);
    place.link.write("cannot remove the keys", call)?;
    tell_count(place.shared, &hash, "given", sorts.len())
}

fn parse_keys(shared: &GlobalFlags, words: &[String]) -> Outcome<Vec<Vec<u8>>> {
    words.iter().map(|word| open::key(shared, word)).collect()
}

fn tell_count(shared: &GlobalFlags, hash: &[u8], done: &str, count: usize) -> Outcome {
    if !shared.json {
        return Ok(());
    }
    let hash = json::spell(shared.key_format(), hash);
    let mut out = Out::lock();
    out.json(&json!({ "hash_key": hash, done: count }))?;
    Ok(out.finish()?)
}
