//! Tests of the trie.

use std::collections::BTreeMap;

use super::*;
use crate::corpus::Dice;

fn check(texts: &BTreeMap<Vec<u8>, Mark>, searched: &[Vec<u8>]) -> Trie {
    let marked: Vec<_> = texts
        .iter()
        .map(|(text, mark)| (Phrase::new(text).unwrap(), *mark))
        .collect();
    let trie = Trie::new(&marked);
    for text in searched {
        let mut found = Vec::new();
        trie.each_prefix(text, |len, mark| found.push((len, mark)));
        let longest = text.len().min(PHRASE_BYTES_MAX);
        let there = (1..=longest).filter_map(|len| Some((len, *texts.get(&text[..len])?)));
        assert!(there.eq(found));
    }
    trie
}

#[test]
fn every_phrase_at_the_front_is_found_and_nothing_else() {
    // Random phrases over few letters and over all bytes, against a map.
    let mut dice = Dice::new(1);
    for letters in [2, 20, 256] {
        let mut texts = BTreeMap::new();
        let text = |dice: &mut Dice, len| -> Vec<u8> {
            (0..len).map(|_| dice.below(letters) as u8).collect()
        };
        for id in 0..3000 {
            let len = 1 + dice.below(15);
            let text = text(&mut dice, len);
            texts.insert(text, Mark::new(id, (id % 64) as u8, 1 + (id % 255) as u8));
        }
        let mut searched: Vec<Vec<u8>> = (0..2000).map(|_| text(&mut dice, 20)).collect();
        searched.extend(texts.keys().cloned());
        searched.push(Vec::new());
        let trie = check(&texts, &searched);
        assert!(trie.size_bytes() < texts.len() * 15 * 8 * 2);
    }
}

#[test]
fn full_fans_are_found() {
    // Nodes with all 256 children, which need blocks of their own, and one phrase of 15 bytes.
    let mut texts = BTreeMap::new();
    for first in 0..40u8 {
        for second in 0..=255u8 {
            let id = u32::from(first) * 256 + u32::from(second);
            texts.insert(vec![first, second], Mark::new(id, 0, 9));
        }
    }
    texts.insert(vec![0; 15], Mark::new(100_000, 63, 255));
    let searched: Vec<_> = (0..=255)
        .flat_map(|a| [vec![a, a, a], vec![0, a, 0]])
        .collect();
    check(&texts, &searched);
    check(&BTreeMap::new(), &searched);
}

#[test]
fn marks_hold_what_they_are_made_of() {
    // The limits of each field.
    let mark = Mark::new((1 << 18) - 1, 63, 255);
    assert_eq!(
        (mark.id(), mark.class(), mark.price()),
        ((1 << 18) - 1, 63, 255)
    );
    let mark = Mark::new(0, 0, 1);
    assert_eq!((mark.id(), mark.class(), mark.price()), (0, 0, 1));
    assert_ne!(mark, Mark::NONE);
}

#[test]
fn permuting_moves_each_bit_to_its_place() {
    // Every flip of a set of bits, bit by bit.
    let bits: Bits = [
        0x0123_4567_89ab_cdef,
        1,
        u64::MAX << 3,
        0x8000_0000_0000_1000,
    ];
    let at = |bits: &Bits, index: u8| bits[usize::from(index >> 6)] >> (index & 63) & 1;
    for flip in 0..=255 {
        let moved = permuted(bits, flip);
        assert!((0..=255).all(|index| at(&moved, index) == at(&bits, index ^ flip)));
    }
}

#[test]
fn wide_nodes_waste_less_than_half() {
    // Nodes with 129 children: no two of them fit one block, which is the worst there is.
    let mut texts = BTreeMap::new();
    for first in 0..200u8 {
        for second in 0..129u8 {
            let id = u32::from(first) * 256 + u32::from(second);
            texts.insert(vec![first, second], Mark::new(id, 0, 9));
        }
    }
    let trie = check(&texts, &[vec![3, 4], vec![3, 200]]);
    assert!(trie.size_bytes() < (texts.len() + 3 * BLOCK) * 8 * 2);
}
