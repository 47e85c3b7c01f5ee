//! The way in: help, the look at the words, and the run where its client was built in.

use esker_bench::console::Console;
use esker_bench::fail::Outcome;
use esker_bench::scenario::suite::sql::request::SqlRequest;
use esker_bench::scenario::suite::sql::told;

/// The word that asks for it, in front of all others.
pub const WORD: &str = "reviews-sql";

/// Plays it with the words behind the first.
///
/// Errors: `Usage` where the client was not built in.
pub fn play(words: &[String], console: &mut Console<'_>) -> Outcome {
    let request = SqlRequest::parse(words)?;
    if request.is_help {
        return Ok(console.out.write_all(told::help().as_bytes())?);
    }
    run(&request, words, console)
}

/// Whether the words behind the first make sense. Errors: `Usage`.
pub fn check(words: &[String]) -> Outcome {
    SqlRequest::parse(words).map(drop)
}

#[cfg(feature = "mariadb")]
fn run(request: &SqlRequest, words: &[String], console: &mut Console<'_>) -> Outcome {
    crate::compare::reviews_sql::play::run(request, words, console)
}

#[cfg(not(feature = "mariadb"))]
fn run(_: &SqlRequest, _: &[String], _: &mut Console<'_>) -> Outcome {
    Err(esker_bench::fail::Failure::usage(
        "this was built without a client of SQL servers; run it with: make reviews-sql",
    ))
}

#[cfg(test)]
mod tests;
