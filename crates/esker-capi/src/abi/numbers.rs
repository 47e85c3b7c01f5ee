//! The section "Watching" of `esker/c.h`: what a database tells of itself as numbers.

use std::ffi::{CString, c_char, c_int, c_void};

use esker::{Error, Isolation, TransactionMode, TransactionStats};

use crate::abi::arguments::{give_text, live, room};
use crate::abi::database::EskerDb;
use crate::abi::reading::EskerBytes;
use crate::abi::watching::c_text;
use crate::answer::{Done, answer};
use crate::samples::sample;

/// `esker_number_visitor` of `esker/c.h`.
pub type NumberVisitor = Option<
    unsafe extern "C" fn(
        state: *mut c_void,
        name: *const c_char,
        labels: *const c_char,
        number: f64,
    ) -> c_int,
>;

/// `esker_tx_visitor` of `esker/c.h`.
pub type TxVisitor =
    Option<unsafe extern "C" fn(state: *mut c_void, told: *const EskerTxStats) -> c_int>;

/// `esker_tx_stats` of `esker/c.h`.
#[repr(C)]
pub struct EskerTxStats {
    number: u64,
    age_ms: u64,
    locks: u64,
    isolation: c_int,
    mode: c_int,
    owner: *const c_char,
    is_waiting: c_int,
    waited_ms: u64,
    wanted_keyspace: *const c_char,
    wanted_key: EskerBytes,
    holders: *const u64,
    holder_count: usize,
}

/// `esker_db_metrics` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_metrics(db: *const EskerDb, page: *mut *mut c_char) -> c_int {
    answer(|| {
        // SAFETY: the caller's pointers, by the rule of this room.
        let (page, db) = unsafe { (room("page", page)?, live("db", db)?) };
        *page = give_text(&db.db.stats().to_prometheus());
        Ok(Done::Ok)
    })
}

/// `esker_db_numbers` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_numbers(
    db: *const EskerDb,
    visit: NumberVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
        let page = db.db.stats().to_prometheus();
        for sample in page.lines().filter_map(sample) {
            let (name, labels) = (c_text(sample.name), c_text(sample.labels));
            // SAFETY: the caller's function, and its own state, by the rule of this room.
            let stop = unsafe { visit(state, name.as_ptr(), labels.as_ptr(), sample.number) };
            if stop != 0 {
                break;
            }
        }
        Ok(Done::Ok)
    })
}

/// `esker_db_transactions` of `esker/c.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn esker_db_transactions(
    db: *const EskerDb,
    visit: TxVisitor,
    state: *mut c_void,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's handle, by the rule of this room.
        let db = unsafe { live("db", db) }?;
        let visit = visit.ok_or_else(|| Error::invalid("visit is NULL"))?;
        for transaction in db.db.stats().transactions {
            let texts = Texts::of(&transaction);
            let told = texts.told(&transaction);
            // SAFETY: the caller's function, and its own state, by the rule of this room; what it
            // is told lives until it returns.
            if unsafe { visit(state, &raw const told) } != 0 {
                break;
            }
        }
        Ok(Done::Ok)
    })
}

/// What C is told of a transaction as text.
struct Texts {
    owner: Option<CString>,
    keyspace: Option<CString>,
}

impl Texts {
    fn of(transaction: &TransactionStats) -> Texts {
        let wait = transaction.waits_for.as_ref();
        let keyspace = wait.and_then(|wait| wait.keyspace.as_deref());
        Texts {
            owner: transaction.owner.as_deref().map(c_text),
            keyspace: keyspace.map(c_text),
        }
    }

    /// All that C is told, good for as long as both.
    fn told(&self, transaction: &TransactionStats) -> EskerTxStats {
        let start = |text: &Option<CString>| {
            let text = text.as_ref();
            text.map_or(std::ptr::null(), |text| text.as_ptr())
        };
        let millis = |time: std::time::Duration| u64::try_from(time.as_millis());
        let wait = transaction.waits_for.as_ref();
        let key = wait.and_then(|wait| wait.key.as_deref());
        let holders = wait.map_or(&[][..], |wait| &wait.transactions);
        EskerTxStats {
            number: transaction.number,
            age_ms: millis(transaction.age).unwrap_or(u64::MAX),
            locks: transaction.lock_count as u64,
            isolation: match transaction.isolation {
                Isolation::ReadCommitted => 0,
                Isolation::Snapshot => 1,
                Isolation::Serializable => 2,
            },
            mode: match transaction.mode {
                TransactionMode::Optimistic => 0,
                TransactionMode::Locking => 1,
            },
            owner: start(&self.owner),
            is_waiting: c_int::from(wait.is_some()),
            waited_ms: wait.map_or(0, |wait| millis(wait.waited).unwrap_or(u64::MAX)),
            wanted_keyspace: start(&self.keyspace),
            wanted_key: EskerBytes {
                data: key.map_or(std::ptr::null(), |key| key.as_ptr().cast()),
                size: key.map_or(0, <[u8]>::len),
            },
            holders: match holders.is_empty() {
                true => std::ptr::null(),
                false => holders.as_ptr(),
            },
            holder_count: holders.len(),
        }
    }
}
