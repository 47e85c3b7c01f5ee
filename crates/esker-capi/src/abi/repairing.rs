//! The section "Repairing" of `esker/c.h`: what is left of a database that is damaged.

use std::ffi::{c_char, c_int};

use esker::{RepairOptions, checkpoint_beside, repair};

use crate::abi::arguments::{give_text, named, path, room, tell};
use crate::abi::builder::{EskerBuilder, give_db};
use crate::abi::database::EskerDb;
use crate::answer::{Done, answer};

/// `esker_repair` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_repair(
    place: *const c_char,
    dry_run: c_int,
    is_lossy: *mut c_int,
    report: *mut *mut c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let place = unsafe {
            tell(is_lossy, 0);
            tell(report, std::ptr::null_mut());
            path("path", place)?
        };
        let dry_run = dry_run != 0;
        let told = repair(place, RepairOptions { dry_run })?;
        // SAFETY: as above.
        unsafe {
            tell(is_lossy, c_int::from(told.is_lossy()));
            if !report.is_null() {
                report.write(give_text(&told.to_string()));
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_builder_open_past_damage` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_builder_open_past_damage(
    builder: *const EskerBuilder,
    scratch: *const c_char,
    is_lossy: *mut c_int,
    report: *mut *mut c_char,
    db: *mut *mut EskerDb,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, builder, scratch) = unsafe {
            tell(is_lossy, 0);
            tell(report, std::ptr::null_mut());
            (
                room("db", db)?,
                named("builder", builder)?,
                path("scratch", scratch)?,
            )
        };
        let (opened, told) = builder.builder.clone().open_past_damage(scratch)?;
        *db = give_db(opened);
        // SAFETY: as above.
        unsafe {
            tell(is_lossy, c_int::from(told.is_lossy()));
            if !report.is_null() {
                report.write(give_text(&told.to_string()));
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_checkpoint_beside` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_checkpoint_beside(
    place: *const c_char,
    target: *const c_char,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (place, target) = unsafe { (path("path", place)?, path("target", target)?) };
        checkpoint_beside(place, target)?;
        Ok(Done::Ok)
    })
}
