//! One compaction from its booking to its end.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::base::hooks::event_reasons::{CompactionKind, CompactionReason};
use crate::base::options::keyspace::KeyspaceOptions;
use crate::base::stats::memory_budget::Reservation;
use crate::base::stats::statistics::{Ticker, nanoseconds};
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::ids::KeyspaceId;
use crate::db::compaction_memory::{self, Sharers};
use crate::db::core::Core;
use crate::db::file_deletion;
use crate::db::flushing::output_settings;
use crate::db::install::install;
use crate::db::job_events::{JobEvents, note_made};
use crate::db::keyspace::KeyspaceParts;
use crate::db::keyspace_time::files_unix_ms;
use crate::db::occasion::is_pressed;
use crate::db::work::WorkState;
use crate::env::pool::Priority;
use crate::flow::compact::job::{JobContext, MayGoOn, Part, PartResult, edit_of, run_part, split};
use crate::flow::compact::plan::{Claim, Plan};
use crate::flow::compact::recompression::{Remainder, effort};
use crate::flow::compaction_iterator::Tally;
use crate::flow::output::Phrasing;
use crate::flow::read::view::View;
use crate::flow::retaining::Retaining;

/// A compaction under way.
pub struct Running {
    keyspace: Arc<KeyspaceParts>,
    plan: Plan,
    claim: Option<Claim>,
    parts: Vec<Part>,
    /// For the parts; until it is finished. It holds the inputs, which may be removed then.
    context: Mutex<Option<Arc<JobContext>>>,
    /// Set when the retain rule fails that it asks.
    has_rule_failed: Option<Arc<AtomicBool>>,
    /// The generation of that rule, or an earlier one.
    rule_generation: u64,
    results: Mutex<Vec<Option<Result<PartResult>>>>,
    left: AtomicUsize,
    began: Duration,
    /// Bytes of memory that each part takes.
    part_bytes: u64,
    /// For the buffers; until it is finished.
    charge: Mutex<Option<Reservation>>,
    ended: Mutex<Option<Result<()>>>,
    events: Mutex<JobEvents>,
}

/// Puts a compaction on the books: its files are busy, and its memory is held, until it ends.
pub fn book(
    core: &Arc<Core>,
    state: &mut WorkState,
    parts: &Arc<KeyspaceParts>,
    view: &Arc<View>,
    plan: Plan,
    threads: usize,
) -> Running {
    let options = parts.options();
    let is_large = plan.size_bytes() >= 2 * options.sst.file_size_bytes;
    let parts_max = if is_large && plan.reason != CompactionReason::Recompression {
        options.compaction.subcompactions_max
    } else {
        1
    };
    let fitting = compaction_memory::parts_max(core, state);
    let pieces = split(
        &plan,
        &options.comparator,
        parts_max.min(threads).min(fitting),
    );
    let claim = plan.claim(&options.comparator);
    state.busy.extend(plan.numbers());
    state.claims.extend(claim.clone());
    match plan.reason {
        CompactionReason::IntraL0 => state.is_intra_l0_running = true,
        _ => state.compaction_count += pieces.len(),
    }
    state.job_count += pieces.len();
    let mut settings = output_settings(core, parts, plan.output);
    settings.phrasing = phrasing(core, parts, &options, view, &plan);
    if let Some(relocator) = &mut settings.relocator {
        relocator.victims = Arc::clone(&plan.victims);
    }
    let sharers = Sharers::new(pieces.len(), threads);
    let (buffers, charge) = compaction_memory::take(core, state, sharers, &plan, &mut settings);
    let rule_generation = parts.retained.generation();
    let now_unix_ms = files_unix_ms(core, parts);
    let context = JobContext {
        settings,
        merge: options.merge.clone(),
        retaining: retaining(parts, &plan, now_unix_ms),
        now_unix_ms,
        snapshots: core.snapshots.seqnos(),
        view: Arc::new(view.of_files()),
        obsolete: core.obsolete_files.numbers(),
        may_go_on: may_go_on(core, parts, &plan),
        window_bytes: buffers.window_bytes,
    };
    Running {
        keyspace: Arc::clone(parts),
        has_rule_failed: context
            .retaining
            .as_ref()
            .map(|it| Arc::clone(&it.has_failed)),
        rule_generation,
        results: Mutex::new(pieces.iter().map(|_| None).collect()),
        left: AtomicUsize::new(pieces.len()),
        began: core.env.clock.monotonic(),
        part_bytes: buffers.part_bytes,
        charge: Mutex::new(Some(charge)),
        ended: Mutex::new(None),
        events: Mutex::new(JobEvents::compaction(core, parts, &plan, pieces.len())),
        plan,
        claim,
        parts: pieces,
        context: Mutex::new(Some(Arc::new(context))),
    }
}

