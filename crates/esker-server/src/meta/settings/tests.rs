//! Settings that are taken, and those that are refused with a hint.

use super::*;

fn check_pair(key: &str, value: &str) -> Result<(), String> {
    let envs = [(key.to_owned(), value.to_owned())].into();
    check(&envs).map_err(|refusal| refusal.why)
}

#[test]
fn what_is_honoured_is_taken_within_its_range() {
    for (key, value) in [
        ("default_ttl", "0"),
        ("default_ttl", "2147483647"),
        ("replica.split.validate_partition_hash", "true"),
        ("business.info", "who to call: 42"),
        ("rocksdb.usage_scenario", "normal"),
        ("replica.rocksdb_block_cache_enabled", "true"),
        ("rocksdb.allow_ingest_behind", "false"),
        ("manual_compact.disabled", "true"),
        ("manual_compact.once.trigger_time", "1700000000"),
        (
            "manual_compact.once.partitions",
            "3:1700000000,0:1700000001",
        ),
        ("manual_compact.once.target_level", "-1"),
        ("replica.write_throttling", "20K*delay*100,30K*reject*200"),
        ("replica.write_throttling_by_size", "20M*reject*0"),
        ("replica.read_throttling", "2000*delay*100"),
        ("replica.read_throttling_by_size", "20M"),
        ("replica.deny_client_request", "timeout*write"),
        ("replica.slow_query_threshold", "20"),
    ] {
        assert_eq!(check_pair(key, value), Ok(()));
    }
    for (key, value, says) in [
        ("default_ttl", "-1", "seconds"),
        ("default_ttl", "2147483648", "seconds"),
        ("default_ttl", "", "seconds"),
        ("default_ttl", "00000000005", "seconds"),
        (
            "replica.split.validate_partition_hash",
            "1",
            "true or false",
        ),
        ("rocksdb.usage_scenario", "bulk_load", "always normal here"),
        ("business.info", &"x".repeat(257), "at most 256"),
        (
            "replica.write_throttling",
            "2000",
            "20000*delay*100,30000*reject*200",
        ),
        ("replica.read_throttling", "x*delay*1", "first is no number"),
        (
            "replica.read_throttling_by_size",
            "9*delay*9",
            "20000, 20K or 20M",
        ),
        ("replica.deny_client_request", "reject*all", "timeout*write"),
        ("replica.slow_query_threshold", "19", "from 20 on"),
        (
            "manual_compact.once.trigger_time",
            "0",
            "seconds since 1970",
        ),
        (
            "manual_compact.once.trigger_time",
            "tomorrow",
            "seconds since 1970",
        ),
        ("manual_compact.once.partitions", "", "like 3:1700000000"),
        ("manual_compact.once.partitions", "3", "like 3:1700000000"),
        ("manual_compact.once.partitions", "3:0", "like 3:1700000000"),
        (
            "manual_compact.once.partitions",
            "3:5,",
            "like 3:1700000000",
        ),
        ("manual_compact.once.target_level", "6", "always -1 here"),
        ("replica.slow_query_threshold", "100ms", "from 20 on"),
    ] {
        let why = check_pair(key, value).expect_err("out of its range");
        assert!(why.contains(says), "{why}");
    }
}

#[test]
fn what_nothing_honours_is_refused_with_a_hint() {
    for (key, rule) in &RULES {
        if let Rule::Refused(hint) = rule {
            let why = check_pair(key, "1").expect_err("nothing would honour it");
            assert!(why.contains(hint) && !hint.is_empty());
        }
    }
}

#[test]
fn an_unknown_setting_is_told_the_nearest_or_all() {
    let near = check_pair("defaultttl", "5").expect_err("unknown");
    assert!(near.contains("did you mean default_ttl?"), "{near}");
    let far = check_pair("colour", "5").expect_err("unknown");
    assert!(
        far.contains("business.info") && !far.contains("num_levels"),
        "{far}"
    );
    // A long key of a stranger costs no more than a short one.
    check_pair(&"y".repeat(4000), "5").expect_err("unknown");
}

#[test]
fn each_setting_is_told_once() {
    let mut keys: Vec<&str> = RULES.iter().map(|row| row.0).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), RULES.len());
}

#[test]
fn what_settings_tell_is_read_from_them() {
    let envs = BTreeMap::from([
        (DEFAULT_TTL.to_owned(), "90".to_owned()),
        (VALIDATES_HASH.to_owned(), "true".to_owned()),
    ]);
    assert_eq!((default_ttl_s(&envs), validates_hash(&envs)), (90, true));
    let none = BTreeMap::new();
    assert_eq!((default_ttl_s(&none), validates_hash(&none)), (0, false));
}

#[test]
fn the_guide_lists_every_setting_and_no_other() {
    // Each row of its table: the name, and one of three words that says what becomes of it.
    let page = include_str!("../../../../../docs/guide/tables.md");
    let (_, section) = page
        .split_once("## Settings of a table")
        .expect("a section");
    let section = section.split("\n## ").next().expect("the section");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    let told: Vec<(&str, &str)> = rows
        .map(|row| row.split_once("` | ").expect("two columns"))
        .collect();
    for (key, fate) in &told {
        let rule = RULES.iter().find(|row| row.0 == *key);
        let (_, rule) = rule.unwrap_or_else(|| panic!("the guide tells of {key}"));
        let word = match rule {
            Rule::Only(only, _) => format!("only `{only}`: "),
            Rule::Refused(_) => "refused: ".to_owned(),
            Rule::Seconds | Rule::Flag | Rule::Text | Rule::Parsed(_) => "honoured: ".to_owned(),
        };
        assert!(
            fate.starts_with(&word),
            "{key} is {word:?} and not {fate:?}"
        );
    }
    let mut told: Vec<&str> = told.iter().map(|row| row.0).collect();
    let mut known: Vec<&str> = RULES.iter().map(|row| row.0).collect();
    told.sort_unstable();
    known.sort_unstable();
    assert_eq!(told, known);
}

#[test]
fn a_compaction_is_asked_for_unless_that_is_switched_off() {
    let mut envs = BTreeMap::from([(COMPACTION.to_owned(), "1700000000".to_owned())]);
    assert_eq!(compaction_asked_s(&envs, 3), Some(1_700_000_000));
    for (value, asked_s) in [("true", None), ("false", Some(1_700_000_000))] {
        envs.insert(NO_COMPACTION.to_owned(), value.to_owned());
        assert_eq!(compaction_asked_s(&envs, 3), asked_s);
    }
    assert_eq!(compaction_asked_s(&BTreeMap::new(), 3), None);
}

#[test]
fn a_partition_is_compacted_as_of_the_later_moment() {
    let of = |partition| {
        let envs = BTreeMap::from([
            (COMPACTION.to_owned(), "1700000000".to_owned()),
            (
                COMPACTION_OF_PARTITIONS.to_owned(),
                "3:1700000005,4:1600000000".to_owned(),
            ),
        ]);
        compaction_asked_s(&envs, partition)
    };
    assert_eq!(of(3), Some(1_700_000_005));
    assert_eq!(of(4), Some(1_700_000_000));
    assert_eq!(of(5), Some(1_700_000_000));
    let own = "4:1600000000".to_owned();
    let mut envs = BTreeMap::from([(COMPACTION_OF_PARTITIONS.to_owned(), own)]);
    assert_eq!(compaction_asked_s(&envs, 4), Some(1_600_000_000));
    assert_eq!(compaction_asked_s(&envs, 5), None);
    envs.insert(NO_COMPACTION.to_owned(), "true".to_owned());
    assert_eq!(compaction_asked_s(&envs, 4), None);
}
