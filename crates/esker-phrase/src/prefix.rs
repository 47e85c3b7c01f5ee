//! Prefix codes that a small table decodes: how long each code is, and which it is.
//!
//! A code of up to `top_bits` bits is found in a table of 2^`top_bits` entries. A longer one
//! begins with `top_bits` bits that it shares with a whole group of codes of its length, and its
//! other bits count inside the group. So one entry, "first rank, bits behind the top", decodes a
//! group, and 1024 entries decode 65 536 phrases out of 4 KB instead of a table of megabytes.
//! Against a code without groups it was measured to cost nothing.
//!
//! The law of lengths: among the codes of a table, those of `top_bits` + s bits are a multiple of
//! 2^s; and all of them take no more than the table's entries, where a code of L bits takes
//! 2^(`top_bits` - L) of them, and a group takes one.

/// The shape of a table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits that the table is indexed with.
    pub top_bits: u32,
    /// Most bits of a code behind those.
    pub suffix_bits_max: u32,
}

impl Shape {
    /// Longest code, in bits.
    pub fn bits_max(self) -> u32 {
        self.top_bits + self.suffix_bits_max
    }

    fn entries(self) -> u64 {
        1 << self.top_bits
    }

    // Entries that `count` codes of `bits` bits take.
    fn taken(self, bits: u32, count: u64) -> u64 {
        if bits <= self.top_bits {
            count << (self.top_bits - bits)
        } else {
            count >> (bits - self.top_bits)
        }
    }

    // Codes of `bits` bits that share an entry.
    fn group(self, bits: u32) -> u64 {
        1 << bits.saturating_sub(self.top_bits)
    }
}

/// One code: its bits, the first lowest, and how many they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Code {
    /// The bits.
    pub bits: u32,
    /// How many.
    pub len: u8,
}

/// How many codes there are of each length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lengths {
    shape: Shape,
    /// By length in bits, from 0 to the longest.
    counts: Vec<u64>,
}

