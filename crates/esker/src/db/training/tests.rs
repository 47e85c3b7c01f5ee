//! Tests of `training`.

use super::*;

#[test]
fn a_sample_fits_into_the_memory_for_training() {
    // From the smallest limit to large ones: what training from the sample takes is within the
    // share that it was chosen for, and all but the last bytes of it.
    for shift in 20..34 {
        let memory_bytes = 1_u64 << shift;
        let taken = memory_of(sample_for(memory_bytes));
        assert!(taken <= memory_bytes, "{taken} of {memory_bytes}");
        assert!(taken + MEMORY_PER_FIRST_BYTE > memory_bytes);
    }
}
