//! Makes structs and enumerations of the wire from tables of their fields and numbers.

/// A struct of the wire: `pub struct Name as "wire name" { id field: type, … }`.
///
/// A field of type `Option` is left out where it is `None`, every other field is always written.
/// `= number` behind a type is the default where it is not that of the type.
macro_rules! wire_struct {
    ($(#[$doc:meta])* pub struct $name:ident as $wire_name:literal {
        $($(#[$field_doc:meta])* $id:literal $field:ident: $type:ty $(= $default:expr)?,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the fields are the protocol's own")]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        #[allow(clippy::derivable_impls, reason = "not for all of these structs")]
        impl Default for $name {
            fn default() -> $name {
                $name { $($field: default_of!($($default)?),)* }
            }
        }

        impl $crate::codec::thrift::Wire for $name {
            const KIND: $crate::codec::thrift::Kind = $crate::codec::thrift::Kind::Struct;

            fn put(&self, out: &mut Vec<u8>) {
                $($crate::codec::thrift::put_field(out, $id, &self.$field);)*
                $crate::codec::thrift::put_stop(out);
            }

            #[allow(unused_mut, clippy::match_single_binding, reason = "of structs with no fields")]
            fn take(
                reader: &mut $crate::codec::thrift::Reader<'_>,
            ) -> Result<$name, $crate::codec::thrift::Malformed> {
                reader.nested(|reader| {
                    let mut taken = $name::default();
                    while let Some((kind, id)) = reader.field()? {
                        match id {
                            $($id => taken.$field = reader.value(kind)?,)*
                            _ => reader.skip_field(kind, id)?,
                        }
                    }
                    Ok(taken)
                })
            }
        }

        #[cfg(test)]
        impl $crate::codec::described::Described for $name {
            fn type_name() -> String {
                $wire_name.to_owned()
            }

            fn draw(_dice: &mut $crate::dice::Dice) -> $name {
                $name { $($field: $crate::codec::described::Described::draw(_dice),)* }
            }
        }

        #[cfg(test)]
        impl $crate::codec::described::Table for $name {
            fn table() -> String {
                let fields: Vec<String> = vec![$($crate::codec::described::row::<$type>(
                    $id,
                    stringify!($field),
                    &[$(stringify!($default))?],
                ),)*];
                format!("{}: {}", $wire_name, fields.join("; "))
            }
        }
    };
}

macro_rules! default_of {
    () => {
        Default::default()
    };
    ($default:expr) => {
        $default
    };
}

/// An enumeration of the wire: `pub enum Name as "wire name" { NAME = number, … }`.
///
/// It is a number: one that has no name is kept as it came.
macro_rules! wire_enum {
    ($(#[$doc:meta])* pub enum $name:ident as $wire_name:literal {
        $($constant:ident = $number:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub i32);

        #[allow(missing_docs, reason = "the names are the protocol's own")]
        impl $name {
            $(pub const $constant: $name = $name($number);)*

            /// Every number that has a name, and the name.
            pub const NAMED: &[($name, &str)] = &[$(($name($number), stringify!($constant)),)*];

            /// Its name, if it has one.
            pub fn name(self) -> Option<&'static str> {
                let named = $name::NAMED.iter().find(|named| named.0 == self);
                named.map(|named| named.1)
            }
        }

        impl $crate::codec::thrift::Wire for $name {
            const KIND: $crate::codec::thrift::Kind = $crate::codec::thrift::Kind::I32;

            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn take(
                reader: &mut $crate::codec::thrift::Reader<'_>,
            ) -> Result<$name, $crate::codec::thrift::Malformed> {
                i32::take(reader).map($name)
            }
        }

        #[cfg(test)]
        impl $crate::codec::described::Described for $name {
            fn type_name() -> String {
                $wire_name.to_owned()
            }

            fn draw(dice: &mut $crate::dice::Dice) -> $name {
                $name($crate::codec::described::Described::draw(dice))
            }
        }

        #[cfg(test)]
        impl $crate::codec::described::Table for $name {
            fn table() -> String {
                let numbers: Vec<String> = vec![$(
                    format!("{}={}", stringify!($constant), $number),
                )*];
                format!("enum {}: {}", $wire_name, numbers.join(", "))
            }
        }
    };
}
