//! A sorted file with any data block, any index and any damage, all under right checksums.
//!
//! The file is built from the input: one data block and the index block are taken from it as
//! they are, framed and summed as the builder does, so that the reader has to believe them.

use crate::sorted_file::{NUMBER, props, push, read};
use esker::internals::store::sst::format::Footer;

// Every walk ends, wherever damaged handles lead it.
const ENTRIES_MAX: usize = 10_000;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&[compression, levels, cut], rest)) = input.split_first_chunk::<3>() else {
        return;
    };
    let (index, rows) = rest.split_at(rest.len() * usize::from(cut) / 256);
    let mut file = Vec::new();
    push(&mut file, rows, compression % 4);
    let index = push(&mut file, index, 0);
    let props = push(&mut file, &props().encode(), 0);
    let footer = Footer {
        index,
        filter: None,
        props,
        range_deletes: None,
        number: NUMBER,
        is_index_partitioned: levels % 2 == 1,
    };
    let bytes = footer.encode(file.len() as u64);
    file.extend(bytes);
    read(file, ENTRIES_MAX);
    // The input as a file of its own.
    read(input.to_vec(), ENTRIES_MAX);
}
