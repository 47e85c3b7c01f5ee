//! Partitions of five replicas lose three for ever, and so may whatever then was to go on.
//!
//! Two replicas are left, of which one goes on. The other one lacks something, or the one that is
//! to go on is away when the lost ones come back, or is lost as well.

use std::collections::{BTreeMap, BTreeSet};

use esker_raft::{GroupId, NodeId};
use esker_rpc::message::meta::{CreateTableOptions, CreateTableRequest, MetaCall};
use esker_server::meta::ids::META;

use crate::cluster_node::Planted;
use crate::seeds;
use crate::symptom;
use crate::whole::plan::Plan;
use crate::whole::recovering::{accept, all_went_on, lose, set_apart};
use crate::whole::run::{become_whole, read_and_judge};
use crate::whole::world::World;

/// Ticks within which a loss that is accepted again and again is one.
const SOON: u64 = 400;

/// Seeds of each story.
const SEEDS: u64 = 10;

/// Seeds within which a mistake must be found.
const FOUND: u64 = 24;

/// What becomes of those that are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// One of them lacks what was written last: the other one goes on. Then the lost ones come
    /// back, and for a while hear and reach all but those two.
    OneIsBehind,
    /// The lost ones come back while the one that is to go on does not run.
    BaseIsAway,
    /// The one that is to go on loses its disk before it does, and the other one goes on. Then the
    /// lost ones come back.
    BaseIsLost,
    /// The same, and the lost ones come back before that.
    AllComeBack,
}

/// A partition, and the places of its replicas.
struct Scene {
    group: GroupId,
    /// Three that are lost.
    lost: Vec<usize>,
    /// Two that are left.
    left: Vec<usize>,
}

// Seven nodes, of which five have the one partition of the one table, at rest.
fn five_of_seven(planted: Planted, seed: u64) -> World {
    let plan = Plan {
        planted,
        places: 7,
        administer: 0,
        ..Plan::calm(seed)
    };
    let mut world = World::new(plan);
    while world.tick < 400 || world.state().tables.is_empty() {
        assert!(world.tick < 400 + SOON, "no table is made");
        // Once all are there: then it is where fewest have a replica of meta. One by that name is
        // made at the end if there is none.
        if world.tick.is_multiple_of(20) && world.state().host_count() == 7 {
            let call = MetaCall::CreateTable(CreateTableRequest {
                app_name: "t3".to_owned(),
                options: CreateTableOptions {
                    partition_count: 1,
                    replica_count: 5,
                    success_if_exist: true,
                    app_type: "pegasus".to_owned(),
                    is_stateful: true,
                    envs: BTreeMap::new(),
                    atomic_idempotent: None,
                },
            });
            world.ask_meta(&call);
        }
        world.use_it();
        world.step();
    }
    let _ticks = become_whole(&mut world);
    world
}

// Three of the five are lost without which meta keeps its majority, and without one more.
fn draw(world: &mut World) -> Option<Scene> {
    let state = world.state();
    let metas: Vec<NodeId> = state.partitions[&META].wished.values().copied().collect();
    let (group, row) = state.partitions.iter().find(|row| *row.0 != META)?;
    let nodes: Vec<NodeId> = row.wished.values().copied().collect();
    assert_eq!(nodes.len(), 5, "{row:?}");
    let mut drawn = Vec::new();
    for one in 0..5 {
        for other in one + 1..5 {
            let left = [nodes[one], nodes[other]];
            let lost: Vec<NodeId> = nodes
                .iter()
                .copied()
                .filter(|it| !left.contains(it))
                .collect();
            // Whichever of the two is lost as well.
            let stays = |gone: &NodeId| {
                let there = metas
                    .iter()
                    .filter(|node| !lost.contains(node) && *node != gone);
                there.count() > metas.len() / 2
            };
            if left.iter().all(stays) {
                drawn.push((lost, left.to_vec()));
            }
        }
    }
    let pick = world.dice.below(drawn.len().max(1) as u64);
    let (lost, left) = drawn.get(usize::try_from(pick).unwrap())?;
    let places = |nodes: &[NodeId]| -> Vec<usize> {
        nodes
            .iter()
            .map(|node| world.place_of(*node).unwrap())
            .collect()
    };
    Some(Scene {
        group: *group,
        lost: places(lost),
        left: places(left),
    })
}

// One of the two that are left hears nobody while clients write, and then all others come to rest.
fn leave_behind(world: &mut World, scene: &Scene) {
    let behind = scene.left[usize::try_from(world.dice.below(2)).unwrap()];
    set_apart(world, &[behind]);
    let until = world.tick + 60 + world.dice.below(60);
    while world.tick < until {
        world.use_it();
        world.step();
    }
    let (group, end) = (scene.group, world.tick + SOON);
    let lasts = |world: &World| -> BTreeSet<(u64, u64)> {
        let others = world
            .places
            .iter()
            .enumerate()
            .filter(|row| row.0 != behind);
        let nodes = others.filter_map(|row| row.1.node.as_ref()?.status(group));
        nodes.map(|status| (status.last, status.applied)).collect()
    };
    // What is acknowledged is in the other one then.
    while lasts(world).len() > 1 || world.tick < until + 40 {
        world.step();
        assert!(world.tick < end, "{:?}", lasts(world));
    }
}

