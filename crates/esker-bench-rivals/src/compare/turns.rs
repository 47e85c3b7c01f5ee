//! The turns: every chapter on every engine, round after round, and what all must agree on.

use std::fs;
use std::io::IsTerminal;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use esker_bench::console::Console;
use esker_bench::fail::{Failure, FailureKind, Outcome};
use esker_bench::report::history::{self, Past};
use esker_bench::report::record::Record;
use esker_bench::report::{entry, file, json};
use esker_bench::target::settings::Packing;

use crate::compare::board::{Board, Seat};
use crate::compare::chapter::{Player, Turn, is_wanted};
use crate::compare::check;
use crate::compare::goals::{self, judge};
use crate::compare::request::{Request, help};
use crate::compare::reviews;
use crate::compare::reviews_sql::entry as reviews_sql;
use crate::compare::table::render;
use crate::compare::work::Answer;
use crate::compare::workloads::{CHAPTERS, Chapter};
use crate::engines::roster::{self, Entry};
use esker_bench::disk::raw::{self, LIMITS};

/// Runs the comparison that `words` ask for. Tables go to `out`, everything else to `err`.
/// Returns the exit code: 0 done, 1 something failed, 2 the command line makes no sense.
pub fn run(words: &[String], out: &mut dyn Write, err: &mut (dyn Write + Send)) -> u8 {
    let is_live = std::io::stderr().is_terminal();
    let mut console = Console::new(out, err, is_live);
    let done = match words.split_first() {
        Some((word, behind)) if word == reviews::WORD => reviews::play(behind, &mut console),
        Some((word, behind)) if word == reviews_sql::WORD => {
            reviews_sql::play(behind, &mut console)
        }
        Some((word, behind)) if word == check::WORD => check::check(behind),
        _ => carry_out(words, &mut console),
    };
    let Err(failure) = done else {
        return 0;
    };
    if failure.kind != FailureKind::ReaderGone {
        // With the stream gone nobody can be told; the exit code remains.
        let _ = console.err.line(&format!("compare: {failure}"));
    }
    failure.exit_code()
}

fn carry_out(words: &[String], console: &mut Console<'_>) -> Outcome {
    let Some(request) = Request::parse(words)? else {
        return Ok(console.out.write_all(help().as_bytes())?);
    };
    let entries = roster::choose(&request.engines)?;
    let past = look_ahead(&request)?;
    let told = |error| Failure::system(format!("cannot make {}", request.dir.display()), &error);
    fs::create_dir_all(&request.dir).map_err(told)?;
    let record = Record {
        history: past,
        ..Record::begin("compare", &request.dir, words)
    };
    let mut turns = Turns {
        request: &request,
        entries: &entries,
        console,
        board: Board::default(),
        record,
        round: 0,
        out: Vec::new(),
    };
    turns.sit_down();
    turns.play_all().map_err(|failure| turns.told(failure))?;
    let (board, mut record) = (turns.board, turns.record);
    if request.history.is_some() {
        record.history.push(Past {
            commit: record.commit.clone(),
            started_unix_s: record.started_unix_s,
            ratios: board.ratios(&goals::raced()),
        });
    }
    clear(&request, &entries)?;
    let text = render(&board, &conditions(&request, &record));
    console.out.write_all(text.as_bytes())?;
    console.out.flush()?;
    report(&request, &record, console)
}

/// Fails for a file that could not be written once everything is measured; the ratios of earlier
/// runs.
fn look_ahead(request: &Request) -> Outcome<Vec<Past>> {
    let kept = request.history.as_ref().filter(|_| request.keeps_history);
    let outputs = [
        request.json.as_ref(),
        request.html.as_ref(),
        request.markdown.as_ref(),
        kept,
    ];
    for path in outputs.into_iter().flatten() {
        file::check_writable(path)?;
    }
    match &request.history {
        Some(path) => history::read(path),
        None => Ok(Vec::new()),
    }
}

/// Writes the record with its history, the history and the page, where they are wanted.
fn report(request: &Request, record: &Record, console: &mut Console<'_>) -> Outcome {
    if let Some(path) = &request.json {
        json::write(path, record)?;
    }
    if let Some(path) = request.history.as_ref().filter(|_| request.keeps_history) {
        history::write(path, &record.history)?;
    }
    let Some(path) = &request.html else {
        return Ok(());
    };
    entry::write_page(path, record)?;
    // The last line, so that whoever started hours of work finds what they came to.
    writeln!(
        console.out,
        "\nthe report, a page for the browser: {}",
        path.display()
    )?;
    Ok(console.out.flush()?)
}

/// Removes the directories that were made here, as far as they are empty but for the mark.
fn clear(request: &Request, entries: &[Entry]) -> Outcome {
    use esker_bench::target::marker::MARKER;
    for entry in entries {
        let dir = request.dir.join(entry.word);
        if dir.join(MARKER).is_file() && !entry.engine.is_there(&dir) {
            let told = |error| Failure::system(format!("cannot clear {}", dir.display()), &error);
            fs::remove_file(dir.join(MARKER)).map_err(told)?;
            // Something of somebody else's may lie there: it stays, and so does the directory.
            let _ = fs::remove_dir(&dir);
        }
    }
    // As above.
    let _ = fs::remove_dir(&request.dir);
    Ok(())
}

