//! What tests know of a type that travels: its name in the protocol, and values of it.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;

use crate::codec::scalars::{Address, Blob, Gpid, HostPort};
use crate::codec::thrift::Wire;
use crate::dice::Dice;
use crate::error::{ErrorCode, ErrorName, Status};

/// A type with a name in the protocol, of which any value can be drawn.
pub trait Described: Wire {
    /// Its name in the protocol's tables.
    fn type_name() -> String;

    /// True if a field of it may be left out.
    fn is_optional() -> bool {
        false
    }

    /// Any value.
    fn draw(dice: &mut Dice) -> Self;
}

/// A struct or an enumeration, with its line in the protocol's tables.
pub trait Table: Described {
    /// That line.
    fn table() -> String;
}

/// A field as the protocol's tables have it.
pub fn row<T: Described>(id: i16, name: &str, default: &[&str]) -> String {
    let mut notes: Vec<String> = Vec::new();
    notes.extend(T::is_optional().then(|| "optional".to_owned()));
    notes.extend(default.iter().map(|default| format!("default {default}")));
    let notes = match notes.join(", ") {
        notes if notes.is_empty() => notes,
        notes => format!(" ({notes})"),
    };
    format!("{id} {name}: {}{notes}", T::type_name())
}

macro_rules! described {
    ($($type:ty, $name:literal, |$dice:ident| $draw:expr;)*) => {
        $(impl Described for $type {
            fn type_name() -> String {
                $name.to_owned()
            }

            fn draw($dice: &mut Dice) -> $type {
                $draw
            }
        })*
    };
}

described! {
    bool, "bool", |dice| dice.below(2) == 1;
    i32, "i32", |dice| match dice.below(3) {
        0 => 0,
        1 => i32::try_from(dice.below(20)).expect("small") - 10,
        _ => i32::from_le_bytes(*dice.draw().to_le_bytes().first_chunk().expect("8 bytes")),
    };
    i64, "i64", |dice| match dice.below(3) {
        0 => 0,
        _ => dice.draw().cast_signed(),
    };
    String, "string", |dice| dice.text(12);
    Blob, "blob", |dice| Blob::from(dice.bytes(12));
    Status, "i32", |dice| Status(i32::draw(dice));
    ErrorName, "error_code", |dice| {
        let known: Vec<_> = ErrorCode::ALL.iter().filter(|code| code.sent() == **code).collect();
        ErrorName::Known(*known[dice.below(known.len())])
    };
    Gpid, "gpid", |dice| Gpid {
        app_id: i32::draw(dice),
        partition_index: i32::draw(dice),
    };
    Address, "rpc_address", |dice| match dice.below(4) {
        0 => Address::NONE,
        _ => {
            let [a, b, c, d, e, f, ..] = dice.draw().to_le_bytes();
            SocketAddrV4::new([a, b, c, d].into(), u16::from_le_bytes([e, f])).into()
        }
    };
    HostPort, "host_port", |dice| HostPort {
        host: dice.text(9),
        port: 34601,
        kind: 1,
    };
}

impl<T: Described> Described for Option<T> {
    fn type_name() -> String {
        T::type_name()
    }

    fn is_optional() -> bool {
        true
    }

    fn draw(dice: &mut Dice) -> Option<T> {
        (dice.below(3) > 0).then(|| T::draw(dice))
    }
}

impl<T: Described> Described for Vec<T> {
    fn type_name() -> String {
        format!("list<{}>", T::type_name())
    }

    fn draw(dice: &mut Dice) -> Vec<T> {
        (0..dice.below(5)).map(|_| T::draw(dice)).collect()
    }
}

impl<K: Described + Ord, V: Described> Described for BTreeMap<K, V> {
    fn type_name() -> String {
        format!("map<{},{}>", K::type_name(), V::type_name())
    }

    fn draw(dice: &mut Dice) -> BTreeMap<K, V> {
        (0..dice.below(4))
            .map(|_| (K::draw(dice), V::draw(dice)))
            .collect()
    }
}
