//! The demo from its first act to its last line.

use std::path::{Path, PathBuf};

use clap::Args;
use esker_bench::measure::process;
use esker_bench::report::record::Record;
use serde_json::{Value, json};

use crate::commands::look;
use crate::demo::account::{self, Account};
use crate::demo::fill::fill;
use crate::demo::kill::{self, Round};
use crate::demo::reads::{self, Choice};
use crate::demo::stage::{Act, Stage, book_bytes};
use crate::demo::summary::{self, Sizes};
use crate::demo::texts::{self, Texts};
use crate::demo::words;
use crate::fail::Outcome;
use crate::global_flags::GlobalFlags;
use crate::out::Out;
use crate::picture::map::KeyspaceMap;
use crate::quantity;

/// Load real text, measure, kill itself, and prove that nothing was lost
#[derive(Debug, Args)]
#[command(after_help = "\
Loads the sources of this workspace's dependencies, or the file of reviews, tab-separated lines or
JSON lines that the environment variable ESKER_DATA names.

Examples:
  esker demo
  ESKER_DATA=reviews.txt.zst esker demo --dir /tmp/reviews")]
pub struct Demo {
    /// Where to play; an empty directory, or one that an earlier demo made
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What the moments of the kills follow from; different each time if left out
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How often to kill the writer
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: u32,
}

/// Plays all acts.
pub fn demo(shared: &GlobalFlags, args: &Demo) -> Outcome {
    let stage = Stage::set(shared, args.dir.as_deref())?;
    let mut told = Told {
        is_json: shared.json,
    };
    let played = play(&stage, &mut told)?;
    let seed = args.seed.unwrap_or_else(|| u64::from(std::process::id()));
    told.line(&format!(
        "{} of a writer with SIGKILL in the middle of its work (seed {seed})",
        quantity::counted(u64::from(args.rounds), "kill")
    ))?;
    let mut rounds = Vec::new();
    kill::rounds(&stage, args.rounds, seed, &mut |round| {
        told.line(&round_line(round))?;
        rounds.push(*round);
        Ok(())
    })?;
    let maps = final_maps(&stage)?;
    let mut numbers: Vec<(String, String)> = summary::kills(&rounds).into_iter().collect();
    numbers.extend(summary::facts(&played.acts, &played.sizes));
    let html = account::write(&stage.dir, &played.record, &numbers, &rounds, &maps)?;
    if shared.json {
        let mut summary = summary::to_json(&played.acts, &played.sizes);
        summary["rounds"] = rounds.iter().map(round_json).collect();
        summary["report"] = html.display().to_string().into();
        let mut out = Out::lock();
        out.json_page(&summary)?;
        return Ok(out.finish()?);
    }
    finale(&stage, &played, &rounds, &html)
}

fn peak_bytes() -> Option<u64> {
    process::peak_bytes()
}

/// What the acts with one open database gave.
struct Played {
    acts: Vec<Act>,
    sizes: Sizes,
    record: Record,
    sample: Vec<u8>,
    word: String,
}

fn play(stage: &Stage, told: &mut Told) -> Outcome<Played> {
    let texts = texts::find()?;
    let what = match &texts {
        Texts::File(path) => path.display().to_string(),
        Texts::Folders { told, .. } => told.clone(),
    };
    let db = stage.open()?;
    told.line(&format!("loading {what}"))?;
    let mut account = Account::open(stage, &db);
    let filled = fill(&db, &texts)?;
    account.enter(&db, &filled.act);
    let disk = stage.disk_bytes();
    let sorted = db.files().iter().map(|file| file.size_bytes).sum();
    told.line("reading single keys, uniform and zipfian, and everything in order")?;
    let mut acts = vec![filled.act];
    let mut enter = |act: Act| {
        account.enter(&db, &act);
        acts.push(act);
    };
    enter(reads::points(&db, &filled.books, Choice::Even)?);
    enter(reads::points(&db, &filled.books, Choice::Zipfian)?);
    enter(reads::scan(&db, &filled.books)?);
    told.line("counting the words of the text by merge")?;
    let counted = words::count(&db)?;
    let top = counted.top.iter().map(|(word, count)| {
        let count = quantity::count(*count);
        format!("{word} {count}")
    });
    told.line(&format!(
        "  most frequent: {}",
        top.collect::<Vec<_>>().join(", ")
    ))?;
    account.enter(&db, &counted.act);
    acts.push(counted.act);
    let limit = db.stats().memory_limit;
    db.close()?;
    let middle = filled.books.len() / 2;
    let sample = filled.books.keys().nth(middle).cloned().unwrap_or_default();
    let word = counted
        .top
        .first()
        .map(|(word, _)| word.clone())
        .unwrap_or_default();
    Ok(Played {
        acts,
        record: account.close(stage),
        sample,
        word,
        sizes: Sizes {
            raw: filled.raw_bytes,
            sorted,
            disk,
            books: book_bytes(&filled.books) + counted.book_bytes,
            peak: peak_bytes(),
            limit,
        },
    })
}

fn round_line(round: &Round) -> String {
    format!(
        "  killed after {}: {} batches acknowledged, all there and whole; open again in {}",
        quantity::duration(round.lived),
        quantity::count(round.acknowledged),
        quantity::duration(round.reopened_in)
    )
}

fn final_maps(stage: &Stage) -> Outcome<Vec<KeyspaceMap>> {
    let db = stage.open()?;
    let maps = look::maps(&db);
    db.close()?;
    Ok(maps)
}

fn round_json(round: &Round) -> Value {
    json!({
        "lived_seconds": round.lived.as_secs_f64(),
        "acknowledged": round.acknowledged,
        "reopened_seconds": round.reopened_in.as_secs_f64(),
        "entries_compared": round.compared,
    })
}

/// What matters of all this, where the page of it is, and what to try next.
fn finale(stage: &Stage, played: &Played, rounds: &[Round], html: &Path) -> Outcome {
    let mut lines = vec![String::new()];
    lines.extend(summary::table(&played.acts));
    lines.push(String::new());
    let disk = Some(summary::disk(&played.sizes));
    let numbers = [summary::kills(rounds), disk, summary::memory(&played.sizes)];
    let numbers = numbers.into_iter().flatten();
    lines.extend(numbers.map(|(number, told)| format!("{number:>9}  {told}")));
    lines.push(String::new());
    lines.push(format!(
        "all of it as a page for the browser: {}",
        html.display()
    ));
    lines.push(String::new());
    lines.extend(summary::next(&stage.db_dir(), &played.sample, &played.word));
    let mut out = Out::lock();
    for line in lines {
        out.line(line)?;
    }
    Ok(out.finish()?)
}

/// Tells what happens while it happens; on standard error where the result is for programs.
struct Told {
    is_json: bool,
}

impl Told {
    fn line(&mut self, text: &str) -> Outcome {
        if self.is_json {
            remark!("{text}");
            return Ok(());
        }
        let mut out = Out::lock();
        out.line(text)?;
        Ok(out.finish()?)
    }
}
