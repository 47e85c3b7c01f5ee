//! What a flag is.

/// Which dialect's rules are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// LevelDB's db_bench.
    LevelDb,
    /// RocksDB's of 2013, with which the merge operator was measured.
    RocksDb2013,
    /// RocksDB's of today.
    RocksDb,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 3] = [Dialect::LevelDb, Dialect::RocksDb2013, Dialect::RocksDb];

    /// How `--compat` spells it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::LevelDb => "leveldb",
            Dialect::RocksDb2013 => "rocksdb2013",
            Dialect::RocksDb => "rocksdb",
        }
    }

    /// The dialect that `--compat` spells so.
    pub fn of(name: &str) -> Option<Dialect> {
        Dialect::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// What a flag's value looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Yes or no.
    Bool,
    /// A whole number between two ends, both included.
    Whole(i64, i64),
    /// A number between two ends, both included.
    Number(f64, f64),
    /// Text.
    Text,
}

/// Who knows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// All dialects.
    All,
    /// LevelDB only.
    LevelDb,
    /// RocksDB, then and now.
    RocksDbs,
    /// RocksDB of 2013 only.
    Old,
    /// RocksDB of today only.
    New,
    /// LevelDB and RocksDB of 2013.
    LevelDbAndOld,
    /// Ours, in every dialect.
    Own,
}

impl Known {
    /// Whether `dialect` itself knows the flag. Our own flags count as known everywhere.
    pub fn to(self, dialect: Dialect) -> bool {
        match self {
            Known::All | Known::Own => true,
            Known::LevelDb => dialect == Dialect::LevelDb,
            Known::RocksDbs => dialect != Dialect::LevelDb,
            Known::Old => dialect == Dialect::RocksDb2013,
            Known::New => dialect == Dialect::RocksDb,
            Known::LevelDbAndOld => dialect != Dialect::RocksDb,
        }
    }
}

/// One flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What its value looks like.
    pub kind: Kind,
    /// Who knows it.
    pub known: Known,
    /// Its value unless given: LevelDB, RocksDB of 2013, RocksDB.
    pub defaults: [&'static str; 3],
    /// Why it has no effect here; empty if it has one.
    pub without: &'static str,
    /// What it means.
    pub doc: &'static str,
}

impl Flag {
    /// Its value unless given.
    pub fn default(&self, dialect: Dialect) -> &'static str {
        let [leveldb, old, new] = self.defaults;
        match dialect {
            Dialect::LevelDb => leveldb,
            Dialect::RocksDb2013 => old,
            Dialect::RocksDb => new,
        }
    }
}
