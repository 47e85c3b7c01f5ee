//! The settings of a table: each that Pegasus has, told once, with what becomes of it here.
//!
//! A setting is honoured, or it is refused with what to do instead: one that is stored and does
//! nothing would be a promise that nobody keeps.

use std::collections::BTreeMap;
use std::time::Duration;

use strsim::levenshtein;

use crate::meta::outcome::{Cause, Refusal, cut};
use crate::throttle::form::{Denial, Throttle, parse_read_bytes};
use crate::throttle::table_limits::{DENIAL, READ_BYTES, READ_COUNT, WRITE_BYTES, WRITE_COUNT};

/// Seconds that a value lives of which the client says nothing; 0 for ever.
pub const DEFAULT_TTL: &str = "default_ttl";

/// Rows that lie in another partition by their hash are hidden, and requests with one refused.
pub const VALIDATES_HASH: &str = "replica.split.validate_partition_hash";

/// Milliseconds from which on a call is kept among the slow ones.
pub const SLOW_QUERY: &str = "replica.slow_query_threshold";

/// When each replica is to be compacted, once: seconds since 1970.
pub const COMPACTION: &str = "manual_compact.once.trigger_time";

/// The same of some partitions: `PARTITION:SECONDS`, with commas between. Of Esker alone; where
/// both say something of a partition the later moment counts.
pub const COMPACTION_OF_PARTITIONS: &str = "manual_compact.once.partitions";

/// No replica is compacted because somebody asked for it.
pub const NO_COMPACTION: &str = "manual_compact.disabled";

/// Least that it may be: what is faster is no news.
const SLOW_QUERY_MS_MIN: u64 = 20;

/// The longest value: all tables with every setting at its longest fit what a node is told.
const VALUE_BYTES_MAX: usize = 256;

