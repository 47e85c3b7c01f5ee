//! Tests of the rates that are set from above.

use super::*;
use crate::db::database_ref::DatabaseRef;
use crate::db::handle::Db;
use crate::db::open::Builder;
use crate::env::sim::world::SimWorld;

#[test]
fn a_dropped_keyspace_leaves_no_rate_behind() {
    // Writers of all others would look for theirs at every write until the database is reopened,
    // and each keyspace that comes and goes under load would leave one more.
    let world = SimWorld::new(1);
    let database = Builder::new("/db")
        .env(world.env())
        .open_database()
        .unwrap();
    let core = Arc::clone(DatabaseRef::core(&database));
    let db = Db::new(database).unwrap();
    db.keyspace("gone").unwrap();
    let parts = core.keyspaces.get("gone").unwrap();
    core.write_controller.set_rate(parts.id, 1_000, None);
    db.drop_keyspace("gone").unwrap();
    assert_eq!(core.write_controller.rate(parts.id).0, RATE_UNLIMITED);
    // Whoever had looked which keyspaces there are before that comes late.
    set_rate(&core, &parts, ((1_000, None), 0));
    assert_eq!(core.write_controller.rate(parts.id).0, RATE_UNLIMITED);
    db.close().unwrap();
}
