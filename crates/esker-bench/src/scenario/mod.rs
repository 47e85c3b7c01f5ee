//! What is done: db_bench in its dialects.

pub mod db_bench;
