//! The section "Locks" of `esker/c.h`: who ends a transaction's wait from another thread.

use std::ffi::c_int;

use esker::{Interrupter, Result};

use crate::abi::arguments::{Handle, give, live, live_mut, room, take};
use crate::abi::home::Home;
use crate::abi::transaction::EskerTx;
use crate::answer::{Done, answer, told};

/// `esker_interrupter` of `esker/c.h`.
pub struct EskerInterrupter {
    interrupter: Interrupter,
    /// The database of its transaction.
    home: Home,
}

impl Handle for EskerInterrupter {
    fn check_call(&self) -> Result<()> {
        self.home.check_call()
    }
}

/// `esker_tx_interrupter` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_interrupter(
    tx: *mut EskerTx,
    interrupter: *mut *mut EskerInterrupter,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (place, tx) = unsafe { (room("interrupter", interrupter)?, live_mut("tx", tx)?) };
        let (home, interrupter) = (tx.home, tx.live_mut()?.interrupter());
        *place = give(EskerInterrupter { interrupter, home });
        Ok(Done::Ok)
    })
}

/// `esker_interrupt` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_interrupt(interrupter: *const EskerInterrupter) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let interrupter = unsafe { live("interrupter", interrupter) }?;
        interrupter.interrupter.interrupt();
        Ok(Done::Ok)
    })
}

/// `esker_interrupter_free` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_interrupter_free(interrupter: *mut EskerInterrupter) {
    // SAFETY: NULL, or it came from `esker_tx_interrupter` and the caller gives it up.
    told((), || drop(unsafe { take(interrupter) }));
}

/// `esker_tx_clear_interrupt` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_clear_interrupt(tx: *mut EskerTx) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        unsafe { live_mut("tx", tx) }?.live_mut()?.clear_interrupt();
        Ok(Done::Ok)
    })
}
