//! Phrases to classes, so that a phrase's class tells most about the next one's.
//!
//! Each phrase in turn goes to the class where the codes become shortest, counted over all pairs
//! of neighbours, until few move. What is counted: N(c, d), how often a phrase of class d follows
//! one of class c. Codes of classes then take −Σ h(N(c, d)) + Σ h(N(c, ·)) bits, codes inside
//! classes Σ h(N(·, d)) and what no move changes, where h(n) = n · log2 n.
//!
//! Source: the exchange algorithm of R. Kneser and H. Ney, "Improved clustering techniques for
//! class-based statistical language modelling".
//!
//! Bound: for each phrase, the classes times the pairs it is part of, in each pass.

use crate::count::{Counted, Counts, Pair};
use crate::log2::Entropy;

/// Times that every phrase is looked at: a guess between time and the few that still move late;
/// other numbers were not measured.
pub const PASSES: usize = 4;

/// Classes being made.
#[derive(Debug)]
pub struct Classes {
    class_count: usize,
    entropy: Entropy,
    /// Class of each phrase.
    pub classes: Vec<u8>,
    /// Pairs, rising by left number, and where those of each phrase begin.
    after: Neighbours,
    /// The same by right number.
    before: Neighbours,
    /// N(c, d) in row c.
    cells: Vec<u64>,
    /// h(N(c, d)), kept because every look needs it.
    cell_bits: Vec<f64>,
    /// N(c, ·) and N(·, d).
    lefts: Vec<u64>,
    rights: Vec<u64>,
    /// Phrases by falling count: those that come often decide.
    order: Vec<u32>,
}

/// For each phrase the phrases beside it, and how often.
#[derive(Debug)]
struct Neighbours {
    starts: Vec<usize>,
    others: Vec<(u32, u64)>,
}

/// How often the phrase in question stands beside each class.
struct Beside {
    after: Vec<u64>,
    before: Vec<u64>,
    own: u64,
}

impl Classes {
    /// Begins with `class_count` classes by first and last bytes: spaces, letters and the like
    /// fall into different ones.
    pub fn new(phrases: &[Counted], counts: &Counts, class_count: usize) -> Classes {
        let mut order: Vec<u32> = (0..phrases.len() as u32).collect();
        let last_byte = |id: &u32| phrases[*id as usize].phrase.text().last().copied();
        let first_byte = |id: &u32| phrases[*id as usize].phrase.text().first().copied();
        let rows = (1..=class_count).rfind(|rows| rows * rows <= class_count);
        let rows = rows.expect("there are classes");
        let columns = class_count / rows;
        let mut classes = vec![0; phrases.len()];
        order.sort_by_key(last_byte);
        for (id, part) in order.iter().zip(parts(&order, counts, rows)) {
            classes[*id as usize] = part * columns as u8;
        }
        order.sort_by_key(first_byte);
        for (id, part) in order.iter().zip(parts(&order, counts, columns)) {
            classes[*id as usize] += part;
        }
        order.sort_by_key(|id| (std::cmp::Reverse(counts.phrases[*id as usize]), *id));
        let turned = counts
            .pairs
            .iter()
            .map(|pair| (pair.right, pair.left, pair.count));
        let mut turned: Vec<_> = turned.collect();
        turned.sort_unstable();
        let straight = |pair: &Pair| (pair.left, pair.right, pair.count);
        let mut made = Classes {
            class_count,
            entropy: Entropy::default(),
            after: Neighbours::new(phrases.len(), counts.pairs.iter().map(straight)),
            before: Neighbours::new(phrases.len(), turned.into_iter()),
            cells: vec![0; class_count * class_count],
            cell_bits: vec![0.0; class_count * class_count],
            lefts: vec![0; class_count],
            rights: vec![0; class_count],
            classes,
            order,
        };
        made.count_cells(&counts.pairs);
        made
    }

    /// Phrases to look at in one pass.
    pub fn phrase_count(&self) -> usize {
        self.order.len()
    }

    /// Looks at the phrases of these places in the order of counts; how many moved.
    pub fn improve(&mut self, places: std::ops::Range<usize>) -> usize {
        let mut moved = 0;
        let mut beside = Beside {
            after: vec![0; self.class_count],
            before: vec![0; self.class_count],
            own: 0,
        };
        for place in places {
            let id = self.order[place] as usize;
            self.look_beside(id, &mut beside);
            let old = usize::from(self.classes[id]);
            self.shift(old, &beside, |count, part| count - part);
            let gain = |class: usize| self.gain(class, &beside);
            let mut best = (gain(old), old);
            for class in (0..self.class_count).filter(|class| *class != old) {
                let other = gain(class);
                if other > best.0 {
                    best = (other, class);
                }
            }
            self.shift(best.1, &beside, |count, part| count + part);
            self.classes[id] = best.1 as u8;
            moved += usize::from(best.1 != old);
        }
        moved
    }

