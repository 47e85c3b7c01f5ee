//! Pages in HTML that need nothing else: no network, no script, light and dark, screen and phone.
//!
//! `markup` and `shell` are what any page is made of; the other files are the sections of a
//! report. Whoever has a run to show calls `report::write`, perhaps with sections of their own.

pub mod markup;
pub mod shell;
pub mod goals;
pub mod speed;
pub mod latency;
pub mod costs;
pub mod limits;
pub mod figures;
pub mod past;
pub mod conditions;
pub mod report;
