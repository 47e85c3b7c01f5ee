//! Tests of `ledger`.

use super::*;

#[test]
fn owners_add_up_to_the_total() {
    // Each owner takes a different amount; the report must tell them apart and sum them.
    let ledger = MemoryLedger::new(1_000);
    for (bytes, owner) in (1..).zip(MemoryOwner::ALL) {
        ledger.charge(owner, bytes);
    }
    assert_eq!(ledger.total_bytes(), 45);
    assert_eq!(ledger.by_owner()[3], (MemoryOwner::Iterators, 4));
    ledger.release(MemoryOwner::Log, 6);
    assert_eq!(ledger.held_bytes(MemoryOwner::Log), 0);
    assert_eq!(ledger.total_bytes(), 39);
}

#[test]
fn a_charge_gives_back_what_it_holds() {
    // A memtable grows, shrinks and goes; nothing stays behind.
    let ledger = Arc::new(MemoryLedger::new(1_000));
    let mut charge = ledger.hold(MemoryOwner::Memtables, 100);
    charge.resize(250);
    assert_eq!(ledger.held_bytes(MemoryOwner::Memtables), 250);
    charge.resize(40);
    assert_eq!(
        (ledger.held_bytes(MemoryOwner::Memtables), charge.bytes()),
        (40, 40)
    );
    drop(charge);
    assert_eq!(ledger.total_bytes(), 0);
}

#[test]
fn the_cache_takes_what_others_leave() {
    // Memtables grow and the cache must shrink, but never to nothing.
    let ledger = MemoryLedger::new(1_600);
    ledger.charge(MemoryOwner::BlockCache, 900);
    assert_eq!(ledger.cache_allowance(), 1_400);
    ledger.charge(MemoryOwner::Memtables, 500);
    ledger.charge(MemoryOwner::PinnedMemtables, 100);
    // Of the cache's own share, which the cache divides itself.
    ledger.charge(MemoryOwner::PinnedBlocks, 300);
    assert_eq!(ledger.cache_allowance(), 800);
    ledger.charge(MemoryOwner::FiltersAndIndexes, 5_000);
    assert_eq!(ledger.cache_allowance(), 100);
    ledger.set_limit_bytes(16_000);
    assert_eq!(ledger.cache_allowance(), 8_400);
}

#[test]
fn the_cache_stays_out_of_the_share_of_compactions() {
    // One compaction has ended and the next is to come: its room is kept free.
    let ledger = Arc::new(MemoryLedger::new(1_600));
    drop(ledger.hold(MemoryOwner::Compaction, 400));
    assert_eq!(ledger.held_bytes(MemoryOwner::Compaction), 0);
    assert_eq!(ledger.cache_allowance(), 1_000);
}

#[test]
#[should_panic(expected = "log gives back 2 bytes of memory and held 1")]
fn giving_back_too_much_is_our_bug() {
    // An account below zero means somebody released twice.
    let ledger = MemoryLedger::new(10);
    ledger.charge(MemoryOwner::Log, 1);
    ledger.release(MemoryOwner::Log, 2);
}

#[test]
fn owners_are_listed_in_the_order_of_their_numbers() {
    // The number of an owner is its place in the account.
    for (place, owner) in MemoryOwner::ALL.iter().enumerate() {
        assert_eq!(*owner as usize, place);
    }
}
