//! Events as a subscriber of `tracing` gets them.

use std::fmt::Debug;
use std::fmt::Write as _;
use std::sync::Mutex;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

use super::*;
use crate::base::types::error::ErrorKind;
use crate::db::handle::Db;
use crate::env::sim::SimWorld;

/// Writes down every event as level, target, message and fields.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        match field.name() {
            "message" => self.0.insert_str(0, &format!(" {value:?}")),
            name => write!(self.0, " {name}={value:?}").expect("a text takes all"),
        }
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        panic!("there are no spans");
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        let (level, target) = (event.metadata().level(), event.metadata().target());
        let line = format!("{level} {target}{}", fields.0);
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Lines {
    fn has(&self, begin: &str) -> bool {
        let lines = self.0.lock().unwrap();
        lines.iter().any(|line| line.starts_with(begin))
    }
}

#[test]
fn what_a_database_does_comes_as_events_with_levels_and_fields() {
    let world = SimWorld::new(1);
    let lines = Lines::default();
    // The simulated world has one thread, so the subscriber of a thread hears all.
    tracing::subscriber::with_default(lines.clone(), || {
        let builder = Db::builder("/db").env(world.env());
        let db = builder.event_listener(tracing_listener()).open().unwrap();
        for round in 0..2 {
            db.put("a", [round]).unwrap();
            db.flush().unwrap();
        }
        db.compact::<&str>(..).unwrap();
        db.close().unwrap();
    });
    for expected in [
        "INFO esker database_opened path=/db is_read_only=false replayed_batches=0",
        "DEBUG esker flush_begin job_id=1 keyspace=\"default\" reason=\"manual\" memtable_count=1",
        "INFO esker flush_end job_id=1 keyspace=\"default\" reason=\"manual\" file_count=1",
        "DEBUG esker compaction_begin job_id=3 keyspace=\"default\" kind=\"merge\" \
         reason=\"manual\" input_levels=[0] input_file_count=2",
        "INFO esker compaction_end job_id=3",
        "DEBUG esker file_created kind=\"sst\"",
        "DEBUG esker file_deleted kind=\"sst\"",
        "INFO esker database_closed path=/db ok=true",
    ] {
        assert!(lines.has(expected), "{expected}\n{:#?}", lines.0);
    }
}

#[test]
fn what_goes_wrong_is_louder() {
    let lines = Lines::default();
    let heard = tracing_listener();
    let told = |kind: ErrorKind| Error::new(kind, "it is so");
    tracing::subscriber::with_default(lines.clone(), || {
        use crate::base::hooks::event_reasons::{BackgroundJob, StallCause};
        use crate::base::hooks::events::{BackgroundError, WriteStallBegin, WritesRefused};
        heard.on_event(&Event::WritesRefused(WritesRefused {
            error: told(ErrorKind::Io),
            is_final: true,
        }));
        heard.on_event(&Event::WritesRefused(WritesRefused {
            error: told(ErrorKind::OutOfSpace),
            is_final: false,
        }));
        heard.on_event(&Event::BackgroundError(BackgroundError {
            job: BackgroundJob::Compaction,
            error: told(ErrorKind::Corruption),
            is_read_only: false,
        }));
        heard.on_event(&Event::WriteStallBegin(WriteStallBegin {
            cause: StallCause::MemtableLimit,
            keyspace: None,
            rate_bytes_s: None,
        }));
        heard.on_event(&Event::WritesResumed);
        heard.on_event(&Event::EventsLost(3));
    });
    assert_eq!(
        *lines.0.lock().unwrap(),
        [
            "ERROR esker writes_refused is_final=true error=io: it is so",
            "WARN esker writes_refused is_final=false error=out of space: it is so",
            "WARN esker background_error job=\"compaction\" is_read_only=false \
             error=corruption: it is so",
            "WARN esker write_stall_begin cause=\"memtable_limit\"",
            "INFO esker writes_resumed",
            "WARN esker events_lost count=3",
        ]
    );
}
