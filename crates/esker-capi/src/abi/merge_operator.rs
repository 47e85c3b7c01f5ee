//! The section "Merge operators" of `esker/c.h`: how operands fold, by a name or by callbacks.

use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

use esker::{Error, MergeOperator, MergeRule, merge};

use crate::abi::arguments::{bytes, give, place, room, take, text};
use crate::abi::callback::{Destroy, State};
use crate::abi::reading::EskerBytes;
use crate::answer::{Done, answer, told};

/// `esker_buffer` of `esker/c.h`: where a callback puts what it makes.
pub struct EskerBuffer {
    made: Vec<u8>,
}

/// `esker_fold` of `esker/c.h`.
pub type Fold = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        key: EskerBytes,
        base: *const EskerBytes,
        operands: *const EskerBytes,
        count: usize,
        made: *mut EskerBuffer,
    ) -> c_int,
>;

/// `esker_combine` of `esker/c.h`.
pub type Combine = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        key: EskerBytes,
        older: EskerBytes,
        newer: EskerBytes,
        made: *mut EskerBuffer,
    ) -> c_int,
>;

/// `esker_merge_operator` of `esker/c.h`.
pub struct EskerMergeOperator {
    /// The rule.
    pub rule: MergeRule,
}

/// An operator made of callbacks.
struct Callbacks {
    name: String,
    fold: unsafe extern "C" fn(
        *mut c_void,
        EskerBytes,
        *const EskerBytes,
        *const EskerBytes,
        usize,
        *mut EskerBuffer,
    ) -> c_int,
    combine: Combine,
    state: State,
}

impl MergeOperator for Callbacks {
    fn name(&self) -> &str {
        &self.name
    }

    fn fold(&self, key: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let operands: Vec<EskerBytes> = operands
            .iter()
            .map(|operand| EskerBytes::of(operand))
            .collect();
        let base = base.map(EskerBytes::of);
        let base: *const EskerBytes = base.as_ref().map_or(std::ptr::null(), |base| base);
        let mut made = EskerBuffer { made: Vec::new() };
        // SAFETY: the caller's function and state; all that it gets lives until it returns.
        let code = unsafe {
            let (state, all) = (self.state.place(), operands.as_ptr());
            (self.fold)(
                state,
                EskerBytes::of(key),
                base,
                all,
                operands.len(),
                &raw mut made,
            )
        };
        match code {
            0 => Ok(made.made),
            code => Err(format!("{} answered {code}", self.name)),
        }
    }

    fn combine(&self, key: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        let combine = self.combine?;
        let mut made = EskerBuffer { made: Vec::new() };
        // SAFETY: as in `fold`.
        let code = unsafe {
            let (older, newer) = (EskerBytes::of(older), EskerBytes::of(newer));
            combine(
                self.state.place(),
                EskerBytes::of(key),
                older,
                newer,
                &raw mut made,
            )
        };
        (code == 0).then_some(made.made)
    }
}

/// `esker_merge_operator_named` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_merge_operator_named(
    name: *const c_char,
    operator: *mut *mut EskerMergeOperator,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (operator, name) = unsafe { (room("operator", operator)?, text("name", name)?) };
        let rule = match name {
            "uint64add" => merge::uint64_add(),
            "uint64max" => merge::uint64_max(),
            "uint64min" => merge::uint64_min(),
            "bytesxor" => merge::bytes_xor(),
            "put" => merge::put(),
            "append" => merge::append(","),
            _ => match name.strip_prefix("append:") {
                Some(delimiter) => merge::append(delimiter),
                None => {
                    return Err(Error::invalid(format!(
                        "no merge operator comes under the name {name:?}; there are uint64add, \
                         uint64max, uint64min, bytesxor, put, and append:DELIMITER"
                    )));
                }
            },
        };
        *operator = give(EskerMergeOperator { rule });
        Ok(Done::Ok)
    })
}

/// `esker_merge_operator_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_merge_operator_new(
    name: *const c_char,
    fold: Fold,
    combine: Combine,
    state: *mut c_void,
    destroy: Destroy,
    operator: *mut *mut EskerMergeOperator,
) -> c_int {
    let state = State::new(state, destroy);
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (operator, name) = unsafe { (room("operator", operator)?, text("name", name)?) };
        let fold = fold.ok_or_else(|| Error::invalid("fold is NULL"))?;
        let callbacks = Callbacks {
            name: name.to_owned(),
            fold,
            combine,
            state,
        };
        *operator = give(EskerMergeOperator {
            rule: MergeRule(Arc::new(callbacks)),
        });
        Ok(Done::Ok)
    })
}

/// `esker_merge_operator_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_merge_operator_free(operator: *mut EskerMergeOperator) {
    // SAFETY: NULL, or it came from a function that makes one, and the caller gives it up.
    told((), || drop(unsafe { take(operator) }));
}

/// `esker_buffer_append` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_buffer_append(
    buffer: *mut EskerBuffer,
    data: *const c_void,
    size: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (buffer, data) = unsafe { (place("buffer", buffer)?, bytes("data", data, size)?) };
        buffer.made.extend_from_slice(data);
        Ok(Done::Ok)
    })
}
