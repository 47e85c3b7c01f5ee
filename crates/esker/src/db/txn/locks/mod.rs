//! The lock table: who may read or write which key, or which keyspace, and who waits for whom.
//!
//! An owner is one transaction, or one write outside of any. It takes locks by `owned_locks` and
//! releases them together; `lock_table` has what all owners share. Keys are known by keyspace and
//! hash: two keys with one hash share a lock, so the owner of one waits for the owner of the other,
//! and no more comes of it. What a transaction has locked first is noted in full in `lock_notes`.
//!
//! Law: a lock changes hands only under its stripe; whoever begins to wait, or ceases to, does so
//! under `waits`, and only one at a time. No file, and nothing of what the locks protect.
//!
//! Not here: what is read or written under a lock, and what a user is told when one is refused.

pub mod lock_mode;
pub mod lock_id;
pub mod refused;
pub mod lock;
pub mod stripe;
pub mod cycle;
pub mod waits;
pub mod lock_table;
pub mod waiting;
pub mod lock_notes;
pub mod owned_locks;
