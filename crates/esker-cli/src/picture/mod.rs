//! Pictures of the tree: levels by key range, each file a rectangle whose area is its bytes.
//!
//! `map` is the plain facts, `axis` turns keys into places, `strip` draws on a terminal, `svg`
//! and `page` for a browser. Nothing here opens a database.

pub mod map;
pub mod axis;
pub mod strip;
pub mod svg;
pub mod page;
