//! A snapshot that is held while the database works on, and what it must show.

use std::collections::BTreeSet;

use esker::{Db, Keyspace, Snapshot};

use crate::journal::{Answer, Journal, Presence, difference, read_all};

/// A snapshot, and the writes that it holds.
pub struct Held {
    snapshot: Snapshot,
    keyspaces: Vec<(usize, Keyspace)>,
    present: BTreeSet<u32>,
}

impl Held {
    /// Takes one of a database in which every write that was answered is.
    pub fn take(db: &Db, journal: &Journal) -> Held {
        let keyspace = |name: &String| {
            let life = journal.life_of(name).expect("a name that was given");
            (life, db.existing_keyspace(name).expect("listed just now"))
        };
        let is_there = |answer| matches!(answer, Answer::Done | Answer::Settled);
        let there = journal
            .entries
            .iter()
            .filter(|entry| is_there(entry.answer));
        Held {
            snapshot: db.snapshot(),
            keyspaces: db.keyspaces().iter().map(keyspace).collect(),
            present: there.map(|entry| entry.number).collect(),
        }
    }

    /// Whether it still shows what it showed, but for what has expired since.
    pub fn check(&self, journal: &Journal, now_unix_ms: u64) -> Result<(), String> {
        for (life, keyspace) in &self.keyspaces {
            if journal.lives[*life].presence != Presence::Alive {
                continue;
            }
            let name = keyspace.name();
            let found = read_all(&self.snapshot.of(keyspace), name)?;
            let expected = journal.contents_of(*life, &self.present, now_unix_ms);
            if let Some(difference) = difference(&expected, &found) {
                return Err(format!("a snapshot of {name}: {difference}"));
            }
        }
        Ok(())
    }
}
