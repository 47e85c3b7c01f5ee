//! Tests of the short checksum, against the library's.

use super::*;

#[test]
fn every_length_at_every_offset_is_as_the_library_says() {
    let bytes: Vec<u8> = (0..SHORT_BYTES + 64)
        .map(|at| (at * 7 + at / 251) as u8)
        .collect();
    for start in 0..9 {
        for len in (0..70).chain([SHORT_BYTES - 1, SHORT_BYTES, SHORT_BYTES + 9]) {
            let part = &bytes[start..start + len];
            for before in [0, 1, 0xffff_ffff, 0x1234_5678] {
                let wanted = crc32c::crc32c_append(before, part);
                let got = short_crc(before, part);
                assert!(
                    got.is_none_or(|got| got == wanted),
                    "{start} {len} {before}"
                );
            }
        }
    }
}

#[test]
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn a_processor_with_the_instruction_has_it_used() {
    if std::arch::is_x86_feature_detected!("sse4.2") {
        assert_eq!(short_crc(0, b"123456789"), Some(0xe306_9283));
    }
}
