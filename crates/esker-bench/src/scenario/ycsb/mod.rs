//! YCSB: its property files, its workloads, its words, on any engine behind the traits.
//!
//! Law: what YCSB prescribes is done to the letter, constants, quirks of its generators and layout
//! of its output included; where it loses numbers to 32 bits or to races, we do not follow.

pub mod properties;
pub mod builtin;
pub mod names;
pub mod zipfian;
pub mod acknowledged;
pub mod record;
pub mod json_record;
pub mod reply;
pub mod meter;
pub mod catalogue;
pub mod workload;
pub mod table;
pub mod chooser;
pub mod stopwatch;
pub mod core_client;
pub mod exporter;
pub mod status;
pub mod arguments;
pub mod plan;
pub mod drive;
pub mod results;
pub mod place;
pub mod phase;
pub mod entry;
