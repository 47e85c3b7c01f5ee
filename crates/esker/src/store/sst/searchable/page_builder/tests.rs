//! Tests of `page_builder`.

use std::sync::Arc;

use super::*;
use crate::base::codec::checksum::hash64;
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;
use crate::store::sst::searchable::keys::OpenGroup;
use crate::store::sst::searchable::page::Page;

#[test]
fn a_page_keeps_what_it_was_given() {
    // Prefixes that share nothing, a little, and more than a half byte can say; groups of three;
    // two pages, the second of which begins where the first ended.
    let long = "x".repeat(400);
    let prefixes = [
        "a",
        "ab",
        "b",
        "bcdefghijklmnopqrst",
        "bcdefghijklmnopqrsu",
        &long,
        "y",
    ];
    let mut builder = PageBuilder::new(3);
    let mut offset = 1000;
    let mut added = Vec::new();
    let mut pages = Vec::new();
    for (index, prefix) in prefixes.iter().enumerate() {
        let kind = if index == 1 { Kind::Delete } else { Kind::Put };
        let key = KeyOfRecord {
            prefix: prefix.as_bytes(),
            hash: hash64(prefix.as_bytes()),
            trailer: Trailer::new(SeqNo::new(900 - index as u64 * 100), kind),
            record_offset: offset,
            record_len: 10 + index as u32 * 77,
        };
        offset += u64::from(key.record_len);
        builder.add(&key);
        added.push(key);
        if index == 4 {
            assert!(builder.size_estimate() > 40);
            pages.push(builder.finish());
            assert!(builder.is_empty());
        }
    }
    pages.push(builder.finish());
    let mut added = added.iter();
    for (bytes, ordinal) in pages.into_iter().zip([0, 5]) {
        let page = Page::new(Arc::new(bytes)).unwrap();
        assert_eq!(page.first_ordinal(), ordinal);
        for index in 0..page.group_count() {
            let group = page.group(index).unwrap();
            let mut open = OpenGroup::default();
            open.open(&page, index).unwrap();
            assert_eq!(open.len(), group.len());
            for entry in 0..group.len() {
                let key = added.next().unwrap();
                let back = open.entry(entry).unwrap();
                assert_eq!((back.prefix, back.trailer), (key.prefix, key.trailer));
                assert_eq!(back.record.offset, key.record_offset);
                assert_eq!(back.record.len, key.record_len);
                assert_eq!(group.marks().unwrap().record(entry).unwrap(), back.record);
                assert_eq!(group.fingerprint(entry), Some(fingerprint_of(key.hash)));
            }
        }
    }
    assert!(added.next().is_none());
}
