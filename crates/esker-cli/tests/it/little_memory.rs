//! Commands in a process that can have no more threads, for want of addresses for their stacks.

use std::process::{Command, Stdio};

use crate::tool::{Bench, Ran};

/// Seconds after which a command counts as hung; each takes a fraction of one.
const PATIENCE_S: u64 = 120;

/// Runs a command that may have so many KiB of addresses and no more.
fn within(bench: &Bench, kib: u64, words: &[&str]) -> Ran {
    let tool = bench.command(words);
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {kib} && exec timeout {PATIENCE_S} \"$@\"");
    command.args(["-c", &script, "sh"]);
    command.arg(tool.get_program()).args(tool.get_args());
    command.env("ESKER_DB", bench.path("db"));
    command.current_dir(bench.path("")).stdin(Stdio::null());
    command.output().unwrap().into()
}

/// The least KiB, to 64, with which `words` succeeds.
fn least(bench: &Bench, words: &[&str]) -> u64 {
    let (mut too_few, mut enough) = (0, 1 << 20);
    while enough - too_few > 64 {
        let kib = u64::midpoint(too_few, enough);
        match within(bench, kib, words).code {
            0 => enough = kib,
            _ => too_few = kib,
        }
    }
    enough
}

#[test]
fn without_threads_the_work_is_done_or_refused_in_words() {
    // With what printing help takes and a little more, step by step up to where everything works:
    // somewhere in between there is room for the program and none for the stacks of its threads.
    // No command hangs or panics there.
    let bench = Bench::new();
    for key in ["a", "b", "c"] {
        bench.ok(&["put", key, "1"]);
    }
    let floor = least(&bench, &["--version"]);
    let (mut refused, mut done) = (0, 0);
    for step in 0..48 {
        let kib = floor + step * 256;
        let target = format!("copy{step}");
        let commands = [
            &["compact"][..],
            &["checkpoint", &target],
            &["repair"],
            &["verify"],
        ];
        for words in commands {
            let ran = within(&bench, kib, words);
            assert!(
                !ran.err.contains("panicked"),
                "{words:?} in {kib} KiB: {ran:?}"
            );
            // The second is the C library's word for the same, where it is the one that gets none.
            let of_memory = [
                "memory allocation of",
                "failed to register TLS destructor: out of memory",
            ];
            let is_told = of_memory.iter().any(|words| ran.err.contains(words));
            assert!(
                [0, 1].contains(&ran.code) || is_told,
                "{words:?} in {kib} KiB: {ran:?}"
            );
            refused += u32::from(ran.code != 0);
            done += u32::from(ran.code == 0);
        }
    }
    assert!(refused > 0 && done > 0, "{refused} refused, {done} done");
    assert!(bench.ok(&["verify"]).text().contains("all whole"));
}
