//! Programs that once failed, as they were after shrinking.
