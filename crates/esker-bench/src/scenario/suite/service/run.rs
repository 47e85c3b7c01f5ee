//! Goes through the lines that are asked for.

use crate::fail::Outcome;
use crate::scenario::suite::request::{ALL, Request};
use crate::scenario::suite::service::ground::Ground;
use crate::scenario::suite::service::{cost, failover, growth, idle, rebuild, recovery, speed};
use crate::scenario::suite::service_line::Line;
use crate::scenario::suite::stage::Stage;

/// Bytes that it takes on the disk: segments of three nodes' logs, what was loaded, and etcd's.
pub fn disk_bytes(request: &Request) -> u64 {
    match request.name == ALL {
        true => 0,
        false => request.size.pick(3 << 30, 6 << 30, 12 << 30),
    }
}

/// Measures each line.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    if stage.request.name == ALL {
        return stage.say("not run: it starts processes, so it is run when it is named\n");
    }
    let lines = match stage.request.only.as_slice() {
        [] => Line::ALL.to_vec(),
        some => some.to_vec(),
    };
    let ground = Ground::of(stage)?;
    let mut has_sped = false;
    for line in Line::ALL.into_iter().filter(|line| lines.contains(line)) {
        let is_speed = matches!(line, Line::Writes | Line::Reads);
        if is_speed && std::mem::replace(&mut has_sped, true) {
            continue;
        }
        stage.say(&format!("\n-- {}\n", line.name()))?;
        match line {
            Line::Writes | Line::Reads => {
                let speeds = [Line::Writes, Line::Reads];
                let speeds: Vec<Line> = speeds
                    .into_iter()
                    .filter(|one| lines.contains(one))
                    .collect();
                speed::run(stage, &ground, &speeds)?;
            }
            Line::Cost => cost::run(stage, &ground)?,
            Line::Idle => idle::run(stage, &ground)?,
            Line::Growth => growth::run(stage, &ground)?,
            Line::Failover => failover::run(stage, &ground)?,
            Line::Recovery => recovery::run(stage, &ground)?,
            Line::Rebuild => rebuild::run(stage, &ground)?,
        }
    }
    Ok(())
}
