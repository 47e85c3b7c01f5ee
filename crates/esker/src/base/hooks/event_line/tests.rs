//! The line of each event.

use std::time::Duration;

use crate::base::hooks::event_reasons::{
    BackgroundJob, CompactionKind, CompactionReason, FileKind, FlushReason, StallCause,
};
use crate::base::hooks::events::{
    BackgroundError, CompactionBegin, CompactionEnd, CompactionInput, DatabaseClosed,
    DatabaseOpened, Event, FileCreated, FileDeleted, FlushBegin, FlushEnd, ValueFlushBegin,
    ValueFlushEnd, WriteStallBegin, WriteStallEnd, WritesRefused,
};
use crate::base::types::error::{Error, ErrorKind};

fn no_space() -> Error {
    Error::new(ErrorKind::OutOfSpace, "the disk is \"full\"")
}

fn jobs() -> Vec<Event> {
    let elapsed = Duration::from_micros(1_500);
    vec![
        Event::FlushBegin(FlushBegin {
            job_id: 1,
            keyspace: "a b".into(),
            reason: FlushReason::MemtableFull,
            memtable_count: 2,
            entry_count: 30,
            memtable_bytes: 400,
        }),
        Event::FlushEnd(FlushEnd {
            job_id: 1,
            keyspace: "a b".into(),
            reason: FlushReason::MemtableFull,
            file_count: 1,
            bytes: 300,
            elapsed,
            outcome: Err(no_space()),
        }),
        Event::CompactionBegin(CompactionBegin {
            job_id: 2,
            keyspace: "k".into(),
            kind: CompactionKind::Merge,
            reason: CompactionReason::IntraL0,
            inputs: vec![CompactionInput {
                level: 0,
                file_count: 4,
                bytes: 90,
            }],
            output_level: 0,
            subcompaction_count: 1,
        }),
        Event::CompactionEnd(CompactionEnd {
            job_id: 2,
            keyspace: "k".into(),
            kind: CompactionKind::Merge,
            reason: CompactionReason::IntraL0,
            output_level: 0,
            input_file_count: 4,
            read_bytes: 90,
            output_file_count: 1,
            written_bytes: 80,
            elapsed,
            outcome: Ok(()),
        }),
        Event::ValueFlushBegin(ValueFlushBegin {
            job_id: 3,
            bytes: 7,
        }),
        Event::ValueFlushEnd(ValueFlushEnd {
            job_id: 3,
            left_bytes: 0,
            elapsed,
            outcome: Ok(()),
        }),
    ]
}

fn others() -> Vec<Event> {
    let elapsed = Duration::from_micros(1_500);
    vec![
        Event::DatabaseOpened(DatabaseOpened {
            path: "/db".into(),
            is_read_only: false,
            replayed_batches: 9,
            elapsed,
        }),
        Event::DatabaseClosed(DatabaseClosed {
            path: "/db".into(),
            outcome: Ok(()),
        }),
        Event::WriteStallBegin(WriteStallBegin {
            cause: StallCause::PendingCompaction,
            keyspace: Some("k".into()),
            rate_bytes_s: Some(1_000),
        }),
        Event::WriteStallEnd(WriteStallEnd {
            cause: StallCause::MemtableLimit,
            keyspace: None,
            elapsed,
        }),
        Event::BackgroundError(BackgroundError {
            job: BackgroundJob::PrepareWal,
            error: no_space(),
            is_read_only: true,
        }),
        Event::WritesRefused(WritesRefused {
            error: no_space(),
            is_final: false,
        }),
        Event::WritesResumed,
        Event::FileCreated(FileCreated {
            kind: FileKind::Wal,
            number: 12,
            path: "/db/000012.wal".into(),
            bytes: 64,
            recycled: Some(7),
        }),
        Event::FileDeleted(FileDeleted {
            kind: FileKind::Vlog,
            number: 3,
            path: "/db/000003.vlog".into(),
            bytes: None,
        }),
        Event::EventsLost(5),
    ]
}

#[test]
fn each_event_is_one_line_of_pairs() {
    let lines = |events: Vec<Event>| events.iter().map(Event::to_string).collect::<Vec<_>>();
    let failed = r#"ok=false kind="out of space" error="out of space: the disk is \"full\"""#;
    assert_eq!(
        lines(jobs()),
        [
            [
                r#"flush_begin job=1 keyspace="a b" reason=memtable_full memtables=2"#,
                "entries=30 bytes=400"
            ]
            .join(" "),
            [
                r#"flush_end job=1 keyspace="a b" reason=memtable_full files=1"#,
                "bytes=300 elapsed_us=1500",
                failed
            ]
            .join(" "),
            [
                r#"compaction_begin job=2 keyspace="k" kind=merge reason=intra_l0"#,
                "from_l0=4:90 to_level=0 parts=1"
            ]
            .join(" "),
            [
                r#"compaction_end job=2 keyspace="k" kind=merge reason=intra_l0 to_level=0"#,
                "files_in=4 read_bytes=90 files_out=1 written_bytes=80 elapsed_us=1500 ok=true"
            ]
            .join(" "),
            "value_flush_begin job=3 bytes=7".to_string(),
            "value_flush_end job=3 left_bytes=0 elapsed_us=1500 ok=true".to_string(),
        ]
    );
    let error = failed.trim_start_matches("ok=false ");
    assert_eq!(
        lines(others()),
        [
            r#"database_opened path="/db" read_only=false replayed_batches=9 elapsed_us=1500"#
                .to_string(),
            r#"database_closed path="/db" ok=true"#.to_string(),
            r#"write_stall_begin cause=pending_compaction keyspace="k" rate_bytes_s=1000"#
                .to_string(),
            "write_stall_end cause=memtable_limit elapsed_us=1500".to_string(),
            format!("background_error job=prepare_wal read_only=true {error}"),
            format!("writes_refused final=false {error}"),
            "writes_resumed".to_string(),
            r#"file_created kind=wal number=12 bytes=64 recycled=7 path="/db/000012.wal""#
                .to_string(),
            r#"file_deleted kind=vlog number=3 path="/db/000003.vlog""#.to_string(),
            "events_lost count=5".to_string(),
        ]
    );
}
