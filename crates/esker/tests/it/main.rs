//! The integration tests of the engine, in one program so that they link once.

#![allow(clippy::disallowed_methods, reason = "a test stands in the real world")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod stored_bytes;
mod compressions;
mod scripts;
mod bad_input;
mod basics;
mod batch_ends;
mod examples;
mod live;
mod model;
mod seeds;
mod watched_fs;
mod balance;
mod journal;
mod workload;
mod crash;
mod lives;
mod lives_damage;
mod lost;
mod lives_stray;
mod closing;
mod events;
mod faults;
mod flips;
mod damage;
mod saved;
mod past_damage;
mod kill;
mod kill_prepared;
mod threads;
mod time_to_live;
mod transactions;
mod lock_model;
mod transactions_model;
mod locking;
mod retaining;
mod expiries;
mod held;
mod hooks;
mod jobs;
mod left_out;
mod leftovers;
mod checkpoint;
mod ingest;
mod ingest_copies;
mod file_sets;
mod beside;
mod repair;
mod rebuilt;
#[cfg(all(feature = "lz4", feature = "snappy", feature = "zstd"))]
mod fixture;
#[cfg(all(feature = "lz4", feature = "snappy", feature = "zstd"))]
mod fixture_values;
#[cfg(all(feature = "lz4", feature = "snappy", feature = "zstd"))]
mod formats;
#[cfg(all(feature = "lz4", feature = "snappy", feature = "zstd"))]
mod fixture_searchable;
#[cfg(not(all(feature = "lz4", feature = "snappy", feature = "zstd")))]
mod not_built;
// Counts descriptors as Linux lists them.
#[cfg(target_os = "linux")]
mod limits;
mod memory;
mod meeting;
mod millis;
mod space;
mod large_values;
mod two_phases;
mod claim_waits;
mod ordered_commit;
mod marks;
mod own_segments;
mod own_log;
mod flush_groups;
mod marks_crash;
mod own_clock;
mod two_phases_model;
mod typed_records;
mod value_pool;
mod searchable;
mod pieces;
mod settling;
mod deletes;
mod read_cost;
mod intra_l0;
mod pinned;
mod long_keys;
mod obsolete;
