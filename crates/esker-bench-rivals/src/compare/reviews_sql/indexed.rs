//! A table with three more indexes: rows one by one in no order, and updates of what an index has.

use std::path::Path;

use esker_bench::fail::Outcome;
use esker_bench::make::random::{Random, scramble};
use esker_bench::run::lane::Lane;
use esker_bench::scenario::suite::sql::contender::Contender;
use mysql::prelude::Queryable;

use crate::compare::reviews_sql::server::Server;
use crate::compare::reviews_sql::session::{connect, run, told};

/// The table.
const TABLE: &str = "indexed";

/// Rows of a statement that fills it.
const FILL_ROWS: u64 = 500;

/// Makes the table with so many rows.
pub fn fill(server: &Server, contender: Contender, rows: u64) -> Outcome {
    let mut connection = connect(&server.socket)?;
    let words = contender.mix_words();
    run(&mut connection, &format!("DROP TABLE IF EXISTS {TABLE}"))?;
    run(
        &mut connection,
        &format!(
            "CREATE TABLE {TABLE} (id BIGINT NOT NULL PRIMARY KEY, a BIGINT NOT NULL, \
             b BIGINT NOT NULL, name CHAR(16) CHARACTER SET latin1 NOT NULL, \
             pad CHAR(100) CHARACTER SET latin1 NOT NULL, \
             KEY (a), KEY (b), UNIQUE KEY (name)) {words}"
        ),
    )?;
    let mut statement = String::new();
    for first in (0..rows).step_by(usize::try_from(FILL_ROWS).expect("a handful")) {
        statement.clear();
        statement += &format!("INSERT INTO {TABLE} VALUES ");
        for number in first..rows.min(first + FILL_ROWS) {
            if number > first {
                statement.push(',');
            }
            let Row { a, b, name, pad } = Row::of(number);
            statement += &format!("({number},{a},{b},'{name}','{pad}')");
        }
        run(&mut connection, &statement)?;
    }
    Ok(())
}

/// What a row has behind its number: no order in any of it, and the name is of it alone.
struct Row {
    a: u64,
    b: u64,
    name: String,
    pad: String,
}

impl Row {
    fn of(number: u64) -> Row {
        let name = scramble(number);
        let mut random = Random::new(name);
        // A column of the server's has a sign.
        let mut column = || random.below(1 << 62);
        let (a, b) = (column(), column());
        let words: Vec<String> = (0..5).map(|_| format!("{:020}", column())).collect();
        Row {
            a,
            b,
            name: format!("{name:016x}"),
            pad: words.concat(),
        }
    }
}

/// Adds rows behind those that it was filled with, one a transaction, until it is over.
pub fn insert(socket: &Path, lane: &mut Lane<'_>) -> Outcome {
    let mut connection = connect(socket)?;
    let statement = format!("INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?)");
    let statement = connection.prep(statement).map_err(told)?;
    lane.skip();
    let first = (lane.index() as u64 + 1) << 40;
    for number in first.. {
        if !lane.go() {
            break;
        }
        let Row { a, b, name, pad } = Row::of(number);
        connection
            .exec_drop(&statement, (number, a, b, name, pad))
            .map_err(told)?;
        lane.finish(0, 1);
    }
    Ok(())
}

/// Changes a column that an index has, of any among the first `rows` rows, until it is over.
pub fn update(socket: &Path, rows: u64, lane: &mut Lane<'_>) -> Outcome {
    let mut connection = connect(socket)?;
    let statement = format!("UPDATE {TABLE} SET a = ? WHERE id = ?");
    let statement = connection.prep(statement).map_err(told)?;
    let mut random = Random::new(scramble(lane.index() as u64));
    lane.skip();
    while lane.go() {
        let row = (random.below(1 << 62), random.below(rows));
        connection.exec_drop(&statement, row).map_err(told)?;
        lane.finish(0, 1);
    }
    Ok(())
}
