//! The section "Opening" of `esker/c.h`: settings by name, and the database that they open.

use std::ffi::{c_char, c_int};
use std::sync::Arc;

use esker::{Builder, Db, Result};

use crate::abi::arguments::{give, named, path, place, room, take, text};
use crate::abi::comparator::EskerComparator;
use crate::abi::database::EskerDb;
use crate::abi::home::Home;
use crate::abi::merge_operator::EskerMergeOperator;
use crate::abi::retain_rule::EskerRetainRule;
use crate::answer::{Done, answer, told};

/// `esker_builder` of `esker/c.h`.
pub struct EskerBuilder {
    /// What is said by now.
    pub builder: Builder,
}

impl EskerBuilder {
    /// Says one thing more.
    pub fn change(&mut self, change: impl FnOnce(Builder) -> Builder) {
        // A clone is what is changed: a panic on the way leaves what there was.
        self.builder = change(self.builder.clone());
    }
}

/// Gives an opened database to the caller.
pub fn give_db(db: Db) -> *mut EskerDb {
    let home = Home::new(&db);
    give(EskerDb { db, home })
}

/// `esker_open` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_open(place: *const c_char, db: *mut *mut EskerDb) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, place) = unsafe { (room("db", db)?, path("path", place)?) };
        *db = give_db(Db::open(place)?);
        Ok(Done::Ok)
    })
}

/// `esker_builder_new` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_new(
    place: *const c_char,
    builder: *mut *mut EskerBuilder,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (builder, place) = unsafe { (room("builder", builder)?, path("path", place)?) };
        *builder = give(EskerBuilder {
            builder: Builder::new(place),
        });
        Ok(Done::Ok)
    })
}

/// `esker_builder_set` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_set(
    builder: *mut EskerBuilder,
    name: *const c_char,
    setting: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (builder, name, setting) = unsafe {
            (
                place("builder", builder)?,
                text("name", name)?,
                text("text", setting)?,
            )
        };
        // A setting that is refused takes the builder along: a copy is what is set.
        builder.builder = builder.builder.clone().set(name, setting)?;
        Ok(Done::Ok)
    })
}

/// `esker_builder_create_if_missing` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_create_if_missing(
    builder: *mut EskerBuilder,
    create: c_int,
) -> c_int {
    // SAFETY: the caller's pointer, by the rule of this room.
    answer(|| unsafe { switch(builder, |builder| builder.create_if_missing(create != 0)) })
}

/// `esker_builder_error_if_exists` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_error_if_exists(
    builder: *mut EskerBuilder,
    refuse: c_int,
) -> c_int {
    // SAFETY: the caller's pointer, by the rule of this room.
    answer(|| unsafe { switch(builder, |builder| builder.error_if_exists(refuse != 0)) })
}

/// `esker_builder_read_only` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_read_only(
    builder: *mut EskerBuilder,
    is_read_only: c_int,
) -> c_int {
    // SAFETY: the caller's pointer, by the rule of this room.
    answer(|| unsafe { switch(builder, |builder| builder.read_only(is_read_only != 0)) })
}

/// Changes a builder in a way that cannot be refused.
///
/// # Safety
/// NULL, or a live builder that is in no other call.
unsafe fn switch(
    builder: *mut EskerBuilder,
    change: impl FnOnce(Builder) -> Builder,
) -> Result<Done> {
    // SAFETY: by this function's own rule.
    unsafe { place("builder", builder) }?.change(change);
    Ok(Done::Ok)
}

/// `esker_builder_merge_operator` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_merge_operator(
    builder: *mut EskerBuilder,
    operator: *const EskerMergeOperator,
    is_default: c_int,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let rule = named("operator", operator)?.rule.clone();
        switch(builder, |builder| match is_default {
            0 => builder.known_merge_operator(rule),
            _ => builder.merge_operator(rule),
        })
    })
}

/// `esker_builder_comparator` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_comparator(
    builder: *mut EskerBuilder,
    comparator: *const EskerComparator,
    is_default: c_int,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let order = named("comparator", comparator)?.comparator.clone();
        switch(builder, |builder| match is_default {
            0 => builder.known_comparator(order),
            _ => builder.comparator(order),
        })
    })
}

/// `esker_builder_retain_rule` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_retain_rule(
    builder: *mut EskerBuilder,
    keyspace: *const c_char,
    rule: *const EskerRetainRule,
) -> c_int {
    // SAFETY: the caller's pointers, by the rule of this room.
    answer(|| unsafe {
        let rule = Arc::clone(&named("rule", rule)?.rule);
        let keyspace = text("keyspace", keyspace)?;
        switch(builder, |builder| builder.retain_rule(keyspace, rule))
    })
}

/// `esker_builder_open` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_open(
    builder: *const EskerBuilder,
    db: *mut *mut EskerDb,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, builder) = unsafe { (room("db", db)?, named("builder", builder)?) };
        *db = give_db(builder.builder.clone().open()?);
        Ok(Done::Ok)
    })
}

/// `esker_builder_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_free(builder: *mut EskerBuilder) {
    // SAFETY: NULL, or it came from `esker_builder_new` and the caller gives it up.
    told((), || drop(unsafe { take(builder) }));
}
