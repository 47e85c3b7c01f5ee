//! Work is told from idling by the processor's time alone.

use super::*;

fn used(cpu_ms: u64) -> Used {
    Used {
        cpu_ms,
        ..Used::default()
    }
}

#[test]
fn a_tenth_of_a_processor_is_idling_and_more_is_work() {
    assert!(!is_busy(used(1000), used(1050), LOOK));
    assert!(is_busy(used(1000), used(1060), LOOK));
    // A server that has ended is told to have used nothing.
    assert!(!is_busy(used(1000), used(0), LOOK));
}
