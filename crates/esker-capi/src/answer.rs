//! How a call answers C: a number, the text kept for `esker_errmsg`, and no panic.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

use esker::{Error, ErrorKind, Result};

/// How a call ended that did what it was asked: `ESKER_OK` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// It happened, or the cursor is at an entry.
    Ok,
    /// The key is not there, or the cursor is at no entry. No failure: it has no text.
    NotFound,
    /// What was found takes more room than there was; how much was told. No failure either.
    BufferTooSmall,
    /// What a write asked for first was not so, and nothing was written. No failure either.
    Unchanged,
}

impl Done {
    /// The one for something that is there or is not.
    pub fn if_found(is_there: bool) -> Done {
        if is_there { Done::Ok } else { Done::NotFound }
    }

    /// The one for a write with a condition.
    pub fn if_changed(has_changed: bool) -> Done {
        if has_changed {
            Done::Ok
        } else {
            Done::Unchanged
        }
    }
}

/// `ESKER_PANIC`: a fault of the engine, or of code of the user that the engine called.
const PANIC: c_int = 17;
/// `ESKER_OTHER`: a kind of error that this version of the interface does not know.
const OTHER: c_int = 18;
/// `ESKER_BUFFER_TOO_SMALL`: it came after the others had their numbers.
const BUFFER_TOO_SMALL: c_int = 19;
/// `ESKER_UNCHANGED`.
const UNCHANGED: c_int = 20;

/// Every code, its kind where it is an error of the engine, and its word.
const CODES: [(c_int, Option<ErrorKind>, &CStr); 22] = [
    (0, None, c"ok"),
    (1, None, c"not found"),
    (2, Some(ErrorKind::Invalid), c"invalid"),
    (3, Some(ErrorKind::TooLarge), c"too large"),
    (4, Some(ErrorKind::Unsupported), c"unsupported"),
    (5, Some(ErrorKind::NotBuilt), c"not built"),
    (6, Some(ErrorKind::Corruption), c"corruption"),
    (7, Some(ErrorKind::Io), c"io"),
    (8, Some(ErrorKind::OutOfSpace), c"out of space"),
    (9, Some(ErrorKind::OutOfFiles), c"out of files"),
    (10, Some(ErrorKind::Locked), c"locked"),
    (11, Some(ErrorKind::Busy), c"busy"),
    (12, Some(ErrorKind::Conflict), c"conflict"),
    (13, Some(ErrorKind::LockTimeout), c"lock timeout"),
    (14, Some(ErrorKind::Deadlock), c"deadlock"),
    (15, Some(ErrorKind::Faulted), c"faulted"),
    (16, Some(ErrorKind::Closed), c"closed"),
    (PANIC, None, c"panic"),
    (OTHER, None, c"other"),
    (BUFFER_TOO_SMALL, None, c"buffer too small"),
    (UNCHANGED, None, c"unchanged"),
    (21, Some(ErrorKind::Interrupted), c"interrupted"),
];

/// Most bytes of a text for `esker_errmsg`, its NUL included: what is longer is a report, and cut.
const TEXT_BYTES_MAX: usize = 4 << 10;

thread_local! {
    /// Why the last call of this thread that failed did so, up to the first NUL. It never moves:
    /// in `printf("%d %s", esker_put(…), esker_errmsg())` C may ask for the text first.
    static LAST: RefCell<Box<[u8]>> = RefCell::new(vec![0; TEXT_BYTES_MAX].into());
}

/// Runs `act`, and answers with its code. What a panic may have left half done is the engine's,
/// which refuses further writes then.
pub fn answer(act: impl FnOnce() -> Result<Done>) -> c_int {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(Done::Ok)) => 0,
        Ok(Ok(Done::NotFound)) => 1,
        Ok(Ok(Done::BufferTooSmall)) => BUFFER_TOO_SMALL,
        Ok(Ok(Done::Unchanged)) => UNCHANGED,
        Ok(Err(error)) => {
            remember(&error.to_string());
            code_of(error.kind())
        }
        Err(panic) => {
            panicked(panic);
            PANIC
        }
    }
}

/// Runs `act`, which cannot fail; after a panic all the same, the answer is `otherwise`.
pub fn told<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        panicked(panic);
        otherwise
    })
}

/// Why the last call of this thread that failed did so, always at the same place; a thread that is
/// ending has no text any more.
pub fn last_text() -> *const c_char {
    LAST.try_with(|last| last.borrow().as_ptr().cast())
        .unwrap_or(c"".as_ptr())
}

/// The word for a code, as messages have it; `None` for a number that is none.
pub fn word(code: c_int) -> Option<&'static CStr> {
    let row = CODES.iter().find(|row| row.0 == code);
    row.map(|row| row.2)
}

/// Whether a call with that answer may succeed later without anyone changing anything.
pub fn is_retryable(code: c_int) -> bool {
    let kind = CODES.iter().find(|row| row.0 == code).and_then(|row| row.1);
    kind.is_some_and(|kind| Error::new(kind, "").is_retryable())
}

/// The code that tells a callback how something ended.
pub fn code_for(result: &Result<()>) -> c_int {
    result
        .as_ref()
        .err()
        .map_or(0, |error| code_of(error.kind()))
}

fn code_of(kind: ErrorKind) -> c_int {
    let row = CODES.iter().find(|row| row.1 == Some(kind));
    row.map_or(OTHER, |row| row.0)
}

fn remember(text: &str) {
    let most = text.len().min(TEXT_BYTES_MAX - 1);
    let end = (0..=most).rfind(|&end| text.is_char_boundary(end));
    let text = &text[..end.unwrap_or(0)];
    // A thread that is ending has nobody left to ask.
    let _ = LAST.try_with(|last| {
        let mut last = last.borrow_mut();
        let bytes = text.bytes().map(|byte| if byte == 0 { b' ' } else { byte });
        let with_nul = bytes.chain([0]);
        last.iter_mut()
            .zip(with_nul)
            .for_each(|(kept, byte)| *kept = byte);
    });
}

fn panicked(panic: Box<dyn Any + Send>) {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("it said nothing");
    remember(&format!(
        "panic: {text}; close the database and open it again; unless it came from a callback of \
         yours, please report it"
    ));
    // What a panic carries may panic when it is dropped.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
}

#[cfg(test)]
mod tests;
