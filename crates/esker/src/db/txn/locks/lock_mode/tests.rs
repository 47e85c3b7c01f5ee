//! Tests of `lock_mode`.

use super::*;

#[test]
fn the_table_is_the_usual_one() {
    // Written out as in the books, so that a slip in the bits is seen: IS, IX, S, SIX, X.
    let table = ["yyyyn", "yynnn", "ynynn", "ynnnn", "nnnnn"];
    for (mode, row) in Mode::ALL.into_iter().zip(table) {
        for (other, entry) in Mode::ALL.into_iter().zip(row.chars()) {
            assert_eq!(
                mode.conflicts_with(other),
                entry == 'n',
                "{mode:?} {other:?}"
            );
        }
    }
}

#[test]
fn a_mode_covers_what_it_cannot_be_told_from() {
    // Whoever covers a mode keeps out all that the mode keeps out.
    for mode in Mode::ALL {
        for other in Mode::ALL {
            let left_out = other.conflicts().without(mode.conflicts());
            assert_eq!(mode.covers(other), left_out == ModeSet::default());
        }
    }
}

#[test]
fn a_joined_mode_is_the_weakest_that_covers_both() {
    // No mode covers both that does not cover the joined one as well.
    for mode in Mode::ALL {
        for other in Mode::ALL {
            let joined = mode.joined(other);
            assert_eq!(joined, other.joined(mode));
            for any in Mode::ALL {
                assert_eq!(any.covers(joined), any.covers(mode) && any.covers(other));
            }
        }
    }
    let joined = Mode::Shared.joined(Mode::IntentionExclusive);
    assert_eq!(joined, Mode::SharedIntentionExclusive);
}

#[test]
fn a_key_lock_is_covered_by_the_keyspace_when_its_intention_is() {
    // Who holds the keyspace shared need not lock keys to read them, but must to write them.
    for mode in [KeyMode::Shared, KeyMode::Beside, KeyMode::Exclusive] {
        assert!(mode.whole().covers(mode.intention()) && mode.whole().covers(mode.mode()));
        assert!(!mode.intention().covers(mode.whole()));
        assert!(!Mode::SharedIntentionExclusive.covers(mode.whole()) || mode == KeyMode::Shared);
        // Who holds the whole keeps out all who hold a key that this would meet.
        for other in [KeyMode::Shared, KeyMode::Beside, KeyMode::Exclusive] {
            let meet = mode.mode().conflicts_with(other.mode());
            assert!(!meet || mode.whole().conflicts_with(other.intention()));
        }
    }
}

#[test]
fn writers_beside_one_another_keep_out_all_others() {
    let beside = KeyMode::Beside.mode();
    assert!(!beside.conflicts_with(beside));
    for other in [KeyMode::Shared, KeyMode::Exclusive] {
        assert!(beside.conflicts_with(other.mode()));
    }
}
