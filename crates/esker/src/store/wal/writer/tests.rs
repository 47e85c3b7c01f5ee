//! Tests of appending: bounds, marks, failures.

use super::*;
use crate::store::wal::memory_file::MemoryFile;

fn writer_over(file: &MemoryFile) -> WalWriter {
    WalWriter::new(file.log_file(), FileNumber(9))
}

#[test]
fn framed_len_is_the_capacity_a_record_needs() {
    // A segment of exactly that size takes the record, whatever its length.
    for len in [0, 1, 32_752, 32_753, 32_754, 100_000] {
        let capacity = usize::try_from(WalWriter::framed_len(len)).unwrap();
        let mut writer = writer_over(&MemoryFile::zeros(capacity));
        assert!(writer.fits(len));
        let end = writer.append(&vec![1; len]).unwrap();
        assert_eq!(end, writer.end_offset());
        assert!(end <= WalWriter::framed_len(len));
    }
}

#[test]
fn a_segment_fills_to_its_last_byte() {
    // The zeros behind a record need no room of their own.
    let file = MemoryFile::zeros(100);
    let mut writer = writer_over(&file);
    writer.append(&[1; 60]).unwrap();
    assert!(writer.fits(10));
    assert!(!writer.fits(11));
    assert_eq!(writer.append(&[2; 10]).unwrap(), 100);
    assert_eq!(file.bytes()[90..], [2; 10]);
}

#[test]
#[should_panic]
fn a_record_that_does_not_fit_is_our_bug() {
    // The caller has to ask first.
    let _unreachable = writer_over(&MemoryFile::zeros(100)).append(&[1; 86]);
}

#[test]
fn records_carry_the_mark_known_when_written() {
    // The mark moves forward only, and only onto what was written.
    let file = MemoryFile::zeros(1000);
    let mut writer = writer_over(&file);
    let first_end = writer.append(b"a").unwrap();
    let second_end = writer.append(b"b").unwrap();
    writer.set_synced(second_end);
    writer.set_synced(first_end);
    writer.append(b"c").unwrap();
    let bytes = file.bytes();
    let marks = [0, first_end, second_end].map(|offset| {
        let offset = usize::try_from(offset).unwrap();
        Header::decode(&bytes[offset..]).unwrap().durable_mark
    });
    assert_eq!(marks, [0, 0, u32::try_from(second_end).unwrap()]);
}

#[test]
#[should_panic]
fn what_was_not_written_cannot_be_synced() {
    // A mark beyond the end would turn every torn tail into damage.
    writer_over(&MemoryFile::zeros(100)).set_synced(1);
}

#[test]
fn after_a_failed_write_nothing_more_is_taken() {
    // The second fragment of a record fails; the offset stays, and later calls are refused.
    let file = MemoryFile::zeros(200_000);
    let mut writer = writer_over(&file);
    let end = writer.append(b"whole").unwrap();
    file.fail_after(1);
    let error = writer.append(&[5; 50_000]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(writer.end_offset(), end);
    let error = writer.append(b"next").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Faulted);
}

#[test]
fn old_bytes_behind_the_end_are_zeroed() {
    // In a recycled segment a header's length of zeros follows each record, inside its block.
    let file = MemoryFile::with(vec![0xee; 2 * BLOCK_BYTES]);
    let mut writer = writer_over(&file);
    let end = usize::try_from(writer.append(b"abc").unwrap()).unwrap();
    assert_eq!(file.bytes()[end..end + HEADER_BYTES], END_ZEROS);
    assert_eq!(file.bytes()[end + HEADER_BYTES], 0xee);
    writer
        .append(&vec![1; BLOCK_BYTES - end - HEADER_BYTES - 4])
        .unwrap();
    assert_eq!(
        file.bytes()[BLOCK_BYTES - 4..BLOCK_BYTES + 1],
        [0, 0, 0, 0, 0xee]
    );
}

#[test]
fn a_mark_needs_no_room() {
    // A full segment is closed without one; a failed one says so.
    let file = MemoryFile::zeros(100);
    let mut writer = writer_over(&file);
    let end = writer.append(&[1; 71]).unwrap();
    writer.append_mark().unwrap();
    assert_eq!(writer.end_offset(), end);
    let mut writer = writer_over(&file);
    file.fail_after(0);
    assert_eq!(writer.append_mark().unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(writer.append_mark().unwrap_err().kind(), ErrorKind::Faulted);
}
