//! Whole benchmarks: those of others with their figures beside ours, and that of the service.
//!
//! Law: at size `full` a scenario does what the document did; smaller sizes do the same with fewer
//! keys. What differs from the document is said in the output, each time.

pub mod size;
pub mod service_line;
pub mod request;
pub mod stage;
pub mod fence;
pub mod review_mix;
pub mod review_source;
pub mod db_bench_run;
pub mod merge_counters;
pub mod leveldb_list;
pub mod growth;
pub mod large_source;
pub mod large_goals;
pub mod large_overwrite;
pub mod large_values;
pub mod review_load;
pub mod review_write;
pub mod review_read;
pub mod review_goals;
pub mod reviews;
pub mod sql;
pub mod pegasus_lines;
pub mod pegasus;
pub mod service;
pub mod list;
pub mod entry;
