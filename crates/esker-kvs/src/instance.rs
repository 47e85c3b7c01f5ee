//! One open store: the five operations over the engine, and what goes beyond them.

use std::sync::atomic::{AtomicU64, Ordering};

use esker::internals::env::bundle::Env;
use esker::{Bytes, Db, DbCursor, Update};

use crate::config::{Config, KEY_BYTES_MAX, Start, VALUE_BYTES_MAX};
use crate::files::StoreFiles;
use crate::refusal::Refusal;
use crate::text_log::TextLog;

/// An open store. Any thread may call anything.
///
/// Durability: when a put or a delete returns, it survives the process being killed; after a sync,
/// and after `exit`, a power cut.
pub struct Instance {
    db: Db,
    log: TextLog,
    budget: Option<Budget>,
}

/// How many keys there are, and may be.
struct Budget {
    count: AtomicU64,
    max: u64,
}

impl Instance {
    /// Opens a store as `config` says; keeps `log`, or gives it back with the refusal.
    ///
    /// Errors: those of `StoreFiles`; `Engine` where the engine cannot open it.
    pub fn open(env: &Env, config: &Config, log: TextLog) -> Result<Instance, (Refusal, TextLog)> {
        match Instance::open_parts(env, config, &log) {
            Ok((db, budget)) => {
                log.event("KVS INIT SUCCESS.");
                Ok(Instance { db, log, budget })
            }
            Err(refusal) => Err((refusal, log)),
        }
    }

    fn open_parts(
        env: &Env,
        config: &Config,
        log: &TextLog,
    ) -> Result<(Db, Option<Budget>), Refusal> {
        let dir = config.dir();
        let files = StoreFiles::new(env, dir.clone(), &config.disk_path, &config.image_path);
        let identity = match config.start {
            Start::Create => Some(files.clear()?),
            Start::Load => {
                files.check()?;
                None
            }
        };
        log.event("SYNC INIT SUCCESS.");
        let mut builder = Db::builder(&dir)
            .create_if_missing(identity.is_some())
            .env(env.clone());
        for (name, text) in config.settings() {
            builder = builder.set(name, &text)?;
        }
        let db = builder.open()?;
        let budget = match config.key_count_max {
            Some(max) => Some(Budget {
                count: AtomicU64::new(count_keys(&db)?),
                max,
            }),
            None => None,
        };
        if let Some(identity) = identity {
            files.seal(&identity)?;
        }
        log.event("INDEX INIT SUCCESS.");
        log.event("BUFFER INIT SUCCESS.");
        Ok((db, budget))
    }

    /// Puts a key that is not there.
    ///
    /// Errors: `Exists`, `Size`, `Full`, `Engine`.
    pub fn put_new(&self, key: &[u8], value: &[u8]) -> Result<(), Refusal> {
        check_sizes(key, value)?;
        self.take_place()?;
        let is_new = self.db.put_if_absent(key, value);
        if !matches!(is_new, Ok(true)) {
            self.give_place();
        }
        match is_new? {
            true => Ok(()),
            false => Err(Refusal::Exists),
        }
    }

    /// Puts a key, whether it is there or not.
    ///
    /// Errors: `Size`, `Full`, `Engine`.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<(), Refusal> {
        check_sizes(key, value)?;
        if self.budget.is_none() {
            return Ok(self.db.put(key, value)?);
        }
        // Only a key that is new takes a place, so what is there has to be known.
        let place = self.take_place();
        let mut is_new = false;
        let put = self.db.update(key, |present| {
            is_new = present.is_none();
            match is_new && place.is_err() {
                true => Update::Keep,
                false => Update::Set(value.to_vec()),
            }
        });
        if place.is_ok() && (put.is_err() || !is_new) {
            self.give_place();
        }
        put?;
        if is_new { place } else { Ok(()) }
    }

    /// The value of a key.
    ///
    /// Errors: `Missing`, `Size`, `Engine`.
    pub fn get(&self, key: &[u8]) -> Result<Bytes, Refusal> {
        check_sizes(key, &[])?;
        self.db.get(key)?.ok_or(Refusal::Missing)
    }

    /// Removes a key that is there.
    ///
    /// Errors: `Missing`, `Size`, `Engine`.
    pub fn delete(&self, key: &[u8]) -> Result<(), Refusal> {
        check_sizes(key, &[])?;
        match self.db.delete_if_present(key)? {
            true => {
                self.give_place();
                Ok(())
            }
            false => Err(Refusal::Missing),
        }
    }

    /// Returns when everything put and deleted so far survives a power cut.
    pub fn sync(&self) -> Result<(), Refusal> {
        Ok(self.db.sync()?)
    }

    /// A cursor over all keys as they are now, in bytewise order.
    pub fn cursor(&self) -> Result<DbCursor, Refusal> {
        Ok(self.db.cursor()?)
    }

    /// Makes everything durable and gives up the directory. The store is closed even when that
    /// fails.
    pub fn exit(&self) -> Result<(), Refusal> {
        let synced = self.db.sync();
        let closed = self.db.close();
        synced?;
        closed?;
        for part in ["BUFFER EXIT.", "INDEX EXIT.", "SYNC EXIT.", "KVS EXIT."] {
            self.log.event(part);
        }
        Ok(())
    }

    /// The store's log.
    pub fn log(&self) -> &TextLog {
        &self.log
    }

    fn take_place(&self) -> Result<(), Refusal> {
        let Some(budget) = &self.budget else {
            return Ok(());
        };
        // Relaxed: the number guards nothing but itself.
        let taken = budget
            .count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count < budget.max).then_some(count + 1)
            });
        taken.map(drop).map_err(Refusal::Full)
    }

    fn give_place(&self) {
        if let Some(budget) = &self.budget {
            // Relaxed, as above.
            let before = budget.count.fetch_sub(1, Ordering::Relaxed);
            assert!(before > 0, "a place was given back that nobody took");
        }
    }
}

fn check_sizes(key: &[u8], value: &[u8]) -> Result<(), Refusal> {
    let sizes = [
        ("key_size", key.len(), KEY_BYTES_MAX),
        ("value_size", value.len(), VALUE_BYTES_MAX),
    ];
    for (name, len, max) in sizes {
        if len > max {
            let given = i64::try_from(len).unwrap_or(i64::MAX);
            return Err(Refusal::Size { name, given, max });
        }
    }
    Ok(())
}

fn count_keys(db: &Db) -> Result<u64, Refusal> {
    let mut cursor = db.cursor()?;
    let mut count = 0;
    let mut is_there = cursor.seek_to_first()?;
    while is_there {
        count += 1;
        is_there = cursor.next()?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests;