impl Lengths {
    /// Lengths for things that happen as often as `weights` say, from the heaviest on: the
    /// first things get the shortest codes. Close to the best that the law of lengths allows.
    ///
    /// # Panics
    /// When the weights are out of order, or more than the table has codes for.
    pub fn for_weights(shape: Shape, weights: &[u64]) -> Lengths {
        assert!(weights.is_sorted_by(|left, right| left >= right));
        let count = weights.len() as u64;
        assert!(count <= (shape.entries() / 2) << shape.suffix_bits_max);
        // The larger the price of an entry, the longer the codes: the smallest price at which
        // the table holds them.
        let (mut low, mut high) = (0, u64::MAX);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if Lengths::at_price(shape, weights, middle).fits() {
                high = middle;
            } else {
                low = middle;
            }
        }
        let mut lengths = Lengths::at_price(shape, weights, high);
        assert!(lengths.fits());
        lengths.use_rest(weights);
        lengths
    }

    /// The lengths of the codes with these many bits, if they obey the law.
    pub fn from_lengths(shape: Shape, lengths: impl Iterator<Item = u8>) -> Option<Lengths> {
        let mut counts = vec![0; shape.bits_max() as usize + 1];
        for len in lengths {
            *counts.get_mut(usize::from(len))? += 1;
        }
        let lengths = Lengths { shape, counts };
        let is_whole = |(bits, count): (u32, &u64)| count.is_multiple_of(shape.group(bits));
        let are_groups_whole = (0..).zip(&lengths.counts).all(is_whole);
        (are_groups_whole && lengths.fits()).then_some(lengths)
    }

    /// The lengths one by one, from the shortest on.
    pub fn each(&self) -> impl Iterator<Item = u8> {
        let repeat = |(bits, count): (u8, &u64)| (0..*count).map(move |_| bits);
        (0..).zip(&self.counts).flat_map(repeat)
    }

    /// The codes one by one, from the shortest on.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        let mut next = 0;
        (0..).zip(&self.counts).flat_map(move |(len, &count)| {
            let first = next;
            next += self.shape.taken(u32::from(len), count);
            (0..count).map(move |index| self.code(len, first, index))
        })
    }

    /// What each entry of the table decodes: the first rank of its group and the length of its
    /// codes. `None` for an entry that no code leads to.
    pub fn table(&self) -> Vec<Option<(u32, u8)>> {
        let mut table = vec![None; 1 << self.shape.top_bits];
        let mut rank = 0;
        let mut codes = self.codes();
        while let Some(code) = codes.next() {
            let len = u32::from(code.len);
            let top = self.shape.top_bits;
            let step = 1 << len.min(top);
            let first = code.bits as usize & ((1 << top) - 1);
            for entry in table.iter_mut().skip(first).step_by(step) {
                *entry = Some((rank, code.len));
            }
            let group = self.shape.group(len);
            rank += u32::try_from(group).expect("at most 2^16");
            // The others of the group.
            codes.by_ref().take(group as usize - 1).for_each(drop);
        }
        table
    }

    // The code number `index` of those with `len` bits, whose first entry is `first`.
    fn code(&self, len: u8, first: u64, index: u64) -> Code {
        let (bits, top) = (u32::from(len), self.shape.top_bits);
        let group = self.shape.group(bits);
        let entry = first + self.shape.taken(bits, index - index % group);
        let entry = u32::try_from(entry).expect("below the entries");
        let reversed = (u64::from(entry.reverse_bits()) >> (32 - top)) as u32;
        let suffix = u32::try_from(index % group).expect("at most 16 bits");
        // For a short code the bits behind it are zero: `first` is a multiple of what it takes.
        Code {
            bits: reversed | (suffix << top),
            len,
        }
    }

    // Each length is the one where a bit more would cost more than the entries it saves.
    fn at_price(shape: Shape, weights: &[u64], entry_price: u64) -> Lengths {
        let longest = shape.bits_max();
        let mut counts = vec![0; longest as usize + 1];
        let mut before = 0;
        for bits in 0..longest {
            let is_dear =
                |weight: &u64| u128::from(*weight) << (bits + 1) >= u128::from(entry_price);
            let until = weights.partition_point(is_dear) as u64;
            counts[bits as usize] = until - before;
            before = until;
        }
        counts[longest as usize] = weights.len() as u64 - before;
        // What does not fill a group gets shorter codes: the heaviest of its length.
        for bits in (shape.top_bits + 1..=longest).rev() {
            let rest = counts[bits as usize] % shape.group(bits);
            counts[bits as usize] -= rest;
            counts[bits as usize - 1] += rest;
        }
        Lengths { shape, counts }
    }

    fn taken(&self) -> u64 {
        let each = (0..).zip(&self.counts);
        each.map(|(bits, &count)| self.shape.taken(bits, count))
            .fold(0, u64::saturating_add)
    }

    fn fits(&self) -> bool {
        self.taken() <= self.shape.entries()
    }

    // Entries that are left make codes shorter, where an entry gains most first.
    fn use_rest(&mut self, weights: &[u64]) {
        let mut sums = vec![0u64];
        for weight in weights {
            sums.push(sums[sums.len() - 1].saturating_add(*weight));
        }
        let mut rest = self.shape.entries() - self.taken();
        while let Some((bits, cost)) = self.best_shortening(&sums, rest) {
            let group = self.shape.group(bits);
            self.counts[bits as usize] -= group;
            self.counts[bits as usize - 1] += group;
            rest -= cost;
        }
        assert!(self.fits());
    }

    // The length whose first group is worth most a bit less, and the entries that takes.
    fn best_shortening(&self, sums: &[u64], rest: u64) -> Option<(u32, u64)> {
        let mut best: Option<(u64, u32, u64)> = None;
        let mut first = self.counts[0];
        for bits in 1..=self.shape.bits_max() {
            let (count, group) = (self.counts[bits as usize], self.shape.group(bits));
            let cost = self.shape.taken(bits, group);
            if count >= group && cost <= rest {
                let gain = sums[(first + group) as usize] - sums[first as usize];
                let gain_per_entry = gain / cost;
                if best.is_none_or(|(other, ..)| other < gain_per_entry) {
                    best = Some((gain_per_entry, bits, cost));
                }
            }
            first += count;
        }
        best.map(|(_, bits, cost)| (bits, cost))
    }
}

#[cfg(test)]
mod tests;
