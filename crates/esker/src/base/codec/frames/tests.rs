//! Tests of `frames`.

use super::*;
use crate::base::codec::compress::CompressionType;

#[test]
fn frames_come_back_one_by_one() {
    // One compressor, three values; what one of them left behind is no part of the next.
    let mut compressor = FrameCompressor::new(1).unwrap();
    let mut frame = b"what was there before".to_vec();
    for plain in [vec![b'a'; 5000], b"short".repeat(20), Vec::new()] {
        assert!(compressor.compress(&plain, 1000, &mut frame).unwrap());
        let back = CompressionType::Zstd
            .uncompress(&frame, plain.len())
            .unwrap();
        assert_eq!(back, plain);
    }
}

#[test]
fn a_frame_that_is_too_long_is_told() {
    // What does not compress is better kept as it is.
    let mut compressor = FrameCompressor::new(1).unwrap();
    let plain: Vec<u8> = (0..=255).collect();
    assert!(!compressor.compress(&plain, 200, &mut Vec::new()).unwrap());
}
