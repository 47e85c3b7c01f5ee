//! Tests of the prescribed values.

use esker::internals::base::codec::compress::CompressionType;

use super::*;

#[test]
fn first_value_of_leveldb_is_reproduced() {
    // Fifty random bytes and the same fifty again, as every LevelDB of the world writes first.
    let golden = b"^{Vhz\"!/%wMZ;'a F/REZJ4Tw@%NXxy2?.ArVCZ2B6[jnUd)4 ";
    let mut slices = Slices::new(pool(Alphabet::Printable, 0.5, 100));
    let first = slices.next_slice(100).to_vec();
    assert_eq!(&first[..50], golden);
    assert_eq!(&first[50..], golden);
    assert_ne!(slices.next_slice(100), first);
    assert_eq!(slices.pool.len(), 1_048_600);
}

#[test]
fn slices_wrap_and_values_keep_their_alphabet() {
    // After the last whole slice the first one comes again; binary values stay below 127.
    let binary = pool(Alphabet::Binary, 0.5, 100);
    assert!(binary.iter().all(|byte| *byte < 127) && binary.contains(&0));
    let mut slices = Slices::new(binary);
    let first = slices.next_slice(100_000).to_vec();
    for _ in 0..9 {
        slices.next_slice(100_000);
    }
    assert_eq!(slices.next_slice(100_000), first);
    let own = slices.slice_of(7, 60).to_vec();
    slices.next_slice(60);
    assert!(slices.slice_of(7, 60) == own && slices.slice_of(8, 60) != own);
    let long = pool(Alphabet::Printable, 1.0, 2 << 20);
    assert!(long.len() > 2 << 20);
}

#[test]
fn neutral_values_pack_as_wished() {
    // 64 KiB of values, packed as a block would be: near the wish, never below it. Long values have
    // a pool too.
    for ratio in [0.25, 0.5, 1.0] {
        let mut values = Slices::new(neutral(301, ratio, 100));
        let plain = values.next_slice(64 << 10).to_vec();
        let mut packed = Vec::new();
        let lz4 = CompressionType::Lz4;
        lz4.compress(&plain, 1, &mut packed).unwrap();
        let got = packed.len() as f64 / plain.len() as f64;
        assert!(got >= ratio * 0.98 && got < ratio + 0.12, "{ratio}: {got}");
    }
    assert!(neutral(1, 0.5, 8 << 20).len() > 8 << 20);
}