fn conditions(request: &Request, record: &Record) -> String {
    let machine = &record.machine;
    format!(
        "{} keys of 16 bytes, values of 100 bytes that pack to half; cache {} MiB, write buffer \
         {} MiB, {} filter bits, packing {}; {} rounds, engines in turns. {} × {}, {} GB of \
         memory, {}, {}; commit {}{}.",
        request.num,
        request.settings.cache_bytes.unwrap_or(0) >> 20,
        request.settings.write_buffer_bytes.unwrap_or(0) >> 20,
        request.settings.filter_bits.unwrap_or(0.0),
        request.settings.packing.map_or("none", Packing::name),
        request.rounds,
        machine.cpu_count,
        machine.cpu,
        machine.memory_bytes / 1_000_000_000,
        machine.disk,
        machine.kernel,
        record.commit,
        if record.is_optimised {
            ""
        } else {
            "; BUILT WITHOUT OPTIMISATION"
        },
    )
}

struct Turns<'a, 'c> {
    request: &'a Request,
    entries: &'a [Entry],
    console: &'a mut Console<'c>,
    board: Board,
    record: Record,
    round: usize,
    /// Chapters, and the place of an engine that takes longer for them than anybody waits.
    out: Vec<(Chapter, usize)>,
}

impl Turns<'_, '_> {
    fn sit_down(&mut self) {
        let seats = self.entries.iter().map(|entry| Seat {
            word: entry.word,
            name: entry.engine.name().to_owned(),
            version: entry.engine.version(),
            is_lsm: entry.is_lsm,
            matched: Vec::new(),
        });
        self.board.seats = seats.collect();
    }

    /// Engines take turns within each chapter, so that what is compared was measured within
    /// minutes; each round begins with another engine, so that none always comes first.
    fn play_all(&mut self) -> Outcome {
        let (rounds, begun) = (self.request.rounds, Instant::now());
        for round in 0..rounds {
            self.round = round;
            let mut told = format!("round {} of {rounds}", round + 1);
            if round > 0 {
                let left = begun.elapsed().as_secs_f64() / round as f64 * (rounds - round) as f64;
                told += &format!("; about {:.0} minutes left", (left / 60.0).ceil());
            }
            self.console.err.line(&told)?;
            if self.request.has_limits {
                self.limits()?;
            }
            for chapter in CHAPTERS {
                if is_wanted(chapter, &self.request.workloads) {
                    self.play(chapter)?;
                }
            }
        }
        Ok(())
    }

    fn limits(&mut self) -> Outcome {
        for limit in &LIMITS {
            let mut measured = raw::run(limit, &self.request.dir, self.request.sync_ops)?;
            measured.round = self.round;
            let cell = self.board.limits.entry(limit.name.into()).or_default();
            cell.push(measured.clone());
            self.record.measurements.push(measured);
        }
        self.keep()
    }

    fn play(&mut self, chapter: Chapter) -> Outcome {
        let mut answers: Vec<(usize, String, Answer)> = Vec::new();
        for step in 0..self.entries.len() {
            let place = (step + self.round) % self.entries.len();
            if self.out.contains(&(chapter, place)) {
                continue;
            }
            let turn = self.turn(chapter, place)?;
            for (measurement, answer) in &turn.records {
                // What a reader finds beside a writer is the same too: all keys exist.
                let answer = answer.map(|answer| (place, measurement.name.clone(), answer));
                answers.extend(answer);
            }
            // In later rounds too: so each round's figures stand beside those of the same round.
            if turn.is_cut {
                self.out.push((chapter, place));
            }
            if let Some(inventory) = turn.inventory {
                answers.push((place, format!("what is left after {chapter:?}"), inventory));
            }
            self.take(place, turn);
            self.keep()?;
        }
        self.agree(&answers)
    }

    /// Writes record and tables as far as they are: whatever ends a run of hours before its time,
    /// what was measured until then is there.
    fn keep(&mut self) -> Outcome {
        self.record.verdicts = judge(&self.board);
        if let Some(path) = &self.request.json {
            json::write(path, &self.record)?;
        }
        if let Some(path) = &self.request.markdown {
            let text = render(&self.board, &conditions(self.request, &self.record));
            file::write(path, text.as_bytes())?;
        }
        Ok(())
    }

    /// `failure` with where to find what was measured before it.
    fn told(&self, mut failure: Failure) -> Failure {
        let kept = [&self.request.json, &self.request.markdown];
        let names = kept.into_iter().flatten();
        let names: Vec<String> = names.map(|path| path.display().to_string()).collect();
        if !self.record.measurements.is_empty() && !names.is_empty() {
            failure.message += &format!("; what was measured before is in {}", names.join(", "));
        }
        failure
    }

    fn turn(&self, chapter: Chapter, place: usize) -> Outcome<Turn> {
        let entry = &self.entries[place];
        let dir: PathBuf = self.request.dir.join(entry.word);
        let player = Player {
            entry,
            request: self.request,
            dir: &dir,
            remarks: &self.console.err,
        };
        player.play(chapter)
    }

    fn take(&mut self, place: usize, turn: Turn) {
        for (mut measurement, _) in turn.records {
            measurement.round = self.round;
            let at = (measurement.name.clone(), place);
            self.board
                .cells
                .entry(at)
                .or_default()
                .push(measurement.clone());
            self.record.measurements.push(measurement);
        }
        // The first chapter's answer stands for all: they differ in what they sync and merge.
        let matched = &mut self.board.seats[place].matched;
        if matched.is_empty() {
            *matched = turn.matched;
        }
    }

    /// Fails unless every engine that ran a workload saw the same.
    fn agree(&self, answers: &[(usize, String, Answer)]) -> Outcome {
        for (place, workload, answer) in answers {
            let first = answers.iter().find(|(_, other, _)| other == workload);
            let Some((witness, _, expected)) = first.filter(|(_, _, it)| it != answer) else {
                continue;
            };
            let name = |place: usize| &self.board.seats[place].name;
            return Err(Failure::failed(format!(
                "the engines disagree on {workload}: {} says {expected:?}, {} says {answer:?} \
                 (keys found, and their bytes or a checksum); none of the numbers can be trusted",
                name(*witness),
                name(*place),
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