    /// Bits that the codes would take, but for what no move changes.
    #[cfg(test)]
    pub fn bits(&self) -> f64 {
        let ends: f64 = self
            .lefts
            .iter()
            .chain(&self.rights)
            .map(|n| self.entropy.of(*n))
            .sum();
        ends - self.cell_bits.iter().sum::<f64>()
    }

    fn count_cells(&mut self, pairs: &[Pair]) {
        for pair in pairs {
            let left = usize::from(self.classes[pair.left as usize]);
            let right = usize::from(self.classes[pair.right as usize]);
            self.cells[left * self.class_count + right] += pair.count;
            self.lefts[left] += pair.count;
            self.rights[right] += pair.count;
        }
        for (bits, count) in self.cell_bits.iter_mut().zip(&self.cells) {
            *bits = self.entropy.of(*count);
        }
    }

    fn look_beside(&self, id: usize, beside: &mut Beside) {
        beside.after.fill(0);
        beside.before.fill(0);
        beside.own = 0;
        for &(other, count) in self.after.of(id) {
            if other as usize == id {
                beside.own += count;
            } else {
                beside.after[usize::from(self.classes[other as usize])] += count;
            }
        }
        for &(other, count) in self.before.of(id) {
            if other as usize != id {
                beside.before[usize::from(self.classes[other as usize])] += count;
            }
        }
    }

    // Adds the phrase to a class, or takes it out.
    fn shift(&mut self, class: usize, beside: &Beside, change: impl Fn(u64, u64) -> u64) {
        for other in 0..self.class_count {
            let mut after = beside.after[other];
            let mut before = beside.before[other];
            if other == class {
                after += before + beside.own;
                before = 0;
            }
            self.change(class * self.class_count + other, after, &change);
            self.change(other * self.class_count + class, before, &change);
        }
        let all = |counts: &[u64]| counts.iter().sum::<u64>() + beside.own;
        self.lefts[class] = change(self.lefts[class], all(&beside.after));
        self.rights[class] = change(self.rights[class], all(&beside.before));
    }

    fn change(&mut self, cell: usize, part: u64, change: impl Fn(u64, u64) -> u64) {
        if part > 0 {
            self.cells[cell] = change(self.cells[cell], part);
            self.cell_bits[cell] = self.entropy.of(self.cells[cell]);
        }
    }

    // Bits saved if the phrase, which is in no class, goes to this one.
    fn gain(&self, class: usize, beside: &Beside) -> f64 {
        let h = |count: u64| self.entropy.of(count);
        let mut gain = 0.0;
        let (mut lefts, mut rights) = (beside.own, beside.own);
        let row = class * self.class_count;
        for other in 0..self.class_count {
            let (after, before) = (beside.after[other], beside.before[other]);
            lefts += after;
            rights += before;
            if other == class {
                continue;
            }
            if after > 0 {
                let cell = row + other;
                gain += h(self.cells[cell] + after) - self.cell_bits[cell];
            }
            if before > 0 {
                let cell = other * self.class_count + class;
                gain += h(self.cells[cell] + before) - self.cell_bits[cell];
            }
        }
        let both = beside.after[class] + beside.before[class] + beside.own;
        gain += h(self.cells[row + class] + both) - self.cell_bits[row + class];
        gain -= h(self.lefts[class] + lefts) - h(self.lefts[class]);
        gain - (h(self.rights[class] + rights) - h(self.rights[class]))
    }
}

impl Neighbours {
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32, u64)>) -> Neighbours {
        let mut starts = Vec::with_capacity(count + 1);
        let mut others = Vec::new();
        for (id, other, count) in pairs {
            while starts.len() <= id as usize {
                starts.push(others.len());
            }
            others.push((other, count));
        }
        starts.resize(count + 1, others.len());
        Neighbours { starts, others }
    }

    fn of(&self, id: usize) -> &[(u32, u64)] {
        &self.others[self.starts[id]..self.starts[id + 1]]
    }
}

// For each phrase in order, which of `count` parts of about the same weight it lies in.
fn parts(order: &[u32], counts: &Counts, count: usize) -> impl Iterator<Item = u8> {
    let total: u64 = counts.phrases.iter().sum::<u64>() + 1;
    let mut before = 0;
    order.iter().map(move |id| {
        let part = before * count as u64 / total;
        before += counts.phrases[*id as usize];
        u8::try_from(part).expect("below the number of parts")
    })
}

#[cfg(test)]
mod tests;
