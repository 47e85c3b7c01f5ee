//! Tests of `spare_pages`.

use super::*;
use crate::env::pages::HeapPages;

fn spare_pages(bytes_max: usize) -> SparePages {
    let pages = SparePages::new(Arc::new(HeapPages));
    pages.keep_spare(bytes_max);
    pages
}

fn take(pages: &SparePages, bytes: usize) -> Box<dyn Piece> {
    pages.take(bytes).expect("the heap has so much")
}

#[test]
fn what_was_given_back_serves_who_asks_for_as_much() {
    // Of two sizes that wait each comes out for its own, and for a third size a new piece.
    let pages = spare_pages(1000);
    let pieces = [300, 200].map(|bytes| (bytes, take(&pages, bytes)));
    let places = pieces.each_ref().map(|(_, piece)| piece.address());
    for (_, piece) in pieces {
        pages.give_back(piece);
    }
    assert_eq!(pages.spare_bytes(), 500);
    let other = take(&pages, 100);
    assert!(!places.contains(&other.address()));
    let again = [300, 200].map(|bytes| take(&pages, bytes));
    assert_eq!(again.map(|piece| piece.address()), places);
    assert_eq!(pages.spare_bytes(), 0);
}

#[test]
fn no_more_waits_than_allowed() {
    // The third piece pushes the first one out, which was of a size of its own; a lower bound
    // takes effect at once, and with none nothing waits.
    let pages = spare_pages(1000);
    for bytes in [300, 400, 500] {
        let piece = take(&pages, bytes);
        pages.give_back(piece);
    }
    assert_eq!(pages.spare_bytes(), 900);
    pages.keep_spare(899);
    assert_eq!(pages.spare_bytes(), 500);
    let piece = take(&pages, 2000);
    pages.give_back(piece);
    assert_eq!(pages.spare_bytes(), 0);
    pages.keep_spare(0);
    let piece = take(&pages, 1);
    pages.give_back(piece);
    assert_eq!(pages.spare_bytes(), 0);
}

#[test]
fn nothing_waits_unasked() {
    // Who never says how much may wait, such as a tool that reads one file, keeps nothing.
    let pages = SparePages::new(Arc::new(HeapPages));
    let piece = take(&pages, 100);
    pages.give_back(piece);
    assert_eq!(pages.spare_bytes(), 0);
}

#[test]
fn a_piece_waits_under_its_own_size() {
    // The piece says how large it is; nobody can give it back as a larger one.
    let pages = spare_pages(1000);
    let small = take(&pages, 100);
    pages.give_back(small);
    let large = take(&pages, 900);
    assert!(large.size_bytes() >= 900);
    assert_eq!(pages.spare_bytes(), 100);
}
