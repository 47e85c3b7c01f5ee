//! Mixed transactions after sysbench's `oltp_read_write`: 14 reads and 4 writes each.

use std::path::Path;

use esker_bench::fail::Outcome;
use esker_bench::make::random::{Random, scramble};
use esker_bench::run::lane::Lane;
use esker_bench::scenario::suite::sql::contender::Contender;
use mysql::prelude::Queryable;
use mysql::{Conn, Error, Statement};

use crate::compare::reviews_sql::server::Server;
use crate::compare::reviews_sql::session::{code, connect, run, told};

/// The table.
const TABLE: &str = "mixed";

/// Rows of a statement that fills it.
const FILL_ROWS: u64 = 500;

/// Point reads of a transaction, and rows of a range: sysbench's own.
const POINTS: usize = 10;
const RANGE_ROWS: u64 = 100;

/// The server's numbers of what makes a client begin again: a deadlock, a lock that did not come in
/// time, a commit that was refused, a row that has changed, and a key that came back meanwhile.
pub const AGAIN: [u16; 5] = [1213, 1205, 1180, 1020, 1062];

/// Makes the table with so many rows.
pub fn fill(server: &Server, contender: Contender, rows: u64) -> Outcome {
    let mut connection = connect(&server.socket)?;
    let words = contender.mix_words();
    run(&mut connection, &format!("DROP TABLE IF EXISTS {TABLE}"))?;
    run(
        &mut connection,
        &format!(
            "CREATE TABLE {TABLE} (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, \
             c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k_1 (k)) {words}"
        ),
    )?;
    let mut random = Random::new(1);
    for first in (1..=rows).step_by(usize::try_from(FILL_ROWS).expect("a handful")) {
        let ids = first..=rows.min(first + FILL_ROWS - 1);
        let rows: Vec<String> = ids.map(|id| row(id, rows, &mut random)).collect();
        run(
            &mut connection,
            &format!("INSERT INTO {TABLE} VALUES {}", rows.join(",")),
        )?;
    }
    Ok(())
}

fn row(id: u64, rows: u64, random: &mut Random) -> String {
    let k = random.below(rows) + 1;
    format!(
        "({id},{k},'{}','{}')",
        digits(10, random),
        digits(5, random)
    )
}

/// Groups of eleven digits, as sysbench has them.
fn digits(groups: usize, random: &mut Random) -> String {
    let groups = (0..groups).map(|_| format!("{:011}", random.below(100_000_000_000)));
    groups.collect::<Vec<_>>().join("-")
}

/// One connection until it is over. A transaction that could not be is begun again with other rows,
/// and is counted under its error's place in [`AGAIN`].
pub fn work(socket: &Path, rows: u64, lane: &mut Lane<'_>) -> Outcome {
    let mut mix = Mix::prepare(connect(socket)?, rows, lane.index() as u64).map_err(told)?;
    lane.skip();
    while lane.go() {
        loop {
            let Err(error) = mix.transact() else { break };
            let Some(place) = AGAIN.iter().position(|again| *again == code(&error)) else {
                return Err(told(error));
            };
            lane.count(place, 1);
            run(&mut mix.connection, "ROLLBACK")?;
        }
        lane.finish(0, 1);
    }
    Ok(())
}

struct Mix {
    connection: Conn,
    rows: u64,
    random: Random,
    point: Statement,
    ranges: [Statement; 4],
    indexed: Statement,
    plain: Statement,
    delete: Statement,
    insert: Statement,
}

impl Mix {
    fn prepare(mut connection: Conn, rows: u64, lane: u64) -> Result<Mix, Error> {
        let mut prepare = |text: String| connection.prep(text);
        let range = format!("FROM {TABLE} WHERE id BETWEEN ? AND ?");
        Ok(Mix {
            rows,
            random: Random::new(scramble(lane)),
            point: prepare(format!("SELECT c FROM {TABLE} WHERE id = ?"))?,
            ranges: [
                prepare(format!("SELECT c {range}"))?,
                prepare(format!("SELECT SUM(k) {range}"))?,
                prepare(format!("SELECT c {range} ORDER BY c"))?,
                prepare(format!("SELECT DISTINCT c {range} ORDER BY c"))?,
            ],
            indexed: prepare(format!("UPDATE {TABLE} SET k = k + 1 WHERE id = ?"))?,
            plain: prepare(format!("UPDATE {TABLE} SET c = ? WHERE id = ?"))?,
            delete: prepare(format!("DELETE FROM {TABLE} WHERE id = ?"))?,
            insert: prepare(format!("INSERT INTO {TABLE} VALUES (?, ?, ?, ?)"))?,
            connection,
        })
    }

    fn id(&mut self) -> u64 {
        self.random.below(self.rows) + 1
    }

    fn transact(&mut self) -> Result<(), Error> {
        self.connection.query_drop("BEGIN")?;
        for _ in 0..POINTS {
            let id = self.id();
            self.connection.exec_drop(&self.point, (id,))?;
        }
        for place in 0..self.ranges.len() {
            let first = self.id();
            let range = (first, first + RANGE_ROWS - 1);
            self.connection.exec_drop(&self.ranges[place], range)?;
        }
        let id = self.id();
        self.connection.exec_drop(&self.indexed, (id,))?;
        let (id, text) = (self.id(), digits(10, &mut self.random));
        self.connection.exec_drop(&self.plain, (text, id))?;
        let (id, k) = (self.id(), self.id());
        self.connection.exec_drop(&self.delete, (id,))?;
        let (c, pad) = (digits(10, &mut self.random), digits(5, &mut self.random));
        self.connection.exec_drop(&self.insert, (id, k, c, pad))?;
        self.connection.query_drop("COMMIT")
    }
}
