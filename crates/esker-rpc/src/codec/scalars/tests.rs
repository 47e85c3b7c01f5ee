//! The bare types, byte by byte.

use std::net::SocketAddrV4;

use super::{Address, Blob, Gpid, HostPort};
use crate::codec::thrift::{Malformed, Reader, Wire};
use crate::error::{ErrorCode, ErrorName};

fn check<T: Wire + PartialEq + std::fmt::Debug>(value: &T, bytes: &[u8]) {
    let mut written = Vec::new();
    value.put(&mut written);
    assert_eq!(written, bytes);
    let mut reader = Reader::new(bytes);
    assert_eq!(T::take(&mut reader).as_ref(), Ok(value));
    reader.end().unwrap();
    for len in 0..bytes.len() {
        let cut = T::take(&mut Reader::new(&bytes[..len]));
        assert!(matches!(cut, Err(Malformed::Ends | Malformed::Length(_))));
    }
}

#[test]
fn bare_types_have_no_fields_and_no_end() {
    check(&Blob::of(b"hk"), b"\0\0\0\x02hk");
    check(&ErrorName::OK, b"\0\0\0\x06ERR_OK");
    let gpid = Gpid {
        app_id: 2,
        partition_index: 1,
    };
    check(&gpid, &[0, 0, 0, 1, 0, 0, 0, 2]);
    let address: SocketAddrV4 = "127.0.0.1:34801".parse().unwrap();
    check(&Address::from(address), &[0x7f, 0, 0, 1, 0x87, 0xf1, 0, 1]);
    check(&Address::NONE, &[0; 8]);
    let host = HostPort {
        host: "h".to_owned(),
        port: 34801,
        kind: 1,
    };
    check(&host, b"\0\0\0\x01h\x87\xf1\x01");
}

#[test]
fn addresses_of_other_types_are_none() {
    for kind in [0, 2, 3] {
        let bytes = [127, 0, 0, 1, 0x87, 0xf1, 0, kind];
        assert_eq!(Address::take(&mut Reader::new(&bytes)), Ok(Address::NONE));
    }
}

#[test]
fn names_of_errors_that_nobody_knows_are_kept() {
    let name = ErrorName::take(&mut Reader::new(b"\0\0\0\x05ERR_X")).unwrap();
    assert_eq!(name, ErrorName::Strange("ERR_X".to_owned()));
    assert_eq!(name.code(), ErrorCode::Unknown);
}

#[test]
fn blobs_are_shown_as_text() {
    assert_eq!(format!("{:?}", Blob::of(b"a\0\"")), r#""a\x00\"""#);
}

#[test]
fn a_blob_that_is_lent_is_no_copy() {
    let owner = std::sync::Arc::<[u8]>::from(&b"head and value"[..]);
    let start = owner.as_ptr();
    let kept = std::sync::Arc::clone(&owner);
    let blob = Blob::lent(owner, 9..14);
    let clone = blob.clone();
    assert_eq!((&*blob, &*clone), (&b"value"[..], &b"value"[..]));
    assert_eq!(clone.as_ptr(), start.wrapping_add(9));
    assert_eq!(std::sync::Arc::strong_count(&kept), 2, "one for all clones");
    drop(blob);
    assert_eq!(clone.into_vec(), b"value");
    assert_eq!(std::sync::Arc::strong_count(&kept), 1, "given back");
    let alone = vec![1, 2, 3];
    let start = alone.as_ptr();
    let back = Blob::from(alone).into_vec();
    assert_eq!(back.as_ptr(), start, "no copy here either");
}
