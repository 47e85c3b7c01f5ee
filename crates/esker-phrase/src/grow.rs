//! Which phrases are worth their place.

use crate::count::{Counted, Counts};
use crate::log2::price;
use crate::text::{PHRASE_BYTES_MAX, Phrase};
use crate::trie::Trie;

/// What a phrase must save in the sample to stay, in eighths of a bit: its place in a dictionary
/// takes about 40 bits, of which a sample's share is small; the rest of the price is for what
/// came a few times in the sample by chance, and will not come again.
const PLACE_PRICE: i64 = 160;

/// A phrase that may be kept or made.
struct Candidate {
    phrase: Phrase,
    /// Eighths of a bit that it saves in the sample.
    gain: i64,
    count: u64,
    /// The pair it would be made of.
    parts: Option<(u32, u32)>,
}

/// The `wanted` best among the phrases counted and, if `may_join`, their pairs; all single bytes
/// stay beside them. Rises; each with the count that is to be expected of it.
pub fn select(
    phrases: &[Counted],
    trie: &Trie,
    counts: &Counts,
    wanted: usize,
    may_join: bool,
) -> Vec<Counted> {
    let total: u64 = counts.phrases.iter().sum();
    let prices: Vec<u32> = counts
        .phrases
        .iter()
        .map(|count| u32::from(price(*count, total)))
        .collect();
    let mut candidates = kept(phrases, trie, counts, &prices);
    if may_join {
        candidates.extend(joined(phrases, counts, &prices, total));
        // Pairs may spell the same phrase, or one that there is; what is worth most speaks for it.
        candidates.sort_unstable_by_key(|candidate| {
            let is_new = candidate.parts.is_some();
            (
                candidate.phrase.sort_key(),
                is_new,
                -candidate.gain,
                candidate.parts,
            )
        });
        candidates.dedup_by_key(|candidate| candidate.phrase);
    }
    candidates.retain(|candidate| candidate.gain > 0);
    if candidates.len() > wanted {
        let key = |candidate: &Candidate| (-candidate.gain, candidate.phrase.sort_key());
        candidates.select_nth_unstable_by_key(wanted, key);
        candidates.truncate(wanted);
    }
    let mut expected = counts.phrases.clone();
    for candidate in &candidates {
        if let Some((left, right)) = candidate.parts {
            for part in [left, right] {
                let count = &mut expected[part as usize];
                *count = count.saturating_sub(candidate.count);
            }
        }
    }
    let old = |phrase: Phrase| {
        let place = phrases.binary_search_by_key(&phrase, |counted| counted.phrase);
        place.map_or(0, |id| expected[id])
    };
    let keep = |candidate: &Candidate| Counted {
        phrase: candidate.phrase,
        count: match candidate.parts {
            Some(_) => candidate.count,
            None => old(candidate.phrase),
        },
    };
    let single = |byte| Counted {
        phrase: Phrase::of_byte(byte),
        count: old(Phrase::of_byte(byte)),
    };
    let mut chosen: Vec<Counted> = candidates.iter().map(keep).collect();
    chosen.extend((0..=u8::MAX).map(single));
    chosen.sort_unstable_by_key(|counted| counted.phrase.sort_key());
    chosen
}

// Phrases of more than a byte, by what their text would cost without them.
fn kept(phrases: &[Counted], trie: &Trie, counts: &Counts, prices: &[u32]) -> Vec<Candidate> {
    let long = (0..phrases.len()).filter(|&id| phrases[id].phrase.len() > 1);
    long.map(|id| {
        let phrase = phrases[id].phrase;
        let saved = i64::from(price_without(trie, prices, phrase)) - i64::from(prices[id]);
        let count = counts.phrases[id];
        Candidate {
            phrase,
            gain: saved * count as i64 - PLACE_PRICE,
            count,
            parts: None,
        }
    })
    .collect()
}

fn joined(
    phrases: &[Counted],
    counts: &Counts,
    prices: &[u32],
    total: u64,
) -> impl Iterator<Item = Candidate> {
    let often = counts.pairs.iter().filter(|pair| pair.count > 1);
    often.filter_map(move |pair| {
        let (left, right) = (pair.left as usize, pair.right as usize);
        let phrase = phrases[left].phrase.join(phrases[right].phrase)?;
        let apart = i64::from(prices[left] + prices[right]);
        let saved = apart - i64::from(price(pair.count, total));
        Some(Candidate {
            phrase,
            gain: saved * pair.count as i64 - PLACE_PRICE,
            count: pair.count,
            parts: Some((pair.left, pair.right)),
        })
    })
}

// The least that other phrases cost which spell the same.
fn price_without(trie: &Trie, prices: &[u32], phrase: Phrase) -> u32 {
    let text = phrase.text();
    let mut ways = [u32::MAX; PHRASE_BYTES_MAX + 1];
    ways[0] = 0;
    for at in 0..text.len() {
        let here = ways[at];
        trie.each_prefix(&text[at..], |len, mark| {
            if len < text.len() {
                let way = here + prices[mark.id() as usize];
                ways[at + len] = ways[at + len].min(way);
            }
        });
    }
    ways[text.len()]
}

#[cfg(test)]
mod tests;
