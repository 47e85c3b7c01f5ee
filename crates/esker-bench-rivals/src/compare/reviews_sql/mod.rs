//! Reviews in tables of a SQL server: each engine in a server of its own, in turns.
//!
//! The plan, the settings and what is judged are of `esker_bench::scenario::suite::sql`. Here are
//! the processes and the client, which are built with the feature `mariadb` and not without.

#[cfg(feature = "mariadb")]
pub mod session;
#[cfg(feature = "mariadb")]
pub mod server;
#[cfg(feature = "mariadb")]
pub mod load;
#[cfg(feature = "mariadb")]
pub mod calls;
#[cfg(feature = "mariadb")]
pub mod mix;
#[cfg(feature = "mariadb")]
pub mod indexed;
#[cfg(feature = "mariadb")]
pub mod desk;
#[cfg(feature = "mariadb")]
pub mod rest;
#[cfg(feature = "mariadb")]
pub mod play;
pub mod entry;
