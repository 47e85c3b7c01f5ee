//! One chapter on one engine: an empty store, its workloads in order, and what is left in the end.

use std::path::Path;

use esker_bench::console::Remarks;
use esker_bench::fail::{FailureKind, Outcome};
use esker_bench::report::record::Measurement;
use esker_bench::target::marker;
use esker_bench::target::settings::{Matched, StoreSettings};
use esker_bench::target::store::Store;

use crate::compare::request::Request;
use crate::compare::work::{Answer, Task, inventory, prepare};
use crate::compare::workloads::{Chapter, WORKLOADS, Work, Workload};
use crate::engines::roster::{Entry, OURS};
use esker_bench::disk::forget::forget;
use esker_bench::disk::space::disk_bytes;

/// What one turn of one engine gave.
#[derive(Debug, Default)]
pub struct Turn {
    /// What was measured, and what each workload saw that was not cut short.
    pub records: Vec<(Measurement, Option<Answer>)>,
    /// Whether a workload was cut short, and the rest left out.
    pub is_cut: bool,
    /// Entries and checksum of the store in the end; `None` if the engine has no such operation.
    pub inventory: Option<Answer>,
    /// Bytes of the store on the medium in the end.
    pub disk_bytes: u64,
    /// What the engine made of the settings.
    pub matched: Vec<Matched>,
}

/// Whether `workloads` ask for anything in `chapter`.
pub fn is_wanted(chapter: Chapter, workloads: &[Workload]) -> bool {
    workloads.iter().any(|workload| workload.chapter == chapter)
}

/// One engine's turn at a chapter.
pub struct Player<'a, 'b> {
    /// The engine.
    pub entry: &'a Entry,
    /// What was asked for.
    pub request: &'a Request,
    /// Where its store is made, and removed afterwards.
    pub dir: &'a Path,
    /// Where the live line is drawn.
    pub remarks: &'a Remarks<'b>,
}

impl Player<'_, '_> {
    /// Plays `chapter`.
    pub fn play(&self, chapter: Chapter) -> Outcome<Turn> {
        let engine = &*self.entry.engine;
        marker::make_fresh(engine, self.dir, false)?;
        let settings = self.settings(chapter);
        if chapter.begins_full() {
            self.fill(&settings)?;
        }
        let opened = engine.open(self.dir, &settings)?;
        let mut turn = Turn {
            matched: opened.matched,
            ..Turn::default()
        };
        let mut store = opened.store;
        let mut is_done = true;
        for workload in self.workloads(chapter) {
            if workload.is_cold {
                store.close()?;
                forget(self.dir)?;
                store = engine.open(self.dir, &settings)?.store;
                // Some engines read their whole file to open it.
                forget(self.dir)?;
            }
            is_done = self.run(workload, &*store, &mut turn)?;
            if !is_done {
                break;
            }
        }
        if is_done {
            // Beside a writer the values depend on who was faster.
            let has_values = chapter != Chapter::Busy && chapter != Chapter::SyncedTogether;
            turn.inventory = Some(inventory(&*store, has_values)?);
        }
        store.close()?;
        turn.disk_bytes = disk_bytes(self.dir)?;
        engine.destroy(self.dir)?;
        Ok(turn)
    }

    /// Puts every key, and waits until the store is at rest. Nothing is written in transactions.
    fn fill(&self, settings: &StoreSettings) -> Outcome {
        let plain = StoreSettings {
            transactions: None,
            ..settings.clone()
        };
        let store = self.entry.engine.open(self.dir, &plain)?.store;
        prepare(&*store, self.request.num)?;
        store.drain()?;
        store.close()
    }

    fn settings(&self, chapter: Chapter) -> StoreSettings {
        let is_synced = matches!(chapter, Chapter::Synced | Chapter::SyncedTogether);
        let has_merges = matches!(chapter, Chapter::Merge | Chapter::Operands);
        let mut settings = StoreSettings {
            sync: is_synced,
            has_merges,
            transactions: chapter.transactions(),
            ..self.request.settings.clone()
        };
        if self.entry.word == OURS {
            settings.own = self.request.own.clone();
        }
        settings
    }

    /// The workloads to run: up to the last that is wanted, and of the others only what changes
    /// the store.
    fn workloads(&self, chapter: Chapter) -> impl Iterator<Item = &'static Workload> {
        let is_wanted = |workload: &Workload| {
            self.request
                .workloads
                .iter()
                .any(|it| it.name == workload.name)
        };
        let all: Vec<&Workload> = WORKLOADS
            .iter()
            .filter(|workload| workload.chapter == chapter)
            .collect();
        let last = all.iter().rposition(|workload| is_wanted(workload));
        let count = last.map_or(0, |last| last + 1);
        let needed: Vec<&Workload> = all
            .into_iter()
            .take(count)
            .filter(|workload| is_wanted(workload) || workload.work.is_change())
            .collect();
        needed.into_iter()
    }

    /// Whether the engine did this workload and can go on; what it measured goes to `turn` if it
    /// was wanted.
    fn run(&self, workload: &Workload, store: &dyn Store, turn: &mut Turn) -> Outcome<bool> {
        // Only a tree of runs has something to merge or to settle: elsewhere the workload would
        // measure nothing, and look like a win.
        if workload.work.is_one_piece() && !self.entry.is_lsm {
            return Ok(true);
        }
        let label = format!("{} {}", self.entry.word, workload.name);
        let task = Task {
            workload,
            request: self.request,
            store,
            label: &label,
            remarks: self.remarks,
        };
        let (mut measurement, answer) = match task.run() {
            Ok(done) => done,
            Err(failure) if failure.kind == FailureKind::Unsupported => return Ok(false),
            Err(mut failure) => {
                failure.message = format!("{label}: {}", failure.message);
                return Err(failure);
            }
        };
        turn.is_cut = answer.is_none();
        measurement.name = workload.name.into();
        measurement.engine = self.entry.engine.name().into();
        measurement.engine_version = self.entry.engine.version();
        measurement.settings = turn.matched.clone();
        if workload.work == Work::Compact {
            let bytes = disk_bytes(self.dir)?.to_string();
            measurement.workload.push(("disk_bytes".into(), bytes));
        }
        // Of a workload that only others build upon it is told that it ended them.
        if turn.is_cut
            || self
                .request
                .workloads
                .iter()
                .any(|it| it.name == workload.name)
        {
            turn.records.push((measurement, answer));
        }
        Ok(!turn.is_cut)
    }
}
