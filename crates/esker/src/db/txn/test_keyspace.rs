//! An empty keyspace without a database, for tests.

use std::sync::Arc;

use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::types::comparator::Comparator;
use crate::base::types::ids::KeyspaceId;
use crate::db::keyspace::KeyspaceParts;
use crate::flow::current::Current;
use crate::flow::read::model_view::Layout;
use crate::flow::read::view::ViewParts;
use crate::store::mem::memtable::Memtable;

/// The keyspace with that number: one live memtable, and no files.
pub fn keyspace(id: u32) -> Arc<KeyspaceParts> {
    let comparator = Comparator::Bytewise;
    let live = Memtable::create(comparator.clone(), None);
    let empty = Layout::new(&comparator).view(&[]);
    let parts = ViewParts {
        memtables: vec![Arc::clone(live.table())],
        ..empty.parts().clone()
    };
    let current = Arc::new(Current::new(parts, Vec::new()));
    let options = KeyspaceOptions::default();
    Arc::new(KeyspaceParts::new(KeyspaceId(id), "one", options, current))
}
