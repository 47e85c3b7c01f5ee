//! Mistakes of a node, its disk, or whoever drives it are found, each within a budget of seeds.
//!
//! Not here: a vote that is forgotten by a restart. A node that was opened holds its replicas until
//! meta has answered, and those that are freed ask at once: they are hardly ever still in the term
//! in which they voted. The storms of `esker-raft`, where nobody holds, find it.

use crate::cluster_node::Planted;
use crate::seeds;
use crate::symptom;
use crate::whole::plan::Plan;
use crate::whole::run::violation;

/// Seeds within which a mistake must be found.
const SEEDS: u64 = 40;

fn is_found(planted: Planted, symptoms: &[&str]) {
    let run = |seed| violation(Plan::with(planted, seed));
    symptom::is_found(&planted, seeds::from(0, SEEDS), symptoms, run);
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
    an_acknowledgement_before_the_sync_is_found: DurableTooEarly
        ["are committed at", "is damaged", "lead in term", "lacks", "its keyspace is missing"];
    a_truncation_before_the_flush_is_found: CompactsTooFar ["lacks entries", "is damaged"];
    an_entry_that_is_skipped_is_found: SkipsAnEntry ["has other rows"];
    an_entry_that_is_skipped_at_a_restart_is_found: SkipsAtRestart ["has other rows"];
    entries_under_one_anothers_index_are_found: WrongIndex ["has other rows"];
    an_entry_applied_twice_is_found: AppliesTwice ["has other rows"];
    an_image_that_lacks_a_row_is_found: ShortImages ["does not become whole", "has other rows"];
    an_image_that_is_not_switched_to_is_found: OldImageState ["entries are applied one by one"];
    a_replica_id_used_again_is_found: WipedComesBack
        ["are committed at", "lead in term", "is damaged", "was opened again elsewhere"];
    an_answer_given_twice_is_found: TellsTwice ["is answered twice"];
    an_answer_that_never_comes_is_found: ForgetsReplies ["does not become whole", "never answered"];
    a_forgotten_term_is_found: ForgetsTerms ["lead in term", "are committed at"];
    a_read_before_its_index_is_found: ReadsTooEarly
        ["had been answered", "sees nothing of entry", "is not linearizable"];
    a_configuration_that_is_not_kept_is_found: OldConfiguration ["are committed at"];
    learners_that_vote_are_found: LearnersVote ["are committed at"];
    a_purge_of_another_replica_is_found: PurgesAnother ["is not there", "does not become whole"];
    time_tags_of_the_replicas_own_clocks_are_found: OwnTimeTags ["has other rows"];
    half_a_multi_set_behind_a_restart_is_found: HalvesAtRestart
        ["has other rows", "is not linearizable"];
    half_a_multi_set_on_all_replicas_is_found: HalvesMultiSets ["is not linearizable"];
    half_a_multi_remove_on_all_replicas_is_found: HalvesMultiRemoves ["is not linearizable"];
    a_check_before_the_entries_ahead_is_found: ChecksTooEarly ["is not linearizable"];
    a_read_without_the_partitions_clock_is_found: ForgetsTheClock
        ["is not linearizable", "sees what has ended"];
    a_value_that_never_ends_is_found: NeverEnds ["is not linearizable", "sees what has ended"];
    what_was_applied_and_is_not_told_is_found: ForgetsTheApplied
        ["does not become whole", "never answered"];
}
