//! Files made of blocks: data blocks with their restarts and hash index, and the filter.

use std::collections::BTreeSet;

use super::Row;
use super::bytes::{Front, hash64};
use super::sorted::{Handle, Parts, SortedFile, check_separator, read_index};

/// Reads what is not the same in both kinds of sorted files.
pub fn read(
    file: &mut SortedFile,
    parts: &mut Parts<'_>,
    index: Handle,
    filter: Option<Handle>,
    index_levels: u32,
) {
    file.met.insert(format!("{index_levels} levels of index"));
    let (top, _) = parts.block(index);
    let mut index_bytes = index.compressed_len + 5;
    let mut blocks = Vec::new();
    for (separator, handle) in read_index(&top) {
        if index_levels == 1 {
            blocks.push((separator, handle));
            continue;
        }
        index_bytes += handle.compressed_len + 5;
        let leaf = read_index(&parts.block(handle).0);
        assert_eq!(leaf.last().unwrap().0, separator);
        blocks.extend(leaf);
    }
    let mut separators = Vec::new();
    for (separator, handle) in blocks {
        let (plain, compression) = parts.block(handle);
        assert!(compression == 0 || u64::from(compression) == file.number(18));
        file.met.insert(format!("compression {compression}"));
        separators.push((separator, read_block(&plain, &mut file.met)));
    }
    for (index, (separator, rows)) in separators.iter().enumerate() {
        let next = separators.get(index + 1).map(|(_, rows)| &rows[0]);
        check_separator(separator, rows, next);
    }
    assert_eq!(file.number(14), u64::try_from(separators.len()).unwrap());
    assert_eq!(file.number(15), u64::try_from(index_bytes).unwrap());
    let filter_bytes = filter.map_or(0, |handle| handle.compressed_len + 5);
    assert_eq!(file.number(16), u64::try_from(filter_bytes).unwrap());
    file.rows = separators.into_iter().flat_map(|(_, rows)| rows).collect();
    if let Some(handle) = filter {
        file.met.insert("a filter".to_owned());
        let (plain, compression) = parts.block(handle);
        assert_eq!(compression, 0);
        for row in &file.rows {
            assert!(may_contain(&plain, &row.key));
        }
        // One key in a hundred is not denied.
        let denied = (0..1000u32).filter(|number| !may_contain(&plain, &number.to_be_bytes()));
        assert!(denied.count() > 900);
    }
}

fn may_contain(filter: &[u8], key: &[u8]) -> bool {
    let (lines, tail) = filter.split_at(filter.len() - 2);
    assert_eq!(tail[0], 1);
    assert!((1..=16).contains(&tail[1]));
    assert!(!lines.is_empty() && lines.len().is_multiple_of(64));
    let hash = hash64(key);
    let line_count = u64::try_from(lines.len() / 64).unwrap();
    let line = usize::try_from(((hash >> 32) * line_count) >> 32).unwrap();
    let line = &lines[line * 64..line * 64 + 64];
    let mut bits = u32::try_from(hash & 0xffff_ffff).unwrap();
    (0..tail[1]).all(|_| {
        let bit = usize::try_from(bits >> 23).unwrap();
        bits = bits.wrapping_mul(0x9e37_79b9);
        line[bit / 8] >> (bit % 8) & 1 == 1
    })
}

fn read_block(plain: &[u8], met: &mut BTreeSet<String>) -> Vec<Row> {
    let word = |at: usize| Front(&plain[at..]).u32();
    let mut end = plain.len() - 4;
    let last = word(end);
    let mut buckets: &[u8] = &[];
    if last >> 31 == 1 {
        met.insert("a hash index".to_owned());
        end -= 2;
        let count = usize::from(Front(&plain[end..]).u16());
        end -= count;
        buckets = &plain[end..end + count];
        assert!(count > 0);
    }
    let restart_count = usize::try_from(last & 0x7fff_ffff).unwrap();
    end -= 4 * restart_count;
    let restarts: Vec<usize> = (0..restart_count)
        .map(|index| usize::try_from(word(end + 4 * index)).unwrap())
        .collect();
    let mut front = Front(&plain[..end]);
    let mut rows: Vec<Row> = Vec::new();
    let mut wanted = vec![BTreeSet::new(); buckets.len()];
    let mut restart = 0;
    while !front.is_empty() {
        let at = end - front.0.len();
        let (shared, new, value_len) = (front.len(), front.len(), front.len());
        let before = rows.last().map_or(&[][..], |row| &row.key);
        let key = [&before[..shared], front.take(new)].concat();
        if let Some(index) = restarts.iter().position(|offset| *offset == at) {
            assert_eq!(shared, 0);
            restart = index;
        } else {
            let alike = before
                .iter()
                .zip(&key)
                .take_while(|(left, right)| left == right);
            assert_eq!(shared, alike.count());
        }
        if !buckets.is_empty() {
            let count = u64::try_from(buckets.len()).unwrap();
            let bucket = ((hash64(&key) & 0xffff_ffff) * count) >> 32;
            wanted[usize::try_from(bucket).unwrap()].insert(restart);
        }
        let trailer = front.u64();
        let row = Row::of_trailer(key, trailer, front.take(value_len));
        assert!([0, 1, 2, 4, 6, 7].contains(&row.kind));
        rows.push(row);
    }
    assert_eq!(restarts.first(), Some(&0));
    assert!(restarts.is_sorted() && restart == restart_count - 1);
    for (bucket, wanted) in buckets.iter().zip(wanted) {
        let wanted: Vec<usize> = wanted.into_iter().collect();
        match wanted[..] {
            [] => assert_eq!(*bucket, 255),
            [restart] => assert_eq!(usize::from(*bucket), restart),
            _ => assert_eq!(*bucket, 254),
        }
    }
    rows
}
