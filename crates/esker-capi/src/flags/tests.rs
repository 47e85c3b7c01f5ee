//! Tests of what each bit asks for.

use esker::{Durability, ErrorKind, ReadOptions, WriteOptions};

use super::{of_read, of_transaction_read, of_write};

const HEADER: &str = include_str!("../../include/esker/c.h");

/// What the header gives a name.
fn named(name: &str) -> u32 {
    let is_it = |line: &&str| line.split_whitespace().nth(1) == Some(name);
    let line = HEADER.lines().find(is_it).expect(name);
    let number = line.split_whitespace().nth(2).expect(name);
    let number = number.trim_end_matches('u');
    let hex = number.strip_prefix("0x").expect(name);
    u32::from_str_radix(hex, 16).expect(name)
}

#[test]
fn names_of_the_header_ask_for_what_they_say() {
    assert_eq!(of_write(0).unwrap(), WriteOptions::default());
    for (name, wanted) in [
        ("ESKER_MEMORY", Durability::Memory),
        ("ESKER_BUFFERED", Durability::Buffered),
        ("ESKER_SYNC", Durability::Sync),
    ] {
        let options = of_write(named(name)).unwrap();
        assert_eq!((options.durability, options.no_wait), (Some(wanted), false));
    }
    let hurried = of_write(named("ESKER_SYNC") | named("ESKER_NO_WAIT")).unwrap();
    assert!(hurried.no_wait && hurried.durability == Some(Durability::Sync));
    assert_eq!(of_read(0).unwrap(), ReadOptions::default());
    let unkept = of_read(named("ESKER_NO_FILL_CACHE")).unwrap();
    assert!(!unkept.fill_cache);
    let latest = named("ESKER_LATEST");
    assert!(of_transaction_read(latest).unwrap().1);
    let both = latest | named("ESKER_NO_FILL_CACHE");
    assert_eq!(of_transaction_read(both).unwrap(), (unkept, true));
    assert!(!of_transaction_read(0).unwrap().1);
}

#[test]
fn bits_without_a_name_are_refused() {
    for flags in [4, 8, 0x20, u32::MAX] {
        assert_eq!(of_write(flags).unwrap_err().kind(), ErrorKind::Invalid);
    }
    // Outside of a transaction every read is of the latest.
    for flags in [2, 0x10, u32::MAX] {
        assert_eq!(of_read(flags).unwrap_err().kind(), ErrorKind::Invalid);
    }
    for flags in [4, 0x10, u32::MAX] {
        let refused = of_transaction_read(flags).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
    }
}
