//! A listener that checks what it hears: each begin has its end, and no file comes from nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimFs;
use esker::{Event, EventListener, FileKind};

/// Hears everything that one life of a database tells.
#[derive(Default)]
pub struct Balance(Mutex<Heard>);

#[derive(Default)]
struct Heard {
    is_opened: bool,
    is_closed: bool,
    /// Jobs that have begun and not ended, and what they are called.
    jobs: BTreeMap<u64, &'static str>,
    stalls: BTreeSet<(Cause, Option<String>)>,
    is_refused: bool,
    is_faulted: bool,
    /// Names of the files that should be there.
    files: BTreeSet<String>,
    counts: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

// A word, which has an order.
type Cause = &'static str;

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn is_told(name: &str) -> bool {
    FileKind::ALL
        .iter()
        .any(|kind| name.ends_with(&format!(".{kind}")))
}

fn files_of(sim: &SimFs, dir: &Path) -> BTreeSet<String> {
    let names = sim.list(dir).unwrap_or_default();
    names.into_iter().filter(|name| is_told(name)).collect()
}

impl Balance {
    /// One for a database that is about to be opened.
    pub fn over(sim: &SimFs, dir: &Path) -> Balance {
        let heard = Heard {
            files: files_of(sim, dir),
            ..Heard::default()
        };
        Balance(Mutex::new(heard))
    }

    /// What was wrong in what it heard so far.
    pub fn check(&self) -> Result<(), String> {
        match &self.0.lock().unwrap().wrong[..] {
            [] => Ok(()),
            wrong => Err(format!("events: {wrong:?}")),
        }
    }

    /// As [`Balance::check`], of a database that was closed: nothing is left open, and of files
    /// those are there that should be.
    pub fn check_closed(&self, sim: &SimFs, dir: &Path) -> Result<(), String> {
        self.check()?;
        let heard = self.0.lock().unwrap();
        let there = files_of(sim, dir);
        match heard.is_closed && there == heard.files {
            true => Ok(()),
            false => Err(format!(
                "closed is {}; {:?} should be there, and {there:?} are",
                heard.is_closed, heard.files
            )),
        }
    }

    /// How often an event of that name came.
    pub fn count(&self, name: &str) -> usize {
        let counts = &self.0.lock().unwrap().counts;
        counts.get(name).copied().unwrap_or(0)
    }
}

impl Heard {
    fn expect(&mut self, is_so: bool, event: &Event) {
        if !is_so {
            self.wrong.push(event.to_string());
        }
    }

    fn begin(&mut self, id: u64, what: &'static str, event: &Event) {
        let is_new = self.jobs.insert(id, what).is_none();
        self.expect(is_new && id > 0 && self.is_opened, event);
    }

    fn end(&mut self, id: u64, what: &'static str, event: &Event) {
        let begun = self.jobs.remove(&id);
        self.expect(begun == Some(what), event);
    }
}

impl EventListener for Balance {
    fn on_event(&self, event: &Event) {
        let mut heard = self.0.lock().unwrap();
        let heard = &mut *heard;
        *heard.counts.entry(event.name()).or_default() += 1;
        heard.expect(!heard.is_closed, event);
        match event {
            Event::DatabaseOpened(_) => {
                heard.expect(!heard.is_opened, event);
                heard.is_opened = true;
            }
            Event::DatabaseClosed(_) => {
                let is_whole = heard.is_opened && heard.jobs.is_empty() && heard.stalls.is_empty();
                heard.expect(is_whole, event);
                heard.is_closed = true;
            }
            Event::FlushBegin(begin) => heard.begin(begin.job_id, "flush", event),
            Event::FlushEnd(end) => heard.end(end.job_id, "flush", event),
            Event::CompactionBegin(begin) => heard.begin(begin.job_id, "compaction", event),
            Event::CompactionEnd(end) => heard.end(end.job_id, "compaction", event),
            Event::ValueFlushBegin(begin) => heard.begin(begin.job_id, "values", event),
            Event::ValueFlushEnd(end) => heard.end(end.job_id, "values", event),
            Event::WriteStallBegin(begin) => {
                let stall = (begin.cause.word(), begin.keyspace.clone());
                let is_new = heard.stalls.insert(stall);
                heard.expect(is_new, event);
            }
            Event::WriteStallEnd(end) => {
                let was_there = heard
                    .stalls
                    .remove(&(end.cause.word(), end.keyspace.clone()));
                heard.expect(was_there, event);
            }
            Event::WritesRefused(refused) => {
                let is_news = !heard.is_faulted && (refused.is_final || !heard.is_refused);
                heard.expect(is_news, event);
                heard.is_refused = true;
                heard.is_faulted |= refused.is_final;
            }
            Event::WritesResumed => {
                heard.expect(heard.is_refused && !heard.is_faulted, event);
                heard.is_refused = false;
            }
            Event::FileCreated(file) => {
                let is_new = heard.files.insert(name_of(&file.path));
                heard.expect(is_new, event);
            }
            Event::FileDeleted(file) => {
                let was_there = heard.files.remove(&name_of(&file.path));
                heard.expect(was_there, event);
            }
            Event::EventsLost(_) => heard.expect(false, event),
            _ => {}
        }
    }
}