// Somebody accepts the loss until another one than `before` is to go on, or has gone on.
fn until_accepted(world: &mut World, group: GroupId, before: Option<NodeId>) -> NodeId {
    let end = world.tick + SOON;
    loop {
        if world.tick.is_multiple_of(10) {
            accept(world, &BTreeSet::from([group]));
        }
        world.use_it();
        world.step();
        let state = world.state();
        let row = state.recoveries.get(&group);
        if let Some(row) = row.filter(|row| Some(row.node) != before) {
            return row.node;
        }
        assert!(
            world.tick < end,
            "nobody goes on with {group}: {}",
            world.told()
        );
    }
}

fn pass(world: &mut World, ticks: u64) {
    for _ in 0..ticks {
        world.use_it();
        world.step();
    }
}

fn come_back(world: &mut World, lost: &[usize]) {
    for &at in lost {
        world.places[at].down_until = world.tick + world.dice.below(20);
    }
}

// A mistake of whoever drives it: all that were given up are destroyed at once.
fn fence_early(world: &mut World, scene: &Scene, base: NodeId) {
    let tick = world.tick;
    for &at in scene.left.iter().chain(&scene.lost) {
        let Some(node) = world.places[at].node.as_mut().filter(|it| it.id != base) else {
            continue;
        };
        node.purge_of(scene.group, tick);
    }
}

/// Runs to the end, or panics at the first thing that does not hold. Whether there was a partition
/// to be hurt so.
fn run(then: Then, planted: Planted, seed: u64) -> bool {
    let mut world = five_of_seven(planted, seed);
    let Some(scene) = draw(&mut world) else {
        return false;
    };
    if then == Then::OneIsBehind {
        leave_behind(&mut world, &scene);
    }
    for &at in &scene.lost {
        lose(&mut world, at, u64::MAX / 2);
    }
    world.cut.clear();
    let base = until_accepted(&mut world, scene.group, None);
    let base_at = world.place_of(base).unwrap();
    assert!(scene.left.contains(&base_at), "{base:?} goes on");
    match then {
        Then::OneIsBehind => {
            pass(&mut world, 120);
            set_apart(&mut world, &scene.left);
            come_back(&mut world, &scene.lost);
            pass(&mut world, 150);
        }
        Then::BaseIsAway => {
            let back = world.tick + 150;
            lose(&mut world, base_at, back);
            come_back(&mut world, &scene.lost);
            pass(&mut world, 250);
        }
        Then::BaseIsLost | Then::AllComeBack => {
            if planted == Planted::FencesEarly {
                fence_early(&mut world, &scene, base);
            }
            world.empty(base_at);
            if then == Then::AllComeBack {
                come_back(&mut world, &scene.lost);
            }
            let _other = until_accepted(&mut world, scene.group, Some(base));
            pass(&mut world, 100);
            if then == Then::BaseIsLost {
                come_back(&mut world, &scene.lost);
            }
            pass(&mut world, 150);
        }
    }
    world.heal();
    pass(&mut world, 100);
    world.calm = world.moment;
    let _ticks = become_whole(&mut world);
    read_and_judge(&mut world);
    all_went_on(&world);
    true
}

fn hold(then: Then) {
    let seeds = seeds::from(0, SEEDS);
    let hurt = seeds.filter(|seed| {
        println!("{then:?}, seed {seed}");
        run(then, Planted::Nothing, *seed)
    });
    let hurt = hurt.count();
    assert!(hurt > 2, "{hurt} of them were hurt");
}

fn is_found(then: Then, planted: Planted, symptoms: &[&str]) {
    symptom::is_found(&planted, seeds::from(0, FOUND), symptoms, |seed| {
        symptom::of(|| {
            run(then, planted, seed);
        })
    });
}

const DIVERGED: [&str; 5] = [
    "are committed at",
    "linearizable",
    "had been answered",
    "of entry",
    "has other rows",
];

#[test]
fn who_has_most_goes_on() {
    hold(Then::OneIsBehind);
}

#[test]
fn who_comes_back_while_nobody_has_gone_on_yet_waits() {
    hold(Then::BaseIsAway);
}

#[test]
fn another_one_goes_on_in_the_place_of_one_that_was_lost_before_it_did() {
    hold(Then::BaseIsLost);
}

#[test]
fn those_that_came_back_go_on_once_who_was_to_go_on_is_lost() {
    hold(Then::AllComeBack);
}

#[test]
fn a_shorter_log_that_goes_on_is_found() {
    is_found(Then::OneIsBehind, Planted::TurnsLogsRound, &DIVERGED);
}

#[test]
fn replicas_that_are_freed_before_one_has_gone_on_are_found() {
    is_found(Then::BaseIsAway, Planted::FreesAll, &DIVERGED);
}

#[test]
fn lost_replicas_that_are_not_thrown_away_are_found() {
    is_found(Then::OneIsBehind, Planted::KeepsFenced, &DIVERGED);
}

#[test]
fn replicas_that_are_thrown_away_before_one_has_gone_on_are_found() {
    is_found(Then::BaseIsLost, Planted::FencesEarly, &["nobody goes on"]);
}
