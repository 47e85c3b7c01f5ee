//! Tests of `parallel_compression`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use esker_phrase::{Effort, corpus};

use super::*;
use crate::base::types::key::Trailer;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::env::real::pool::RealPool;
use crate::env::sim::world::SimWorld;

fn settings(threads: usize) -> ParallelCompressionSettings {
    let [_, dictionary] = corpus::dictionaries();
    ParallelCompressionSettings {
        encoder: Encoder::new(&dictionary, Effort::Fast),
        compression: CompressionType::Zstd,
        sst: SstOptions::default(),
        threads,
        batch_bytes: 400,
    }
}

fn key(number: u64) -> Vec<u8> {
    let trailer = Trailer::new(SeqNo::new(number), Kind::Put);
    key::encode(&number.to_be_bytes(), trailer)
}

/// The numbers of the keys in a batch.
fn numbers(batch: &mut RecordBatch) -> Vec<u64> {
    let mut numbers = Vec::new();
    let note = batch.each(|internal_key, _| {
        let number = key::user_key(internal_key).try_into().unwrap();
        numbers.push(u64::from_be_bytes(number));
        Ok(())
    });
    note.unwrap();
    numbers
}

#[test]
fn entries_come_back_in_comparator_from_any_number_of_threads() {
    // Thousands of small batches, so that every order of taking and giving comes: each entry comes
    // back once and in order, and no more is under way than is told.
    let text = corpus::prose(&mut corpus::Dice::new(1), 150);
    for pool_threads in [1, 2, 4] {
        let pool = Arc::new(RealPool::new(pool_threads));
        for threads in [2, 5] {
            let mut parallel = ParallelCompression::new(pool.clone(), settings(threads));
            let mut back = Vec::new();
            for number in 0..4000 {
                if !parallel.add(&key(number), &text) {
                    continue;
                }
                while let Some(mut batch) = parallel.take(false).unwrap() {
                    back.extend(numbers(&mut batch));
                    parallel.take_back(batch);
                }
                let under_way = number as usize + 1 - back.len();
                assert!(under_way <= threads * 2 * 3, "{under_way}");
            }
            while let Some(mut batch) = parallel.take(true).unwrap() {
                back.extend(numbers(&mut batch));
            }
            assert!(back.into_iter().eq(0..4000));
            assert!(parallel.is_empty());
        }
        drop(pool);
    }
}

#[test]
fn nobody_waits_for_threads_that_have_other_work() {
    // A pool whose jobs are never run: the output's own thread compresses everything. The job that
    // was spawned finds nothing to do when it runs at last.
    let world = SimWorld::new(3);
    let mut parallel = ParallelCompression::new(world.env().pool, settings(4));
    let mut count = 0;
    for number in 0..50 {
        parallel.add(&key(number), &[b'a'; 300]);
        while let Some(mut batch) = parallel.take(false).unwrap() {
            count += numbers(&mut batch).len();
        }
    }
    while let Some(mut batch) = parallel.take(true).unwrap() {
        count += numbers(&mut batch).len();
    }
    assert_eq!(count, 50);
    assert!(world.pool.pending_count() <= 3);
    drop(parallel);
    world.pool.run_all();
    assert_eq!(world.pool.pending_count(), 0);
}

#[test]
fn the_output_may_go_while_others_compress_for_it() {
    // A compaction that gives way drops its output in the middle.
    let pool = Arc::new(RealPool::new(3));
    for _ in 0..50 {
        let mut parallel = ParallelCompression::new(pool.clone(), settings(3));
        for number in 0..40 {
            if parallel.add(&key(number), &[b'a'; 200]) {
                drop(parallel.take(false).unwrap());
            }
        }
    }
    drop(pool);
}

#[test]
fn a_batch_that_was_lost_is_a_panic_and_no_wait() {
    // A thread that panics while it compresses lays nothing back.
    let world = SimWorld::new(4);
    let mut parallel = ParallelCompression::new(world.env().pool, settings(2));
    parallel.add(&key(1), b"value");
    let batch = std::mem::take(&mut parallel.filling);
    parallel.desk.put(batch);
    let begun = parallel.desk.state().first_waiting();
    let (number, _) = begun.unwrap();
    drop(LaidBack {
        desk: &parallel.desk,
        number,
        stage: Some(Stage::Lost),
    });
    let taken = catch_unwind(AssertUnwindSafe(|| parallel.take(true).map(drop)));
    assert!(taken.is_err());
}
