//! Tests of the prescribed values.

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
