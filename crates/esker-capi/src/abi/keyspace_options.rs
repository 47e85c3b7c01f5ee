//! The section "Settings of keyspaces" of `esker/c.h`: by name, and by callbacks.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use esker::{KeyspaceOptions, Result};

use crate::abi::arguments::{give, named, place, take, text};
use crate::abi::comparator::EskerComparator;
use crate::abi::merge_operator::EskerMergeOperator;
use crate::abi::retain_rule::EskerRetainRule;
use crate::answer::{Done, answer, told};

/// `esker_keyspace_options` of `esker/c.h`.
#[derive(Default)]
pub struct EskerKeyspaceOptions {
    /// What they are by now.
    pub options: KeyspaceOptions,
}

/// The caller's settings, or those of a new keyspace for NULL.
///
/// # Safety
/// NULL, or live and changed by no other call meanwhile.
pub unsafe fn options_or_default(options: *const EskerKeyspaceOptions) -> KeyspaceOptions {
    // SAFETY: by this function's own rule.
    let options = unsafe { options.as_ref() };
    options.map_or_else(KeyspaceOptions::default, |options| options.options.clone())
}

/// Changes one thing.
///
/// # Safety
/// NULL, or live and in no other call.
unsafe fn change(
    options: *mut EskerKeyspaceOptions,
    change: impl FnOnce(&mut KeyspaceOptions) -> Result<()>,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    change(&mut unsafe { place("options", options) }?.options)?;
    Ok(Done::Ok)
}

/// `esker_keyspace_options_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub extern "C" fn esker_keyspace_options_new() -> *mut EskerKeyspaceOptions {
    told(std::ptr::null_mut(), || {
        give(EskerKeyspaceOptions::default())
    })
}

/// `esker_keyspace_options_set` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_options_set(
    options: *mut EskerKeyspaceOptions,
    name: *const c_char,
    setting: *const c_char,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let (name, setting) = (text("name", name)?, text("text", setting)?);
        change(options, |options| {
            *options = options.clone().set(name, setting)?;
            Ok(())
        })
    })
}

/// `esker_keyspace_options_merge_operator` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_options_merge_operator(
    options: *mut EskerKeyspaceOptions,
    operator: *const EskerMergeOperator,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let operator = named("operator", operator)?;
        change(options, |options| {
            options.merge = Some(operator.rule.clone());
            Ok(())
        })
    })
}

/// `esker_keyspace_options_comparator` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_options_comparator(
    options: *mut EskerKeyspaceOptions,
    comparator: *const EskerComparator,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let comparator = named("comparator", comparator)?;
        change(options, |options| {
            options.comparator = comparator.comparator.clone();
            Ok(())
        })
    })
}

/// `esker_keyspace_options_retain_rule` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_options_retain_rule(
    options: *mut EskerKeyspaceOptions,
    rule: *const EskerRetainRule,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let rule = named("rule", rule)?;
        change(options, |options| {
            options.retain = Some(Arc::clone(&rule.rule));
            Ok(())
        })
    })
}

/// `esker_keyspace_options_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_keyspace_options_free(options: *mut EskerKeyspaceOptions) {
    // SAFETY: NULL, or it came from `esker_keyspace_options_new` and the caller gives it up.
    told((), || drop(unsafe { take(options) }));
}
