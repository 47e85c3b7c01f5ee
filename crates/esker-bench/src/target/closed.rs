//! A store that is closed: what stands in the place of one while it is being replaced.

use crate::fail::{Failure, Outcome};
use crate::target::counters::Counters;
use crate::target::store::{Batch, Cursor, Store, WriteHow};

/// Answers every call with a failure, and has counted nothing.
#[derive(Clone, Copy, Debug)]
pub struct Closed;

fn refused<T>() -> Outcome<T> {
    Err(Failure::failed("the store is closed"))
}

impl Store for Closed {
    fn put(&self, _: &[u8], _: &[u8], _: WriteHow) -> Outcome {
        refused()
    }

    fn get(&self, _: &[u8], _: &mut dyn FnMut(&[u8])) -> Outcome<bool> {
        refused()
    }

    fn delete(&self, _: &[u8], _: WriteHow) -> Outcome {
        refused()
    }

    fn batch(&self) -> Outcome<Box<dyn Batch + '_>> {
        refused()
    }

    fn cursor(&self) -> Outcome<Box<dyn Cursor + '_>> {
        refused()
    }

    fn flush(&self) -> Outcome {
        refused()
    }

    fn compact(&self) -> Outcome {
        refused()
    }

    fn drain(&self) -> Outcome {
        refused()
    }

    fn property(&self, _: &str) -> Option<String> {
        None
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn close(self: Box<Self>) -> Outcome {
        Ok(())
    }
}
