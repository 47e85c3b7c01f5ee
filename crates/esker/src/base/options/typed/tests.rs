//! Tests of settings chosen in code against the catalogue.

use super::*;
use crate::base::hooks::merge_builtin;
use crate::base::options::catalog;
use crate::base::options::pairs::to_pairs;
use crate::base::options::setting::{Rank, Scope, Setting};

#[test]
fn a_setting_chosen_in_code_is_what_its_text_is() {
    // Each method beside `set`; what most programs meet has a method.
    let fresh = KeyspaceOptions::default;
    let pairs = [
        (
            "compression",
            "searchable",
            fresh().compression(Compression::Searchable),
        ),
        (
            "ttl",
            "1001ms",
            fresh().ttl(Duration::from_micros(1_000_100)),
        ),
        ("ttl", "none", fresh().ttl(Duration::ZERO)),
        (
            "merge_operator",
            "append",
            fresh().merge_operator(merge_builtin::append(",")),
        ),
    ];
    for (name, text, chosen) in &pairs {
        let told = fresh().set(name, text).unwrap();
        assert_eq!(to_pairs(chosen), to_pairs(&told), "{name} = {text}");
        let rule =
            |options: &KeyspaceOptions| options.merge.as_ref().map(|it| it.0.name().to_owned());
        assert_eq!(rule(chosen), rule(&told));
    }
    let normal =
        |setting: &&Setting| setting.rank == Rank::Normal && setting.scope() == Scope::Keyspace;
    for setting in catalog::settings().filter(normal) {
        assert!(
            pairs.iter().any(|(name, ..)| *name == setting.name),
            "{}",
            setting.name
        );
    }
}

#[test]
fn a_time_to_live_beyond_what_entries_can_say_is_the_longest() {
    // 2^32 seconds and more: entries say unix seconds in 32 bits.
    let options = KeyspaceOptions::default().ttl(Duration::from_secs(1 << 40));
    assert_eq!(options.ttl_ms, TTL_MS_MAX);
    let options = KeyspaceOptions::default().ttl(Duration::MAX);
    assert_eq!(options.ttl_ms, TTL_MS_MAX);
}
