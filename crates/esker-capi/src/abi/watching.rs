//! The section "Watching" of `esker/c.h`: what a database counts, and what it does, as it happens.

use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::Arc;

use esker::{Error, Event, EventListener};

use crate::abi::arguments::{live, place};
use crate::abi::builder::EskerBuilder;
use crate::abi::callback::{Destroy, State};
use crate::abi::database::EskerDb;
use crate::answer::{Done, answer};

/// `esker_counter_visitor` of `esker/c.h`.
pub type CounterVisitor = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        name: *const c_char,
        meaning: *const c_char,
        count: u64,
    ) -> c_int,
>;

/// `esker_hear` of `esker/c.h`.
pub type Hear = Option<unsafe extern "C" fn(state: *mut c_void, line: *const c_char)>;

/// A listener made of a callback.
struct Callback {
    hear: unsafe extern "C" fn(*mut c_void, *const c_char),
    state: State,
}

impl EventListener for Callback {
    fn on_event(&self, event: &Event) {
        let line = c_text(&event.to_string());
        // SAFETY: the caller's function and state; the line lives until it returns.
        unsafe { (self.hear)(self.state.place(), line.as_ptr()) };
    }
}

/// A text for a callback; a NUL in it becomes a space.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// `esker_db_counters` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_counters(
    db: *const EskerDb,
    visit: CounterVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
        for (name, meaning, count) in db.db.stats().counters {
            let (name, meaning) = (c_text(name), c_text(meaning));
            // SAFETY: the caller's function, and its own state, by the rule of this room.
            if unsafe { visit(state, name.as_ptr(), meaning.as_ptr(), count) } != 0 {
                break;
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_builder_event_listener` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_event_listener(
    builder: *mut EskerBuilder,
    hear: Hear,
    state: *mut c_void,
    destroy: Destroy,
) -> c_int {
    let state = State::new(state, destroy);
    answer(|| {
        // SAFETY: the caller's builder, by the rule of this room.
        let builder = unsafe { place("builder", builder) }?;
        let hear = hear.ok_or_else(|| Error::invalid("hear is NULL"))?;
        let listener = Arc::new(Callback { hear, state });
        builder.change(|builder| builder.event_listener(listener));
        Ok(Done::Ok)
    })
}
