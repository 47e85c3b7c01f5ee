//! Locks, condition variables and atomics of the parts whose every interleaving is checked.
//!
//! The standard library's, and the same names from the model checker `loom` when the crate's own
//! tests are built with `--cfg loom`. What takes them from here can stand in a model
//! (`scripts/loom.sh`), and works outside a model only without that flag.

#[cfg(not(all(loom, test)))]
pub use arc_swap::{ArcSwap, Guard};
#[cfg(not(all(loom, test)))]
pub use std::sync::{Condvar, Mutex, MutexGuard, RwLock, atomic};

#[cfg(all(loom, test))]
pub use crate::env::primitives::modelled::{ArcSwap, Condvar, Guard};
#[cfg(all(loom, test))]
pub use loom::sync::{Mutex, MutexGuard, RwLock, atomic};

#[cfg(all(loom, test))]
mod modelled;
