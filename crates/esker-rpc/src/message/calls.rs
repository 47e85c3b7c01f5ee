//! Makes the calls of a door from their table.

/// The calls of one door: `Name "wire name" (request) -> response, access, answered;`.
///
/// Each becomes a type that is a `Call`, and a variant of two enumerations: what is asked at this
/// door, and what it answers. Who matches on the first cannot forget a call.
macro_rules! calls {
    (
        $(#[$asked_doc:meta])* pub enum $Asked:ident;
        $(#[$answer_doc:meta])* pub enum $Answer:ident;
        $($Name:ident $name:literal ($Request:ty)
            -> $Response:ty, $access:ident, $answered:literal;)*
    ) => {
        $(
            #[doc = concat!("The call `", $name, "`.")]
            #[derive(Clone, Copy, Debug)]
            pub struct $Name;

            impl $crate::message::call::Call for $Name {
                type Request = $Request;
                type Response = $Response;
                const ROW: $crate::message::call::Row = $crate::message::call::Row {
                    name: $name,
                    access: $crate::message::call::Access::$access,
                    is_answered: $answered,
                };
            }
        )*

        $(#[$asked_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each has the name of its call")]
        pub enum $Asked {
            $($Name($Request),)*
        }

        impl $Asked {
            /// Every call of this door.
            pub const ROWS: &[$crate::message::call::Row] =
                &[$(<$Name as $crate::message::call::Call>::ROW,)*];

            /// Takes the request `name` apart; `arguments` is what the frame has.
            pub fn read(
                name: &str,
                arguments: &[u8],
            ) -> Result<$Asked, $crate::message::call::Unreadable> {
                match name {
                    $($name => {
                        let request = $crate::codec::frame::read_arguments(arguments)?;
                        Ok($Asked::$Name(request))
                    })*
                    _ => Err($crate::message::call::Unreadable::NoSuchCall),
                }
            }

            /// Every call of this door as the protocol's tables have it.
            #[cfg(test)]
            pub fn table() -> Vec<String> {
                use $crate::codec::described::Described;
                vec![$(format!(
                    "call {}: {} -> {}",
                    $name,
                    <$Request>::type_name(),
                    <$Response>::type_name(),
                ),)*]
            }

            /// The row of its call.
            pub fn row(&self) -> $crate::message::call::Row {
                match self {
                    $($Asked::$Name(_) => <$Name as $crate::message::call::Call>::ROW,)*
                }
            }

            /// Appends it to `out` as a request frame.
            pub fn put(
                &self,
                out: &mut Vec<u8>,
                head: &$crate::codec::frame::RequestHead,
                sequence: i32,
            ) {
                let named = (self.row().name, sequence);
                match self {
                    $($Asked::$Name(request) => {
                        $crate::codec::frame::put_request(out, head, named, request)
                    })*
                }
            }
        }

        $(#[$answer_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "each has the name of its call")]
        pub enum $Answer {
            $($Name($Response),)*
        }

        impl $Answer {
            /// The row of its call.
            pub fn row(&self) -> $crate::message::call::Row {
                match self {
                    $($Answer::$Name(_) => <$Name as $crate::message::call::Call>::ROW,)*
                }
            }

            /// Takes the answer to `name` apart; `result` is what the frame has.
            pub fn read(
                name: &str,
                result: &[u8],
            ) -> Result<$Answer, $crate::message::call::Unreadable> {
                match name {
                    $($name => {
                        let response = $crate::codec::frame::read_result(result)?;
                        Ok($Answer::$Name(response))
                    })*
                    _ => Err($crate::message::call::Unreadable::NoSuchCall),
                }
            }

            /// Appends it to `out` as a reply frame; nothing if its call is never answered.
            pub fn put(&self, out: &mut Vec<u8>, sequence: i32) {
                let row = self.row();
                match self {
                    $($Answer::$Name(response) => {
                        $crate::codec::frame::put_reply(out, (row.name, sequence), response)
                    })*
                }
            }
        }
    };
}
