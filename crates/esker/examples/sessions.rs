//! Sessions that end by themselves: a keyspace with a time to live, and entries with their own.
//!
//! `cargo run --release -p esker --example sessions`

use std::time::Duration;

use esker::{Db, Expiry, KeyspaceOptions, Result, Update};

const HOUR: Duration = Duration::from_secs(3600);

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let db = Db::open(dir.path().join("sessions"))?;
    // A put lives for an hour when it does not say otherwise.
    let sessions = db.keyspace_with("sessions", KeyspaceOptions::default().ttl(HOUR))?;

    sessions.put("s:anna", "cart: 1 lamp")?;
    sessions.put_with_ttl("s:bela", "cart: empty", 24 * HOUR)?;

    // An update is a put: whoever does something stays logged in for another hour.
    sessions.update("s:anna", |cart| {
        let mut cart = cart.unwrap_or_default().to_vec();
        cart.extend_from_slice(b", 1 chair");
        Update::Set(cart)
    })?;
    for (key, name) in [("s:anna", "anna"), ("s:bela", "bela")] {
        let ends = sessions.expiry(key)?.flatten().expect("every session ends");
        println!("{name}'s session ends at unix second {ends}");
    }

    // Nothing sweeps: an entry is gone for every reader when its second comes, and its bytes go
    // with the next compaction that meets them. This one's second has come.
    let past = Expiry::from_unix_s(1_000_000_000);
    sessions.put_until("s:cleo", "cart: 3 beds", Some(past))?;
    assert_eq!(sessions.get("s:cleo")?, None);
    let live: Vec<_> = sessions.iter()?.keys().collect::<Result<_>>()?;
    assert_eq!(live, ["s:anna", "s:bela"]);
    println!("{} are logged in", live.len());
    db.close()
}
