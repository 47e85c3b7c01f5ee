//! What phrase dictionaries make of a file of texts, beside blocks compressed with zstd.
//!
//! `cargo bench -p esker --bench phrase -- FILE [NAME]`. The file has texts with empty lines
//! between them; a label such as `review/text: ` at the front of a line is dropped, and lines that
//! name the product or the user are left out, because they are a review's key. Three tenths of
//! the texts are held out: nothing trains on them, and all figures are of them. `NAME` chooses
//! rows.
//!
//! "size" is raw bytes for each byte of payload, "all in" with 1.4 bytes for each text to find it
//! by. Encoding is in MB of text for each second; "random" is the time to have one text out of
//! many, in microseconds. Both are the 20th percentile of short chunks: what they are while nobody
//! else has the processor.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads a file of the user's and measures the real world"
)]

use std::sync::Arc;
use std::time::Instant;

use esker::internals::base::codec::checksum::hash64;
use esker::internals::base::codec::compress::CompressionType;
use esker_phrase::{Dictionary, Effort, Encoder, Sample, Wish};

/// Bytes that finding a text takes beside its payload.
const PLACE_BYTES: f64 = 1.4;

/// Texts that are timed together: a fraction of a millisecond, so that most chunks are not broken
/// off by others.
const CHUNK: usize = 20;

/// Lookups in all.
const LOOKUPS: usize = 100_000;

/// Bytes of texts in a block, where blocks are compressed.
const BLOCK_BYTES: usize = 16 << 10;

/// What is trained: name, megabytes of sample, wish.
const TRAINED: [(&str, usize, Wish); 5] = [
    ("16Ki, 1 class", 4, wish(1 << 14, 1)),
    ("16Ki, 64 classes", 4, wish(1 << 14, 64)),
    ("64Ki, 1 class", 8, wish(1 << 16, 1)),
    ("64Ki, 64 classes", 8, wish(1 << 16, 64)),
    ("64Ki, 64 classes, 16 MB", 16, wish(1 << 16, 64)),
];

const fn wish(phrase_count: usize, class_count: usize) -> Wish {
    Wish {
        phrase_count,
        class_count,
    }
}

/// Texts that nothing trained on.
struct HeldOut {
    texts: Vec<Vec<u8>>,
    raw_bytes: usize,
    /// Which texts are looked up, one after the other.
    comparator: Vec<usize>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut words = words.iter().filter(|word| !word.starts_with("--"));
    let Some(file) = words.next() else {
        println!("phrase: name a file of texts, see the head of benches/phrase.rs");
        return;
    };
    let filter = words.next();
    let content = std::fs::read(file).expect("a file that can be read");
    let texts = texts(&String::from_utf8_lossy(&content));
    let is_held_out = |text: &Vec<u8>| hash64(text) % 10 < 3;
    let (texts, learned): (Vec<_>, Vec<_>) = texts.into_iter().partition(is_held_out);
    let held_out = HeldOut {
        raw_bytes: texts.iter().map(Vec::len).sum(),
        comparator: (0..LOOKUPS as u64)
            .map(|index| hash64(&index.to_le_bytes()) as usize % texts.len())
            .collect(),
        texts,
    };
    let count = held_out.texts.len();
    println!(
        "{count} texts held out, of {} bytes on average",
        held_out.raw_bytes / count
    );
    println!(
        "{:<26}{:>8}{:>8}{:>8}{:>10}{:>8}",
        "", "size", "all in", "MB/s", "random us", "GB/s"
    );
    let is_wanted = |name: &str| filter.is_none_or(|filter| name.contains(filter.as_str()));
    if is_wanted("zstd -3, 16 KiB blocks") {
        blocks(&held_out);
    }
    for (name, sample_mb, wish) in TRAINED {
        if is_wanted(name) {
            phrases(name, sample_mb, wish, &learned, &held_out);
        }
    }
}

fn texts(content: &str) -> Vec<Vec<u8>> {
    let is_key = |line: &&str| {
        line.starts_with("product/productId: ") || line.starts_with("review/userId: ")
    };
    let value = |line: &str| match line.split_once(": ") {
        Some((label, value)) if label.contains('/') && !label.contains(' ') => value.to_owned(),
        _ => line.to_owned(),
    };
    let text = |part: &str| {
        let lines = part.lines().filter(|line| !is_key(line));
        lines.map(value).collect::<Vec<_>>().join("\t").into_bytes()
    };
    let texts = content.split("\n\n").map(text);
    texts.filter(|text| !text.is_empty()).collect()
}

