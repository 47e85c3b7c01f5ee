//! Tests of `memory_budget`.

use super::*;

#[test]
fn owners_add_up_to_the_total() {
    // Each owner takes a different amount; the report must tell them apart and sum them.
    let memory_budget = MemoryBudget::new(1_000);
    for (bytes, owner) in (1..).zip(MemoryOwner::ALL) {
        memory_budget.charge(owner, bytes);
    }
    assert_eq!(memory_budget.total_bytes(), 55);
    assert_eq!(memory_budget.by_owner()[3], (MemoryOwner::Iterators, 4));
    memory_budget.release(MemoryOwner::Log, 7);
    assert_eq!(memory_budget.held_bytes(MemoryOwner::Log), 0);
    assert_eq!(memory_budget.total_bytes(), 48);
}

#[test]
fn a_charge_gives_back_what_it_holds() {
    // A memtable grows, shrinks and goes; nothing stays behind.
    let memory_budget = Arc::new(MemoryBudget::new(1_000));
    let mut charge = memory_budget.hold(MemoryOwner::Memtables, 100);
    charge.resize(250);
    assert_eq!(memory_budget.held_bytes(MemoryOwner::Memtables), 250);
    charge.resize(40);
    assert_eq!(
        (
            memory_budget.held_bytes(MemoryOwner::Memtables),
            charge.bytes()
        ),
        (40, 40)
    );
    drop(charge);
    assert_eq!(memory_budget.total_bytes(), 0);
}

#[test]
fn the_cache_takes_what_others_leave() {
    // Memtables grow and the cache must shrink, but never to nothing.
    let memory_budget = MemoryBudget::new(1_600);
    memory_budget.charge(MemoryOwner::BlockCache, 900);
    assert_eq!(memory_budget.cache_allowance(), 1_200);
    memory_budget.charge(MemoryOwner::Memtables, 500);
    memory_budget.charge(MemoryOwner::PinnedMemtables, 100);
    // Of the cache's own share, which the cache divides itself.
    memory_budget.charge(MemoryOwner::PinnedBlocks, 300);
    assert_eq!(memory_budget.cache_allowance(), 600);
    memory_budget.charge(MemoryOwner::FiltersAndIndexes, 5_000);
    assert_eq!(memory_budget.cache_allowance(), 100);
    memory_budget.set_limit_bytes(16_000);
    assert_eq!(memory_budget.cache_allowance(), 6_400);
    // Of a large limit an eighth stays free, and 4 MiB.
    memory_budget.set_limit_bytes(1 << 30);
    let taken = (1 << 27) + (4 << 20) + 5_600;
    assert_eq!(memory_budget.cache_allowance(), (1 << 30) - taken);
}

#[test]
fn the_cache_stays_out_of_the_share_of_compactions() {
    // One compaction has ended and the next is to come: its room is kept free.
    let memory_budget = Arc::new(MemoryBudget::new(1_600));
    drop(memory_budget.hold(MemoryOwner::Compaction, 400));
    assert_eq!(memory_budget.held_bytes(MemoryOwner::Compaction), 0);
    assert_eq!(memory_budget.cache_allowance(), 800);
}

#[test]
fn iterators_share_what_they_read_ahead() {
    // Each gets half of what is left of an eighth, and what it cannot do without.
    let memory_budget = Arc::new(MemoryBudget::new(8_000));
    let charges: Vec<_> = (0..4).map(|_| memory_budget.hold_ahead(100, 600)).collect();
    let bytes: Vec<_> = charges.iter().map(Reservation::bytes).collect();
    assert_eq!(bytes, [500, 250, 125, 100]);
    drop(charges);
    assert_eq!(memory_budget.held_bytes(MemoryOwner::Iterators), 0);
    assert_eq!(memory_budget.hold_ahead(100, 300).bytes(), 300);
}

#[test]
fn compactions_and_trainings_take_turns() {
    // A quarter is for compactions; while a dictionary is trained, a sixteenth.
    let memory_budget = Arc::new(MemoryBudget::new(1_600));
    assert!(memory_budget.may_train());
    let _one = memory_budget.hold(MemoryOwner::Compaction, 150);
    assert_eq!(memory_budget.left_for_compactions(false), 250);
    assert_eq!(memory_budget.left_for_compactions(true), 0);
    assert!(!memory_budget.may_train());
    assert_eq!(memory_budget.training_share(), 600);
    assert_eq!(memory_budget.compaction_part_min(), 100);
}

#[test]
fn files_may_take_what_others_leave() {
    // Filters and indexes come before the cache, and never get less than an eighth.
    let memory_budget = MemoryBudget::new(1_600);
    memory_budget.charge(MemoryOwner::BlockCache, 900);
    memory_budget.charge(MemoryOwner::FiltersAndIndexes, 700);
    memory_budget.charge(MemoryOwner::Memtables, 400);
    assert_eq!(memory_budget.files_allowance(), 700);
    memory_budget.charge(MemoryOwner::Values, 5_000);
    assert_eq!(memory_budget.files_allowance(), 200);
}

#[test]
#[should_panic(expected = "log gives back 2 bytes of memory and held 1")]
fn giving_back_too_much_is_our_bug() {
    // An account below zero means somebody released twice.
    let memory_budget = MemoryBudget::new(10);
    memory_budget.charge(MemoryOwner::Log, 1);
    memory_budget.release(MemoryOwner::Log, 2);
}

#[test]
fn owners_are_listed_in_the_order_of_their_numbers() {
    // The number of an owner is its place in the account.
    for (place, owner) in MemoryOwner::ALL.iter().enumerate() {
        assert_eq!(*owner as usize, place);
    }
}

#[test]
fn under_a_lowered_limit_the_cache_has_what_it_would_have_had_from_the_start() {
    // What compactions once held under a large limit they never will again under a small one: the
    // cache stayed at its floor until the database was reopened. Whatever was changed before, the
    // cache gets what a budget gives that knew no other limit.
    let limits = [1_600, 16_000, 1 << 30, 32 << 20, 800, 1_600];
    let held = [0, 50, 300];
    for (before, limit) in limits
        .into_iter()
        .flat_map(|one| limits.map(|two| (one, two)))
    {
        for bytes in held {
            let changed = Arc::new(MemoryBudget::new(before));
            drop(changed.hold(MemoryOwner::Compaction, before / 4));
            let fresh = Arc::new(MemoryBudget::new(limit));
            let _running = [&changed, &fresh].map(|one| one.hold(MemoryOwner::Compaction, bytes));
            if before != limit {
                changed.set_limit_bytes(limit);
                let (changed, fresh) = (changed.cache_allowance(), fresh.cache_allowance());
                assert_eq!(changed, fresh, "{before} to {limit}, {bytes} held");
            } else {
                // Nothing was changed: their share is kept free.
                let kept = changed.cache_allowance();
                changed.set_limit_bytes(limit);
                assert_eq!(changed.cache_allowance(), kept);
            }
        }
    }
}
