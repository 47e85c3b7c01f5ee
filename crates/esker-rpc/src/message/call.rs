//! What there is to know of a call.

use std::fmt;

use crate::codec::thrift::{Kind, Malformed, Reader, Wire, put_stop};
use crate::error::{ErrorCode, ErrorName};

/// What a call does to the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It changes nothing.
    Reads,
    /// It writes, and twice is as once.
    Writes,
    /// It writes, and what it writes depends on what was there.
    Updates,
}

/// A row of the table of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it does.
    pub access: Access,
    /// False if it is never answered: an answer makes the client in Go deaf.
    pub is_answered: bool,
}

/// A call: what goes there and what comes back.
pub trait Call {
    /// What is asked.
    type Request: Wire;
    /// What is answered.
    type Response: Wire;
    /// Its row.
    const ROW: Row;
}

/// The response of a call that is never answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Silence;

/// A struct without fields, which nobody writes.
impl Wire for Silence {
    const KIND: Kind = Kind::Struct;

    fn put(&self, out: &mut Vec<u8>) {
        put_stop(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Silence, Malformed> {
        match reader.field()? {
            None => Ok(Silence),
            Some((kind, _)) => Err(Malformed::Mismatch(kind)),
        }
    }
}

#[cfg(test)]
impl crate::codec::described::Described for Silence {
    fn type_name() -> String {
        "no reply".to_owned()
    }

    fn draw(_dice: &mut crate::dice::Dice) -> Silence {
        Silence
    }
}

/// Why a request cannot be taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The door has no such call: `ERR_HANDLER_NOT_FOUND`.
    NoSuchCall,
    /// Its arguments are malformed: `ERR_INVALID_DATA`.
    Malformed(Malformed),
}

impl From<Unreadable> for ErrorName {
    fn from(unreadable: Unreadable) -> ErrorName {
        match unreadable {
            Unreadable::NoSuchCall => ErrorCode::HandlerNotFound.into(),
            Unreadable::Malformed(_) => ErrorCode::InvalidData.into(),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::NoSuchCall => formatter.write_str("there is no such call here"),
            Unreadable::Malformed(malformed) => malformed.fmt(formatter),
        }
    }
}

impl std::error::Error for Unreadable {}

impl From<Malformed> for Unreadable {
    fn from(malformed: Malformed) -> Unreadable {
        Unreadable::Malformed(malformed)
    }
}