/// What becomes of a setting.
enum Rule {
    /// Seconds since its writing, as the wire has them.
    Seconds,
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// What that function takes, which says what a right one looks like.
    Parsed(fn(&str) -> Result<(), String>),
    /// This value only, which says what happens anyway.
    Only(&'static str, &'static str),
    /// No value; what to do instead.
    Refused(&'static str),
}

const ONE_AT_A_TIME: &str = "each node compacts one replica at a time";
const ALL_OF_IT: &str = "everything becomes one run, in the lowest level that there is";
const NO_PERIOD: &str = "the engine compacts by itself; for a daily one, have a timer run \
                         `esker table compact`";
const NO_LEVELS: &str = "the engine chooses it from the memory that it has";
const NO_ACCESS: &str = "who may come in is not told apart yet: listen on loopback only";
const NO_CHECKPOINTS: &str = "there are no checkpoints: replicas keep their log instead";

/// Every setting of Pegasus, and one of ours.
const RULES: [(&str, Rule); 31] = [
    (DEFAULT_TTL, Rule::Seconds),
    (VALIDATES_HASH, Rule::Flag),
    ("business.info", Rule::Text),
    (SLOW_QUERY, Rule::Parsed(slow_query)),
    (WRITE_COUNT, Rule::Parsed(throttle)),
    (WRITE_BYTES, Rule::Parsed(throttle)),
    (READ_COUNT, Rule::Parsed(throttle)),
    (READ_BYTES, Rule::Parsed(read_bytes)),
    (
        "replica.backup_request_throttling",
        Rule::Refused("only leaders answer reads, so there are no backup requests to limit"),
    ),
    (DENIAL, Rule::Parsed(denial)),
    (
        "replica.rocksdb_iteration_threshold_time_ms",
        Rule::Refused("a scan ends after a fixed time: ask for smaller pages"),
    ),
    (
        "replica.rocksdb_block_cache_enabled",
        Rule::Only("true", "all reads share the cache of their node"),
    ),
    (
        "rocksdb.usage_scenario",
        Rule::Only("normal", "the engine follows the load by itself"),
    ),
    ("rocksdb.write_buffer_size", Rule::Refused(NO_LEVELS)),
    ("rocksdb.num_levels", Rule::Refused(NO_LEVELS)),
    (
        "rocksdb.checkpoint.reserve_min_count",
        Rule::Refused(NO_CHECKPOINTS),
    ),
    (
        "rocksdb.checkpoint.reserve_time_seconds",
        Rule::Refused(NO_CHECKPOINTS),
    ),
    (
        "rocksdb.allow_ingest_behind",
        Rule::Only("false", "files are not taken in below what is there"),
    ),
    (NO_COMPACTION, Rule::Flag),
    (
        "manual_compact.max_concurrent_running_count",
        Rule::Only("1", ONE_AT_A_TIME),
    ),
    (COMPACTION, Rule::Parsed(unix_seconds)),
    (COMPACTION_OF_PARTITIONS, Rule::Parsed(of_partitions)),
    (
        "manual_compact.once.target_level",
        Rule::Only("-1", ALL_OF_IT),
    ),
    (
        "manual_compact.once.bottommost_level_compaction",
        Rule::Only("force", ALL_OF_IT),
    ),
    (
        "manual_compact.periodic.trigger_time",
        Rule::Refused(NO_PERIOD),
    ),
    (
        "manual_compact.periodic.target_level",
        Rule::Refused(NO_PERIOD),
    ),
    (
        "manual_compact.periodic.bottommost_level_compaction",
        Rule::Refused(NO_PERIOD),
    ),
    (
        "user_specified_compaction",
        Rule::Refused("rows go when they expire: set default_ttl, or a time with each write"),
    ),
    (
        "replica_access_controller.allowed_users",
        Rule::Refused(NO_ACCESS),
    ),
    (
        "replica_access_controller.ranger_policies",
        Rule::Refused(NO_ACCESS),
    ),
    (
        "max_replica_count.update",
        Rule::Refused("set the number of replicas itself"),
    ),
];

/// Checks settings that are to be set.
pub fn check(envs: &BTreeMap<String, String>) -> Result<(), Refusal> {
    for (key, value) in envs {
        check_one(key, value).map_err(|why| Refusal::new(Cause::BadSetting, why))?;
    }
    Ok(())
}

/// The default expiry that settings tell; 0 for none.
pub fn default_ttl_s(envs: &BTreeMap<String, String>) -> u32 {
    let told = envs.get(DEFAULT_TTL).and_then(|value| value.parse().ok());
    told.unwrap_or_default()
}

/// Whether hashes are checked.
pub fn validates_hash(envs: &BTreeMap<String, String>) -> bool {
    envs.get(VALIDATES_HASH)
        .is_some_and(|value| value == "true")
}

/// From how long on a call is slow, if settings tell.
pub fn slow_threshold(envs: &BTreeMap<String, String>) -> Option<Duration> {
    let millis = envs.get(SLOW_QUERY)?.parse().ok()?;
    Some(Duration::from_millis(millis))
}

/// When replicas of a partition were asked to be compacted last, unless that is switched off.
pub fn compaction_asked_s(envs: &BTreeMap<String, String>, partition: u32) -> Option<u64> {
    if envs.get(NO_COMPACTION).is_some_and(|value| value == "true") {
        return None;
    }
    let of_all = envs.get(COMPACTION).and_then(|value| value.parse().ok());
    let some = envs.get(COMPACTION_OF_PARTITIONS);
    let some = some.into_iter().flat_map(|text| moments(text)).flatten();
    let own = some.filter(|(of, _)| *of == partition);
    own.map(|(_, asked_s)| asked_s).chain(of_all).max()
}

/// Partitions with moments; `None` of what is none.
fn moments(text: &str) -> impl Iterator<Item = Option<(u32, u64)>> {
    text.split(',').map(|one| {
        let (partition, asked_s) = one.split_once(':')?;
        unix_seconds(asked_s).ok()?;
        Some((partition.parse().ok()?, asked_s.parse().ok()?))
    })
}

fn of_partitions(text: &str) -> Result<(), String> {
    match moments(text).all(|one| one.is_some()) {
        true => Ok(()),
        false => Err(format!(
            "{text:?} is no list of partitions with moments, like 3:1700000000,7:1700000000; \
             `esker table compact --partition` makes one"
        )),
    }
}

fn unix_seconds(text: &str) -> Result<(), String> {
    match text.parse::<u64>() {
        Ok(1..) if text.len() <= 10 => Ok(()),
        _ => Err(format!(
            "{text:?} is no moment in seconds since 1970, like 1700000000; `esker table compact` \
             sets it to now"
        )),
    }
}

fn slow_query(text: &str) -> Result<(), String> {
    match text.parse::<u64>() {
        Ok(millis) if millis >= SLOW_QUERY_MS_MIN && text.len() <= 10 => Ok(()),
        _ => Err(format!(
            "{text:?} is no number of milliseconds from {SLOW_QUERY_MS_MIN} on, like 100"
        )),
    }
}

fn check_one(key: &str, value: &str) -> Result<(), String> {
    let Some((_, rule)) = RULES.iter().find(|row| row.0 == key) else {
        return Err(unknown(key));
    };
    if value.len() > VALUE_BYTES_MAX {
        return Err(format!("{key} has at most {VALUE_BYTES_MAX} bytes"));
    }
    match rule {
        Rule::Seconds => match value.parse::<u32>() {
            Ok(seconds) if seconds <= i32::MAX.cast_unsigned() && value.len() <= 10 => Ok(()),
            _ => Err(format!(
                "{key} is a number of seconds, from 0 to {}",
                i32::MAX
            )),
        },
        Rule::Flag => match value {
            "true" | "false" => Ok(()),
            _ => Err(format!("{key} is true or false")),
        },
        Rule::Text => Ok(()),
        Rule::Parsed(parse) => parse(value).map_err(|why| format!("{key}: {why}")),
        Rule::Only(only, _) if value == *only => Ok(()),
        Rule::Only(only, why) => Err(format!("{key} is always {only} here: {why}")),
        Rule::Refused(why) => Err(format!("{key} is not offered: {why}")),
    }
}

fn throttle(text: &str) -> Result<(), String> {
    Throttle::parse(text).map(drop)
}

fn read_bytes(text: &str) -> Result<(), String> {
    parse_read_bytes(text).map(drop)
}

fn denial(text: &str) -> Result<(), String> {
    Denial::parse(text).map(drop)
}

/// Says that there is no such setting, and which one may have been meant.
fn unknown(key: &str) -> String {
    // No more of it than any name has: comparing takes time for each pair of letters.
    let begun = cut(key.to_owned(), 64);
    let distances = RULES.iter().map(|row| (levenshtein(&begun, row.0), row.0));
    let near = distances.min();
    match near {
        Some((distance, name)) if distance <= key.len().min(name.len()) / 3 => {
            format!("there is no setting {key:?}: did you mean {name}?")
        }
        _ => {
            let honoured = RULES
                .iter()
                .filter(|row| !matches!(row.1, Rule::Refused(_)));
            let names: Vec<&str> = honoured.map(|row| row.0).collect();
            format!(
                "there is no setting {key:?}: there are {}",
                names.join(", ")
            )
        }
    }
}

#[cfg(test)]
mod tests;
