//! The model test: random programs under random settings, against an ordered map.
//!
//! A program is a list of operations, reopenings and steps of background work among them. The
//! same program runs in simulated worlds that differ in every setting that must not matter, and
//! in a plain ordered map; what each operation answers must be equal. A program that fails is
//! shrunk and printed with its seed, and runs again with
//! `ESKER_SEED=<seed> cargo test -p esker --test it model`. `ESKER_SEEDS` sets how many run.
//!
//! There are two kinds of programs: those that do a bit of everything, and those that wander, in
//! which cursors of many moments stay open over all the rest.

mod operation;
mod plain;
mod program;
mod regressions;
pub mod settings;
mod shrink;
mod subject;
mod wandering;
mod watched_pool;

use std::panic::{AssertUnwindSafe, catch_unwind};

use operation::Operation;
use plain::Plain;
use program::Program;
use subject::Subject;

/// Programs that run when nobody asks for more: the issue asks for 200 at the least.
const SEEDS: u64 = 200;

/// Programs of cursors that stay open, each in one world.
const WANDERING_SEEDS: u64 = 300;

/// The same where there is time: hours.
const WANDERING_SEEDS_SOAK: u64 = 200_000;

/// Worlds with settings of their own that each program runs in.
const WORLDS: u64 = 3;

#[test]
fn every_setting_answers_like_an_ordered_map() {
    for seed in seeds(SEEDS) {
        let program = Program::random(seed);
        for world in 0..WORLDS {
            check(&program, seed * WORLDS + world);
        }
    }
}

#[test]
fn cursors_stay_at_the_moment_they_were_made() {
    for seed in seeds(WANDERING_SEEDS) {
        check(&Program::wandering(seed), seed);
    }
}

#[test]
#[ignore = "soak: cursors over everything else, for as many seeds as ESKER_SEEDS says"]
fn soak_of_cursors_at_their_moments() {
    for seed in seeds(WANDERING_SEEDS_SOAK) {
        check(&Program::wandering(seed), seed);
    }
}

/// The seeds to run: as many as that, unless somebody asks for one, or for another number.
fn seeds(usually: u64) -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse().unwrap());
    match number("ESKER_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("ESKER_SEEDS").unwrap_or(usually),
    }
}

/// Runs a program in one world; prints the shortest failing part of it before it panics.
fn check(program: &Program, world_seed: u64) {
    let Err(complaint) = run(program, world_seed) else {
        return;
    };
    let fails = |operations: &[Operation]| {
        let shorter = Program {
            operations: operations.to_vec(),
            ..program.clone()
        };
        run(&shorter, world_seed).is_err()
    };
    let operations = shrink::shortest(&program.operations, fails);
    let shortest = Program {
        operations,
        ..program.clone()
    };
    let last = run(&shortest, world_seed).err().unwrap_or_default();
    println!("{shortest}");
    println!("world {world_seed}: first {complaint}\nshrunk: {last}");
    panic!(
        "program {} fails in world {world_seed}; ESKER_SEED={} runs it again",
        program.seed, program.seed
    );
}

/// What went wrong, if anything did.
fn run(program: &Program, world_seed: u64) -> Result<(), String> {
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let mut plain = Plain::new(&program.keyspaces);
        let mut subject = Subject::new(&program.keyspaces, world_seed);
        for (index, operation) in program.operations.iter().enumerate() {
            let expected = plain.run(operation);
            let found = subject.run(operation, plain.now_unix_ms());
            if found != expected {
                return Err(format!(
                    "{index}: {operation:?}\n  expected {expected}\n  found    {found}\n  {}",
                    subject.settings()
                ));
            }
        }
        subject.check_nothing_leaks();
        Ok(())
    }));
    attempt.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(text.unwrap_or_else(|| "a panic without text".into()))
    })
}
