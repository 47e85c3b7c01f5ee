//! Programs that once failed, as they were after shrinking.

use super::check;
use super::operation::{At, End, Move, Operation, Write};
use super::program::{KeyspaceShape, Program};

fn shape(is_reversed: bool, operator: &'static str) -> KeyspaceShape {
    KeyspaceShape {
        name: "default",
        is_reversed,
        operator,
        ttl_ms: 0,
    }
}

fn replay(shape: KeyspaceShape, operations: Vec<Operation>) {
    let program = Program {
        seed: 0,
        keyspaces: vec![shape],
        operations,
    };
    (0..3).for_each(|world| check(&program, world));
}

#[test]
fn a_range_delete_ends_where_the_comparator_says() {
    // In an order of the user's own the next key is not the one with a zero byte behind it, and
    // the empty key is not the first: keys were left over, or removed outside the range.
    let all = Operation::Range(At(0, None), End::Open, End::Open, 0);
    let mut operations = Vec::new();
    let ends = [End::Open, End::With(6), End::Without(6)];
    for lower in ends {
        for upper in ends {
            let puts = [0, 2, 5, 6, 7, 9].map(|key| Operation::Write(0, Write::Put(key, 1), 0));
            operations.extend(puts);
            operations.push(Operation::DeleteBounds(0, lower, upper));
            operations.push(all.clone());
        }
    }
    replay(shape(true, "put"), operations.clone());
    replay(shape(false, "put"), operations);
}

#[test]
fn both_ends_of_an_iterator_read_by_one_clock() {
    // Each end read the clock when it first moved, so time between them showed.
    let operations = vec![
        Operation::Write(0, Write::PutTtl(5, 1, 500), 0),
        Operation::Write(0, Write::Put(6, 2), 0),
        Operation::Hold(0, At(0, None), End::Open, End::Open),
        Operation::Advance(1000),
        Operation::Step(0, 1, 1),
        Operation::Advance(1000),
        Operation::Step(0, 0, 5),
    ];
    replay(shape(false, "put"), operations);
}

/// Puts of those keys with those tags, in a row.
fn puts(entries: &[(u16, u32)]) -> impl Iterator<Item = Operation> {
    let put = |(key, tag): &(u16, u32)| Operation::Write(0, Write::Put(*key, *tag), 0);
    entries.iter().map(put)
}

/// Writes go on under a cursor that has come to key 20, `backs` steps before the last, and turns.
fn turned_after(late: u16, recent: &[(u16, u32)], backs: usize, is_snapshot: bool) {
    let slot = is_snapshot.then_some(0);
    let mut operations = Vec::new();
    operations.extend(puts(&[(5, 1), (20, 1), (30, 2), (40, 3)]));
    operations.push(Operation::Flush(0));
    operations.extend(puts(&[(6, 1), (20, 4), (31, 5)]));
    operations.push(Operation::Flush(0));
    operations.extend(puts(recent));
    operations.push(Operation::Snapshot(0));
    operations.push(Operation::Point(0, At(0, slot)));
    let mut moves = vec![Move::Last];
    moves.extend(vec![Move::Prev; backs]);
    operations.push(Operation::Wander(0, moves));
    operations.extend(puts(&[(late, 6)]));
    operations.push(Operation::Wander(0, vec![Move::Next; 6]));
    replay(shape(false, "put"), operations);
}

#[test]
fn a_cursor_that_turns_meets_no_key_again() {
    // The live memtable stood before the key, or nowhere, and a late put came to lie between: a
    // turn moved it there instead of behind the key, whose old version was answered next.
    for is_snapshot in [false, true] {
        turned_after(15, &[(10, 7), (50, 8)], 4, is_snapshot);
        turned_after(15, &[(50, 8)], 4, is_snapshot);
        turned_after(19, &[(10, 7), (12, 9)], 3, is_snapshot);
    }
}
