//! Tests of `origin`.

use super::*;

fn lineage(lower: Option<&str>, upper: Option<&str>, sources: &[u64]) -> Lineage {
    let key = |key: &str| Bytes::copy_of(key.as_bytes());
    Lineage {
        sources: sources.iter().copied().map(FileNumber).collect(),
        lower: lower.map(key),
        upper: upper.map(key),
    }
}

#[test]
fn a_lineage_reads_back() {
    for (lower, upper) in [
        (None, None),
        (Some("a"), None),
        (None, Some("z")),
        (Some(""), Some("z")),
    ] {
        for sources in [&[][..], &[0], &[3, 4, 1000], &[7, u64::MAX]] {
            let lineage = lineage(lower, upper, sources);
            let mut bytes = Vec::new();
            lineage.put(&mut bytes);
            let mut reader = ByteReader::new(&bytes);
            assert_eq!(Lineage::take(&mut reader), Some(lineage));
            assert!(reader.is_empty());
            for len in 0..bytes.len() {
                assert_eq!(Lineage::take(&mut ByteReader::new(&bytes[..len])), None);
            }
        }
    }
}

#[test]
fn numbers_must_ascend() {
    // A count of 2, and no step from the first to the second; a sum beyond 64 bits.
    for bytes in [
        vec![0, 2, 5, 0],
        [vec![0, 2, 5], vec![0xff; 9], vec![1]].concat(),
    ] {
        assert_eq!(Lineage::take(&mut ByteReader::new(&bytes)), None);
    }
    assert_eq!(Lineage::take(&mut ByteReader::new(&[4, 0])), None);
}
