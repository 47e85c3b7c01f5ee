//! For how long partitions are led by nobody when a node dies or stands still, in ticks.
//!
//! Here it can be said how long that takes: the clock is the simulator's, and no machine that has
//! much to do is in the way. Tests of processes say that it works with real ones.

use std::collections::BTreeMap;

use esker_raft::GroupId;

use crate::whole::plan::Plan;
use crate::whole::run::become_whole;
use crate::whole::world::World;

const SEEDS: u64 = 40;

/// Ticks of a tenth of a second until every partition that it led takes writes again, in half of
/// the runs and in all: one to two seconds until somebody stands for election, a lease of one
/// second at the most, and here and there a second election. Measured: 29 and 53.
const HALF_TICKS_MAX: u64 = 32;
const TICKS_MAX: u64 = 60;

/// What becomes of the node.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Its process ends, of which some hear.
    Dies,
    /// It stands still, and its links do as well.
    Stands,
}

impl World {
    // The groups that it leads, and behind which entry another leader's first one is.
    fn led_at(&self, at: usize) -> BTreeMap<GroupId, u64> {
        let node = self.places[at].node.as_ref().unwrap();
        let state = self.state();
        let led = state.partitions.keys().filter(|it| node.is_leader(**it));
        let last = |group: &GroupId| node.status(*group).unwrap().last;
        led.map(|group| (*group, last(group))).collect()
    }

    // Whether another one leads it, and an entry of its own is committed.
    fn is_led_again(&self, group: GroupId, last: u64) -> bool {
        let up = (0..self.places.len()).filter(|at| self.runs(*at));
        let mut nodes = up.filter_map(|at| self.places[at].node.as_ref());
        nodes.any(|node| {
            let commit = node.status(group).map_or(0, |it| it.commit);
            node.is_leader(group) && commit > last
        })
    }
}

// Ticks until all that the drawn node led is led by others.
fn failover(fault: Fault, seed: u64) -> u64 {
    let mut world = World::new(Plan {
        places: 3 + seed % 2,
        ..Plan::calm(seed)
    });
    for _ in 0..250 {
        world.administer();
        world.step();
    }
    // How long that took is another one's claim.
    let _ticks = become_whole(&mut world);
    let leads = |at: &usize| world.led_at(*at).len();
    let at = (0..world.places.len()).max_by_key(leads).unwrap();
    let led = world.led_at(at);
    assert!(!led.is_empty(), "somebody leads");
    match fault {
        Fault::Dies => {
            world.places[at].node.as_mut().unwrap().kill();
            world.places[at].down_until = u64::MAX;
            world.lose(at);
        }
        Fault::Stands => world.places[at].paused_until = u64::MAX,
    }
    let began = world.tick;
    while !led
        .iter()
        .all(|(group, last)| world.is_led_again(*group, *last))
    {
        let took = world.tick - began;
        assert!(took < 10 * TICKS_MAX, "seed {seed}: {}", world.told());
        world.step();
    }
    world.tick - began
}

fn hold(fault: Fault) {
    let mut took: Vec<u64> = (0..SEEDS).map(|seed| failover(fault, seed)).collect();
    took.sort_unstable();
    println!("{fault:?}: {took:?} ticks");
    let (half, all) = (took[took.len() / 2], took[took.len() - 1]);
    assert!(half <= HALF_TICKS_MAX, "half within {half}");
    assert!(all <= TICKS_MAX, "all within {all}");
}

#[test]
fn what_a_dead_node_led_is_led_by_others_within_seconds() {
    hold(Fault::Dies);
}

#[test]
fn what_a_node_led_that_stands_still_is_led_by_others_within_seconds() {
    hold(Fault::Stands);
}
