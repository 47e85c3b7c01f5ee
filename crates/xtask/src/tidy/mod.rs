//! The written rules of the house, checked like a test.
//!
//! Each check is a function from the whole tree of sources to findings; it reads no file and
//! prints nothing, so that its tests can plant a violation in memory. A check that cannot fail
//! is a defect: every rule has a test that makes it fire.
//!
//! Not here: calls that only env/real may make (clippy.toml), formatting (rustfmt.toml).

pub mod finding;
pub mod lexer;
pub mod source;
pub mod paths;
pub mod modules;
pub mod manifest;
pub mod tree;
pub mod text;
pub mod shape;
pub mod names;
pub mod rooms;
pub mod doors;
pub mod dead;
pub mod floors;
pub mod arrows;
pub mod run;
