//! Drawings in SVG: bars of ratios, dots of rates.
//!
//! Law: a drawing is plain shapes and text with classes; only `style` knows a colour, so that the
//! same drawing serves light and dark, page and file. Every text is escaped in `paint`.

pub mod style;
pub mod scale;
pub mod paint;
pub mod rows;
pub mod main_chart;