// When a compaction is given up half done: what can wait gives way (`Busy`) to what cannot, and to
// who closes the database.
fn may_go_on(core: &Arc<Core>, parts: &Arc<KeyspaceParts>, plan: &Plan) -> MayGoOn {
    let core = Arc::clone(core);
    let giving_way = (plan.reason == CompactionReason::Recompression).then(|| Arc::clone(parts));
    Arc::new(move || {
        core.gate.check_read()?;
        match &giving_way {
            Some(parts) if is_pressed(parts) || core.work.state().rest.is_closing() => {
                Err(gave_way())
            }
            _ => Ok(()),
        }
    })
}

fn gave_way() -> Error {
    let message = "compressing files anew gave way to what cannot wait; it begins again by itself";
    Error::new(ErrorKind::Busy, message)
}

// Merges within level 0 are there for the time that others take, and ask nobody.
fn retaining(parts: &KeyspaceParts, plan: &Plan, now_unix_ms: u64) -> Option<Retaining> {
    let is_asked = plan.reason != CompactionReason::IntraL0;
    let rule = parts.retain_rule().filter(|_| is_asked)?;
    Some(Retaining {
        rule,
        keyspace: Arc::from(&*parts.name),
        level: plan.output,
        now_unix_ms,
        has_failed: Arc::default(),
    })
}

fn phrasing(
    core: &Core,
    parts: &KeyspaceParts,
    options: &KeyspaceOptions,
    view: &View,
    plan: &Plan,
) -> Option<Phrasing> {
    let dictionary = parts.compression_dictionary()?;
    let effort = effort(plan, &view.parts().levels, options)?;
    let threads = core.env.pool.thread_count();
    Some(Phrasing {
        dictionary,
        effort,
        // Nobody waits for a compression: it leaves a thread to what somebody may wait for.
        threads: match plan.reason {
            CompactionReason::Recompression => threads.saturating_sub(1).max(1),
            _ => threads,
        },
    })
}

/// Takes a compaction off the books. The files over which one failed are left out for now; says
/// after how long they are to be tried again.
pub fn end(core: &Core, running: &Running, result: &Result<()>) -> Option<Duration> {
    let inputs: Vec<_> = running.plan.numbers().collect();
    let mut state = core.work.state();
    state.looks.note(running.keyspace.id);
    let own = running.claim.as_ref();
    state.claims.retain(|claim| Some(claim) != own);
    match running.plan.reason {
        CompactionReason::IntraL0 => state.is_intra_l0_running = false,
        _ => state.compaction_count -= running.parts.len(),
    }
    if result.is_err() && running.has_rule_failed() {
        // Over no file: from now on they are compacted without the rule, or with one that is newer.
        running.keyspace.retained.suspend(running.rule_generation);
        state.free(&inputs);
        return None;
    }
    state.note_compacted(&inputs, result, core.env.clock.monotonic())
}

impl Running {
    /// The keyspace that it is of.
    pub fn keyspace_id(&self) -> KeyspaceId {
        self.keyspace.id
    }

    /// How urgent it is.
    pub fn priority(&self) -> Priority {
        match self.plan.reason {
            // It is there for the time that compactions take.
            CompactionReason::IntraL0 => Priority::High,
            _ => Priority::Low,
        }
    }

    /// Bytes of memory that each part takes.
    pub fn part_bytes(&self) -> u64 {
        self.part_bytes
    }

    /// What is to follow it of what somebody asked for, where that goes by the piece: it is the
    /// next step of `before`.
    pub fn remainder(&self, before: Remainder) -> Option<Remainder> {
        let context = self.context();
        let is_bottom = context.view.parts().levels.is_bottom(self.plan.output);
        let is_phrased = context.settings.phrasing.is_some();
        let has_dictionary = || self.keyspace.compression_dictionary().is_some();
        let is_by_piece = is_bottom && (before.is_begun || is_phrased || has_dictionary());
        let claimed = self.claim.as_ref().map(|claim| &claim.reach);
        let is_left = is_by_piece.then_some(before);
        is_left?.behind(&self.plan, claimed, is_phrased)
    }

    /// In how many parts it runs.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Runs one part.
    pub fn run_part(&self, index: usize) -> Result<PartResult> {
        match self.plan.kind {
            CompactionKind::Merge => run_part(&self.plan, &self.parts[index], &self.context()),
            CompactionKind::Move | CompactionKind::Drop => Ok(PartResult::default()),
        }
    }

    /// Takes what became of a part; says whether it was the last one to end, whose thread then
    /// finishes.
    pub fn set_part(&self, index: usize, result: Result<PartResult>) -> bool {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results[index] = Some(result);
        // AcqRel: the last part sees what the others stored, and they theirs before counting.
        self.left.fetch_sub(1, Ordering::AcqRel) == 1
    }

