//! Raw keys that are asked for together, one behind the other.

use esker_rpc::keys::put_raw_key;

/// Raw keys in one piece of memory: a hundred of their own would be taken and given back for every
/// multi-get.
#[derive(Default)]
pub struct RawKeys {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl RawKeys {
    /// Adds the raw key of both; the empty key, which no row has, if the hash key is too long.
    pub fn push(&mut self, hash_key: &[u8], sort_key: &[u8]) {
        // As just said: then nothing is appended.
        let _ = put_raw_key(&mut self.bytes, hash_key, sort_key);
        self.ends.push(self.bytes.len());
    }

    /// All of them, in their order.
    pub fn slices(&self) -> Vec<&[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans = starts.zip(&self.ends);
        spans.map(|(start, &end)| &self.bytes[start..end]).collect()
    }
}

#[cfg(test)]
mod tests;
