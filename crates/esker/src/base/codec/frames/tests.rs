//! Tests of `frames`.

use super::*;
use crate::base::codec::compress::Compression;

#[test]
fn frames_come_back_one_by_one() {
    // One packer, three values; what one of them left behind is no part of the next.
    let mut packer = FramePacker::new(1).unwrap();
    let mut frame = b"what was there before".to_vec();
    for plain in [vec![b'a'; 5000], b"short".repeat(20), Vec::new()] {
        assert!(packer.pack(&plain, 1000, &mut frame).unwrap());
        let back = Compression::Zstd.unpack(&frame, plain.len()).unwrap();
        assert_eq!(back, plain);
    }
}

#[test]
fn a_frame_that_is_too_long_is_told() {
    // What does not pack is better kept as it is.
    let mut packer = FramePacker::new(1).unwrap();
    let plain: Vec<u8> = (0..=255).collect();
    assert!(!packer.pack(&plain, 200, &mut Vec::new()).unwrap());
}
