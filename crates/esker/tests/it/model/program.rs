//! A program: keyspaces whose shape must not change, and a list of operations.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use esker::internals::base::hooks::merge_builtin::builtin;
use esker::internals::env::random::Random;
use esker::{Comparator, CustomComparator, MergeOperator, MergeRule};

use super::operation::{At, End, Move, Operation, Write};

/// What of a keyspace shows in answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyspaceShape {
    pub name: &'static str,
    pub is_reversed: bool,
    pub operator: &'static str,
    pub ttl_ms: u32,
}

impl KeyspaceShape {
    pub fn comparator(&self) -> Comparator {
        comparator(self.is_reversed)
    }

    pub fn merge_rule(&self) -> MergeRule {
        builtin(self.operator).unwrap_or_else(|| MergeRule(Arc::new(Chain)))
    }
}

/// Bytewise, or the other way round.
pub fn comparator(is_reversed: bool) -> Comparator {
    if is_reversed {
        Comparator::Custom(Arc::new(Reversed))
    } else {
        Comparator::Bytewise
    }
}

/// Bytewise from the end.
struct Reversed;

impl CustomComparator for Reversed {
    fn name(&self) -> &str {
        "reversed"
    }

    fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        right.cmp(left)
    }
}

/// A user's operator that cannot combine two operands: their lengths and first bytes in a row.
struct Chain;

impl MergeOperator for Chain {
    fn name(&self) -> &str {
        "chain"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut folded = base.unwrap_or(b"none").to_vec();
        for operand in operands {
            folded.push(b'|');
            folded.extend_from_slice(&operand[..operand.len().min(4)]);
        }
        Ok(folded)
    }

    fn combine(&self, _: &[u8], _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A random program.
#[derive(Clone)]
pub struct Program {
    pub seed: u64,
    pub keyspaces: Vec<KeyspaceShape>,
    pub operations: Vec<Operation>,
}

impl Program {
    /// The program of a seed. Programs differ in length, in how many keys they touch, and in
    /// what they mostly do, because some faults show only where one thing is done a lot.
    pub fn random(seed: u64) -> Program {
        let mut random = Random::new(seed ^ 0x6d6f_6465_6c00);
        let keyspaces = Program::shapes(&mut random);
        let mut writer = Writer {
            key_count: pick(&mut random, &[8, 40, 200, 600]),
            place_count: pick(&mut random, &[1, 2, 3]),
            weights: (0..KINDS)
                .map(|_| pick(&mut random, &[0, 1, 1, 2, 6]))
                .collect(),
            random,
        };
        let len = pick(&mut writer.random, &[30, 100, 250]);
        let mut operations: Vec<_> = (0..len).map(|_| writer.operation()).collect();
        operations.extend(writer.ending());
        Program {
            seed,
            keyspaces,
            operations,
        }
    }

    /// Three keyspaces.
    pub fn shapes(random: &mut Random) -> Vec<KeyspaceShape> {
        let operators = [
            "uint64add",
            "uint64max",
            "append",
            "bytesxor",
            "put",
            "chain",
        ];
        ["default", "second", "third"]
            .into_iter()
            .map(|name| KeyspaceShape {
                name,
                is_reversed: random.one_in(3),
                operator: pick(random, &operators),
                ttl_ms: if random.one_in(5) {
                    pick(random, &[2_000, 1_500])
                } else {
                    0
                },
            })
            .collect()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.seed)?;
        self.keyspaces
            .iter()
            .try_for_each(|keyspace| writeln!(f, "  {keyspace:?}"))?;
        self.operations
            .iter()
            .try_for_each(|operation| writeln!(f, "    {operation:?},"))
    }
}

pub fn pick<T: Copy>(random: &mut Random, choices: &[T]) -> T {
    choices[usize::try_from(random.below(choices.len() as u64)).unwrap()]
}

/// Kinds of operations that have a weight.
const KINDS: usize = 22;

/// Writes operations one by one.
pub struct Writer {
    pub random: Random,
    pub key_count: u64,
    pub place_count: u64,
    pub weights: Vec<u64>,
}

impl Writer {
    fn operation(&mut self) -> Operation {
        let total: u64 = self.weights.iter().sum::<u64>() + 8;
        let mut choice = self.random.below(total);
        for kind in 0..KINDS {
            if choice < self.weights[kind] {
                return self.of_kind(kind);
            }
            choice -= self.weights[kind];
        }
        // Whatever a program mostly does, it writes and reads.
        match choice {
            0..4 => Operation::Write(self.place(), self.write(), self.small(4)),
            4..6 => Operation::Get(self.at(), self.key()),
            _ => Operation::Range(self.at(), self.end(), self.end(), self.ends()),
        }
    }

