//! Whether a command line makes sense: told before a rival is built, which takes half an hour.

use esker_bench::fail::Outcome;

use crate::compare::request::Request;
use crate::compare::reviews;
use crate::compare::reviews_sql::entry as reviews_sql;
use crate::engines::roster;

/// The word that asks for it, in front of all others.
pub const WORD: &str = "check";

/// Looks at the words behind the first, and does nothing else. Engines may be named that were not
/// built in.
///
/// Errors: `Usage`, as when they are carried out.
pub fn check(words: &[String]) -> Outcome {
    match words.split_first() {
        Some((word, behind)) if word == reviews::WORD => reviews::check(behind),
        Some((word, behind)) if word == reviews_sql::WORD => reviews_sql::check(behind),
        _ => match Request::parse(words)? {
            Some(request) => roster::check_names(&request.engines),
            None => Ok(()),
        },
    }
}

#[cfg(test)]
mod tests;
