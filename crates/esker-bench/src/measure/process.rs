//! What this process used: processor, memory, bytes read and written.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// What the process used so far, or between two moments. Bytes are 0 where the system does not
/// tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Seconds of processor, all threads together.
    pub cpu_s: f64,
    /// Most memory held at once since [`Usage::begin`], in bytes.
    pub peak_rss_bytes: u64,
    /// Bytes that the process caused to be read from storage.
    pub device_read_bytes: u64,
    /// Bytes that the process caused to be written to storage.
    pub device_write_bytes: u64,
}

impl Usage {
    /// Starts counting the most memory from here on, and says what was used so far.
    pub fn begin() -> Usage {
        forget_peak();
        Usage::now()
    }

    /// What was used so far.
    pub fn now() -> Usage {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(cpu.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(cpu.tv_nsec).unwrap_or(0);
        let cpu = Duration::from_secs(seconds) + Duration::from_nanos(nanos);
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let bytes = |name| field(&io, name).unwrap_or(0);
        Usage {
            cpu_s: cpu.as_secs_f64(),
            peak_rss_bytes: peak_bytes().unwrap_or(0),
            device_read_bytes: bytes("read_bytes"),
            device_write_bytes: bytes("write_bytes"),
        }
    }

    /// What was used between `earlier` and this moment; the most memory is that of this moment.
    pub fn since(&self, earlier: &Usage) -> Usage {
        Usage {
            cpu_s: (self.cpu_s - earlier.cpu_s).max(0.0),
            peak_rss_bytes: self.peak_rss_bytes,
            device_read_bytes: self
                .device_read_bytes
                .saturating_sub(earlier.device_read_bytes),
            device_write_bytes: self
                .device_write_bytes
                .saturating_sub(earlier.device_write_bytes),
        }
    }
}

/// The most bytes of memory that this process held so far, or since [`forget_peak`]; `None` where
/// the system does not tell.
pub fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    // The file counts in units of 1024 bytes.
    Some(field(&status, "VmHWM")? << 10)
}

/// Starts counting the most memory from here on, where the system can.
pub fn forget_peak() {
    // Systems that do not know the call go on counting from the start of the process: the number
    // is then an upper bound.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The number behind `name:` at the start of a line.
pub fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.strip_prefix(':')?;
        rest.split_whitespace().next()?.parse().ok()
    })
}

#[cfg(test)]
mod tests;
