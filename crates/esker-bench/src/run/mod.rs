//! How work is driven: threads, warm-up, stop rule, the live line.
//!
//! Law: nothing here knows what an operation is. Threads count what they finish in a cell of
//! their own; one observer looks at the cells and never stands in a thread's way.

pub mod course;
pub mod lane;
pub mod execute;
pub mod live;
pub mod calls;
