//! Loading: the command line of `load`, and what it reports.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use esker::internals::db::open_keyspace::DEFAULT_KEYSPACE;
use serde_json::json;

use crate::commands::write::Survives;
use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::interrupt::Interrupt;
use crate::load::bulk::Bulk;
use crate::load::feed::{Cut, Feed, Input, OnError, Settings, Tally};
use crate::load::parser::{InputFormat, Parser, Wishes};
use crate::load::source::Source;
use crate::load::whole::{Head, Pairs};
use crate::open;
use crate::out::Out;
use crate::progress::Bar;
use crate::quantity;

/// Read records from files into the database
#[derive(Debug, Args)]
#[command(after_help = "\
Formats:
  snap   review records as SNAP publishes them: lines such as `product/productId: B000…`, a blank
         line between records; key productId/userId/time, value the whole record
  tsv    key, tab, value, in text with the escapes of `esker --help`; the value is all that follows
         the first tab
  jsonl  one object a line: with --key-field that field is the key and the line the value, without
         it the fields `key` and `value` are, as `dump --format jsonl` writes them, and
         `keyspace` and `expires` (seconds since 1970) where they are there

A dump of a whole database, as `dump --all` writes it, is known by its first line: keyspaces are
made as they were, and values, expiries and all come back.

Each may be packed with gzip or zstd. Malformed records are told and left out; if every record is
malformed, nothing was loaded, and that is a failure. A key that comes twice keeps its last value.

Examples:
  esker load reviews.txt.gz                  the format is seen by the first line
  esker load --db restored harbour.jsonl.gz  what `esker dump --all` wrote
  esker load --key-field id people.jsonl     JSON lines under the field `id`
  zcat log.gz | esker load --format tsv -    from standard input
  esker load --on-error stop table.tsv       stop at the first malformed record
  esker load --bulk ships.tsv                as sorted files: all of it or nothing

With --bulk the records become sorted files beside the database, in DIR.bulk, which it takes in at
the end, at one moment: nothing of a load that is stopped or crashes is in the database. Records
whose keys ascend are written at once; others are sorted in memory, one run of files after the
other, and the more memory, the fewer runs. The database merges them later, as whatever is written;
more than 32 of them are merged before, and take twice their space on the disk meanwhile.")]
pub struct Load {
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The format of the files: auto, snap, tsv or jsonl
    #[arg(long, value_enum, default_value = "auto", hide_possible_values = true)]
    format: InputFormat,
    /// The field of JSON objects that is the key
    #[arg(long, value_name = "FIELD")]
    key_field: Option<String>,
    /// A backslash in tab-separated text is a backslash
    #[arg(long)]
    literal: bool,
    /// What to do with malformed records: skip or stop
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "skip",
        hide_possible_values = true
    )]
    on_error: OnError,
    /// Size of a batch, which is committed as a whole
    #[arg(long, value_name = "SIZE", default_value = "1MiB", value_parser = batch_bytes)]
    batch_bytes: usize,
    /// Write sorted files and take them in at the end, all or nothing
    #[arg(long, conflicts_with_all = ["batch_bytes", "durability"])]
    bulk: bool,
    /// With --bulk, memory for records whose keys do not ascend
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = memory_bytes)]
    bulk_memory: usize,
    /// What a batch must survive: memory (nothing), buffered (a kill) or sync (loss of power)
    #[arg(long, value_name = "WHAT", value_enum, hide_possible_values = true)]
    durability: Option<Survives>,
}

fn batch_bytes(text: &str) -> Result<usize, String> {
    let bytes = quantity::parse_bytes(text).and_then(|bytes| usize::try_from(bytes).ok());
    // A batch is one record of the log, which holds 1 GiB with room to spare.
    match bytes {
        Some(bytes @ 1..=0x1000_0000) => Ok(bytes),
        Some(_) => Err("a batch has between 1 byte and 256 MiB".into()),
        None => Err("write a size such as 4MiB".into()),
    }
}

fn memory_bytes(text: &str) -> Result<usize, String> {
    let bytes = quantity::parse_bytes(text).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| "write a size such as 256MiB".into())
}

