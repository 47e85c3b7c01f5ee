//! Timeouts lie in their window, apart from one another, and follow from their draw alone.

use super::*;

fn draw(group: u64, term: u64, rank: usize) -> Draw {
    Draw {
        seed: 9,
        group: GroupId(group),
        replica: ReplicaId(rank as u64 + 1),
        term,
        rank: (rank, 3),
    }
}

#[test]
fn replicas_of_a_group_never_ask_in_the_same_tick() {
    for group in 0..50 {
        for term in 0..50 {
            let ticks: Vec<_> = (0..3)
                .map(|rank| draw(group, term, rank).ticks(10))
                .collect();
            assert!(
                ticks.iter().all(|ticks| (10..20).contains(ticks)),
                "{ticks:?}"
            );
            assert!(ticks[0] != ticks[1] && ticks[1] != ticks[2] && ticks[0] != ticks[2]);
        }
    }
}

#[test]
fn who_comes_first_turns_with_group_and_term() {
    let first = |group, term| (0..3).min_by_key(|&rank| draw(group, term, rank).ticks(10));
    for rank in 0..3 {
        let groups = (0..300)
            .filter(|&group| first(group, 1) == Some(rank))
            .count();
        let terms = (0..300)
            .filter(|&term| first(1, term) == Some(rank))
            .count();
        assert!(
            (60..140).contains(&groups) && terms == 100,
            "{groups} {terms}"
        );
    }
}
