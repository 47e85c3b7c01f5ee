//! What each command does, group by group.

pub mod read;
pub mod write;
pub mod batch;
pub mod keyspaces;
pub mod prepared;
pub mod load;
pub mod look;
pub mod settings_page;
pub mod settings;

pub mod care;
pub mod checkpoint;
pub mod file_sets;
pub mod repair;
pub mod dump_source;
pub mod dump;
pub mod inspect;
pub mod setup;
pub mod bench;