/// Loads every file in turn.
pub fn load(shared: &GlobalFlags, args: &Load) -> Outcome {
    let wishes = Wishes {
        format: args.format,
        key_field: args.key_field.clone(),
        is_literal: args.literal,
        key_format: shared.key_format(),
        value_format: shared.value_format(),
    };
    // Every input is opened before the database is touched: a typing error costs nothing then.
    let mut inputs = Vec::new();
    for path in &args.files {
        inputs.push(open_input(path, &wishes)?);
    }
    let interrupt = Interrupt::watch()?;
    let heads = inputs.iter().filter_map(|input| input.head.as_ref());
    let of_default = heads.filter_map(|head| head.settings_of(DEFAULT_KEYSPACE));
    let of_default: Pairs = of_default.flatten().cloned().collect();
    let opened = open::for_restoring(shared, &of_default)?;
    let settings = Settings {
        on_error: args.on_error,
        batch_bytes: args.batch_bytes,
        write: Survives::options(args.durability),
    };
    let began = Instant::now();
    let bulk = match args.bulk {
        true => Some(Bulk::begin(open::directory(shared)?, args.bulk_memory)?),
        false => None,
    };
    let mut feed = Feed::new(&opened, settings, &interrupt).by_files(bulk);
    let mut outcome = Ok(());
    let (mut name, mut last_line) = (String::new(), 0);
    for mut input in inputs {
        let mut bar = Bar::bytes("loading", input.source.size_bytes);
        outcome = match &input.head {
            Some(head) => feed.make_keyspaces(head),
            None => Ok(()),
        };
        outcome = outcome.and_then(|()| feed.take(&mut input, &mut bar));
        last_line = input.source.lines.number();
        name = input.source.name;
        if outcome.is_err() || feed.tally().cut_short.is_some() {
            break;
        }
    }
    match outcome.is_ok() && feed.tally().cut_short.is_none() {
        true => outcome = feed.finish(last_line),
        false => feed.give_up(),
    }
    let took = began.elapsed();
    let tally = feed.tally().clone();
    drop(feed);
    let closed = opened.close();
    report(shared, &tally, took)?;
    outcome.and(closed)?;
    match tally.cut_short {
        None => refuse_nothing_loaded(&tally),
        Some((Cut::Interrupted, line)) => Err(Failure::stopped(
            interrupt.code(),
            stopped(line, &name, args.bulk),
        )),
        Some((Cut::Malformed, line)) => Err(Failure::failed(format!(
            "stopped at the malformed record in line {line} of {name}; mend it, or leave such \
             records out with --on-error skip"
        ))),
    }
}

fn stopped(line: u64, name: &str, is_bulk: bool) -> String {
    let left = match is_bulk {
        false => "what was loaded is in the database",
        true => "nothing was loaded",
    };
    format!(
        "stopped as asked at line {line} of {name}; {left}, and loading the file again from the \
         start does no harm"
    )
}

/// Malformed records are left out, but where all of them are, the input is not what it was taken
/// for: a script must not go on as if it were loaded.
fn refuse_nothing_loaded(tally: &Tally) -> Outcome {
    let Some((file, first)) = tally.shown.first().filter(|_| tally.records == 0) else {
        return Ok(());
    };
    Err(Failure::failed(format!(
        "nothing was loaded: {} malformed, the first in line {} of {file} ({}); look at that line, \
         or say what the file is with --format",
        match tally.malformed {
            1 => "the only record is".to_owned(),
            count => format!("all {} records are", quantity::count(count)),
        },
        first.line,
        first.reason
    )))
}

fn open_input(path: &Path, wishes: &Wishes) -> Outcome<Input> {
    let mut source = Source::open(path)?;
    let has_head = matches!(wishes.format, InputFormat::Auto | InputFormat::Jsonl);
    let head = match has_head && wishes.key_field.is_none() {
        true => Head::take(&mut source.lines)
            .map_err(|error| Failure::system(format!("cannot read {}", source.name), &error))?,
        false => None,
    };
    let head = head
        .transpose()
        .map_err(|reason| Failure::failed(format!("cannot load {}: {reason}", source.name)))?;
    let wishes = match head {
        Some(_) => &Wishes {
            format: InputFormat::Jsonl,
            ..wishes.clone()
        },
        None => wishes,
    };
    let parser = choose(wishes, &mut source)?;
    Ok(Input {
        source,
        parser,
        head,
    })
}

fn choose(wishes: &Wishes, source: &mut Source) -> Outcome<Parser> {
    let chosen = Parser::choose(wishes, &source.name, &mut source.lines)
        .map_err(|error| Failure::system(format!("cannot read {}", source.name), &error))?;
    chosen.ok_or_else(|| {
        Failure::usage(format!(
            "cannot see the format of {}; say it with --format snap, tsv (a tab between key and \
             value) or jsonl (an object in each line; `jq -c '.[]'` makes them of an array)",
            source.name
        ))
    })
}

fn report(shared: &GlobalFlags, tally: &Tally, took: Duration) -> Outcome {
    let hidden = tally.malformed - tally.shown.len() as u64;
    if hidden > 0 {
        let hidden = quantity::counted(hidden, "malformed record");
        remark!("esker: and {hidden} more");
    }
    let mut out = Out::lock();
    if shared.json {
        let shown = tally.shown.iter().map(
            |(file, wrong)| json!({ "file": file, "line": wrong.line, "reason": wrong.reason }),
        );
        out.json(&json!({
            "records": tally.records,
            "bytes": tally.bytes,
            "malformed": tally.malformed,
            "malformed_shown": shown.collect::<Vec<_>>(),
            "seconds": took.as_secs_f64(),
            "is_complete": tally.cut_short.is_none(),
        }))?;
    } else {
        out.line(format!(
            "loaded {}, {} in {} ({}, {}/s); {} malformed",
            quantity::counted(tally.records, "record"),
            quantity::bytes(tally.bytes),
            quantity::duration(took),
            quantity::rate(tally.records, took),
            quantity::bytes(per_second(tally.bytes, took)),
            quantity::count(tally.malformed)
        ))?;
    }
    out.finish()?;
    Ok(())
}

/// Bytes per second, for display.
fn per_second(bytes: u64, took: Duration) -> u64 {
    let micros = took.as_micros().max(1);
    u64::try_from(u128::from(bytes) * 1_000_000 / micros).unwrap_or(u64::MAX)
}
