//! What a user may set.
//!
//! Law: plain data and pure functions; nothing here acts. Each setting is told once, in the
//! catalogue; parsing, help, reports and the manifest all follow from there.
//!
//! Settings enter as text (`resolve`) or as structs filled in code; either way `automatic` fills
//! in what was left to the engine and `check` refuses what cannot work.

mod quantity;
pub mod sst;
pub mod keyspace;
pub mod call;
pub mod db;
pub mod profile;
pub mod codec;
pub mod setting;
mod catalog_db;
mod catalog_keyspace;
pub mod catalog;
mod typed;
pub mod pairs;
pub(crate) mod alias;
pub mod automatic;
pub mod check;
pub mod resolve;
