//! Which directories are a benchmark's to empty: those that carry its mark.
//!
//! A benchmark destroys databases as a matter of course. It makes a file [`MARKER`] in every
//! directory that it creates or finds empty, and empties no directory without one unless the user
//! insists. The mark outlives the stores in its directory.

use std::fs;
use std::io;
use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::target::store::Engine;

/// Name of the file that marks a directory. No engine has files of such a name.
pub const MARKER: &str = "esker-bench.marker";

/// What the file says to whoever finds it.
const TEXT: &str = "A benchmark made this directory. Benchmarks destroy the databases in it.\n";

/// Whether a benchmark made `dir`.
pub fn is_marked(dir: &Path) -> bool {
    dir.join(MARKER).is_file()
}

/// Whether something lies in `dir` that no benchmark made.
pub fn is_foreign(dir: &Path) -> Outcome<bool> {
    Ok(look(dir)? == Found::Foreign)
}

/// What lies in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Nothing, or not even the directory.
    Nothing,
    /// A benchmark's things.
    Marked,
    /// Somebody's things.
    Foreign,
}

fn look(dir: &Path) -> Outcome<Found> {
    if is_marked(dir) {
        return Ok(Found::Marked);
    }
    let told = |error: &io::Error| Failure::system(format!("cannot read {}", dir.display()), error);
    match fs::read_dir(dir) {
        Ok(mut entries) => match entries.next() {
            None => Ok(Found::Nothing),
            Some(Ok(_)) => Ok(Found::Foreign),
            Some(Err(error)) => Err(told(&error)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) => Err(told(&error)),
    }
}

/// Makes `dir` ready for a new store: creates and marks it, or empties it of what `engine` left
/// there.
///
/// Errors: `Usage` when something lies there without the mark and `is_insisted` is false; nothing
/// was touched then. With `is_insisted` the engine's own store is removed, and nothing else.
pub fn make_fresh(engine: &dyn Engine, dir: &Path, is_insisted: bool) -> Outcome {
    if look(dir)? == Found::Foreign && !is_insisted {
        return Err(Failure::usage(format!(
            "{} was not made by a benchmark and is not empty: refusing to destroy what is there; \
             name another directory with --db, or keep the database with --use_existing_db=1, or \
             say --use_existing_db=0 --yes to destroy it",
            dir.display()
        )));
    }
    make(dir)?;
    engine.destroy(dir)
}

/// Makes `dir` ready for a store that may be there already: creates and marks it if there is
/// nothing. What lies there without a mark stays without one.
pub fn make_ready(dir: &Path) -> Outcome {
    match look(dir)? {
        Found::Nothing => make(dir),
        Found::Marked | Found::Foreign => Ok(()),
    }
}

fn make(dir: &Path) -> Outcome {
    let is_foreign = look(dir)? == Found::Foreign;
    let made = fs::create_dir_all(dir).and_then(|()| match is_foreign {
        true => Ok(()),
        false => fs::write(dir.join(MARKER), TEXT),
    });
    made.map_err(|error| Failure::system(format!("cannot make {}", dir.display()), &error))
}

#[cfg(test)]
mod tests;
