//! Where a key stands between the left and the right edge of a picture.
//!
//! Keys have no natural scale: `a` and `b` may have one key between them or a million. So the
//! axis is made from the files themselves. Their first and last keys cut it into pieces; each
//! file spreads its bytes evenly over the pieces it covers; a piece is as wide as the bytes that
//! lie on it. A file of the bottom level is then about as wide as it is large, and none is higher
//! than all bytes stacked in one row.

use crate::picture::map::{FileBox, KeyspaceMap};

/// Maps keys of one keyspace to places between 0 and 1.
pub struct Axis {
    /// First and last keys of all files, ascending, each once.
    keys: Vec<Vec<u8>>,
    /// Where each key's own piece begins and ends.
    places: Vec<(f64, f64)>,
}

impl Axis {
    /// The axis for the files of `map`; `None` when there are none.
    pub fn new(map: &KeyspaceMap) -> Option<Axis> {
        let bounds = map.files().flat_map(|file| [&file.smallest, &file.largest]);
        let mut keys: Vec<Vec<u8>> = bounds.cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        if keys.is_empty() {
            return None;
        }
        // Pieces in turn: a key itself, the gap behind it, the next key, …
        let mut weights = vec![0.0; 2 * keys.len() - 1];
        for file in map.files() {
            let first = index_of(&keys, &file.smallest);
            let last = index_of(&keys, &file.largest).max(first);
            // Bytes of files are far below 2^53, where every whole number has its own place.
            let bytes = file.size_bytes.max(1) as f64;
            if first == last {
                weights[2 * first] += bytes;
            } else {
                let gaps = &mut weights[2 * first + 1..2 * last];
                let share = bytes / (last - first) as f64;
                gaps.iter_mut().step_by(2).for_each(|gap| *gap += share);
            }
        }
        let total: f64 = weights.iter().sum();
        let mut ends = Vec::with_capacity(weights.len());
        let mut sum = 0.0;
        for weight in &weights {
            let begin = sum;
            sum += weight / total;
            ends.push((begin, sum));
        }
        let places = ends.into_iter().step_by(2).collect();
        Some(Axis { keys, places })
    }

    /// The left and the right edge of a file of the map.
    pub fn span(&self, file: &FileBox) -> (f64, f64) {
        let first = index_of(&self.keys, &file.smallest);
        let last = index_of(&self.keys, &file.largest).max(first);
        (self.places[first].0, self.places[last].1)
    }

    /// The first key.
    pub fn first_key(&self) -> &[u8] {
        self.keys.first().map_or(&[], Vec::as_slice)
    }

    /// The last key.
    pub fn last_key(&self) -> &[u8] {
        self.keys.last().map_or(&[], Vec::as_slice)
    }

    /// The key that stands nearest to `place`.
    pub fn key_near(&self, place: f64) -> &[u8] {
        let distance = |index: &usize| (self.places[*index].0 - place).abs();
        let nearest =
            (0..self.keys.len()).min_by(|left, right| distance(left).total_cmp(&distance(right)));
        nearest.map_or(&[], |index| &self.keys[index])
    }
}

/// Where `key` stands among the bounds. Bounds in another order than bytewise find their place
/// too, because every bound was put in.
fn index_of(keys: &[Vec<u8>], key: &[u8]) -> usize {
    keys.partition_point(|other| other.as_slice() < key)
        .min(keys.len() - 1)
}

#[cfg(test)]
mod tests;
