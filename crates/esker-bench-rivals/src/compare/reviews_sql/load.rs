//! Loads the reviews, many rows a statement, and sees to it that every engine has the same.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use esker_bench::fail::{Failure, Outcome};
use esker_bench::run::lane::Lane;
use esker_bench::scenario::suite::review_load::Keys;
use esker_bench::scenario::suite::review_source::Reviews;
use esker_bench::scenario::suite::sql::contender::Contender;
use esker_bench::scenario::suite::sql::plan::LOAD_ROWS;
use mysql::prelude::Queryable;
use mysql::{Params, Value};

use crate::compare::reviews_sql::server::Server;
use crate::compare::reviews_sql::session::{DATABASE, connect, connect_bare, run, told};

/// The table of reviews.
pub const REVIEWS: &str = "reviews";

/// What the table is, however it was stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Rows.
    pub rows: u64,
    /// Bytes of the texts.
    pub bytes: u64,
    /// Checksums of all texts, folded.
    pub checksum: u64,
}

/// Makes the database and its table.
pub fn make_tables(server: &Server, contender: Contender) -> Outcome {
    let mut connection = connect_bare(&server.socket).map_err(told)?;
    run(&mut connection, &format!("CREATE DATABASE {DATABASE}"))?;
    make_table(server, contender, REVIEWS)
}

/// Makes a table of keys and texts, instead of one of that name.
pub fn make_table(server: &Server, contender: Contender, name: &str) -> Outcome {
    let mut connection = connect(&server.socket)?;
    run(&mut connection, &format!("DROP TABLE IF EXISTS {name}"))?;
    let columns = "k VARBINARY(100) NOT NULL PRIMARY KEY, review MEDIUMBLOB NOT NULL";
    let words = contender.table_words();
    run(
        &mut connection,
        &format!("CREATE TABLE {name} ({columns}) {words}"),
    )
}

/// Where all connections take their rows from, and the keys that were taken.
pub struct Source<'a>(Mutex<(&'a mut Reviews, Keys)>);

impl<'a> Source<'a> {
    /// All of `reviews`.
    pub fn new(reviews: &'a mut Reviews) -> Source<'a> {
        Source(Mutex::new((reviews, Keys::default())))
    }

    /// The keys that were taken.
    pub fn into_keys(self) -> Keys {
        let inner = self.0.into_inner();
        inner.unwrap_or_else(PoisonError::into_inner).1
    }

    /// Keys and texts of the next rows, in turn, and their bytes; empty at the end.
    fn take(&self) -> Outcome<(Vec<Value>, u64)> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (reviews, keys) = &mut *inner;
        let (mut values, mut bytes) = (Vec::with_capacity(2 * LOAD_ROWS), 0);
        while values.len() < 2 * LOAD_ROWS {
            let Some((key, text)) = reviews.next_review()? else {
                break;
            };
            keys.add(&key, &text);
            bytes += (key.len() + text.len()) as u64;
            values.extend([Value::Bytes(key), Value::Bytes(text)]);
        }
        Ok((values, bytes))
    }
}

/// One connection of the load. A key that comes twice, as in files it may, is kept once.
pub fn load(socket: &Path, source: &Source<'_>, lane: &mut Lane<'_>) -> Outcome {
    let mut connection = connect(socket)?;
    let statement = |rows: usize| {
        let places = vec!["(?,?)"; rows].join(",");
        format!("INSERT IGNORE INTO {REVIEWS} VALUES {places}")
    };
    let whole = connection.prep(statement(LOAD_ROWS)).map_err(told)?;
    while lane.go() {
        let (values, bytes) = source.take()?;
        // The text was made or read, which is not the server's work.
        lane.skip();
        let rows = values.len() / 2;
        let done = match rows {
            0 => return Ok(()),
            LOAD_ROWS => connection.exec_drop(&whole, Params::Positional(values)),
            // Once in a run.
            rows => connection.exec_drop(statement(rows).as_str(), Params::Positional(values)),
        };
        done.map_err(told)?;
        lane.add_bytes(bytes);
        lane.finish(0, rows as u64);
    }
    Ok(())
}

/// What the table has.
///
/// Errors: `Failed` where it has nothing.
pub fn contents(server: &Server) -> Outcome<Contents> {
    let question = format!(
        "SELECT COUNT(*), CAST(SUM(LENGTH(review)) AS UNSIGNED), BIT_XOR(CRC32(review)) \
         FROM {REVIEWS}"
    );
    let mut connection = connect(&server.socket)?;
    let row: Option<(u64, Option<u64>, u64)> = connection.query_first(question).map_err(told)?;
    match row {
        Some((rows, Some(bytes), checksum)) => Ok(Contents {
            rows,
            bytes,
            checksum,
        }),
        _ => Err(Failure::usage("there are no reviews; name another file")),
    }
}
