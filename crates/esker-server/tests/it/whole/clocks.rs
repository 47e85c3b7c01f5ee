//! A clock that somebody has set wrong is told of by whoever leads meta, once, and so is its end.
//!
//! Not here: the same with processes, whose clocks are the machine's.

use esker_server::log_lines::Level;
use esker_server::meta::ids::META;

use crate::cluster_node::Node;
use crate::whole::plan::Plan;
use crate::whole::world::World;

/// An hour, in milliseconds.
const HOUR_MS: i64 = 3_600_000;

/// Ticks in which a leader of meta is sure, whatever it thought before.
const SURE: u64 = 120;

// Three nodes with equal clocks, at rest.
fn three() -> World {
    let mut world = World::new(Plan {
        places: 3,
        skew_ms: 0,
        ..Plan::calm(5)
    });
    // What is handed out may be as late as that.
    world.plan.skew_ms = HOUR_MS.unsigned_abs();
    for _ in 0..250 {
        world.administer();
        world.step();
    }
    assert_eq!(lines(&mut world), [], "equal clocks");
    world
}

// What was said of clocks since this was last asked, by whoever led.
fn lines(world: &mut World) -> Vec<(Level, String)> {
    let nodes = world.places.iter_mut().filter_map(|it| it.node.as_mut());
    let brains = nodes.filter_map(Node::brain);
    let told = brains.flat_map(|brain| std::mem::take(&mut brain.lines));
    told.filter(|line| line.1.contains("clock")).collect()
}

fn leader_of_meta(world: &World) -> usize {
    let leads = |at: &usize| {
        let node = world.places[*at].node.as_ref().unwrap();
        node.is_leader(META)
    };
    (0..world.places.len()).find(leads).unwrap()
}

fn set_clock(world: &mut World, at: usize, skew_ms: i64) {
    let place = &mut world.places[at];
    place.shape.skew_ms = skew_ms;
    place.node.as_mut().unwrap().shape.skew_ms = skew_ms;
    (0..SURE).for_each(|_| world.step());
}

fn id(world: &World, at: usize) -> u64 {
    world.places[at].node.as_ref().unwrap().id.0
}

#[test]
fn a_node_whose_clock_is_wrong_is_told_of_until_it_is_right() {
    for (skew_ms, side) in [(HOUR_MS, "ahead of"), (-HOUR_MS, "behind")] {
        let mut world = three();
        let leader = leader_of_meta(&world);
        let wrong = (leader + 1) % 3;
        set_clock(&mut world, wrong, skew_ms);
        let said = lines(&mut world);
        let (there, here) = (id(&world, wrong), id(&world, leader));
        let words = format!("the clock of node {there} is 3600 s {side} that of node {here}: ");
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0].0, Level::Warning);
        assert!(said[0].1.starts_with(&words), "{said:?}");
        set_clock(&mut world, wrong, 0);
        let said = lines(&mut world);
        let words = format!("the clock of node {there} is near that of node {here} again");
        assert_eq!(said, [(Level::Note, words)]);
    }
}

#[test]
fn where_the_leader_of_meta_has_the_wrong_clock_all_others_are_told_of() {
    let mut world = three();
    let leader = leader_of_meta(&world);
    set_clock(&mut world, leader, HOUR_MS);
    let here = id(&world, leader);
    let said = lines(&mut world);
    let is_behind = |line: &(Level, String)| {
        let words = format!("is 3600 s behind that of node {here}");
        line.1.contains(&words)
    };
    assert_eq!(
        said.iter().filter(|line| is_behind(line)).count(),
        2,
        "{said:?}"
    );
}
