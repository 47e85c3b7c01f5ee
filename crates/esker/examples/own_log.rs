//! A program with a log of its own: what it applied lies in an unlogged keyspace, up to a mark.
//!
//! `cargo run -p esker --example own_log`

use esker::{Db, KeyspaceOptions, Result, merge};

/// Applies what the keyspace does not have yet of a log: here a list of who came, elsewhere perhaps
/// a replicated one. Says how many entries that were.
fn catch_up(db: &Db, log: &[&str]) -> Result<usize> {
    let options = KeyspaceOptions {
        is_unlogged: true,
        merge: Some(merge::uint64_add()),
        ..KeyspaceOptions::default()
    };
    let visits = db.keyspace_with("visits", options)?;
    // Counting one twice would be wrong, and so would be leaving one out.
    let applied = match visits.mark()? {
        Some(mark) => u64::from_be_bytes(mark.to_vec().try_into().expect("eight bytes")),
        None => 0,
    };
    let mut count = 0;
    for (index, who) in (1..).zip(log).filter(|(index, _)| *index > applied) {
        // An entry of the log is a batch here, and its index the mark of that.
        let mut batch = db.batch();
        batch.merge(&visits, who, 1_u64.to_le_bytes());
        batch.mark(&visits, u64::to_be_bytes(index));
        batch.commit()?;
        count += 1;
    }
    Ok(count)
}

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut log = vec!["anna", "bela", "anna"];
    let db = Db::open(dir.path())?;
    assert_eq!(catch_up(&db, &log)?, 3);
    // Nothing of it is in the database's own log, so what is not flushed a crash takes.
    let visits = db.keyspace("visits")?;
    assert_eq!(visits.flushed_mark()?, None);
    visits.flush()?;
    assert_eq!(visits.flushed_mark()?, visits.mark()?);
    db.close()?;

    // In a later life only the rest is applied, whether the process was closed or killed.
    log.push("anna");
    let db = Db::open(dir.path())?;
    assert_eq!(catch_up(&db, &log)?, 1);
    let visits = db.keyspace("visits")?;
    assert_eq!(
        visits.get("anna")?.as_deref(),
        Some(&3_u64.to_le_bytes()[..])
    );
    println!("anna came three times, and was counted three times");
    db.close()
}
