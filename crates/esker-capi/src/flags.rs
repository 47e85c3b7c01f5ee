//! What a write or a read is asked for: the bits that `esker/c.h` names.

use esker::{Durability, Error, ReadOptions, Result, WriteOptions};

/// The bits that say what a write is to survive; 0 is what the database was opened with.
const DURABILITY: u32 = 0b11;
/// `ESKER_NO_WAIT`.
const NO_WAIT: u32 = 0x10;
/// `ESKER_NO_FILL_CACHE`.
const NO_FILL_CACHE: u32 = 0x1;
/// `ESKER_LATEST`.
const LATEST: u32 = 0x2;

/// How a write is done.
pub fn of_write(flags: u32) -> Result<WriteOptions> {
    if flags & !(DURABILITY | NO_WAIT) != 0 {
        return Err(unknown("write", flags));
    }
    let durability = match flags & DURABILITY {
        0 => None,
        1 => Some(Durability::Memory),
        2 => Some(Durability::Buffered),
        _ => Some(Durability::Sync),
    };
    Ok(WriteOptions {
        durability,
        no_wait: flags & NO_WAIT != 0,
    })
}

/// How a read is done.
pub fn of_read(flags: u32) -> Result<ReadOptions> {
    if flags & !NO_FILL_CACHE != 0 {
        return Err(unknown("read", flags));
    }
    Ok(ReadOptions {
        fill_cache: flags & NO_FILL_CACHE == 0,
        ..ReadOptions::default()
    })
}

/// How a read in a transaction is done, and whether it is of the latest that is committed.
pub fn of_transaction_read(flags: u32) -> Result<(ReadOptions, bool)> {
    let options = of_read(flags & !LATEST)?;
    Ok((options, flags & LATEST != 0))
}

fn unknown(what: &str, flags: u32) -> Error {
    Error::invalid(format!(
        "flags {flags:#x} have a bit that no {what} knows; esker/c.h names those there are"
    ))
}

#[cfg(test)]
mod tests;
