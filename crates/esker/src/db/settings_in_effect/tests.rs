//! Tests of `settings_in_effect`.

use crate::base::options::call::Durability;
use crate::db::handle::Db;
use crate::env::sim::SimWorld;

#[test]
fn a_write_is_asked_to_survive_what_all_settings_say() {
    // Every level, at opening and then live; what a write asks for is what the settings tell.
    for (name, level) in Durability::NAMES {
        let builder = Db::builder("db").env(SimWorld::new(1).env());
        let db = builder.set("durability", name).unwrap().open().unwrap();
        let settings = &db.database().core().settings;
        assert_eq!(settings.durability(), level);
        for (name, level) in Durability::NAMES {
            db.set("durability", name).unwrap();
            assert_eq!(settings.durability(), level);
            assert_eq!(settings.load().db.durability, level);
        }
    }
}
