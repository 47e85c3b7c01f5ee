//! All limits of one table, as shares of a partition.

use std::collections::BTreeMap;

use crate::throttle::form::{Denial, Throttle, parse_read_bytes};

/// Calls that write, a second.
pub const WRITE_COUNT: &str = "replica.write_throttling";

/// Bytes that are written, a second.
pub const WRITE_BYTES: &str = "replica.write_throttling_by_size";

/// Calls that read, a second.
pub const READ_COUNT: &str = "replica.read_throttling";

/// Bytes that are read, a second.
pub const READ_BYTES: &str = "replica.read_throttling_by_size";

/// Who is denied.
pub const DENIAL: &str = "replica.deny_client_request";

/// What one partition of a table takes within a second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableLimits {
    /// Who is denied.
    pub denial: Option<Denial>,
    /// Calls that write.
    pub write_count: Throttle,
    /// Bytes of their arguments.
    pub write_bytes: Throttle,
    /// Calls that read.
    pub read_count: Throttle,
    /// Bytes of their answers.
    pub read_bytes: Option<u64>,
}

impl TableLimits {
    /// What settings say of each of so many partitions; `None` if they limit nothing. What cannot
    /// be read limits nothing: meta has refused it.
    pub fn of(envs: &BTreeMap<String, String>, partition_count: u32) -> Option<TableLimits> {
        let throttle = |key| {
            let told = envs.get(key).and_then(|text| Throttle::parse(text).ok());
            told.unwrap_or_default().share(partition_count)
        };
        let bytes = envs.get(READ_BYTES);
        let bytes = bytes.and_then(|text| parse_read_bytes(text).ok());
        let denial = envs.get(DENIAL);
        let limits = TableLimits {
            denial: denial.and_then(|text| Denial::parse(text).ok()),
            write_count: throttle(WRITE_COUNT),
            write_bytes: throttle(WRITE_BYTES),
            read_count: throttle(READ_COUNT),
            read_bytes: bytes.map(|bytes| (bytes / u64::from(partition_count.max(1))).max(1)),
        };
        (limits != TableLimits::default()).then_some(limits)
    }
}
