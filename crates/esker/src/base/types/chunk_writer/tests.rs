//! Tests of `chunk_writer`.

use super::*;

#[test]
fn what_does_not_fit_is_refused() {
    // More shared than there is, more rest than there is, and keys without end.
    let (mut room, mut spots) = (vec![0; 100], Vec::new());
    let mut chunk = ChunkWriter::new(&mut room, &mut spots);
    assert_eq!(chunk.put_key(1, &[0; 40], 24), Put::Refused);
    assert_eq!(chunk.put_key(0, &[0; 16], 24), Put::Refused);
    assert_eq!(chunk.put_key(0, &[0; 16], 7), Put::Refused);
    assert_eq!(chunk.last_user_key(), []);
    assert_eq!(chunk.put_key(0, &[7; 40], 24), Put::Another);
    assert_eq!(chunk.put_key(17, &[0; 40], 24), Put::Refused);
    assert_eq!(chunk.put_key(16, &[0; 40], 8), Put::Again);
    assert_eq!(chunk.last_user_key(), [7; 16]);
    let mut count = 0;
    while chunk.put_key(0, &[7; 64], 64) != Put::Refused {
        count += 1;
        assert!(count < 1000);
    }
}
