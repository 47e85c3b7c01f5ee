//! Partitions lose most replicas for ever, which somebody accepts, and the lost ones come back.
//!
//! All is at rest when they are lost, so that whatever was acknowledged is in what is left: nothing
//! may be missing afterwards, and nothing may be acknowledged by those that were given up.

use std::collections::BTreeSet;

use esker::internals::env::sim::CrashMode;
use esker_raft::{GroupId, NodeId};
use esker_rpc::message::meta::MetaCall;
use esker_rpc::message::own::RecoverTableRequest;
use esker_server::meta::ids::{META, PartitionId};

use crate::cluster_node::Planted;
use crate::seeds;
use crate::symptom;
use crate::whole::plan::Plan;
use crate::whole::run::{become_whole, read_and_judge};
use crate::whole::world::World;

/// Ticks after which the lost ones are back at the earliest, and how much later at the most.
const BACK: (u64, u64) = (180, 150);

/// Ticks for which they hear nobody but one another then, of some seeds.
const APART: u64 = 100;

/// Runs to the end, or panics at the first thing that does not hold. How many partitions went on
/// without most of their replicas.
fn run(planted: Planted, seed: u64) -> usize {
    let plan = Plan {
        planted,
        places: 5,
        ..Plan::calm(seed)
    };
    let mut world = World::new(plan);
    for _ in 0..250 {
        world.administer();
        world.use_it();
        world.step();
    }
    let _ticks = become_whole(&mut world);
    let Some(lost) = draw_lost(&mut world) else {
        return 0;
    };
    let is_apart = world.dice.one_in(2) || planted != Planted::Nothing;
    let back = world.tick + BACK.0 + world.dice.below(BACK.1);
    let without = groups_without_majority(&world, &lost);
    for &at in &lost {
        lose(&mut world, at, back);
    }
    if is_apart {
        set_apart(&mut world, &lost);
    }
    while world.tick < back + APART {
        // Once they are back they have what is acknowledged, and to give that up would be a loss.
        if world.tick.is_multiple_of(10) && world.tick < back {
            accept(&mut world, &without);
        }
        world.use_it();
        world.step();
    }
    world.heal();
    for _ in 0..100 {
        world.use_it();
        world.step();
    }
    world.calm = world.moment;
    let recoveries = world.state().recoveries.clone();
    let _ticks = become_whole(&mut world);
    read_and_judge(&mut world);
    all_went_on(&world);
    recoveries.len()
}

/// Every partition of which somebody accepted a loss has gone on, and nobody lost is wished.
pub fn all_went_on(world: &World) {
    let state = world.state();
    for (group, row) in &state.recoveries {
        assert!(row.is_done, "{group} has not gone on: {row:?}");
        let wished = &state.partitions[group].wished;
        let lost = wished.keys().find(|replica| row.is_lost(**replica));
        assert_eq!(lost, None, "{group}: {row:?}");
    }
}

// Places of two nodes that have most replicas of some partition, while meta keeps its majority.
fn draw_lost(world: &mut World) -> Option<Vec<usize>> {
    let state = world.state();
    let metas: BTreeSet<NodeId> = state.partitions[&META].wished.values().copied().collect();
    let mut pairs = Vec::new();
    for (_, row) in state.partitions.iter().filter(|row| *row.0 != META) {
        let nodes: Vec<NodeId> = row.wished.values().copied().collect();
        for kept in &nodes {
            let lost = nodes.iter().filter(|node| *node != kept);
            let lost: Vec<NodeId> = lost.copied().collect();
            let left = metas.iter().filter(|node| !lost.contains(node)).count();
            if lost.len() == 2 && left > metas.len() / 2 {
                pairs.push(lost);
            }
        }
    }
    let pick = world.dice.below(pairs.len().max(1) as u64);
    let lost = pairs.get(usize::try_from(pick).unwrap())?;
    let places = lost.iter().map(|node| world.place_of(*node).unwrap());
    Some(places.collect())
}

pub fn lose(world: &mut World, at: usize, back: u64) {
    let mode = CrashMode::ALL[usize::try_from(world.dice.below(5)).unwrap()];
    let (seed, is_kill) = (world.dice.next_u64(), world.dice.one_in(2));
    let later = world.dice.below(20);
    let place = &mut world.places[at];
    let node = place.node.as_mut().unwrap();
    match is_kill {
        true => node.kill(),
        false => node.crash(mode, seed),
    }
    place.down_until = back + later;
    world.lose(at);
}

pub fn set_apart(world: &mut World, lost: &[usize]) {
    let all: Vec<NodeId> = world.places.iter().map(|place| place.number).collect();
    let is_lost = |number: &NodeId| lost.iter().any(|at| all[*at] == *number);
    for one in &all {
        for other in &all {
            if is_lost(one) != is_lost(other) {
                world.cut.insert((*one, *other));
            }
        }
    }
}

// Partitions that have most of their replicas at these places.
fn groups_without_majority(world: &World, lost: &[usize]) -> BTreeSet<GroupId> {
    let nodes = lost
        .iter()
        .map(|at| world.places[*at].node.as_ref().unwrap().id);
    let nodes: BTreeSet<NodeId> = nodes.collect();
    let state = world.state();
    let groups = state.partitions.iter().filter(|(group, row)| {
        let left = row.wished.values().filter(|node| !nodes.contains(node));
        **group != META && left.count() <= row.wished.len() / 2
    });
    groups.map(|row| *row.0).collect()
}

// Somebody accepts these losses; what is none is refused.
pub fn accept(world: &mut World, groups: &BTreeSet<GroupId>) {
    let state = world.state();
    for group in groups {
        let partition = PartitionId::of(*group);
        if let Some(row) = state.tables.get(&partition.table) {
            world.ask_meta(&MetaCall::RecoverTable(RecoverTableRequest {
                app_name: row.name.clone(),
                partition_index: i32::try_from(partition.index).unwrap(),
                accepts_loss: true,
            }));
        }
    }
}

#[test]
fn partitions_go_on_without_most_of_their_replicas() {
    let seeds = seeds::from(0, 24);
    let count = usize::try_from(seeds.end - seeds.start).unwrap();
    let mut recovered = Vec::new();
    for seed in seeds {
        println!("seed {seed}");
        recovered.push(run(Planted::Nothing, seed));
    }
    println!("{recovered:?} partitions went on");
    let sum: usize = recovered.iter().sum();
    assert!(sum > count / 2, "{recovered:?}");
}

#[test]
fn nodes_that_do_not_hold_their_replicas_are_found_out() {
    let symptoms = [
        "are committed at",
        "linearizable",
        "had been answered",
        "of entry",
    ];
    symptom::is_found(
        &Planted::NeverHolds,
        seeds::from(0, 24),
        &symptoms,
        |seed| {
            symptom::of(|| {
                run(Planted::NeverHolds, seed);
            })
        },
    );
}
