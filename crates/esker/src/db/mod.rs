//! The house: parts put together, and the public API.
//!
//! Law: `core` owns the parts and has no verbs; each verb is a file of functions that take what
//! they need. Only `install` changes the set of files, only `file_deletion` removes any, and the
//! handles hold no logic.

pub mod identity;
pub mod snapshots;
pub mod read_cost;
pub mod keyspace;
pub mod file_list;
pub mod obsolete_files;
pub mod pinned_tables;
pub mod left_out;
pub mod rest;
pub mod work;
pub mod core;
pub mod install;
pub mod file_deletion;
pub mod space;
pub mod dead_space;
pub mod write_control;
pub mod flushing;
pub mod occasion;
pub mod compaction_memory;
pub mod running_compaction;
pub mod compaction;
pub mod intra_l0;
pub mod value_flushing;
pub mod training;
pub mod job;
pub mod worker;
pub mod settling;
pub mod flush_wait;
pub mod flush_barrier;
pub mod open_keyspace;
pub mod assemble;
pub mod directory;
pub mod log_survey;
pub mod beside_writer;
pub mod torn_log;
pub mod needed_compressions;
pub mod recover;
pub mod live_settings;
pub mod manual;
pub mod backup;
pub mod inspect;
pub mod database_ref;
pub mod moment;
pub mod cursor;
pub mod iterator;
pub mod writing;
pub mod reading;
pub mod readable;
pub mod keyspace_handle;
pub mod atomic_change;
pub mod snapshot;
pub mod write_batch;
pub mod open;
pub mod typed_settings;
pub mod statistics;
pub mod statistics_page;
pub mod prometheus;
pub mod properties;
pub mod handle;