    fn of_kind(&mut self, kind: usize) -> Operation {
        match kind {
            0 => {
                let count = self.random.below(8) + 1;
                let writes = (0..count).map(|_| (self.place(), self.write())).collect();
                Operation::Batch(writes, self.small(4))
            }
            1 => Operation::DeleteBounds(self.place(), self.end(), self.end()),
            2 => {
                let new = (!self.random.one_in(3)).then(|| self.tag());
                Operation::Swap(self.place(), self.key(), !self.random.one_in(4), new)
            }
            3 if self.random.one_in(2) => {
                let end_ms = self.end_ms();
                Operation::Expire(self.place(), self.key(), end_ms)
            }
            3 => Operation::Update(self.place(), self.key(), self.tag()),
            4 => {
                let count = self.random.below(12);
                Operation::MultiGet(self.at(), (0..count).map(|_| self.key()).collect())
            }
            5 => match self.random.one_in(2) {
                true => Operation::Contains(self.at(), self.key()),
                false => {
                    let is_last = self.random.one_in(2);
                    Operation::Edge(self.at(), self.end(), self.end(), is_last)
                }
            },
            6 => Operation::Prefix(self.at(), self.key(), self.ends()),
            7 => Operation::Walk(self.at(), self.moves()),
            8 => Operation::Snapshot(self.small(3)),
            9 => Operation::Release(self.small(3)),
            10 => Operation::Hold(self.small(3), self.at(), self.end(), self.end()),
            11 => match self.random.one_in(4) {
                true => Operation::Restart(self.small(3)),
                false => Operation::Step(self.small(3), self.ends(), self.small(40)),
            },
            12 => match self.random.below(4) {
                0 => Operation::Point(self.small(3), self.at()),
                1 => Operation::LetGo(self.small(3)),
                2 => Operation::Refresh(self.small(3)),
                _ => Operation::Wander(self.small(3), self.moves()),
            },
            13 => Operation::Flush(self.place()),
            14 => Operation::Compact(self.place(), self.end(), self.end()),
            15 => {
                let count = 1 + self.small(150);
                Operation::Fill(self.place(), self.key(), count.into(), self.tag())
            }
            16 => match self.random.below(6) {
                0 => Operation::Drop(self.place()),
                1 | 2 => Operation::Ghost(self.place(), self.key()),
                3 => Operation::Sync,
                _ => Operation::Reopen(self.random.one_in(3)),
            },
            17 => Operation::Advance(500 * u32::from(self.small(8))),
            18 => Operation::Work(1 + self.small(4)),
            19 => Operation::Write(self.place(), Write::Merge(self.key(), self.tag()), 0),
            20 => {
                let count = self.random.below(30) + 1;
                let writes = (0..count).map(|_| (self.place(), self.write())).collect();
                Operation::Ingest(writes, self.random.one_in(3))
            }
            _ => match self.random.one_in(2) {
                true => Operation::Export(self.place()),
                false => Operation::Return(self.place()),
            },
        }
    }

    /// Reads everything, then again after each thing that must not change what is read.
    fn ending(&mut self) -> Vec<Operation> {
        let mut ending = Vec::new();
        for step in 0..4 {
            for place in 0..3 {
                let at = At(place, None);
                match step {
                    0 => {}
                    1 => ending.push(Operation::Flush(place)),
                    2 => ending.push(Operation::Compact(place, End::Open, End::Open)),
                    _ => ending.push(Operation::Reopen(place == 0)),
                }
                ending.push(Operation::Range(at, End::Open, End::Open, 0));
                ending.push(Operation::Range(at, End::Open, End::Open, u64::MAX));
            }
        }
        ending
    }

    pub fn small(&mut self, bound: u64) -> u8 {
        u8::try_from(self.random.below(bound)).unwrap()
    }

    pub fn place(&mut self) -> usize {
        usize::try_from(self.random.below(self.place_count)).unwrap()
    }

    pub fn at(&mut self) -> At {
        let slot = self.random.one_in(3).then(|| self.small(3));
        At(self.place(), slot)
    }

    pub fn key(&mut self) -> u16 {
        u16::try_from(self.random.below(self.key_count)).unwrap()
    }

    pub fn tag(&mut self) -> u32 {
        u32::try_from(self.random.below(1 << 30)).unwrap()
    }

    pub fn ends(&mut self) -> u64 {
        match self.random.below(3) {
            0 => 0,
            1 => u64::MAX,
            _ => self.random.next_u64(),
        }
    }

    pub fn end(&mut self) -> End {
        match self.random.below(4) {
            0 => End::Open,
            1 => End::Without(self.key()),
            _ => End::With(self.key()),
        }
    }

    pub fn write(&mut self) -> Write {
        match self.random.below(11) {
            0..4 => Write::Put(self.key(), self.tag()),
            4 => Write::PutTtl(self.key(), self.tag(), self.ttl_ms()),
            5 | 6 => Write::Delete(self.key()),
            7 => Write::DeleteRange(self.key(), self.key()),
            8 | 9 => Write::Merge(self.key(), self.tag()),
            _ => Write::Expire(self.key(), self.end_ms()),
        }
    }

    fn end_ms(&mut self) -> Option<u32> {
        let ttl_ms = self.ttl_ms();
        (!self.random.one_in(3)).then_some(ttl_ms)
    }

    // In steps of the clock; every other one is no whole second.
    fn ttl_ms(&mut self) -> u32 {
        500 * (1 + u32::from(self.small(8)))
    }

    fn moves(&mut self) -> Vec<Move> {
        let count = self.random.below(20);
        let mut one = || match self.random.below(12) {
            0 => Move::First,
            1 => Move::Last,
            2 => Move::Seek(self.key()),
            3 => Move::SeekForPrev(self.key()),
            4..8 => Move::Next,
            _ => Move::Prev,
        };
        (0..count).map(|_| one()).collect()
    }
}
