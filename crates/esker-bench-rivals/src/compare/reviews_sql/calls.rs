//! What one connection does: point reads, and rows one by one.

use std::path::Path;

use esker_bench::fail::{Failure, Outcome};
use esker_bench::make::keys::{Chooser, Distribution};
use esker_bench::make::prose::Prose;
use esker_bench::make::random::scramble;
use esker_bench::run::lane::Lane;
use esker_bench::scenario::suite::review_load::Keys;
use esker_bench::scenario::suite::review_read::is_of;
use mysql::prelude::Queryable;

use crate::compare::reviews_sql::load::REVIEWS;
use crate::compare::reviews_sql::session::{connect, told};

/// The table of rows that come one by one.
pub const INSERTED: &str = "inserted";

/// Texts that rows take in turn: making one takes longer than a statement.
const TEXTS: u64 = 1000;

/// The seed of them; another one than that of the reviews.
const SEED: u64 = 2;

/// Reads by primary key until it is over, and checks what comes.
pub fn read(
    socket: &Path,
    keys: &Keys,
    distribution: Distribution,
    lane: &mut Lane<'_>,
) -> Outcome {
    let mut connection = connect(socket)?;
    let statement = format!("SELECT review FROM {REVIEWS} WHERE k = ?");
    let statement = connection.prep(statement).map_err(told)?;
    let mut chooser = Chooser::new(distribution, lane.index() as u64 + 1);
    lane.skip();
    while lane.go() {
        let key = keys.key(chooser.choose(keys.count()));
        let found: Option<Vec<u8>> = connection.exec_first(&statement, (key,)).map_err(told)?;
        match found {
            Some(text) if is_of(key, &text) => lane.add_bytes((key.len() + text.len()) as u64),
            _ => {
                let told = key.escape_ascii();
                return Err(Failure::failed(format!(
                    "the review under {told} is missing, or is another's"
                )));
            }
        }
        lane.finish(0, 1);
    }
    Ok(())
}

/// Texts for rows that come one by one.
pub fn texts() -> Vec<Vec<u8>> {
    let mut prose = Prose::new(TEXTS, SEED);
    (0..TEXTS).map(|_| prose.next_record().1).collect()
}

/// Puts rows in no order, one a statement, each a transaction, until it is over.
pub fn insert(socket: &Path, texts: &[Vec<u8>], lane: &mut Lane<'_>) -> Outcome {
    let mut connection = connect(socket)?;
    let statement = format!("INSERT INTO {INSERTED} VALUES (?, ?)");
    let statement = connection.prep(statement).map_err(told)?;
    lane.skip();
    let first = (lane.index() as u64) << 40;
    for (number, text) in (first..).zip(texts.iter().cycle()) {
        if !lane.go() {
            break;
        }
        // One number for each row of each connection, and no order among them.
        let key = format!("{:016x}", scramble(number));
        connection
            .exec_drop(&statement, (key.as_bytes(), text.as_slice()))
            .map_err(told)?;
        lane.add_bytes((key.len() + text.len()) as u64);
        lane.finish(0, 1);
    }
    Ok(())
}
