//! Tables that are being made while a disk is lost, or is full: they open, and can be written to.
//!
//! Each run is the same cluster, in which the fault is a tick later than in the run before: also in
//! the tick in which a vote for the first leader is on its way.

use esker_raft::{GroupId, NodeId};
use esker_server::meta::ids::META;
use esker_server::meta::rows::{PartitionRow, TableStatus};

use crate::cluster_node::Planted;
use crate::symptom;
use crate::whole::faults::create;
use crate::whole::plan::Plan;
use crate::whole::world::World;

const SEEDS: u64 = 3;

/// Ticks from the wish for a table within which its first leader has committed an entry.
const TICKS: u64 = 60;

/// Ticks until a table is open that is made elsewhere: a hundred until a node counts as away, and
/// as many as a table takes.
const OPEN_TICKS_MAX: u64 = 300;

impl World {
    // Three nodes, all of which have a replica of the meta group, and no table.
    fn of_three(planted: Planted, seed: u64) -> World {
        let mut world = World::new(Plan {
            planted,
            places: 3,
            ..Plan::calm(seed)
        });
        loop {
            world.step();
            let state = world.state();
            let meta = state.partitions.get(&META);
            let is_whole = |row: &&PartitionRow| world.lack_of(&state, META, row).is_none();
            if meta
                .filter(is_whole)
                .is_some_and(|row| row.wished.len() == 3)
            {
                return world;
            }
            assert!(world.tick < 1000, "{}", world.told());
        }
    }

    // The only partition, and the nodes that it begins on; none before meta knows it.
    fn being_made(&self) -> Option<(GroupId, Vec<NodeId>)> {
        let state = self.state();
        let mut groups = state.partitions.iter().filter(|row| *row.0 != META);
        let (group, row) = groups.next()?;
        Some((*group, row.wished.values().copied().collect()))
    }

    // Whether a table is open, and its partition can be written to.
    fn is_made(&self) -> bool {
        let state = self.state();
        let mut tables = state.tables.values();
        let is_open = tables.any(|row| row.status == TableStatus::Open);
        let is_established = |group: GroupId| {
            let nodes = self.places.iter().filter_map(|place| place.node.as_ref());
            let mut statuses = nodes.filter_map(|node| node.status(group));
            statuses.any(|it| it.is_established)
        };
        let made = self.being_made();
        is_open && made.is_some_and(|(group, _)| is_established(group))
    }

    // Whether that lasts: its partition is whole.
    fn is_whole(&self) -> bool {
        let state = self.state();
        let mut groups = state.partitions.iter().filter(|row| *row.0 != META);
        groups.all(|(group, row)| self.lack_of(&state, *group, row).is_none())
    }

    fn becomes(&mut self, what: &str, is_so: impl Fn(&World) -> bool) {
        let until = self.tick + OPEN_TICKS_MAX;
        while !is_so(self) {
            assert!(self.tick < until, "it is not made: {what}: {}", self.told());
            self.step();
        }
    }
}

// What became of all runs.
#[derive(Debug, Default)]
struct Sum {
    runs: u64,
    /// Tables that were made elsewhere.
    made_anew: u64,
}

// Has a table of one partition made on two of three nodes; the fault comes so many ticks later to
// one of these, as long as the table cannot be written to.
fn sweep(
    planted: Planted,
    fault: impl Fn(&mut World, usize) -> bool,
    is_so: impl Fn(&World) -> bool,
) -> Sum {
    let mut sum = Sum::default();
    for (seed, side) in (0..SEEDS).flat_map(|seed| [(seed, 0), (seed, 1)]) {
        for ticks in 0..TICKS {
            let mut world = World::of_three(planted, seed);
            world.ask_meta(&create("t1".to_owned(), 1, 2));
            (0..ticks).for_each(|_| world.step());
            let Some((group, nodes)) = world.being_made() else {
                continue;
            };
            let node = nodes[side];
            let at = world.place_of(node).unwrap();
            let is_early = world.is_being_made(&world.state(), group, node);
            if !is_early || !fault(&mut world, at) {
                break;
            }
            let what = format!("seed {seed}, side {side}, {ticks} ticks");
            world.becomes(&what, World::is_made);
            world.becomes(&what, &is_so);
            sum.runs += 1;
            sum.made_anew += world.checks.made_anew;
        }
    }
    println!("{sum:?}");
    sum
}

fn lose(world: &mut World, at: usize) -> bool {
    world.empty(at);
    true
}

#[test]
fn a_table_opens_whenever_a_disk_is_lost_before_it_can_be_written_to() {
    let sum = sweep(Planted::Nothing, lose, World::is_whole);
    let enough = 12 * SEEDS;
    assert!(sum.runs > enough && sum.made_anew > enough, "{sum:?}");
}

#[test]
fn a_leader_that_is_told_of_before_it_has_committed_anything_is_found() {
    let planted = Planted::LeadsTooEarly;
    let run = |_| {
        symptom::of(|| {
            sweep(planted, lose, World::is_whole);
        })
    };
    symptom::is_found(&planted, 0..1, &["it is not made"], run);
}

#[test]
fn a_table_opens_whenever_a_disk_fills_up_before_it_can_be_written_to() {
    let fill = |world: &mut World, at: usize| {
        let place = &mut world.places[at];
        let node = place.node.as_ref().unwrap();
        // Without room for its log the meta service may stand still.
        if node.is_leader(META) {
            return false;
        }
        node.world.fs.set_free_bytes(0);
        place.full_until = u64::MAX;
        true
    };
    // A replica that is made has room in the segment of its log: its table opens where it is.
    let sum = sweep(Planted::Nothing, fill, World::is_made);
    assert!(sum.made_anew > 0 && sum.runs > 12 * SEEDS, "{sum:?}");
}
