//! One run from a seed: a storm, and then everything must be well.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sim::plan::Plan;
use crate::sim::world::World;

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub trace: u64,
    pub applies: u64,
    pub reads: u64,
    pub leases: u64,
    pub images: u64,
    pub changes: u64,
    pub acknowledged: u64,
}

/// Runs to the end, or panics at the first thing that does not hold.
pub fn run(plan: Plan) -> Report {
    let mut world = World::new(plan);
    for _ in 0..world.around.plan.ticks {
        world.hurt();
        world.use_it();
        world.step();
    }
    world.heal();
    for _ in 0..world.around.plan.heal_ticks / 2 {
        world.use_it();
        world.step();
    }
    progress(&mut world);
    let checks = &world.around.checks;
    checks.nothing_is_lost();
    Report {
        trace: world.around.trace,
        applies: checks.apply_count,
        reads: checks.read_count,
        leases: checks.lease_count,
        images: checks.image_count,
        changes: checks.change_count,
        acknowledged: checks.acknowledged_count() as u64,
    }
}

/// The message of the first thing that does not hold, if there is one.
pub fn violation(plan: Plan) -> Option<String> {
    let ran = catch_unwind(AssertUnwindSafe(|| run(plan)));
    let panic = ran.err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_else(|| {
        panic
            .downcast_ref::<&str>()
            .unwrap_or(&"a panic")
            .to_string()
    }))
}

// Every group takes a write, and each of its members comes to have it.
fn progress(world: &mut World) {
    let groups: Vec<_> = world.groups().collect();
    let mut floors = Vec::new();
    for &group in &groups {
        let before = world.around.checks.acknowledged_count();
        for _ in 0..world.around.plan.heal_ticks / 4 {
            world.write(group);
            world.step();
            if world.around.checks.acknowledged_count() > before {
                break;
            }
        }
        if world.around.checks.acknowledged_count() == before {
            world
                .around
                .checks
                .fail(&format!("{group} takes no writes though all is well"));
        }
        floors.push(world.around.checks.committed_max[&group]);
    }
    for _ in 0..world.around.plan.heal_ticks / 4 {
        world.step();
    }
    for (&group, floor) in groups.iter().zip(floors) {
        let Some(at) = world.leader_of(group) else {
            world
                .around
                .checks
                .fail(&format!("{group} has no leader though all is well"));
        };
        let shard = world.nodes[at].shard.as_ref().expect("a leader is up");
        let configuration = shard.status(group).expect("it leads").configuration;
        for (replica, node) in &configuration.nodes {
            let node = world
                .nodes
                .iter()
                .find(|other| other.id == *node)
                .expect("a node");
            let applied = node
                .machines
                .get(&group)
                .map_or(0, |m| m.live.mark.applied.index);
            if applied < floor
                || node
                    .assigned
                    .get(&group)
                    .is_none_or(|row| row.0 != *replica)
            {
                world.around.checks.fail(&format!(
                    "{group}: {replica} has applied {applied} of {floor} though all is well"
                ));
            }
        }
    }
}
