//! The section "Transactions" of `esker/c.h`: places to go back to, by their numbers.

use std::ffi::c_int;

use esker::{Error, Result};

use crate::abi::arguments::{live_mut, place, tell};
use crate::abi::transaction::EskerTx;
use crate::answer::{Done, answer};

/// Takes away the savepoints on top of that one, and leaves what was written since.
fn pop_above(tx: &mut EskerTx, number: u64) -> Result<()> {
    tx.live()?;
    if !tx.savepoints.contains(&number) {
        return Err(Error::invalid(format!(
            "the transaction has no savepoint {number}: it was released, or what was before it was \
             rolled back to"
        )));
    }
    while tx.savepoints.last() != Some(&number) {
        tx.live_mut()?.pop_savepoint()?;
        tx.savepoints.pop();
    }
    Ok(())
}

/// `esker_tx_savepoint` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_savepoint(tx: *mut EskerTx, number: *mut u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (tx, number) = unsafe {
            tell(number, 0);
            (live_mut("tx", tx)?, place("number", number)?)
        };
        tx.live_mut()?.set_savepoint();
        tx.last_savepoint += 1;
        tx.savepoints.push(tx.last_savepoint);
        *number = tx.last_savepoint;
        Ok(Done::Ok)
    })
}

/// `esker_tx_rollback_to` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_rollback_to(tx: *mut EskerTx, number: u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        pop_above(tx, number)?;
        // The engine takes the savepoint along; a user of SQL may go back to it again.
        let live = tx.live_mut()?;
        live.rollback_to_savepoint()?;
        live.set_savepoint();
        Ok(Done::Ok)
    })
}

/// `esker_tx_release` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_tx_release(tx: *mut EskerTx, number: u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's transaction, by the rule of this room.
        let tx = unsafe { live_mut("tx", tx) }?;
        pop_above(tx, number)?;
        tx.live_mut()?.pop_savepoint()?;
        tx.savepoints.pop();
        Ok(Done::Ok)
    })
}