    fn context(&self) -> Arc<JobContext> {
        let context = self.context.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(
            context
                .as_ref()
                .expect("it is there until every part has ended"),
        )
    }

    /// Tells listeners which files a part has finished.
    pub fn note_part(&self, core: &Core, part: &PartResult) {
        note_made(core, part.files.iter().map(|file| &**file));
    }

    /// Tells listeners how it ended.
    pub fn note_end(&self, result: &Result<()>) {
        self.events().end(result);
    }

    fn events(&self) -> MutexGuard<'_, JobEvents> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells how it ended, for whoever waits.
    pub fn set_result(&self, result: Result<()>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    }

    /// How it ended, once; `None` while it runs.
    pub fn take_result(&self) -> Option<Result<()>> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    // Relaxed: the parts have ended, and the last to end saw what the others did.
    fn has_rule_failed(&self) -> bool {
        let flag = self.has_rule_failed.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Installs the results of all parts.
    pub fn finish(&self, core: &Core) -> Result<()> {
        *self.charge.lock().unwrap_or_else(PoisonError::into_inner) = None;
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let results = {
            let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *results)
        };
        let mut made = Vec::new();
        let mut failed = None;
        for result in results.into_iter().flatten() {
            match result {
                Ok(part) => made.push(part),
                Err(error) => failed = Some(error),
            }
        }
        let numbers: Vec<_> = made
            .iter()
            .flat_map(|part| part.files.iter().map(|file| file.number))
            .collect();
        if let Some(error) = failed {
            file_deletion::remove_orphans(core, numbers);
            return Err(error);
        }
        self.count(core, &made);
        let files = made.iter().flat_map(|part| &part.files);
        let made_bytes = files.map(|file| file.size_bytes).sum();
        // Until the edit is installed nobody else keeps the new segments.
        let relocated: Vec<_> = made
            .iter()
            .map(|part| Arc::clone(&part.relocated))
            .collect();
        for part in &relocated {
            let stuck = part.tally.stuck.iter().copied();
            core.work.state().stuck_values.extend(stuck);
        }
        let installed = install(core, edit_of(&self.plan, made), None);
        match &installed {
            Ok(true) => self.events().set_made(numbers.len(), made_bytes),
            Ok(false) => file_deletion::remove_orphans(core, numbers),
            Err(error) if error.is_shortage() => {
                file_deletion::remove_orphans(core, numbers);
            }
            // The edit may be on the disk or not: the next open finds out, and cleans up.
            Err(_) => {}
        }
        drop(relocated);
        installed.map(drop)
    }

    fn count(&self, core: &Core, made: &[PartResult]) {
        let statistics = &core.statistics;
        statistics.add(Ticker::Compactions, 1);
        if self.plan.kind != CompactionKind::Merge {
            statistics.add(Ticker::TrivialMoves, 1);
            return;
        }
        let read_bytes = self.plan.read_bytes();
        let files = || made.iter().flat_map(|part| &part.files);
        statistics.add(Ticker::CompactionReadBytes, read_bytes);
        statistics.add(
            Ticker::CompactionWrittenBytes,
            files().map(|file| file.size_bytes).sum(),
        );
        statistics.add(Ticker::FilesCreated, files().count() as u64);
        statistics.add(
            Ticker::ValueLogMovedBytes,
            made.iter()
                .map(|part| part.relocated.tally.written_bytes)
                .sum(),
        );
        statistics.add(
            Ticker::MergeFolds,
            made.iter().map(|part| part.tally.folded_count).sum(),
        );
        statistics.add(
            Ticker::CompactionVerbatim,
            made.iter().map(|part| part.tally.verbatim_count).sum(),
        );
        let entries = |count: fn(&Tally) -> u64| made.iter().map(|part| count(&part.tally)).sum();
        let (read_count, kept_count): (u64, u64) = (
            entries(|tally| tally.read_count),
            entries(|tally| tally.kept_count),
        );
        statistics.add(
            Ticker::CompactionDropped,
            read_count.saturating_sub(kept_count),
        );
        let unretained_count = entries(|tally| tally.unretained_count);
        statistics.add(Ticker::RetainDropped, unretained_count);
        self.keyspace.retained.count_dropped(unretained_count);
        let took = core.env.clock.monotonic() - self.began;
        statistics.add(Ticker::CompactionNanos, nanoseconds(took));
        if !matches!(
            self.plan.reason,
            CompactionReason::Recompression | CompactionReason::IntraL0
        ) {
            // Nobody waits for the former, and the latter pay no debt.
            core.work.note_digested(read_bytes, took);
        }
        let policy = &self.keyspace.dictionary_policy;
        for compressed in made.iter().filter_map(|part| part.compressed) {
            policy.note(compressed);
        }
        if self.plan.is_joining() {
            policy.note_joined(self.plan.numbers().count(), files().count());
        }
    }
}
