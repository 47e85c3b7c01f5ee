//! Tests of what the process used.

use super::*;

#[test]
fn work_costs_processor_time_and_memory() {
    // A loop over 32 MiB: the processor's clock moved, and the peak holds the memory.
    let before = Usage::begin();
    let bytes = vec![1_u8; 32 << 20];
    let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
    assert_eq!(sum, 32 << 20);
    let used = Usage::now().since(&before);
    assert!(used.cpu_s > 0.0);
    assert!(used.peak_rss_bytes >= 32 << 20);
}

#[test]
fn fields_are_found_by_their_whole_name() {
    // `read_bytes` is not `cancelled_read_bytes`, and a missing line is nothing.
    let text = "cancelled_read_bytes: 7\nread_bytes: 12\nVmHWM:\t  34 kB\n";
    assert_eq!(field(text, "read_bytes"), Some(12));
    assert_eq!(field(text, "VmHWM"), Some(34));
    assert_eq!(field(text, "wchar"), None);
}
