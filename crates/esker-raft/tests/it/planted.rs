//! Mistakes of whoever owns a shard are found by the storms, each within a budget of seeds.

use crate::sim::plan::{Plan, Planted};
use crate::sim::run::violation;

/// Seeds within which a mistake must be found; most are by the first or second.
const SEEDS: u64 = 60;

/// The same for those that need two faults just behind one another.
const RARE_SEEDS: u64 = 200;

const RARE: [Planted; 6] = [
    Planted::ClockStops,
    Planted::WildClocks,
    Planted::ForgetVote,
    Planted::ForgetHardState,
    Planted::KeepTruncated,
    Planted::ReuseReadNames,
];

/// Panics unless `planted` is found, and by a check that speaks of one of `symptoms`.
fn is_found(planted: Planted, symptoms: &[&str]) {
    let seeds = if RARE.contains(&planted) {
        RARE_SEEDS
    } else {
        SEEDS
    };
    for seed in 0..seeds {
        if let Some(message) = violation(plan(planted, seed)) {
            println!("{planted:?} is found by seed {seed}: {message}");
            let is_expected = symptoms.iter().any(|symptom| message.contains(symptom));
            assert!(
                is_expected,
                "{planted:?} was found by something else: {message}"
            );
            return;
        }
    }
    panic!("{planted:?} is not found in {seeds} seeds");
}

fn plan(planted: Planted, seed: u64) -> Plan {
    let plan = Plan {
        planted,
        ..Plan::stormy(seed)
    };
    match planted {
        // An answer of before a restart must come just behind it.
        Planted::ReuseReadNames => Plan {
            crash: 25,
            read: 950,
            ..plan
        },
        Planted::ClockStops => Plan {
            planted,
            ..Plan::leased(seed)
        },
        // Another one must lead, and commit, before the one that was stopped with a lease has
        // missed its heartbeats; and in that term it has not handed over.
        Planted::WildClocks => Plan {
            planted,
            nodes: 3,
            first_voters: 3,
            crash: 0,
            change: 0,
            transfer: 0,
            tick_ms: 5,
            ..Plan::leased(seed)
        },
        _ => Plan {
            drop: 20,
            crash: 8,
            cut: 25,
            change: 20,
            ..plan
        },
    }
}

macro_rules! found {
    ($($name:ident: $planted:ident $symptoms:expr;)*) => {
        $(#[test]
        fn $name() {
            is_found(Planted::$planted, &$symptoms);
        })*
    };
}

found! {
    an_acknowledgement_before_the_disk_has_it_is_found:
        AckBeforeDurable ["lacks entries", "leads in term"];
    a_forgotten_vote_is_found: ForgetVote ["lead in term", "two "];
    a_forgotten_term_is_found: ForgetHardState ["lead in term", "two "];
    an_entry_skipped_at_a_restart_is_found: SkipEntry ["two states"];
    an_entry_applied_twice_is_found: ApplyTwice ["two states"];
    a_read_that_asks_nobody_is_found: ReadLocally ["a read is served"];
    an_image_with_the_members_of_today_is_found: WrongImageMembers ["two "];
    a_forgotten_tombstone_is_found: ForgetTombstone ["speaks on"];
    a_replica_id_used_again_is_found: ReuseReplicaId ["lacks entries", "two ", "all is well"];
    a_truncation_that_a_crash_undoes_is_found:
        KeepTruncated ["leads in term", "in their order"];
    a_disk_that_lies_is_found: LyingDisk ["lacks entries", "two ", "leads in term"];
    an_acknowledgement_before_the_commit_is_found: AckBeforeCommit ["is lost"];
    names_of_reads_used_again_are_found: ReuseReadNames ["a read is served"];
    a_log_reset_before_the_switch_is_found: ResetBeforeSwitch ["has not applied"];
    a_clock_that_stands_while_its_process_does_is_found: ClockStops ["a read is served"];
    clocks_that_run_apart_are_found: WildClocks ["a read is served"];
    an_image_of_another_index_than_it_says_is_found: MislabelledImage ["two states"];
}
