//! What the tool itself says of the scenario: what would be done, and what does it.

use crate::fail::Outcome;
use crate::quantity;
use crate::scenario::suite::request::Request;
use crate::scenario::suite::sql::contender::{Contender, Durability};
use crate::scenario::suite::sql::plan::{self, CONNECTIONS, LOAD_ROWS, SHARES, share_text};
use crate::scenario::suite::sql::request::flags;
use crate::scenario::suite::stage::Stage;

/// What the scenario's own help says.
pub const TEACHES: &str = "\
It needs a client of SQL servers, which this program is built without: `make reviews-sql` builds
one, installs the servers' parts, and runs it. Here it is only told what every server is given.

Each engine has a server of its own, in turns, with a directory below --dir, a socket in it and no
port. A run that is interrupted ends its servers; the next one takes their directories.

Lines:
  load      16 connections, 50 rows a statement; then the server is waited for until it is at rest,
            stopped, and the table's files are counted, logs of Esker and MyRocks included
  reads     16 connections read by primary key, prepared, uniform and by Zipf's law, at memory =
            unlimited, 0.9, 0.45 and 0.22 of raw, from a server at rest, behind a warm-up
  inserts   16 connections, a row a transaction, which survives the end of the server
  commits   the same surviving a power cut, with the binary log off and on
  mix       sysbench's oltp_read_write over a table of its own: 18 statements a transaction
  indexed   rows one by one into a table that has three more indexes, one of them unique, and is
            larger than memory (0.22 of it); then updates of a column that has an index. Each is a
            transaction that survives a power cut, and keys are in no order

What is to be read with care:
  - Clients and servers share the processors, and the server's own work is most of a warm read:
    the record has the server's processor time beside each rate.
  - Caches are equal, and so are control groups, which hold the server and its files in the page
    cache: the cache's bytes and 128 MiB. InnoDB passes the page cache by, as it is advised to.
  - InnoDB's redo log is not counted in its size.

Examples:
  make reviews-sql
  make reviews-sql REVIEWS_SQL='--size medium --rounds 3 --data movies.txt.gz'
  make reviews-sql REVIEWS_SQL='--engine esker --engine innodb --only reads'
";

/// Bytes that it takes here.
pub fn disk_bytes(_request: &Request) -> u64 {
    0
}

/// The help of the program that plays it.
pub fn help() -> String {
    format!("{TEACHES}\nOptions:\n{}", flags())
}

/// Tells what every server is given.
pub fn run(stage: &mut Stage<'_, '_>) -> Outcome {
    let raw_bytes = stage.request.scaled(plan::raw_bytes(stage.request.size));
    let text = format!(
        "not run: it needs a client of SQL servers, which `make reviews-sql` builds\n\n{}",
        plan_text(&Contender::ALL, raw_bytes)
    );
    stage.say(&text)
}

/// What each of `contenders` is given for so many bytes of text.
pub fn plan_text(contenders: &[Contender], raw_bytes: u64) -> String {
    let mut text = format!(
        "{} of reviews, {CONNECTIONS} connections, {LOAD_ROWS} rows a statement of the load\n",
        quantity::bytes(raw_bytes as f64)
    );
    for share in SHARES {
        let memory = plan::memory(share, raw_bytes);
        let bytes = |bytes: u64| quantity::bytes(bytes as f64);
        let group = memory.group_bytes.map_or("none".into(), bytes);
        let (share, cache) = (share_text(share), bytes(memory.cache_bytes));
        text += &format!("memory {share}: cache {cache}, control group {group}\n");
    }
    let cache_bytes = plan::memory(None, raw_bytes).cache_bytes;
    let of = |contender: &Contender| contender.options(cache_bytes, Durability::Buffered);
    let common = |option: &String| contenders.iter().all(|one| of(one).contains(option));
    let (shared, _): (Vec<String>, Vec<String>) = match contenders.first() {
        Some(first) => of(first).into_iter().partition(common),
        None => (Vec::new(), Vec::new()),
    };
    text += &format!("every server: {}\n", shared.join(" "));
    for contender in contenders {
        let own = of(contender)
            .into_iter()
            .filter(|one| !shared.contains(one));
        let own: Vec<String> = own.collect();
        let words = contender.table_words();
        text += &format!("{}: {words}; {}\n", contender.name(), own.join(" "));
    }
    text
}

#[cfg(test)]
mod tests;