fn phrases(name: &str, sample_mb: usize, wish: Wish, learned: &[Vec<u8>], held_out: &HeldOut) {
    let mut sample = Sample::new(1, sample_mb << 20);
    learned.iter().for_each(|text| sample.offer(text));
    let clock = Instant::now();
    let dictionary = Arc::new(Dictionary::train(&sample, wish));
    println!(
        "{name}: {} phrases of {:.1} MB in {:.1} s; {} KB stored, {} KB in memory",
        dictionary.phrase_count(),
        sample.size_bytes() as f64 / 1e6,
        clock.elapsed().as_secs_f64(),
        dictionary.to_bytes().len() / 1000,
        dictionary.memory_bytes() / 1000,
    );
    for (effort, name) in [(Effort::Best, "best"), (Effort::Fast, "fast")] {
        let mut encoder = Encoder::new(&dictionary, effort);
        let mut payloads = Vec::new();
        let mut ends = vec![0];
        let byte_s = seconds(&held_out.texts, Vec::len, |text| {
            encoder.encode(text, &mut payloads);
            ends.push(payloads.len());
        });
        let payload = |index: usize| &payloads[ends[index]..ends[index + 1]];
        let mut out = Vec::new();
        for (index, text) in held_out.texts.iter().enumerate() {
            let decoded = dictionary.decode(payload(index), text.len(), &mut out);
            decoded.expect("what was encoded");
            assert!(out == *text);
        }
        let random_s = seconds(
            &held_out.comparator,
            |_| 1,
            |&index| {
                let raw_len = held_out.texts[index].len();
                let decoded = dictionary.decode(payload(index), raw_len, &mut out);
                decoded.expect("what was encoded");
            },
        );
        show(
            &format!("  {name}"),
            held_out,
            payloads.len(),
            byte_s,
            random_s,
        );
    }
}

fn blocks(held_out: &HeldOut) {
    let mut plain: Vec<Vec<u8>> = vec![Vec::new()];
    let mut homes = Vec::new();
    for text in &held_out.texts {
        if plain[plain.len() - 1].len() >= BLOCK_BYTES {
            plain.push(Vec::new());
        }
        homes.push(plain.len() - 1);
        plain.last_mut().expect("a block").extend_from_slice(text);
    }
    let mut compressed = Vec::new();
    let byte_s = seconds(&plain, Vec::len, |block| {
        let mut bytes = Vec::new();
        let done = CompressionType::Zstd.compress(block, 3, &mut bytes);
        done.expect("zstd compresses");
        compressed.push(bytes);
    });
    let mut out = Vec::new();
    let random_s = seconds(
        &held_out.comparator,
        |_| 1,
        |&index| {
            let home = homes[index];
            let done = CompressionType::Zstd.uncompress_into(
                &compressed[home],
                plain[home].len(),
                &mut out,
            );
            done.expect("what was compressed");
        },
    );
    let bytes = compressed.iter().map(Vec::len).sum();
    show("zstd -3, 16 KiB blocks", held_out, bytes, byte_s, random_s);
}

fn show(name: &str, held_out: &HeldOut, bytes: usize, byte_s: f64, random_s: f64) {
    let raw = held_out.raw_bytes as f64;
    let count = held_out.texts.len() as f64;
    println!(
        "{name:<26}{:>8.3}{:>8.3}{:>8.1}{:>10.2}{:>8.2}",
        raw / bytes as f64,
        raw / (bytes as f64 + PLACE_BYTES * count),
        1e-6 / byte_s,
        random_s * 1e6,
        raw / count / random_s / 1e9,
    );
}

// Works on all items, in short chunks; seconds for each unit of what they weigh.
fn seconds<T>(items: &[T], weight: impl Fn(&T) -> usize, mut work: impl FnMut(&T)) -> f64 {
    let mut time = |chunk: &[T]| {
        let clock = Instant::now();
        chunk.iter().for_each(&mut work);
        clock.elapsed().as_secs_f64() / chunk.iter().map(&weight).sum::<usize>() as f64
    };
    let mut times: Vec<f64> = items.chunks(CHUNK).map(&mut time).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 5]
}
