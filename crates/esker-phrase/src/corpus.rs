//! Texts and dictionaries for tests.

use std::sync::{Arc, OnceLock};

use crate::bytes::lot;
use crate::dictionary::Dictionary;
use crate::sample::Sample;
use crate::train::Wish;

/// Numbers that look random and are the same in every run.
pub struct Dice(u64);

impl Dice {
    /// Dice for that seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed << 32)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 += 1;
        (lot(self.0, 7) % end as u64) as usize
    }

    /// That many bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

const WORDS: &[&str] = &[
    "the",
    "of",
    "and",
    "a",
    "film",
    "was",
    "that",
    "I",
    "it",
    "in",
    "book",
    "is",
    "this",
    "for",
    "with",
    "story",
    "not",
    "but",
    "his",
    "great",
    "read",
    "music",
    "never",
    "character",
    "really",
    "disappointed",
    "wonderful",
    "recommend",
    "through",
    "people",
    "<br />",
    "very",
    "don't",
];

/// Sentences of about `len` bytes.
pub fn prose(dice: &mut Dice, len: usize) -> Vec<u8> {
    let mut text = String::new();
    while text.len() < len {
        text.push_str(WORDS[dice.below(WORDS.len()).min(dice.below(WORDS.len()))]);
        text.push_str(dice.one::<&str>(&[" ", " ", " ", " ", ", ", ". ", "! "]));
    }
    text.into_bytes()
}

/// A small JSON object.
pub fn json(dice: &mut Dice) -> Vec<u8> {
    let (id, score) = (dice.below(1 << 30), dice.below(100));
    let name = dice.one(WORDS);
    let tail = String::from_utf8(prose(dice, 40)).expect("prose is of ASCII words");
    format!(
        "{{\"id\":{id},\"user\":{{\"name\":\"{name}\",\"score\":{score}}},\"text\":\"{tail}\"}}"
    )
    .into_bytes()
}

/// Chinese in UTF-8.
pub fn chinese(dice: &mut Dice, len: usize) -> Vec<u8> {
    let signs: Vec<char> =
        "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
            .chars()
            .collect();
    let mut text = String::new();
    while text.len() < len {
        text.push(*dice.one(&signs));
        if dice.below(9) == 0 {
            text.push(*dice.one(&['，', '。']));
        }
    }
    text.into_bytes()
}

/// Records of a family: prose and JSON.
pub fn records(seed: u64, count: usize) -> Vec<Vec<u8>> {
    let mut dice = Dice::new(seed);
    let record = |index: usize| match index % 3 {
        0 => json(&mut dice),
        _ => {
            let len = 20 + dice.below(900);
            prose(&mut dice, len)
        }
    };
    (0..count).map(record).collect()
}

/// Texts of every sort that a codec meets, and of some that it does not expect.
pub fn texts() -> Vec<Vec<u8>> {
    let mut dice = Dice::new(99);
    let mut texts = vec![
        Vec::new(),
        vec![0],
        vec![255],
        b"the".to_vec(),
        vec![0; 65_536],
        vec![255; 5000],
        (0..=255).collect(),
        dice.bytes(1),
        dice.bytes(127),
        dice.bytes(128),
        dice.bytes(65_536),
        prose(&mut dice, 65_536),
        prose(&mut dice, 16_384),
        chinese(&mut dice, 3000),
        b"the ".repeat(500),
    ];
    for len in 1..300 {
        let mut text = prose(&mut dice, len);
        text.truncate(len);
        texts.push(text);
    }
    texts.extend(records(5, 60));
    // A row of numbers, as a struct has them.
    texts.push((0..500u32).flat_map(|n| (n * 77).to_le_bytes()).collect());
    texts
}

/// A dictionary of `wish`, trained from `records`.
pub fn trained(records: &[Vec<u8>], wish: Wish) -> Dictionary {
    Dictionary::train(&Sample::of(records.iter().map(Vec::as_slice)), wish)
}

/// Dictionaries with one class and with several, made once for all tests.
pub fn dictionaries() -> [Arc<Dictionary>; 2] {
    static MADE: OnceLock<[Arc<Dictionary>; 2]> = OnceLock::new();
    let made = |class_count| {
        let phrase_count = 700;
        let wish = Wish {
            phrase_count,
            class_count,
        };
        Arc::new(trained(&records(1, 150), wish))
    };
    MADE.get_or_init(|| [made(1), made(9)]).clone()
}
