//! What one thread of one benchmark works with: dice, keys, values.

use rand_mt::Mt64;

use crate::fail::{Failure, Outcome};
use crate::flags::flag::Dialect;
use crate::make::dice::{Dice, ParkMiller};
use crate::make::slices::Slices;
use crate::run::lane::Lane;
use crate::scenario::db_bench::setup::Setup;
use crate::target::store::{Store, WriteHow};

/// Kinds of operation, as RocksDB tells latencies apart; the place is the number in the lane.
pub const KINDS: [&str; 9] = [
    "read", "write", "delete", "seek", "merge", "update", "compress", "crc", "op",
];
/// Place of gets in [`KINDS`].
pub const READ: usize = 0;
/// Place of puts.
pub const WRITE: usize = 1;
/// Place of deletes.
pub const DELETE: usize = 2;
/// Place of seeks.
pub const SEEK: usize = 3;
/// Place of merges.
pub const MERGE: usize = 4;
/// Place of reads followed by a write.
pub const UPDATE: usize = 5;
/// Place of packing and unpacking.
pub const COMPRESS: usize = 6;
/// Place of checksums.
pub const CRC: usize = 7;
/// Place of anything else.
pub const OP: usize = 8;

/// Where a thread counts the keys it found; see [`Lane::count`].
pub const FOUND: usize = 0;
/// Where it counts the keys it looked for.
pub const TRIED: usize = 1;

/// Numbers of one benchmark, after its own changes to what the flags say.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// Keys of the key space.
    pub num: u64,
    /// Reads of each thread.
    pub reads: u64,
    /// Writes of each thread.
    pub writes: u64,
    /// Deletes of each thread.
    pub deletes: u64,
    /// Updates of each thread.
    pub read_writes: u64,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Reads of a group.
    pub per_batch: u64,
    /// How writes are done.
    pub how: WriteHow,
    /// Added to the number of a thread to make its seed.
    pub seed_base: u64,
}

impl Numbers {
    /// What the flags say.
    pub fn of(setup: &Setup, threads_before: u64) -> Numbers {
        let given = &setup.given;
        let num = given.count("num");
        let (reads, writes) = (given.count_or("reads", num), given.count_or("writes", num));
        // RocksDB of 2013 began anew with each benchmark.
        let earlier = match setup.dialect() {
            Dialect::RocksDb2013 => 0,
            _ => threads_before + 1,
        };
        Numbers {
            num,
            reads,
            writes,
            deletes: num,
            read_writes: match (given.whole("reads"), given.whole("writes")) {
                (..0, ..0) => num,
                (reads, writes) => u64::try_from(reads.max(writes)).unwrap_or(num),
            },
            value_bytes: setup.value_size,
            per_batch: given.count("batch_size"),
            how: WriteHow {
                sync: given.is("sync"),
                no_log: given.is("disable_wal"),
            },
            seed_base: setup.seed_base.wrapping_add(earlier),
        }
    }

    /// The message of benchmarks that do fewer operations than asked for.
    pub fn fewer_message(&self, setup: &Setup) -> Option<String> {
        (self.num != setup.given.count("num")).then(|| format!("({} ops)", self.num))
    }
}

/// One benchmark.
pub struct Bench<'a> {
    /// The command line.
    pub setup: &'a Setup,
    /// The store.
    pub store: &'a dyn Store,
    /// Its numbers.
    pub numbers: Numbers,
}

impl Bench<'_> {
    /// What thread `lane` works with.
    pub fn hands(&self, lane: &Lane<'_>) -> Hands<'_> {
        let seed = self.numbers.seed_base.wrapping_add(lane.index() as u64);
        let setup = self.setup;
        let dice = match setup.dialect() {
            // LevelDB's seeds have 31 bits.
            Dialect::LevelDb => {
                let seed = u32::try_from(seed & 0x7fff_ffff).expect("31 bits");
                Dice::Park(ParkMiller::new(seed))
            }
            _ => Dice::Twister(Box::new(Mt64::new(seed))),
        };
        Hands {
            bench: self,
            dice,
            key: Vec::new(),
            values: Slices::new(setup.pool.clone()),
            is_by_key: setup.given.is("verify"),
        }
    }
}

/// What one thread works with.
pub struct Hands<'a> {
    /// The benchmark.
    pub bench: &'a Bench<'a>,
    /// The dialect's random numbers.
    pub dice: Dice,
    /// The key made last.
    pub key: Vec<u8>,
    /// What values are cut from.
    pub values: Slices,
    /// Whether each key has a value of its own.
    is_by_key: bool,
}

impl Hands<'_> {
    /// Makes the key of a number.
    pub fn make_key(&mut self, number: u64) {
        self.bench.setup.key_shape.write(number, &mut self.key);
    }

    /// Puts the next value for the key of `number`; says how many bytes went.
    pub fn put(&mut self, number: u64) -> Outcome<u64> {
        self.make_key(number);
        let Bench { store, numbers, .. } = self.bench;
        let value = match self.is_by_key {
            true => self.values.slice_of(number, numbers.value_bytes),
            false => self.values.next_slice(numbers.value_bytes),
        };
        let put = store.put(&self.key, value, numbers.how);
        put.map_err(|error| told("put", error))?;
        Ok((self.key.len() + value.len()) as u64)
    }

    /// Merges the next value into the key of `number`; says how many bytes went.
    pub fn merge(&mut self, number: u64) -> Outcome<u64> {
        self.make_key(number);
        let Bench { store, numbers, .. } = self.bench;
        let value = self.values.next_slice(numbers.value_bytes);
        let merged = store.merge(&self.key, value, numbers.how);
        merged.map_err(|error| told("merge", error))?;
        Ok((self.key.len() + value.len()) as u64)
    }

    /// Gets the value of the key made last; `number` made it, and with `--verify` its value is
    /// checked. Gives the bytes of the value.
    pub fn get(&self, number: u64) -> Outcome<Option<u64>> {
        let mut bytes = 0;
        let mut is_right = true;
        let wanted = self.bench.numbers.value_bytes;
        let got = self.bench.store.get(&self.key, &mut |value| {
            bytes = value.len() as u64;
            is_right = !self.is_by_key || value == self.values.slice_of(number, wanted);
        });
        let is_found = got.map_err(|error| told("get", error))?;
        if !is_right {
            return Err(Failure::failed(format!(
                "the value of key {number} is not what --verify writes; was the database filled \
                 with --verify and the same values?"
            )));
        }
        Ok(is_found.then_some(bytes))
    }
}

/// A failure in db_bench's words: `put error: …`.
pub fn told(doing: &str, failure: Failure) -> Failure {
    Failure {
        message: format!("{doing} error: {}", failure.message),
        ..failure
    }
}
