//! Work compiled twice: for any processor, and for one that shifts in a single step.
#![allow(unsafe_code)]

/// Work that mostly shifts by counts that are not known before. Its `run`, and all that calls,
/// is `#[inline(always)]`, so that [`shifting`] has it compiled twice.
pub trait Shifting {
    /// What comes out.
    type Done;

    /// Does the work.
    fn run(self) -> Self::Done;
}

/// Does the work with the instructions that shift in one step instead of three, where the
/// processor has them (BMI2: most since 2013). Decoding takes an eighth less time with them.
#[inline]
pub fn shifting<W: Shifting>(work: W) -> W::Done {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        #[target_feature(enable = "bmi1,bmi2")]
        fn with_bmi2<W: Shifting>(work: W) -> W::Done {
            work.run()
        }
        if is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2") {
            // SAFETY: the processor has just said that it has these instructions.
            return unsafe { with_bmi2(work) };
        }
    }
    work.run()
}

#[cfg(test)]
mod tests;
