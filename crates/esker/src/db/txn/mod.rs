//! What a transaction is made of: its own writes, what it read, and who else is under way.
//!
//! Law: nothing here writes to the database. A transaction becomes one batch, with the conditions
//! under which it may be written, and goes down the one write path.
//!
//! Not here: the handle that a user holds (`db/transaction`).

#[cfg(test)]
mod test_keyspace;
pub mod locks;
pub mod live;
pub mod own_writes;
pub mod read_set;
pub mod for_update;
pub mod state;
