//! Tests of work that is compiled twice.

use super::*;

/// Shifts a number by each of some counts.
struct Shifts<'a> {
    number: u64,
    counts: &'a [u32],
}

impl Shifting for Shifts<'_> {
    type Done = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let shifted = self.counts.iter().map(|count| self.number >> count);
        shifted.fold(0, u64::wrapping_add)
    }
}

#[test]
fn both_kinds_give_the_same() {
    // Whatever the processor of this machine has, what it computes is what is written.
    let counts: Vec<u32> = (0..64).collect();
    for number in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
        let work = || Shifts {
            number,
            counts: &counts,
        };
        assert_eq!(shifting(work()), work().run());
    }
}
