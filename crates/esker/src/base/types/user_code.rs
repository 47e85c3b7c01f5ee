//! Where the engine calls what a user plugged in: marked while it runs, its panics caught.
//!
//! A merge operator or an order is called in the middle of the engine's work, under its locks and
//! on its threads. So it must not call the database, which might wait for that very work: the
//! thread carries a mark while it is in such code, and every operation that finds it refuses. And
//! a panic of it must end where it was called, not in the middle of a write.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::base::types::error::{Error, Result};

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
    static HAS_PANICKED: Cell<bool> = const { Cell::new(false) };
    static LISTENING_TO: Cell<usize> = const { Cell::new(0) };
    static IS_ANSWERING: Cell<bool> = const { Cell::new(false) };
}

/// Marks the thread for as long as it lives.
struct Mark {
    was_running: bool,
    has_ended: bool,
}

impl Drop for Mark {
    fn drop(&mut self) {
        IS_RUNNING.set(self.was_running);
        if !self.has_ended {
            HAS_PANICKED.set(true);
        }
    }
}

/// Runs code of the user's under the mark. A panic goes through, and takes the mark off.
pub fn run<T>(code: impl FnOnce() -> T) -> T {
    let mut mark = Mark {
        was_running: IS_RUNNING.replace(true),
        has_ended: false,
    };
    let done = code();
    mark.has_ended = true;
    done
}

/// As [`run`]; the `Err` is the text of a panic.
pub fn catch<T>(code: impl FnOnce() -> T) -> std::result::Result<T, String> {
    // What the code shares with later calls is its author's, as where a lock is poisoned.
    catch_unwind(AssertUnwindSafe(|| run(code))).map_err(|panic| {
        HAS_PANICKED.set(false);
        panic_text(panic)
    })
}

/// Runs code of the user's that hears of events of `whose`: under no lock of the engine's, so that
/// it may call the database. The `Err` is the text of a panic.
pub fn listen(whose: usize, code: impl FnOnce()) -> std::result::Result<(), String> {
    let outer = LISTENING_TO.replace(whose);
    // An order that panics in what it calls is told to it, and to nobody else.
    let had_panicked = HAS_PANICKED.get();
    // What it shares with later calls is its author's, as above.
    let heard = catch_unwind(AssertUnwindSafe(code));
    LISTENING_TO.set(outer);
    HAS_PANICKED.set(had_panicked);
    heard.map_err(panic_text)
}

/// As [`listen`], for what flushes wait for: it may write, and must not wait.
pub fn answer(whose: usize, code: impl FnOnce()) -> std::result::Result<(), String> {
    let outer = IS_ANSWERING.replace(true);
    let heard = listen(whose, code);
    IS_ANSWERING.set(outer);
    heard
}

/// Whether flushes wait for the code of the user's that this thread is in.
pub fn is_answering() -> bool {
    IS_ANSWERING.get()
}

/// Whose events this thread is telling to a listener now; 0 where it tells none.
pub fn listening_to() -> usize {
    LISTENING_TO.get()
}

/// Does work of the engine that calls an order on the way: a panic of the order ends it and is
/// told as `Invalid`, to who has no other way to learn whose fault it is. A panic of the engine
/// goes through.
pub fn told<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    HAS_PANICKED.set(false);
    // What the work has left half done it puts right when it is unwound.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        if !HAS_PANICKED.take() {
            resume_unwind(panic);
        }
        let text = panic_text(panic);
        let message = format!("the comparator panicked: {text}; mend it, and try again");
        Err(Error::invalid(message))
    })
}

/// Whether this thread is in code of the user's that the engine called.
#[inline]
pub fn is_running() -> bool {
    IS_RUNNING.get()
}

/// `Invalid` where [`is_running`].
#[inline]
pub fn refuse() -> Result<()> {
    match is_running() {
        true => Err(refused()),
        false => Ok(()),
    }
}

/// As [`refuse`] for calls that cannot return an error.
///
/// # Panics
/// Where [`is_running`]: instead of waiting for ever.
pub fn forbid() {
    assert!(!is_running(), "{REFUSED}");
}

const REFUSED: &str = "a merge operator, a comparator or a retain rule called the database that \
                       called it, which would wait for itself; have it use its arguments only, or \
                       another thread";

#[cold]
fn refused() -> Error {
    Error::invalid(REFUSED)
}

/// What a panic said.
pub fn panic_text(panic: Box<dyn Any + Send>) -> String {
    if let Some(text) = panic.downcast_ref::<&str>() {
        return (*text).to_string();
    }
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(other) => {
            // Dropping it might panic once more.
            std::mem::forget(other);
            "no message".to_string()
        }
    }
}

#[cfg(test)]
mod tests;
