//! RocksDB's operator `sortlist`, as a user of the engine would write one.

use esker::MergeOperator;

/// Merges lists of numbers that are in order: `1,5,9` and `2,7` is `1,2,5,7,9`.
///
/// A list is text, numbers in decimal with commas between them. What is no number counts as 0, as
/// RocksDB has it; a list that is not in order comes out in order.
#[derive(Clone, Copy, Debug)]
pub struct SortList;

impl MergeOperator for SortList {
    fn name(&self) -> &str {
        "sortlist"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let lists = base.into_iter().chain(operands.iter().copied());
        Ok(merged(lists))
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some(merged([older, newer].into_iter()))
    }
}

fn merged<'a>(lists: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let numbers = |list: &'a [u8]| {
        list.split(|byte| *byte == b',')
            .filter(|text| !text.is_empty())
            .map(number)
    };
    let mut all: Vec<i64> = lists.flat_map(numbers).collect();
    // Stable and quick on runs that are in order already, which is what these are.
    all.sort();
    let texts: Vec<String> = all.iter().map(i64::to_string).collect();
    texts.join(",").into_bytes()
}

fn number(text: &[u8]) -> i64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests;
