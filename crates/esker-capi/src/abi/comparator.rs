//! The section "Comparators" of `esker/c.h`: an order of keys of the user's own.

use std::cmp::Ordering;
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use esker::{Comparator, CustomComparator, Error};

use crate::abi::arguments::{give, room, take, text};
use crate::abi::callback::{Destroy, State};
use crate::answer::{Done, answer, told};

/// `esker_compare` of `esker/c.h`.
pub type Compare = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        left: *const c_void,
        left_size: usize,
        right: *const c_void,
        right_size: usize,
    ) -> c_int,
>;

/// `esker_comparator` of `esker/c.h`.
pub struct EskerComparator {
    /// The order.
    pub comparator: Comparator,
}

/// An order made of a callback.
struct Callback {
    name: String,
    compare: unsafe extern "C" fn(*mut c_void, *const c_void, usize, *const c_void, usize) -> c_int,
    state: State,
}

impl CustomComparator for Callback {
    fn name(&self) -> &str {
        &self.name
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        let (left_size, right_size) = (left.len(), right.len());
        let (left, right) = (left.as_ptr().cast(), right.as_ptr().cast());
        // SAFETY: the caller's function and state; both keys live until it returns.
        let told =
            unsafe { (self.compare)(self.state.place(), left, left_size, right, right_size) };
        told.cmp(&0)
    }
}

/// `esker_comparator_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_comparator_new(
    name: *const c_char,
    compare: Compare,
    state: *mut c_void,
    destroy: Destroy,
    comparator: *mut *mut EskerComparator,
) -> c_int {
    let state = State::new(state, destroy);
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (comparator, name) = unsafe { (room("comparator", comparator)?, text("name", name)?) };
        let compare = compare.ok_or_else(|| Error::invalid("compare is NULL"))?;
        let callback = Callback {
            name: name.to_owned(),
            compare,
            state,
        };
        *comparator = give(EskerComparator {
            comparator: Comparator::Custom(Arc::new(callback)),
        });
        Ok(Done::Ok)
    })
}

/// `esker_comparator_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_comparator_free(comparator: *mut EskerComparator) {
    // SAFETY: NULL, or it came from `esker_comparator_new` and the caller gives it up.
    told((), || drop(unsafe { take(comparator) }));
}
