//! A fair choice of a keyspace's values, to learn from.

use std::sync::Arc;

use esker_phrase::Sample;

use crate::base::codec::checksum::hash64_seeded;
use crate::base::options::call::ReadOptions;
use crate::base::types::cursor::Cursor;
use crate::base::types::error::Result;
use crate::base::types::expiry::Expiry;
use crate::base::types::key;
use crate::base::types::kind::Kind;
use crate::flow::read::view::View;
use crate::store::sst::any_reader::AnyCursor;
use crate::store::version::file::FileRecord;

/// Bytes of values that are read side by side: what one access to the disk brings costs little
/// more than its first record, and neighbours are more alike than is fair.
const PIECE_BYTES: usize = 16 << 10;

/// How many times the sample a keyspace must be larger for pieces to be picked; a smaller one is
/// read whole.
const WHOLE_FACTOR: u64 = 2;

/// One value in so many is kept apart, to try out what was learnt from the others.
const TRIAL_INTERVAL: u64 = 8;

/// Values of a keyspace.
#[derive(Debug)]
pub struct Picked {
    /// Those to learn from.
    pub sample: Sample,
    /// Others, to try it out.
    pub trial: Sample,
    /// How many values were looked at.
    pub value_count: u64,
    /// Their bytes.
    pub value_bytes: u64,
}

impl Picked {
    fn new(seed: u64, bytes_max: usize) -> Picked {
        let trial_bytes_max = bytes_max / usize::try_from(TRIAL_INTERVAL).expect("it is small");
        Picked {
            sample: Sample::new(seed, bytes_max),
            trial: Sample::new(seed, trial_bytes_max.max(PIECE_BYTES)),
            value_count: 0,
            value_bytes: 0,
        }
    }

    // Looks at the entry the cursor stands on; bytes of its value, or of its key where it has none
    // here: so that a walk over deletes has an end too.
    fn offer(&mut self, cursor: &AnyCursor) -> Result<usize> {
        let kind = key::split(cursor.key()).1.kind();
        let value = match kind {
            Kind::Put => cursor.value()?,
            kind @ (Kind::PutExpiring | Kind::PutExpiringMillis) => {
                Expiry::split(kind, cursor.value()?).map_or(&[][..], |(_, value)| value)
            }
            _ => return Ok(cursor.key().len()),
        };
        match self.value_count % TRIAL_INTERVAL {
            0 => self.trial.offer(value),
            _ => self.sample.offer(value),
        }
        self.value_count += 1;
        self.value_bytes += value.len() as u64;
        Ok(value.len())
    }
}

/// Bytes of all keys and values in the files of a view, before compression.
pub fn raw_bytes(view: &View) -> u64 {
    let files = view.parts().levels.files();
    files.map(|(_, file)| raw_bytes_of(file)).sum()
}

/// Picks values from all over the files of a view, about `bytes_max` bytes of them. The same
/// files and seed give the same choice. `None` when `is_stopped` said so.
pub fn pick(
    view: &Arc<View>,
    bytes_max: usize,
    seed: u64,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Option<Picked>> {
    let levels = &view.parts().levels;
    let files: Vec<&FileRecord> = levels.files().map(|(_, file)| &**file).collect();
    let mut picked = Picked::new(seed, bytes_max);
    let total = raw_bytes(view);
    if total <= bytes_max as u64 * WHOLE_FACTOR {
        for file in files {
            if is_stopped() {
                return Ok(None);
            }
            let mut cursor = cursor_of(view, file)?;
            let is_on = cursor.seek_to_first()?;
            take(&mut picked, &mut cursor, is_on, usize::MAX)?;
        }
        return Ok(Some(picked));
    }
    for piece in 0..bytes_max.div_ceil(PIECE_BYTES) {
        if is_stopped() {
            return Ok(None);
        }
        let lot = hash64_seeded(&piece.to_le_bytes(), seed);
        let Some(file) = file_at(&files, lot % total.max(1)) else {
            continue;
        };
        let mut cursor = cursor_of(view, file)?;
        let [.., a, b, c, d] = lot.to_be_bytes();
        let is_on = cursor.seek_near(u32::from_be_bytes([a, b, c, d]))?;
        take(&mut picked, &mut cursor, is_on, PIECE_BYTES)?;
    }
    Ok(Some(picked))
}

// Offers values from where the cursor stands on, until there are so many bytes.
fn take(
    picked: &mut Picked,
    cursor: &mut AnyCursor,
    mut is_on: bool,
    bytes_max: usize,
) -> Result<()> {
    let mut taken = 0;
    while is_on && taken < bytes_max {
        taken += picked.offer(cursor)?;
        is_on = cursor.next()?;
    }
    Ok(())
}

fn cursor_of(view: &View, file: &FileRecord) -> Result<AnyCursor> {
    let read = ReadOptions {
        fill_cache: false,
        ..ReadOptions::default()
    };
    Ok(view.open(file)?.cursor(read))
}

// The file that holds that byte, if all lay one behind the other.
fn file_at<'a>(files: &[&'a FileRecord], mut at: u64) -> Option<&'a FileRecord> {
    for file in files {
        match at.checked_sub(raw_bytes_of(file)) {
            None => return Some(file),
            Some(left) => at = left,
        }
    }
    None
}

// Of files that an older Esker wrote only the compressed size is known.
fn raw_bytes_of(file: &FileRecord) -> u64 {
    file.raw_bytes.max(file.size_bytes)
}

#[cfg(test)]
mod tests;
