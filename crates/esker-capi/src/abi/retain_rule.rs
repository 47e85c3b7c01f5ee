//! The section "Retain rules" of `esker/c.h`: which values live on when files are rewritten.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use esker::{Error, Expiry, Result, Retain, RetainEntry, RetainRule};

use crate::abi::arguments::{give, named, room, take, tell, text};
use crate::abi::callback::{Destroy, State};
use crate::answer::{Done, answer, told};

/// `esker_retain_entry` of `esker/c.h`; lives while the callback runs.
pub struct EskerRetainEntry<'a> {
    entry: &'a RetainEntry<'a>,
}

/// `esker_retain_call` of `esker/c.h`.
pub type RetainCall =
    Option<unsafe extern "C" fn(state: *mut c_void, entry: *const EskerRetainEntry<'_>) -> c_int>;

/// `esker_retain_rule` of `esker/c.h`.
pub struct EskerRetainRule {
    /// The rule.
    pub rule: Arc<dyn RetainRule>,
}

/// A rule made of a callback.
struct Callback {
    name: String,
    retain: unsafe extern "C" fn(*mut c_void, *const EskerRetainEntry<'_>) -> c_int,
    state: State,
}

impl RetainRule for Callback {
    fn name(&self) -> &str {
        &self.name
    }

    fn retain(&self, entry: &RetainEntry<'_>) -> Result<Retain> {
        let asked = EskerRetainEntry { entry };
        // SAFETY: the caller's function and state; the entry lives until it returns.
        match unsafe { (self.retain)(self.state.place(), &raw const asked) } {
            1 => Ok(Retain::Keep),
            0 => Ok(Retain::Drop),
            code => Err(Error::invalid(format!("{} answered {code}", self.name))),
        }
    }
}

/// `esker_retain_rule_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_retain_rule_new(
    name: *const c_char,
    retain: RetainCall,
    state: *mut c_void,
    destroy: Destroy,
    rule: *mut *mut EskerRetainRule,
) -> c_int {
    let state = State::new(state, destroy);
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (rule, name) = unsafe { (room("rule", rule)?, text("name", name)?) };
        let retain = retain.ok_or_else(|| Error::invalid("retain is NULL"))?;
        let callback = Callback {
            name: name.to_owned(),
            retain,
            state,
        };
        *rule = give(EskerRetainRule {
            rule: Arc::new(callback),
        });
        Ok(Done::Ok)
    })
}

/// `esker_retain_rule_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_retain_rule_free(rule: *mut EskerRetainRule) {
    // SAFETY: NULL, or it came from `esker_retain_rule_new` and the caller gives it up.
    told((), || drop(unsafe { take(rule) }));
}

/// `esker_retain_entry_key` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_retain_entry_key(
    entry: *const EskerRetainEntry<'_>,
    size: *mut usize,
) -> *const c_void {
    told(std::ptr::null(), || {
        // SAFETY: NULL, or the entry of the callback that runs, by the rule of this room.
        let key = unsafe { entry.as_ref() }.map(|asked| asked.entry.key);
        // SAFETY: NULL or room, by the rule of this room.
        unsafe { tell(size, key.map_or(0, <[u8]>::len)) };
        key.map_or(std::ptr::null(), |key| key.as_ptr().cast())
    })
}

/// `esker_retain_entry_value` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_retain_entry_value(
    entry: *const EskerRetainEntry<'_>,
    data: *mut *const c_void,
    size: *mut usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let asked = unsafe {
            tell(data, std::ptr::null());
            tell(size, 0);
            named("entry", entry)?
        };
        let value = asked.entry.value()?;
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(data, value.as_ptr().cast());
            tell(size, value.len());
        }
        Ok(Done::Ok)
    })
}

/// `esker_retain_entry_times` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_retain_entry_times(
    entry: *const EskerRetainEntry<'_>,
    expiry_unix_ms: *mut u64,
    now_unix_ms: *mut u64,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let asked = unsafe { named("entry", entry)? };
        // SAFETY: each NULL or room, by the rule of this room.
        unsafe {
            tell(
                expiry_unix_ms,
                asked.entry.expiry.map_or(0, Expiry::unix_ms),
            );
            tell(now_unix_ms, asked.entry.now_unix_ms);
        }
        Ok(Done::Ok)
    })
}
