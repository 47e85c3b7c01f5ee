//! Review records that nobody wrote: made words in sentences, from a seed.

use crate::make::random::Random;
use crate::make::zipf::Zipf;

/// Words that there are; English texts of this kind use about as many.
const WORDS: usize = 20_000;

/// How uneven words are: that of English, by Zipf's law.
const THETA: f64 = 1.0;

/// Words of a text at the least and at the most: 150 in the mean, some 900 bytes.
const TEXT_WORDS: (u64, u64) = (30, 270);

/// Products that there are for each record, and users: a product has about thirty reviews.
const RECORDS_PER_PRODUCT: u64 = 30;
const RECORDS_PER_USER: u64 = 9;

/// The first second of the times told, and how many follow: 1998 to 2012.
const TIMES: (u64, u64) = (883_612_800, 466_560_000);

const STARTS: [&str; 16] = [
    "b", "br", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "st", "t", "th", "w",
];
const MIDDLES: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ie"];
const ENDS: [&str; 12] = [
    "", "", "n", "r", "s", "t", "ng", "ll", "nd", "ck", "st", "d",
];

/// Makes records in the format of SNAP's reviews, each under `product/user/time`.
#[derive(Clone, Debug)]
pub struct Prose {
    random: Random,
    ranks: Zipf,
    words: Vec<String>,
    count: u64,
}

impl Prose {
    /// The records of that seed, of which there will be about `count`.
    pub fn new(count: u64, seed: u64) -> Prose {
        let mut random = Random::new(seed);
        let words = (0..WORDS).map(|rank| word(rank, &mut random)).collect();
        Prose {
            random,
            ranks: Zipf::new(WORDS as u64, THETA),
            words,
            count: count.max(1),
        }
    }

    /// The next record: its key and its text.
    pub fn next_record(&mut self) -> (Vec<u8>, Vec<u8>) {
        let random = &mut self.random;
        let product = random.below(self.count / RECORDS_PER_PRODUCT + 1);
        let user = random.below(self.count / RECORDS_PER_USER + 1);
        let time = TIMES.0 + random.below(TIMES.1);
        let score = random.below(5) + 1;
        let key = format!("B{product:09X}/A{user:013X}/{time}");
        let mut text = format!(
            "product/productId: B{product:09X}\nreview/userId: A{user:013X}\n\
             review/profileName: "
        );
        self.sentence(2, &mut text);
        text += &format!(
            "\nreview/helpfulness: {}/{}\nreview/score: {score}.0\nreview/time: {time}\n\
             review/summary: ",
            score + 1,
            score + 3
        );
        self.sentence(5, &mut text);
        text += "\nreview/text: ";
        let (least, most) = TEXT_WORDS;
        let mut left = least + self.random.below(most - least + 1);
        while left > 0 {
            let count = left.min(4 + self.random.below(16));
            self.sentence(count, &mut text);
            text += if left > count { ". " } else { "." };
            left -= count;
        }
        (key.into_bytes(), text.into_bytes())
    }

    /// So many words, the first with a capital.
    fn sentence(&mut self, count: u64, text: &mut String) {
        for place in 0..count {
            let rank = self.ranks.draw(&mut self.random);
            let word = &self.words[usize::try_from(rank).expect("fewer than a million")];
            match place {
                0 => {
                    let (first, rest) = word.split_at(1);
                    text.push_str(&first.to_uppercase());
                    text.push_str(rest);
                }
                _ => {
                    text.push(' ');
                    text.push_str(word);
                }
            }
        }
    }
}

/// A word of a rank: frequent ones are short.
fn word(rank: usize, random: &mut Random) -> String {
    let syllables = match rank {
        ..100 => 1,
        100..3000 => 2,
        _ => 3,
    };
    let mut word = String::new();
    for _ in 0..syllables {
        for parts in [&STARTS[..], &MIDDLES[..], &ENDS[..]] {
            let place = usize::try_from(random.below(parts.len() as u64));
            word.push_str(parts[place.expect("a handful")]);
        }
    }
    word
}

#[cfg(test)]
mod tests;
