//! Tests of bit streams.

use super::*;
use crate::corpus::Dice;

#[test]
fn two_streams_come_back_from_both_ends() {
    // Codes of all lengths in two streams; each is read back while the other lies behind it.
    let mut dice = Dice::new(1);
    for count in [0, 1, 2, 7, 300] {
        let mut streams = [Vec::new(), Vec::new()];
        let mut writers = <[BitWriter; 2]>::default();
        let mut body = Vec::new();
        for (codes, writer) in streams.iter_mut().zip(&mut writers) {
            for _ in 0..count {
                let len = dice.below(27) as u32;
                let code = dice.below(1 << len) as u32;
                writer.put(code, len);
                codes.push((code, len));
            }
        }
        let bits =
            |codes: &Vec<(u32, u32)>| codes.iter().map(|code| code.1 as usize).sum::<usize>();
        let len: usize = streams.iter().map(|codes| bits(codes).div_ceil(8)).sum();
        writers[0].finish_forward(&mut body);
        writers[1].finish_backward(&mut body);
        assert_eq!(body.len(), len);
        let mut ends = [0, 0];
        for (which, codes) in streams.iter().enumerate() {
            for (code, len) in codes {
                let window = match which {
                    0 => window_forward(&body, ends[0]),
                    _ => window_backward(&body, ends[1]),
                };
                assert_eq!(window & ((1 << len) - 1), u64::from(*code));
                ends[which] += *len as usize;
            }
        }
        assert!(meet(&body, ends[0], ends[1]));
        assert!(count == 0 || !meet(&body, ends[0] + 8, ends[1]));
        assert!(count == 0 || !meet(&body[..len - 1], ends[0], ends[1]));
    }
}

#[test]
fn beyond_the_end_there_are_zeros() {
    // Windows that begin anywhere around a short body show its bits and zeros behind them.
    let body = [0xff, 0xff, 0xff];
    for bit in 0..100 {
        let left = 24usize.saturating_sub(bit).min(64);
        let wanted = (1u64 << left) - 1;
        assert_eq!(window_forward(&body, bit), wanted);
        assert_eq!(window_backward(&body, bit), wanted);
        assert_eq!(window_forward(&[], bit), 0);
    }
    assert_eq!(window_forward(&body, usize::MAX), 0);
    assert_eq!(window_backward(&body, usize::MAX), 0);
}

#[test]
fn bits_behind_a_stream_must_be_zero() {
    // One stream of three bits in a byte: any other bit in it is damage.
    assert!(meet(&[0b101], 3, 0));
    assert!(meet(&[0b101], 0, 3));
    assert!(!meet(&[0b1101], 3, 0));
    assert!(!meet(&[0b1101], 0, 3));
    assert!(meet(&[0b11, 0b1], 2, 1));
    assert!(!meet(&[0b11, 0b11], 2, 1));
    assert!(meet(&[], 0, 0));
    assert!(!meet(&[], usize::MAX, usize::MAX));
}
