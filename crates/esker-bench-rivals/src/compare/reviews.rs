//! Reviews on every engine in turns: ours, and RocksDB with each of two packings.

use std::path::PathBuf;

use esker_bench::console::Console;
use esker_bench::fail::{Failure, Outcome};
use esker_bench::report::{entry, file, json};
use esker_bench::scenario::suite::entry::{self as suite, run_among};
use esker_bench::target::settings::Packing;
use esker_bench::target::store::Engine;

use crate::engines::packed::Packed;
use crate::engines::roster::{self, OURS};

/// The word that asks for it, in front of all others; also the scenario's name.
pub const WORD: &str = "reviews";

/// The rival that published figures were told of.
const RIVAL: &str = "rocksdb";

/// The packings it plays with. The level is its own.
const PACKINGS: [Packing; 2] = [Packing::Lz4, Packing::Zstd(3)];

/// Plays reviews with the words behind the first: those of `esker bench scenario`, and
/// `--html=FILE` for a page beside `--json=FILE`.
///
/// Errors: `Usage` where RocksDB was not built in.
pub fn play(words: &[String], console: &mut Console<'_>) -> Outcome {
    if words.iter().any(|word| word == "--help" || word == "-h") {
        // The scenario's own flags are told by one engine alone; none is asked to run.
        return run_among(&[], &["--help".to_owned()], console);
    }
    let asked = Asked::of(words)?;
    if let Some(path) = &asked.html {
        file::check_writable(path)?;
    }
    let engines = contenders()?;
    let engines: Vec<&dyn Engine> = engines.iter().map(|engine| &**engine).collect();
    run_among(&engines, &asked.words, console)?;
    let (Some(html), Some(json)) = (&asked.html, &asked.json) else {
        return Ok(());
    };
    entry::write_page(html, &json::read(json)?)?;
    Ok(console.err.line(&format!(
        "the report, a page for the browser: {}",
        html.display()
    ))?)
}

/// Whether the words behind the first make sense. Errors: `Usage`.
pub fn check(words: &[String]) -> Outcome {
    suite::check(&Asked::of(words)?.words)
}

fn contenders() -> Outcome<Vec<Box<dyn Engine>>> {
    let mut engines = Vec::new();
    for (word, packing) in [(OURS, None)]
        .into_iter()
        .chain(PACKINGS.map(|packing| (RIVAL, Some(packing))))
    {
        for one in roster::choose(&[word.to_owned()])? {
            engines.push(match packing {
                None => one.engine,
                Some(packing) => Box::new(Packed::new(one.engine, packing)),
            });
        }
    }
    Ok(engines)
}

/// The words for the scenario, and where the page goes.
#[derive(Debug)]
struct Asked {
    words: Vec<String>,
    html: Option<PathBuf>,
    json: Option<PathBuf>,
}

impl Asked {
    fn of(words: &[String]) -> Outcome<Asked> {
        let value = |name: &str| {
            let all = words.iter().filter_map(|word| word.strip_prefix(name));
            all.filter_map(|rest| rest.strip_prefix('='))
                .next_back()
                .map(PathBuf::from)
        };
        let (html, json) = (value("--html"), value("--json"));
        if html.is_some() && json.is_none() {
            return Err(Failure::usage(
                "--html=FILE is made of --json=FILE; name both",
            ));
        }
        // Where the system lets us, the page cache is limited too.
        let mut given = vec![WORD.to_owned(), "--limit_by=either".into()];
        let others = words.iter().filter(|word| !word.starts_with("--html="));
        given.extend(others.cloned());
        Ok(Asked {
            words: given,
            html,
            json,
        })
    }
}

#[cfg(test)]
mod tests;
