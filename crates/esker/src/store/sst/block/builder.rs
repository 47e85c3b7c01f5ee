//! Fills a block.

use crate::base::codec::fixed::put_u32;
use crate::base::codec::varint::put_varint;
use crate::base::types::key;
use crate::base::types::prefix::common_len;
use crate::store::sst::block::format::{
    BUCKET_COLLISION, BUCKET_EMPTY, HASH_INDEX_FLAG, HASHED_RESTARTS_MAX, bucket_of, is_point_kind,
};

/// Keys for every four buckets: at 0.75 about half of the keys have a bucket of their own or
/// share it with one of the same restart, for a byte and a third each. RocksDB uses the same.
const KEYS_PER_FOUR_BUCKETS: usize = 3;

/// Fills one block after the other.
#[derive(Debug)]
pub struct BlockBuilder {
    restart_interval: usize,
    has_hash_index: bool,
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    since_restart: usize,
    last_key: Vec<u8>,
    /// Hash and restart of every user key of the block; a key behind two restarts stands twice.
    hashed: Vec<(u32, usize)>,
}

impl BlockBuilder {
    /// An empty block with a whole key every `restart_interval` entries.
    pub fn new(restart_interval: usize, has_hash_index: bool) -> BlockBuilder {
        BlockBuilder {
            restart_interval: restart_interval.max(1),
            has_hash_index,
            bytes: Vec::new(),
            restarts: Vec::new(),
            since_restart: 0,
            last_key: Vec::new(),
            hashed: Vec::new(),
        }
    }

    /// Adds an entry: its internal key, the `hash64` of its user key, and its raw value. The
    /// caller keeps the order.
    ///
    /// # Panics
    /// When the entry is not of a kind that lies in blocks.
    pub fn add(&mut self, internal_key: &[u8], hash: u64, value: &[u8]) {
        let (user_key, trailer) = key::split(internal_key);
        assert!(is_point_kind(trailer.kind().byte()));
        let is_restart = self.bytes.is_empty() || self.since_restart == self.restart_interval;
        let last_user_key = match self.last_key.is_empty() {
            true => &[],
            false => key::user_key(&self.last_key),
        };
        let alike = common_len(last_user_key, user_key);
        let is_new_key =
            self.last_key.is_empty() || alike != user_key.len() || alike != last_user_key.len();
        if is_restart {
            let offset = u32::try_from(self.bytes.len()).expect("blocks are below 4 GiB");
            self.restarts.push(offset);
            self.since_restart = 0;
        }
        let shared = if is_restart { 0 } else { alike };
        if self.has_hash_index && (is_restart || is_new_key) {
            self.hashed.push((hash as u32, self.restarts.len() - 1));
        }
        self.put_lengths([shared, user_key.len() - shared, value.len()]);
        self.bytes.extend_from_slice(&internal_key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last_key.clear();
        self.last_key.extend_from_slice(internal_key);
        self.since_restart += 1;
    }

    // Nearly always a byte for each, and then added together.
    #[inline]
    fn put_lengths(&mut self, lengths: [usize; 3]) {
        match lengths.map(|length| u8::try_from(length).unwrap_or(u8::MAX)) {
            bytes @ [first, second, third] if first | second | third < 0x80 => {
                self.bytes.extend_from_slice(&bytes);
            }
            _ => {
                for length in lengths {
                    put_varint(&mut self.bytes, length as u64);
                }
            }
        }
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Internal key of the entry added last; empty when there is none.
    pub fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// Plain bytes of the block if it were finished now.
    pub fn size_estimate(&self) -> usize {
        let buckets = if self.has_hash_index {
            self.bucket_count() + 2
        } else {
            0
        };
        self.bytes.len() + self.restarts.len() * 4 + buckets + 4
    }

    /// The plain bytes of the block. Call [`BlockBuilder::clear`] before the next one.
    pub fn finish(&mut self) -> &[u8] {
        for restart in &self.restarts {
            put_u32(&mut self.bytes, *restart);
        }
        let count = u32::try_from(self.restarts.len()).expect("blocks are below 4 GiB");
        assert!(count < HASH_INDEX_FLAG);
        let flag = if self.put_hash_index() {
            HASH_INDEX_FLAG
        } else {
            0
        };
        put_u32(&mut self.bytes, count | flag);
        &self.bytes
    }

    /// Begins a new block.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.restarts.clear();
        self.since_restart = 0;
        self.last_key.clear();
        self.hashed.clear();
    }

    fn bucket_count(&self) -> usize {
        self.hashed.len() * 4 / KEYS_PER_FOUR_BUCKETS + 1
    }

    // Whether the block has one; without keys, or with too many restarts, it has none.
    fn put_hash_index(&mut self) -> bool {
        let Ok(count) = u16::try_from(self.bucket_count()) else {
            return false;
        };
        if !self.has_hash_index
            || self.hashed.is_empty()
            || self.restarts.len() > HASHED_RESTARTS_MAX
        {
            return false;
        }
        let mut buckets = vec![BUCKET_EMPTY; usize::from(count)];
        for (hash, restart) in &self.hashed {
            let bucket = &mut buckets[bucket_of(u64::from(*hash), usize::from(count))];
            let restart = u8::try_from(*restart).expect("at most 253 restarts");
            *bucket = match *bucket {
                BUCKET_EMPTY => restart,
                same if same == restart => restart,
                _ => BUCKET_COLLISION,
            };
        }
        self.bytes.extend_from_slice(&buckets);
        self.bytes.extend_from_slice(&count.to_le_bytes());
        true
    }
}
