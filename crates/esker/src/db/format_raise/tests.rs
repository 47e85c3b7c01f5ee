//! Tests of the format that is raised.

use std::sync::Arc;

use super::*;
use crate::db::database_ref::DatabaseRef;
use crate::db::open::Builder;
use crate::env::sim::{CrashMode, SimWorld};
use crate::store::version::format::{FORMAT_NEWEST, FORMAT_VERSION};

fn format_of(database: &DatabaseRef) -> u32 {
    database.core().history.peek().format_version
}

#[test]
fn a_format_is_raised_when_asked_durably_and_never_by_opening() {
    // An older Esker reads the database until then, and refuses it by its format from then on: the
    // raise must be durable before anything of the newer format is.
    let world = SimWorld::new(3);
    let open = |world: &SimWorld| {
        let builder = Builder::new("/db").env(world.env());
        builder.open_database().unwrap()
    };
    for _ in 0..2 {
        let database = open(&world);
        assert_eq!(format_of(&database), FORMAT_VERSION);
        crate::db::manual::close(database.core()).unwrap();
    }
    let database = open(&world);
    let core = Arc::clone(database.core());
    raise_format(&core, FORMAT_NEWEST).unwrap();
    raise_format(&core, FORMAT_VERSION).unwrap();
    // As who looked before, and comes behind another who went further.
    let version = FORMAT_VERSION + 1;
    install(&core, vec![Change::SetFormat { version }], None).unwrap();
    assert_eq!(format_of(&database), FORMAT_NEWEST);
    let durable = world.after_crash(CrashMode::LoseUnsynced, 1);
    let database = open(&durable);
    assert_eq!(format_of(&database), FORMAT_NEWEST);
    crate::db::manual::close(database.core()).unwrap();
}
