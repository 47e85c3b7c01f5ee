//! Requests out of streams: split anywhere, too long, and not meant well.

use super::{Request, RequestReader};
use crate::codec::frame::tests::{GET_V0, GET_V1, head_v0, head_v1, hex};
use crate::codec::frame::{FrameError, HEAD_LEN_MAX, RequestHead, Version, put_request};
use crate::codec::scalars::Blob;
use crate::codec::thrift::Malformed;
use crate::dice::Dice;
use crate::message::data::KeyCall;

const GET: &str = "RPC_RRDB_RRDB_GET";

const BODY_LEN_MAX: usize = 1 << 20;

fn get(head: RequestHead, sequence: i32) -> Request {
    Request {
        head,
        name: GET.to_owned(),
        sequence,
        arguments: Some(hex("0c 0001 00000006 0002686b736b 00")),
    }
}

fn read_all(pieces: &[&[u8]], body_len_max: usize) -> Result<Vec<Request>, FrameError> {
    let mut reader = RequestReader::new(body_len_max);
    let mut found = Vec::new();
    for piece in pieces {
        reader.buffer().extend_from_slice(piece);
        while let Some(request) = reader.next()? {
            found.push(request);
        }
    }
    Ok(found)
}

fn refused(bytes: &[u8]) -> FrameError {
    read_all(&[bytes], BODY_LEN_MAX).unwrap_err()
}

#[test]
fn both_headers_are_read_whatever_byte_they_are_split_at() {
    let bytes = [hex(GET_V0), hex(GET_V1)].concat();
    let expected = Ok(vec![get(head_v0(), 2), get(head_v1(), 1)]);
    for at in 0..=bytes.len() {
        let pieces = [&bytes[..at], &bytes[at..]];
        assert_eq!(read_all(&pieces, BODY_LEN_MAX), expected, "split at {at}");
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read_all(&single, BODY_LEN_MAX), expected);
    let call = KeyCall::read(GET, &hex("0c 0001 00000006 0002686b736b 00"));
    assert_eq!(call, Ok(KeyCall::Get(Blob::of(b"\0\x02hksk"))));
}

#[test]
fn thousands_of_requests_are_read_from_pieces_of_any_size() {
    let mut dice = Dice::new(7);
    let mut bytes = Vec::new();
    for sequence in 0..3000 {
        let head = [head_v0(), head_v1()][dice.below(2)];
        put_request(
            &mut bytes,
            &head,
            (GET, sequence),
            &Blob::from(dice.bytes(40)),
        );
    }
    let mut reader = RequestReader::new(BODY_LEN_MAX);
    let (mut rest, mut count) = (&bytes[..], 0);
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at(1 + dice.below(rest.len().min(900)));
        rest = behind;
        reader.buffer().extend_from_slice(piece);
        while let Some(request) = reader.next().unwrap() {
            assert_eq!(request.sequence, count);
            count += 1;
        }
        assert!(reader.buffer().len() < 4000);
    }
    assert_eq!(count, 3000);
}

#[test]
fn a_body_over_the_limit_is_stepped_over_and_can_be_answered() {
    let mut bytes = Vec::new();
    put_request(&mut bytes, &head_v0(), (GET, 1), &Blob::from(vec![7; 5000]));
    put_request(&mut bytes, &head_v1(), (GET, 2), &Blob::from(vec![7; 300]));
    put_request(&mut bytes, &head_v0(), (GET, 3), &Blob::from(vec![7; 20]));
    for at in [0, 48, 60, 100, 4000, 5040, 5300] {
        let found = read_all(&[&bytes[..at], &bytes[at..]], 200).unwrap();
        let kept: Vec<_> = found
            .iter()
            .map(|one| (one.sequence, one.arguments.is_some()))
            .collect();
        assert_eq!(kept, [(1, false), (2, false), (3, true)], "split at {at}");
    }
    // Its bytes are not kept meanwhile.
    let mut reader = RequestReader::new(200);
    for piece in bytes[..5000].chunks(100) {
        reader.buffer().extend_from_slice(piece);
        while reader.next().unwrap().is_some() {}
        assert!(reader.buffer().len() <= 400);
    }
}

#[test]
fn the_older_form_of_a_message_is_read() {
    let body = hex("00000011 \"RPC_RRDB_RRDB_GET\" 01 00000002 0c 0001 00000006 0002686b736b 00");
    let mut bytes = hex(GET_V0)[..48].to_vec();
    bytes[16..20].copy_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
    bytes.extend_from_slice(&body);
    assert_eq!(
        read_all(&[&bytes], BODY_LEN_MAX),
        Ok(vec![get(head_v0(), 2)])
    );
}

#[test]
fn a_meta_may_leave_anything_out_and_have_more() {
    let head = |meta: &str| {
        let meta = hex(meta);
        let body = hex("80010004 00000011 \"RPC_RRDB_RRDB_GET\" 00000002 00");
        let mut bytes = b"THFT\0\0\0\x01\0\0\0".to_vec();
        bytes.push(u8::try_from(meta.len()).unwrap());
        bytes.extend_from_slice(&[0, 0, 0, u8::try_from(body.len()).unwrap()]);
        bytes.extend_from_slice(&meta);
        bytes.extend_from_slice(&body);
        read_all(&[&bytes], BODY_LEN_MAX).map(|found| found[0].head)
    };
    let nothing = RequestHead {
        version: Version::V1,
        ..RequestHead::default()
    };
    assert_eq!(head("00"), Ok(nothing));
    assert_eq!(head("0b 0009 00000001 61 00"), Ok(nothing));
    // Java's gpid of meta calls.
    let java = head("08 0001 ffffffff 08 0002 fffffffe 00").unwrap();
    assert_eq!((java.app_id, java.partition_index), (-1, -2));
    let malformed = head("0c 0009 00 00");
    assert_eq!(
        malformed,
        Err(FrameError::Malformed(Malformed::Unskippable(9)))
    );
    assert_eq!(head("08 0001"), Err(FrameError::Malformed(Malformed::Ends)));
}

