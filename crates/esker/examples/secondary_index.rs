//! Ships found by name and by home port: an index is a second keyspace, written in the same batch.
//!
//! `cargo run --release -p esker --example secondary_index`

use esker::{Db, Keyspace, Result};

struct Fleet {
    db: Db,
    /// Name to port.
    ships: Keyspace,
    /// Port, a zero byte, name; no value.
    by_port: Keyspace,
}

impl Fleet {
    fn open(path: impl AsRef<std::path::Path>) -> Result<Fleet> {
        let db = Db::open(path)?;
        let (ships, by_port) = (db.keyspace("ships")?, db.keyspace("ships by port")?);
        Ok(Fleet { db, ships, by_port })
    }

    /// Sets the port of a ship. Batch: after a crash both keyspaces have it, or neither.
    fn moor(&self, name: &str, port: &str) -> Result<()> {
        let mut batch = self.db.batch();
        if let Some(before) = self.ships.get(name)? {
            batch.delete(&self.by_port, index_key(&before, name));
        }
        batch
            .put(&self.ships, name, port)
            .put(&self.by_port, index_key(port.as_bytes(), name), "")
            .commit()
    }

    /// The ships of a port, in order of their names. Only keys are read.
    fn in_port(&self, port: &str) -> Result<Vec<String>> {
        let prefix = index_key(port.as_bytes(), "");
        let names = self.by_port.prefix(&prefix)?.keys().map(|key| {
            let key = key?;
            Ok(String::from_utf8_lossy(&key[prefix.len()..]).into_owned())
        });
        names.collect()
    }
}

/// A zero byte ends the port, so that `Kiel` is no prefix of `Kielce`.
fn index_key(port: &[u8], name: &str) -> Vec<u8> {
    [port, &[0], name.as_bytes()].concat()
}

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let fleet = Fleet::open(dir.path().join("fleet"))?;
    for (name, port) in [
        ("Anna", "Kiel"),
        ("Bela", "Kielce"),
        ("Cleo", "Kiel"),
        ("Dora", "Bergen"),
    ] {
        fleet.moor(name, port)?;
    }
    fleet.moor("Cleo", "Bergen")?;
    for port in ["Bergen", "Kiel", "Kielce"] {
        println!("{port}: {}", fleet.in_port(port)?.join(", "));
    }
    assert_eq!(fleet.in_port("Kiel")?, ["Anna"]);
    assert_eq!(fleet.in_port("Bergen")?, ["Cleo", "Dora"]);
    fleet.db.close()
}
