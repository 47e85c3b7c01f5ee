//! Programs in which cursors stay open over everything else that a database does.
//!
//! Several sources hold versions of few keys; several cursors and iterators, of now and of
//! snapshots, move a step or two at a time, turn anywhere, and between two steps anything may
//! happen: writes beside and over where they stand, flushes, compactions, time that passes, other
//! settings, a keyspace that is dropped, a snapshot that is released.

use esker::internals::env::random::Random;

use super::operation::{At, End, Move, Operation, Write};
use super::program::{Program, Writer, pick};

/// Cursors, and iterators, that are open at once.
const SLOTS: u64 = 6;

/// Snapshots that are there at once.
const SNAPSHOTS: u64 = 3;

impl Program {
    /// The wandering program of a seed.
    pub fn wandering(seed: u64) -> Program {
        let mut random = Random::new(seed ^ 0x7761_6e64_6572);
        let keyspaces = Program::shapes(&mut random);
        let kinds = 12;
        let mut writer = Writer {
            key_count: pick(&mut random, &[10, 16, 30, 200]),
            place_count: pick(&mut random, &[1, 1, 2, 3]),
            weights: (0..kinds)
                .map(|_| pick(&mut random, &[0, 1, 1, 3]))
                .collect(),
            random,
        };
        let mut operations = Vec::new();
        for _ in 0..writer.small(5) {
            let count = writer.random.below(writer.key_count.min(30));
            operations.extend((0..count).map(|_| writer.write_somewhere()));
            operations.push(Operation::Flush(writer.place()));
        }
        operations.extend((0..writer.small(6)).map(|_| writer.write_somewhere()));
        let len = pick(&mut writer.random, &[20, 60, 200]);
        for _ in 0..len {
            let step = writer.between_steps();
            // A new cursor stands nowhere, and has nowhere to step to.
            let placing = match step {
                Operation::Point(slot, _) => Some(Operation::Drift(slot, vec![writer.aim()])),
                _ => None,
            };
            operations.push(step);
            operations.extend(placing);
            operations.extend((0..writer.small(4)).map(|_| writer.step()));
        }
        operations.extend((0..3).map(Operation::Release));
        operations.extend((0..12).map(|_| writer.step()));
        Program {
            seed,
            keyspaces,
            operations,
        }
    }
}

impl Writer {
    /// Mostly puts, so that there is something to move over.
    fn write_somewhere(&mut self) -> Operation {
        let write = match self.random.below(3) {
            0 => match self.write() {
                // Over a few keys.
                Write::DeleteRange(start, _) => {
                    Write::DeleteRange(start, start + u16::from(self.small(6)))
                }
                write => write,
            },
            _ => Write::Put(self.key(), self.tag()),
        };
        Operation::Write(self.place(), write, self.small(4))
    }

    /// A movement of something that is open.
    fn step(&mut self) -> Operation {
        let slot = self.small(SLOTS);
        match self.random.below(10) {
            0..5 => Operation::Wander(slot, self.few_moves()),
            5..7 => Operation::Drift(slot, self.few_moves()),
            7 => Operation::Look(slot),
            _ => Operation::Step(slot, self.ends(), self.small(4)),
        }
    }

    /// Mostly one or two steps, either way; long ones one way, for what reads ahead.
    fn few_moves(&mut self) -> Vec<Move> {
        let aim = self.random.one_in(5).then(|| self.aim());
        let way = |is_back| if is_back { Move::Prev } else { Move::Next };
        let way_on = way(self.random.one_in(2));
        let count = match self.random.below(6) {
            0 => 1 + self.small(30),
            _ => 1 + self.small(4),
        };
        let mut moves: Vec<_> = aim.into_iter().collect();
        moves.extend((0..count).map(|_| way_on));
        if self.random.one_in(3) {
            moves.extend((0..self.small(4)).map(|_| way(self.random.one_in(2))));
        }
        moves
    }

    /// A movement that does not hang on where a cursor stands.
    fn aim(&mut self) -> Move {
        match self.random.below(6) {
            0 => Move::First,
            1 => Move::Last,
            2 | 3 => Move::Seek(self.key()),
            _ => Move::SeekForPrev(self.key()),
        }
    }

    /// What comes between two steps.
    fn between_steps(&mut self) -> Operation {
        let total: u64 = self.weights.iter().sum::<u64>() + 24;
        let mut choice = self.random.below(total);
        for kind in 0..self.weights.len() {
            if choice < self.weights[kind] {
                return self.rarely(kind);
            }
            choice -= self.weights[kind];
        }
        match choice {
            0..13 => self.write_somewhere(),
            13..19 => Operation::Point(self.small(SLOTS), self.moment()),
            19..21 => Operation::Hold(self.small(SLOTS), self.moment(), self.end(), self.end()),
            21 | 22 => Operation::Snapshot(self.small(SNAPSHOTS)),
            _ => Operation::Flush(self.place()),
        }
    }

    fn rarely(&mut self, kind: usize) -> Operation {
        match kind {
            0 => {
                let count = 1 + self.small(8);
                let writes = (0..count).map(|_| (self.place(), self.write())).collect();
                Operation::Batch(writes, self.small(4))
            }
            1 => Operation::Compact(self.place(), self.end(), self.end()),
            2 => Operation::Advance(500 * u32::from(self.small(8))),
            3 => Operation::Set(self.place(), self.tag()),
            4 => Operation::Work(1 + self.small(4)),
            5 => Operation::Write(self.place(), Write::Merge(self.key(), self.tag()), 0),
            6 => match self.random.below(8) {
                0 => Operation::Drop(self.place()),
                1 => Operation::Reopen(self.random.one_in(3)),
                2 => Operation::Checkpoint,
                3 => Operation::Ghost(self.place(), self.key()),
                4 => Operation::LetGo(self.small(SLOTS)),
                5 => Operation::Sync,
                _ => Operation::Release(self.small(SNAPSHOTS)),
            },
            7 => match self.random.one_in(2) {
                true => Operation::Update(self.place(), self.key(), self.tag()),
                false => {
                    let new = (!self.random.one_in(3)).then(|| self.tag());
                    Operation::Swap(self.place(), self.key(), !self.random.one_in(4), new)
                }
            },
            8 => {
                let count = 1 + self.small(60);
                Operation::Fill(self.place(), self.key(), count.into(), self.tag())
            }
            9 => match self.random.one_in(2) {
                true => Operation::HoldPrefix(self.small(SLOTS), self.moment(), self.key()),
                false => Operation::Restart(self.small(SLOTS)),
            },
            // Many versions of one key: they are passed over by seeks.
            10 => {
                let (place, key, tag) = (self.place(), self.key(), self.tag());
                let puts = (0..40).map(|more| (place, Write::Put(key, tag + more)));
                Operation::Batch(puts.collect(), 0)
            }
            _ => Operation::DeleteBounds(self.place(), self.end(), End::Open),
        }
    }

    fn moment(&mut self) -> At {
        let slot = self.random.one_in(2).then(|| self.small(SNAPSHOTS));
        At(self.place(), slot)
    }
}
