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
        far.contains("business.info") && !far.contains("throttling"),
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
