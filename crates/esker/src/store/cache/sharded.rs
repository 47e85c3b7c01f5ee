//! Temporary.
#![allow(missing_docs)]
use crate::base::types::ids::FileNumber;
use std::collections::HashMap;
use std::sync::Mutex;
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockKey {
    pub file: FileNumber,
    pub offset: u64,
}
pub struct ShardedCache<V> {
    map: Mutex<HashMap<BlockKey, V>>,
}
impl<V: Clone> ShardedCache<V> {
    pub fn new(_: usize) -> Self {
        ShardedCache {
            map: Mutex::default(),
        }
    }
    pub fn get(&self, key: &BlockKey) -> Option<V> {
        self.map.lock().unwrap().get(key).cloned()
    }
    pub fn insert(&self, key: BlockKey, value: V, _: usize) {
        self.map.lock().unwrap().insert(key, value);
    }
    pub fn remove_file(&self, file: FileNumber) {
        self.map.lock().unwrap().retain(|k, _| k.file != file);
    }
}
