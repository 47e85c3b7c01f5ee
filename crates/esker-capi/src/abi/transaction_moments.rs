//! The section "Transactions" of `esker/c.h`: the moment that plain reads see.

use std::ffi::c_int;

use crate::abi::arguments::live_mut;
use crate::abi::transaction::EskerTx;
use crate::answer::{Done, answer};

/// `esker_tx_set_snapshot` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_set_snapshot(tx: *mut EskerTx) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        unsafe { live_mut("tx", tx) }?.live_mut()?.set_snapshot()?;
        Ok(Done::Ok)
    })
}

/// `esker_tx_clear_snapshot` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_clear_snapshot(tx: *mut EskerTx) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        unsafe { live_mut("tx", tx) }?
            .live_mut()?
            .clear_snapshot()?;
        Ok(Done::Ok)
    })
}
