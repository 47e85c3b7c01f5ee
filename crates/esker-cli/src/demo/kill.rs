//! Fourth act: a writer is killed in mid-work, and every write it acknowledged must be there.

use std::io::Read;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use esker::Db;
use esker_bench::make::random::Random;

use crate::demo::ledger;
use crate::demo::stage::Stage;
use crate::demo::writer::KEYSPACE;
use crate::fail::{Failure, Outcome};
use crate::progress::Spinner;

/// How long the writer may live after its first acknowledged batch, in milliseconds: long enough
/// to meet flushes and compactions, short enough for several rounds.
const LIFE_MS: std::ops::Range<u64> = 50..700;

/// How long the writer may take to open the database; longer means that it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What one round showed.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// How long the writer wrote.
    pub lived: Duration,
    /// Batches it acknowledged in this round.
    pub acknowledged: u64,
    /// How long the database took to open afterwards.
    pub reopened_in: Duration,
    /// Entries of all rounds that were compared.
    pub compared: u64,
}

/// Kills the writer `count` times and proves the ledger after each. The database is closed before
/// the first round, and left closed.
pub fn rounds(
    stage: &Stage,
    count: u32,
    seed: u64,
    tell: &mut dyn FnMut(&Round) -> Outcome,
) -> Outcome {
    let mut random = Random::new(seed);
    let mut first = 0;
    for _ in 0..count {
        let life = LIFE_MS.start + random.below(LIFE_MS.end - LIFE_MS.start);
        let (lived, last) = write_and_kill(stage, first, Duration::from_millis(life))?;
        let began = Instant::now();
        let db = stage.open()?;
        let reopened_in = began.elapsed();
        let proved = {
            let _spinner = Spinner::start("comparing every entry");
            prove(&db, last)?
        };
        db.close()?;
        tell(&Round {
            lived,
            acknowledged: last + 1 - first,
            reopened_in,
            compared: proved.entries,
        })?;
        first = proved.batches;
    }
    Ok(())
}

/// Lets a writer live that long after its first batch; how long it lived, and the last batch that
/// it acknowledged.
fn write_and_kill(stage: &Stage, first: u64, life: Duration) -> Outcome<(Duration, u64)> {
    let mut child = spawn(stage, first)?;
    let pipe = child.stdout.take().expect("the pipe was asked for");
    let (began, has_begun) = channel();
    let reader = std::thread::spawn(move || read_numbers(pipe, &began));
    let waited = wait(&has_begun, life);
    // It may have ended by itself; then killing fails, and the numbers tell.
    let killed = child.kill();
    let status = child.wait();
    let last = reader.join().expect("the reader does not panic");
    killed
        .and(status)
        .map_err(|error| Failure::system("cannot kill the demo's writer", &error))?;
    let lived = waited?;
    let last = last.map_err(|error| Failure::system("cannot read from the writer", &error))?;
    match last {
        Some(last) if last >= first => Ok((lived, last)),
        _ => Err(Failure::failed("the demo's writer acknowledged nothing")),
    }
}

fn spawn(stage: &Stage, first: u64) -> Outcome<Child> {
    let failed = |error| Failure::system("cannot start the demo's writer", &error);
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = Command::new(program);
    command.arg("demo-writer").arg("--db").arg(stage.db_dir());
    for pair in &stage.shared.settings {
        command.arg("--set").arg(pair);
    }
    command.arg("--first").arg(first.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().map_err(failed)
}

/// Waits for the first batch, then for `life`; how long the writer wrote.
fn wait(has_begun: &Receiver<()>, life: Duration) -> Outcome<Duration> {
    if has_begun.recv_timeout(PATIENCE).is_err() {
        return Err(Failure::failed(
            "the demo's writer ended or hung before its first batch",
        ));
    }
    let began = Instant::now();
    // Nothing more is sent: this is a wait with a deadline that ends early if the writer does.
    let _ended_early = has_begun.recv_timeout(life);
    Ok(began.elapsed())
}

/// Reads numbers until the pipe closes; the last whole one.
fn read_numbers(mut pipe: ChildStdout, began: &Sender<()>) -> std::io::Result<Option<u64>> {
    let mut last = None;
    let mut waiting = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let length = pipe.read(&mut piece)?;
        if length == 0 {
            return Ok(last);
        }
        waiting.extend_from_slice(&piece[..length]);
        let whole = waiting.len() - waiting.len() % 8;
        if let Some(number) = waiting[..whole].last_chunk::<8>() {
            let is_first = last.replace(u64::from_le_bytes(*number)).is_none();
            if is_first {
                // The other side is gone only when the demo failed already.
                let _ = began.send(());
            }
        }
        waiting.drain(..whole);
    }
}

/// What the ledger was found to hold.
struct Proved {
    batches: u64,
    entries: u64,
}

/// Walks the ledger: all batches up to the last acknowledged one are whole and right, then comes
/// at most one more, whole and right too, and then nothing.
fn prove(db: &Db, last: u64) -> Outcome<Proved> {
    let ledger = db.keyspace(KEYSPACE)?;
    let (mut number, mut index, mut entries) = (0, 0, 0);
    for entry in ledger.iter()? {
        let (key, value) = entry?;
        if ledger::parse_key(&key) != Some((number, index)) {
            let found = key.escape_ascii();
            return Err(broken(&format!(
                "expected entry {index} of batch {number}, found {found}"
            )));
        }
        if value != ledger::value(number, index) {
            return Err(broken(&format!("entry {index} of batch {number} is wrong")));
        }
        entries += 1;
        index += 1;
        if index == ledger::entry_count(number) {
            (number, index) = (number + 1, 0);
        }
    }
    if index != 0 {
        return Err(broken(&format!("batch {number} is there in part")));
    }
    if number <= last {
        return Err(broken(&format!(
            "batch {last} was acknowledged, but batch {number} is not there"
        )));
    }
    if number > last + 2 {
        return Err(broken(&format!(
            "batch {last} was acknowledged last, but there are {number}"
        )));
    }
    Ok(Proved {
        batches: number,
        entries,
    })
}

fn broken(what: &str) -> Failure {
    Failure::not_found(format!(
        "after the kill {what}; please report this with the directory as it is"
    ))
}
