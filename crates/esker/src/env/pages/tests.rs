//! Tests of memory in large pieces.

use super::*;
use crate::env::real::map::MappedPages;

#[test]
fn pieces_are_whole_and_apart() {
    // Two pieces of each kind are filled with different bytes; neither sees the other's.
    let sources: [Box<dyn Pages>; 2] = [Box::new(HeapPages), Box::new(MappedPages)];
    for pages in &sources {
        let pieces = [1_usize, 100_001].map(|bytes| (pages.take(bytes).unwrap(), bytes));
        for (fill, (piece, bytes)) in pieces.iter().enumerate() {
            assert!(piece.size_bytes() == *bytes);
            assert!(piece.address().addr().get().is_multiple_of(PIECE_ALIGN));
            // SAFETY: the piece has so many bytes, and nobody else has them.
            unsafe { piece.address().write_bytes(fill as u8, *bytes) };
        }
        for (fill, (piece, bytes)) in pieces.iter().enumerate() {
            // SAFETY: as above.
            let last = unsafe { piece.address().add(bytes - 1).read() };
            assert_eq!(usize::from(last), fill);
        }
    }
}
