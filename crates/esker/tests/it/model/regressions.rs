//! Programs that once failed, as they were after shrinking.

use super::check;
use super::operation::{At, End, Operation, Write};
use super::program::{KeyspaceShape, Program};

fn shape(is_reversed: bool, operator: &'static str) -> KeyspaceShape {
    KeyspaceShape {
        name: "default",
        is_reversed,
        operator,
        ttl_s: 0,
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
fn a_range_delete_ends_where_the_order_says() {
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
