//! One run from a seed: a storm, and then everything must become whole.

use crate::symptom;
use crate::whole::plan::Plan;
use crate::whole::world::World;

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub trace: u64,
    pub committed: u64,
    pub acknowledged: u64,
    pub reads: u64,
    pub leased: u64,
    pub unknown: u64,
    pub too_hard: u64,
    pub elections: u64,
    pub changes: u64,
    pub images: u64,
    pub wipes: u64,
    pub made_anew: u64,
    pub compared: u64,
    /// Ticks from the end of the faults until all was whole.
    pub healed: u64,
}

impl Report {
    pub fn add(&mut self, other: &Report) {
        self.committed += other.committed;
        self.acknowledged += other.acknowledged;
        self.reads += other.reads;
        self.leased += other.leased;
        self.unknown += other.unknown;
        self.too_hard += other.too_hard;
        self.elections += other.elections;
        self.changes += other.changes;
        self.images += other.images;
        self.wipes += other.wipes;
        self.made_anew += other.made_anew;
        self.compared += other.compared;
        self.healed = self.healed.max(other.healed);
    }
}

/// Runs to the end, or panics at the first thing that does not hold.
pub fn run(plan: Plan) -> Report {
    let mut world = World::new(plan);
    for _ in 0..world.plan.ticks {
        world.hurt();
        world.administer();
        world.use_it();
        world.step();
    }
    world.heal();
    let healed = become_whole(&mut world);
    read_and_judge(&mut world);
    report(&world, healed)
}

/// Reads all rows of a cluster that is whole, and holds them and what was seen against what may be.
pub fn read_and_judge(world: &mut World) {
    let until = world.tick + 200;
    while !world.read_all() {
        assert!(world.tick < until, "rows cannot be read though all is well");
        world.step();
    }
    world.compare_all();
    world.judge();
}

/// Steps until nothing is lacking and nobody is owed an answer; how long that took.
pub fn become_whole(world: &mut World) -> u64 {
    let began = world.tick;
    loop {
        if world.tick.is_multiple_of(10) {
            world.administer();
            world.mend();
        }
        world.step();
        let lack = world.lack();
        let Some(lack) = lack else {
            let waiting = world.places.iter().find(|place| !place.asked.is_empty());
            if let Some(place) = waiting {
                let is_late = world.tick > began + world.plan.heal_ticks;
                assert!(
                    !is_late,
                    "never answered: {:?}; {}",
                    place.asked,
                    world.told()
                );
                continue;
            }
            return world.tick - began;
        };
        let is_late = world.tick > began + world.plan.heal_ticks;
        assert!(
            !is_late,
            "it does not become whole: {lack}; {}",
            world.told()
        );
    }
}

fn report(world: &World, healed: u64) -> Report {
    let nodes = || world.places.iter().filter_map(|place| place.node.as_ref());
    let (checks, clients) = (&world.checks, &world.clients);
    Report {
        trace: world.trace,
        committed: checks.committed,
        acknowledged: clients.acknowledged,
        reads: clients.reads,
        leased: nodes().map(|node| node.leased_reads).sum(),
        unknown: clients.unknown,
        too_hard: clients.too_hard,
        elections: checks.elections,
        changes: checks.changes,
        images: nodes().map(|node| node.installs).sum(),
        wipes: world.wipes,
        made_anew: checks.made_anew,
        compared: checks.compared,
        healed,
    }
}

/// The message of the first thing that does not hold, if there is one.
pub fn violation(plan: Plan) -> Option<String> {
    symptom::of(|| {
        run(plan);
    })
}
