//! Small changes of inputs, the same for the same seed: what a fuzzer does, without its guidance.

/// Longest input that changes grow to, in bytes: as libfuzzer's own.
pub const INPUT_BYTES_MAX: usize = 4096;

/// Changes that one input goes through at most.
const CHANGES_MAX: usize = 6;

/// Longest piece that is copied, moved or taken out at once, in bytes.
const PIECE_BYTES_MAX: usize = 64;

/// Numbers at the edges of lengths, offsets and counts.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    i64::MAX as u64,
    u64::MAX - 4,
    u64::MAX,
];

/// Makes inputs out of others.
#[derive(Clone, Debug)]
pub struct Mutation {
    state: u64,
}

impl Mutation {
    /// What follows from `seed`.
    pub fn new(seed: u64) -> Mutation {
        Mutation { state: seed }
    }

    /// One of `inputs`, of which there is one at least, changed a few times.
    pub fn next(&mut self, inputs: &[Vec<u8>]) -> Vec<u8> {
        assert!(!inputs.is_empty());
        let mut bytes = inputs[self.below(inputs.len())].clone();
        for _ in 0..=self.below(CHANGES_MAX) {
            let other = &inputs[self.below(inputs.len())];
            self.change(&mut bytes, other);
        }
        bytes.truncate(INPUT_BYTES_MAX);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        if bytes.is_empty() {
            bytes.extend(&other[..other.len().min(PIECE_BYTES_MAX)]);
            bytes.push(self.byte());
            return;
        }
        let at = self.below(bytes.len());
        match self.below(8) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.byte(),
            2 => bytes[at] = bytes[at].wrapping_add(self.byte() % 9).wrapping_sub(4),
            3 => self.write_edge(bytes, at),
            4 => {
                let piece = self.piece(bytes);
                bytes.splice(at..at, piece);
            }
            5 => {
                let end = (at + 1 + self.below(PIECE_BYTES_MAX)).min(bytes.len());
                bytes.drain(at..end);
            }
            6 => {
                let piece = self.piece(other);
                bytes.splice(at..at, piece);
            }
            _ => {
                let piece = self.piece(other);
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece);
            }
        }
    }

    // A number of 1, 2, 4 or 8 bytes, little-endian as all of ours, or a little beside an edge.
    fn write_edge(&mut self, bytes: &mut [u8], at: usize) {
        let edge = EDGES[self.below(EDGES.len())];
        let number = edge.wrapping_add(self.below(3) as u64).to_le_bytes();
        let len = (1 << self.below(4)).min(bytes.len() - at);
        bytes[at..at + len].copy_from_slice(&number[..len]);
    }

    fn piece(&mut self, from: &[u8]) -> Vec<u8> {
        if from.is_empty() {
            return Vec::new();
        }
        let start = self.below(from.len());
        let end = (start + 1 + self.below(PIECE_BYTES_MAX)).min(from.len());
        from[start..end].to_vec()
    }

    fn byte(&mut self) -> u8 {
        self.draw().to_le_bytes()[7]
    }

    fn below(&mut self, count: usize) -> usize {
        let count = u64::try_from(count).expect("a length fits 64 bits");
        usize::try_from(self.draw() % count).expect("less than a length")
    }

    // SplitMix64, from Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
