//! The sections "Two phases" and "Prepared transactions" of `esker/c.h`.

use std::ffi::{c_int, c_void};

use esker::Error;

use crate::abi::arguments::{bytes, live, live_mut};
use crate::abi::database::EskerDb;
use crate::abi::transaction::{EskerTx, Stage};
use crate::answer::{Done, answer, code_for};
use crate::flags::of_write;

/// `esker_prepared_visitor` of `esker/c.h`.
pub type PreparedVisitor = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        id: *const c_void,
        id_size: usize,
        writes: u64,
        age_ms: u64,
    ) -> c_int,
>;

/// `esker_durable_call` of `esker/c.h`.
pub type DurableCall = Option<unsafe extern "C" fn(state: *mut c_void, code: c_int)>;

/// What C gives a callback for itself. C says by its rules that any thread may have it.
struct State(*mut c_void);

// SAFETY: the engine never looks behind it; the header asks for a state that any thread may use.
unsafe impl Send for State {}

/// `esker_db_prepared` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_prepared(
    db: *const EskerDb,
    visit: PreparedVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
        for prepared in db.db.prepared() {
            let id = &prepared.id;
            let age_ms = u64::try_from(prepared.age.as_millis()).unwrap_or(u64::MAX);
            // SAFETY: the caller's function, and its own state, by the rule of this room.
            let stop = unsafe {
                visit(
                    state,
                    id.as_ptr().cast(),
                    id.len(),
                    prepared.entries,
                    age_ms,
                )
            };
            if stop != 0 {
                break;
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_db_commit_prepared` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_commit_prepared(
    db: *const EskerDb,
    id: *const c_void,
    id_size: usize,
    flags: u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, id) = unsafe { (live("db", db)?, bytes("id", id, id_size)?) };
        db.db.commit_prepared_with(id, of_write(flags)?)?;
        Ok(Done::Ok)
    })
}

/// `esker_db_rollback_prepared` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_rollback_prepared(
    db: *const EskerDb,
    id: *const c_void,
    id_size: usize,
    flags: u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (db, id) = unsafe { (live("db", db)?, bytes("id", id, id_size)?) };
        db.db.rollback_prepared_with(id, of_write(flags)?)?;
        Ok(Done::Ok)
    })
}

/// `esker_db_notify_when_durable` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_notify_when_durable(
    db: *const EskerDb,
    call: DurableCall,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let call = call.ok_or_else(|| Error::invalid("call is NULL"))?;
        let state = State(state);
        db.db.notify_when_durable(move |durable| {
            // The whole of it, which may go to another thread, and not its field alone.
            let state = state;
            // SAFETY: the caller's function, and its own state, by the rule of this room.
            unsafe { call(state.0, code_for(&durable)) };
        })?;
        Ok(Done::Ok)
    })
}

/// `esker_tx_prepare` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_prepare(
    tx: *mut EskerTx,
    id: *const c_void,
    id_size: usize,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (tx, id) = unsafe { (live_mut("tx", tx)?, bytes("id", id, id_size)?) };
        match tx.end() {
            Stage::Live(live) => tx.stage = Stage::Prepared(live.prepare(id)?),
            stage => {
                tx.stage = stage;
                return tx.refused();
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_commit_ordered` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_commit_ordered(tx: *mut EskerTx) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        match tx.end() {
            Stage::Prepared(prepared) => tx.stage = Stage::Ordered(prepared.commit_ordered()?),
            stage => {
                tx.stage = stage;
                return tx.refused();
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_tx_finish` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_finish(tx: *mut EskerTx, flags: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        let options = of_write(flags)?;
        match tx.end() {
            Stage::Ordered(ordered) => ordered.finish_with(options)?,
            stage => {
                tx.stage = stage;
                return tx.refused();
            }
        }
        Ok(Done::Ok)
    })
}
