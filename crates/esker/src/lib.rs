//! Esker: an embedded, ordered key-value engine in the shape of a log-structured merge tree.
//!
//! The five floors, from the ground up; a file imports only from what is declared above it.

pub mod base;
pub mod env;
pub mod store;
pub mod flow;