#[test]
fn what_no_request_may_say_ends_the_connection() {
    let changed = |bytes: &str, at: usize, to: &[u8]| {
        let mut bytes = hex(bytes);
        bytes[at..at + to.len()].copy_from_slice(to);
        refused(&bytes)
    };
    assert_eq!(changed(GET_V0, 0, b"RDSN"), FrameError::Magic(*b"RDSN"));
    assert_eq!(changed(GET_V0, 4, &[0, 0, 0, 2]), FrameError::Version(2));
    assert_eq!(changed(GET_V0, 8, &[0, 0, 0, 49]), FrameError::Length(49));
    assert_eq!(changed(GET_V0, 8, &[255; 4]), FrameError::Length(u32::MAX));
    assert_eq!(changed(GET_V0, 16, &[255; 4]), FrameError::Length(u32::MAX));
    assert_eq!(changed(GET_V1, 8, &[255; 4]), FrameError::Length(u32::MAX));
    let too_long = u32::try_from(HEAD_LEN_MAX - 15).unwrap();
    assert_eq!(
        changed(GET_V1, 8, &too_long.to_be_bytes()),
        FrameError::Length(too_long)
    );
    assert_eq!(changed(GET_V1, 12, &[255; 4]), FrameError::Length(u32::MAX));
    assert_eq!(
        changed(GET_V0, 48, &[0x80, 2]),
        FrameError::Version(0x8002_0001)
    );
    assert_eq!(changed(GET_V0, 51, &[2]), FrameError::MessageType(2));
    assert_eq!(changed(GET_V0, 51, &[3]), FrameError::MessageType(3));
    assert_eq!(changed(GET_V0, 52, &[255; 4]), FrameError::Length(u32::MAX));
    assert_eq!(
        changed(GET_V0, 52, &[0, 0, 0, 129]),
        FrameError::Length(129)
    );
    let not_text = FrameError::Malformed(Malformed::Text);
    assert_eq!(changed(GET_V0, 56, &[0xff]), not_text);
    // A body that ends before its sequence number.
    let short = changed(GET_V0, 16, &[0, 0, 0, 24]);
    assert_eq!(short, FrameError::Malformed(Malformed::Ends));
    assert_eq!(
        changed(GET_V0, 16, &[0; 4]),
        FrameError::Malformed(Malformed::Ends)
    );
}

#[test]
fn a_request_that_is_cut_off_is_waited_for() {
    for bytes in [hex(GET_V0), hex(GET_V1)] {
        for len in 0..bytes.len() {
            assert_eq!(read_all(&[&bytes[..len]], BODY_LEN_MAX), Ok(Vec::new()));
        }
    }
}

#[test]
fn a_length_that_is_announced_takes_no_memory() {
    let mut bytes = hex(GET_V0);
    bytes[16..20].copy_from_slice(&0x7fff_ffff_u32.to_be_bytes());
    let bodies = [usize::MAX, 100];
    for body_len_max in bodies {
        let measured = allocation_counter::measure(|| {
            let found = read_all(&[&bytes], body_len_max);
            assert!(found.unwrap().is_empty());
        });
        assert!(measured.bytes_max < 1000);
    }
}

#[test]
fn a_head_is_read_once_however_many_pieces_the_body_comes_in() {
    // A meta of 64 KiB takes a thousand times as long to read as a piece of the body. Here nobody
    // could read it a second time: it is spoiled behind the first.
    let mut meta = b"\x0f\0\x63\x02\0\0\xff\0".to_vec();
    meta.resize(8 + 0xff00, 0);
    meta.push(0);
    let mut bytes = b"THFT\0\0\0\x01".to_vec();
    bytes.extend_from_slice(&u32::try_from(meta.len()).unwrap().to_be_bytes());
    let body = hex("80010001 00000011 \"RPC_RRDB_RRDB_GET\" 00000002");
    let body_len = u32::try_from(body.len()).unwrap() + 20_000;
    bytes.extend_from_slice(&body_len.to_be_bytes());
    bytes.extend_from_slice(&meta);
    let head_len = bytes.len();
    bytes.extend_from_slice(&body);
    let mut reader = RequestReader::new(BODY_LEN_MAX);
    reader.buffer().extend_from_slice(&bytes);
    assert_eq!(reader.next(), Ok(None));
    reader.buffer()[..head_len].fill(0xff);
    for piece in 0..20_000 {
        assert_eq!(reader.next(), Ok(None), "{piece}");
        reader.buffer().push(0);
    }
    let request = reader.next().unwrap().unwrap();
    assert_eq!(request.head.version, Version::V1);
    assert_eq!(request.arguments.map(|it| it.len()), Some(20_000));
    // So spoiled, one whose head nobody has read is refused.
    bytes[..head_len].fill(0xff);
    assert!(matches!(refused(&bytes), FrameError::Magic(_)));
}

#[test]
fn the_room_of_a_long_request_is_given_back() {
    let mut reader = RequestReader::new(BODY_LEN_MAX);
    for _ in 0..3 {
        put_request(
            reader.buffer(),
            &head_v0(),
            (GET, 1),
            &Blob::from(vec![7; 900_000]),
        );
        assert!(reader.next().unwrap().is_some());
        put_request(
            reader.buffer(),
            &head_v0(),
            (GET, 2),
            &Blob::from(vec![7; 9]),
        );
        assert!(reader.next().unwrap().is_some());
        assert!(reader.buffer().capacity() <= 64 * 1024);
    }
}
