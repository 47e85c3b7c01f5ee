//! Many rows: those of one hash key in their order, or those of a whole table.

use clap::Args;
use esker_rpc::client::{ScanRow, ScanSettings, Scanner};
use esker_rpc::message::data::FilterType;
use esker_rpc::time::WireSecond;
use serde_json::json;

use crate::fail::{Failure, Outcome};
use crate::global_flags::GlobalFlags;
use crate::json;
use crate::open;
use crate::out::Out;
use crate::progress::Bar;
use crate::quantity::whole;
use crate::remote::keys::Place;

/// Rows that one answer of a server has at most, as the official clients ask for.
const BATCH_MAX: u64 = 1000;

/// Rows between two looks at the clock.
const TOLD_EVERY: u64 = 1000;

/// Which rows.
#[derive(Debug, Args)]
pub struct Rows {
    /// Rows of this hash key, in the order of their sort keys; all of the table if left out
    hash: Option<String>,
    /// From this sort key on
    from: Option<String>,
    /// Up to this sort key, exclusive
    to: Option<String>,
    /// Only hash keys that begin so; the servers look at all of them
    #[arg(long, value_name = "PREFIX", conflicts_with = "hash")]
    hash_prefix: Option<String>,
    /// Only sort keys that begin so
    #[arg(long, value_name = "PREFIX")]
    sort_prefix: Option<String>,
}

impl Rows {
    fn is_hash_alone(&self) -> bool {
        self.from.is_none() && self.sort_prefix.is_none()
    }

    fn scanner(&self, place: &Place<'_>, settings: ScanSettings) -> Outcome<Option<Scanner>> {
        let shared = place.shared;
        let filter = |word: &Option<String>| -> Outcome<_> {
            Ok(match word {
                Some(word) => (FilterType::FT_MATCH_PREFIX, open::key(shared, word)?),
                None => (FilterType::FT_NO_FILTER, Vec::new()),
            })
        };
        let settings = ScanSettings {
            hash_key_filter: filter(&self.hash_prefix)?,
            sort_key_filter: filter(&self.sort_prefix)?,
            ..settings
        };
        let Some(hash) = &self.hash else {
            let call = place.table.scan_all(1, &settings);
            return Ok(place.link.wait("cannot scan the table", call)?.pop());
        };
        let bound = |word: &Option<String>| match word {
            Some(word) => open::key(shared, word),
            None => Ok(Vec::new()),
        };
        let (from, to) = (bound(&self.from)?, bound(&self.to)?);
        let hash = open::key(shared, hash)?;
        if hash.is_empty() {
            return Err(Failure::usage(
                "rows of the empty hash key lie in all partitions; leave it out to scan the table",
            ));
        }
        let scanner = place.table.scan(&hash, (&from, &to), &settings);
        let scanner =
            scanner.map_err(|error| Failure::usage(format!("cannot scan the rows: {error}")))?;
        Ok(Some(scanner))
    }
}

/// Print rows
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv scan --table temp                     the table: hash key, tab, sort key, tab, value
  esker kv scan --table temp ship:dora           the rows of one hash key, by sort key
  esker kv scan --table temp log:1 0007 0010     its rows from 0007 up to 0010, exclusive
  esker kv scan --table temp --hash-prefix ship: --keys-only --limit 10
  esker kv scan --table temp log:1 --json --expires    with when each row ends, as objects

A whole table comes partition by partition, in no order of keys. Keys and values are escaped as
`esker --help` says; with --hex or --base64 they need no such care.")]
pub struct Scan {
    #[command(flatten)]
    rows: Rows,
    /// At most so many
    #[arg(long, value_name = "N", value_parser = whole, allow_negative_numbers = true)]
    limit: Option<u64>,
    /// Leave out the values
    #[arg(long)]
    keys_only: bool,
    /// With when each row ends, in seconds from 1970, or never
    #[arg(long)]
    expires: bool,
}

/// Prints rows.
pub fn scan(place: &Place<'_>, args: &Scan) -> Outcome {
    let mut left = args.limit.unwrap_or(u64::MAX);
    let settings = ScanSettings {
        batch_size: i32::try_from(left.clamp(1, BATCH_MAX)).unwrap_or(1),
        no_value: args.keys_only,
        return_expire_ts: args.expires,
        ..ScanSettings::default()
    };
    let scanner = args.rows.scanner(place, settings)?;
    let mut out = Out::lock();
    if let Some(mut scanner) = scanner {
        while left > 0
            && let Some(row) = place
                .link
                .wait("cannot go on with the scan", scanner.next())?
        {
            line(&mut out, place.shared, args, &row)?;
            left -= 1;
        }
    }
    Ok(out.finish()?)
}

fn line(out: &mut Out, shared: &GlobalFlags, args: &Scan, row: &ScanRow) -> Outcome {
    let (keys, values) = (shared.key_format(), shared.value_format());
    let expiry = WireSecond::of_bits(row.expire_ts.unwrap_or(0));
    let expires = (expiry != WireSecond::NONE).then(|| expiry.to_unix());
    if shared.json {
        let mut object = json!({
            "hash_key": json::spell(keys, &row.hash_key),
            "sort_key": json::spell(keys, &row.sort_key),
        });
        if !args.keys_only {
            object["value"] = json::spell(values, &row.value);
        }
        if args.expires {
            object["expires"] = json!(expires);
        }
        return Ok(out.json(&object)?);
    }
    let mut fields = vec![
        keys.show_field(&row.hash_key),
        keys.show_field(&row.sort_key),
    ];
    if !args.keys_only {
        fields.push(values.show_field(&row.value));
    }
    if args.expires {
        fields.push(expires.map_or_else(|| "never".into(), |second| second.to_string()));
    }
    out.raw(fields.join("\t").as_bytes())?;
    Ok(out.raw(b"\n")?)
}

/// Count rows
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker kv count --table temp ship:dora     sort keys of one hash key
  esker kv count --table temp               rows of the table, by scanning all of it

No value is sent.")]
pub struct Count {
    #[command(flatten)]
    rows: Rows,
}

/// Counts rows.
pub fn count(place: &Place<'_>, args: &Count) -> Outcome {
    let counted = match &args.rows.hash {
        Some(hash) if args.rows.is_hash_alone() => {
            let hash = open::key(place.shared, hash)?;
            let call = place.table.sort_key_count(&hash);
            place.link.wait("cannot count the rows", call)?
        }
        _ => None,
    };
    // A server that took too long to count is scanned: each answer is bounded.
    let counted = match counted {
        Some(counted) => counted,
        None => count_by_scan(place, args)?,
    };
    let mut out = Out::lock();
    match place.shared.json {
        true => out.json(&json!({ "rows": counted }))?,
        false => out.line(counted.to_string())?,
    }
    Ok(out.finish()?)
}

fn count_by_scan(place: &Place<'_>, args: &Count) -> Outcome<u64> {
    let settings = ScanSettings {
        batch_size: i32::try_from(BATCH_MAX).unwrap_or(1),
        no_value: true,
        ..ScanSettings::default()
    };
    let mut bar = Bar::things("counting", None);
    let mut counted = 0;
    if let Some(mut scanner) = args.rows.scanner(place, settings)? {
        while place
            .link
            .wait("cannot count the rows", scanner.next())?
            .is_some()
        {
            counted += 1;
            if counted % TOLD_EVERY == 0 {
                bar.set(counted);
            }
        }
    }
    Ok(counted)
}
