//! What a client of the storms asks for as a call of the wire, and what its answer says.

use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::Status;
use esker_rpc::message::data::{
    CasCheckType, CheckAndMutateRequest, CheckAndSetRequest, GetScannerRequest, IncrRequest,
    KeyAnswer, KeyCall, KeyValue, MultiGetRequest, MultiPutRequest, MultiRemoveRequest, Mutate,
    MutateOperation, SCAN_ENDED, UpdateRequest,
};
use esker_rpc::time::WireSecond;

use crate::partition_model::{raw, split};
use crate::whole::linear::{Deed, Held, Saw};

const REGISTER: &[u8] = b"a register";
const COUNTER: &[u8] = b"the counter";

/// A check that did not pass.
const TRY_AGAIN: Status = Status(13);

/// Nothing is there.
const NOT_FOUND: Status = Status(1);

fn hash_key(key: u64) -> Vec<u8> {
    format!("harbour{key}").into_bytes()
}

fn digits(value: u64) -> Blob {
    Blob::of(value.to_string().as_bytes())
}

fn ends(held: Held) -> i32 {
    WireSecond(held.ends).to_bits()
}

// Passes if the register is `from`, 0 if there is none.
fn condition(from: u64) -> (CasCheckType, Blob) {
    match from {
        0 => (CasCheckType::CT_VALUE_NOT_EXIST, Blob::default()),
        _ => (CasCheckType::CT_VALUE_BYTES_EQUAL, digits(from)),
    }
}

/// The call that asks for a deed on that hash key.
pub fn call_of(key: u64, deed: Deed) -> KeyCall {
    let hash_key = hash_key(key);
    let register = Blob::from(raw(&hash_key, REGISTER));
    match deed {
        Deed::Set(held) => KeyCall::Put(UpdateRequest {
            key: register,
            value: digits(held.value),
            expire_ts_seconds: ends(held),
            ..UpdateRequest::default()
        }),
        Deed::Get => KeyCall::Get(register),
        Deed::Remove => KeyCall::Remove(register),
        Deed::Add => KeyCall::Incr(IncrRequest {
            key: Blob::from(raw(&hash_key, COUNTER)),
            increment: 1,
            expire_ts_seconds: 0,
        }),
        Deed::Both => KeyCall::MultiGet(MultiGetRequest {
            hash_key: Blob::from(hash_key),
            start_inclusive: true,
            max_kv_count: 10,
            ..MultiGetRequest::default()
        }),
        Deed::Scan => KeyCall::GetScanner(GetScannerRequest {
            start_key: Blob::from(raw(&hash_key, b"")),
            stop_key: Blob::from(raw(&hash_key, b"z")),
            start_inclusive: true,
            batch_size: 10,
            ..GetScannerRequest::default()
        }),
        Deed::SetBoth(held) => {
            let row = |name: &[u8]| KeyValue {
                key: Blob::of(name),
                value: digits(held.value),
                ..KeyValue::default()
            };
            KeyCall::MultiPut(MultiPutRequest {
                hash_key: Blob::from(hash_key),
                kvs: vec![row(REGISTER), row(COUNTER)],
                expire_ts_seconds: ends(held),
            })
        }
        Deed::RemoveBoth => KeyCall::MultiRemove(MultiRemoveRequest {
            hash_key: Blob::from(hash_key),
            sort_keys: vec![Blob::of(REGISTER), Blob::of(COUNTER)],
            max_count: 100,
        }),
        Deed::Swap(from, to) => {
            let (check_type, check_operand) = condition(from);
            KeyCall::CheckAndSet(CheckAndSetRequest {
                hash_key: Blob::from(hash_key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand,
                set_value: digits(to.value),
                set_expire_ts_seconds: ends(to),
                ..CheckAndSetRequest::default()
            })
        }
        Deed::Mutate(from, to) => {
            let (check_type, check_operand) = condition(from);
            let set = Mutate {
                operation: MutateOperation::MO_PUT,
                sort_key: Blob::of(REGISTER),
                value: digits(to.value),
                set_expire_ts_seconds: ends(to),
            };
            let remove = Mutate {
                operation: MutateOperation::MO_DELETE,
                sort_key: Blob::of(COUNTER),
                ..Mutate::default()
            };
            KeyCall::CheckAndMutate(CheckAndMutateRequest {
                hash_key: Blob::from(hash_key),
                check_sort_key: Blob::of(REGISTER),
                check_type,
                check_operand,
                mutate_list: vec![set, remove],
                ..CheckAndMutateRequest::default()
            })
        }
    }
}

fn number(value: Option<&[u8]>) -> u64 {
    value.map_or(0, |text| str::from_utf8(text).unwrap().parse().unwrap())
}

// Both values of rows under sort keys.
fn both<'a>(rows: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone) -> Saw {
    let of = |name: &[u8]| number(rows.clone().find(|row| row.0 == name).map(|row| row.1));
    Saw::Both(of(REGISTER), of(COUNTER))
}

fn checked(error: Status) -> Option<Saw> {
    match error {
        Status::OK => Some(Saw::Swapped(true)),
        TRY_AGAIN => Some(Saw::Swapped(false)),
        _ => None,
    }
}

/// What an answer says, and which entry it names; `None` of one that nobody may get.
pub fn seen(answer: &KeyAnswer) -> Option<(Saw, Option<u64>)> {
    let done = |error: Status, saw: Saw| (error == Status::OK).then_some(saw);
    let (saw, decree) = match answer {
        KeyAnswer::Put(it) | KeyAnswer::Remove(it) | KeyAnswer::MultiPut(it) => {
            (done(it.error, Saw::Done)?, it.decree)
        }
        KeyAnswer::MultiRemove(it) => {
            let is_told = it.error == Status::OK && it.count == 2;
            (is_told.then_some(Saw::Done)?, it.decree)
        }
        KeyAnswer::Incr(it) => {
            let value = u64::try_from(it.new_value).ok()?;
            (done(it.error, Saw::Counter(value))?, it.decree)
        }
        KeyAnswer::CheckAndSet(it) => (checked(it.error)?, it.decree),
        KeyAnswer::CheckAndMutate(it) => (checked(it.error)?, it.decree),
        KeyAnswer::Get(it) => {
            let value = (it.error == Status::OK).then_some(&it.value[..]);
            let is_read = value.is_some() || it.error == NOT_FOUND;
            return is_read.then(|| (Saw::Register(number(value)), None));
        }
        KeyAnswer::MultiGet(it) => {
            let rows = it.kvs.iter().map(|row| (&row.key[..], &row.value[..]));
            return done(it.error, both(rows)).map(|saw| (saw, None));
        }
        KeyAnswer::GetScanner(it) => {
            let rows: Vec<_> = it
                .kvs
                .iter()
                .map(|row| (split(&row.key).1, &row.value))
                .collect();
            let rows = rows.iter().map(|row| (&row.0[..], &row.1[..]));
            let is_whole = it.context_id == SCAN_ENDED;
            return done(it.error, both(rows))
                .filter(|_| is_whole)
                .map(|saw| (saw, None));
        }
        _ => return None,
    };
    Some((saw, u64::try_from(decree).ok()))
}
