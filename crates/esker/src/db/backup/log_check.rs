//! Whether an open could read the log, with every value that it names.

use std::path::Path;

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::base::types::seqno::SeqNo;
use crate::db::backup::report::KeptPrepared;
use crate::db::backup::segments::Segments;
use crate::db::log_survey::survey_log;
use crate::env::bundle::Env;
use crate::flow::write::chain::chain;
use crate::flow::write::replay::ReplayReport;
use crate::store::batch::prepared_log::PreparedLog;
use crate::store::batch::reader::BatchReader;
use crate::store::sst::saving::only_damage;
use crate::store::version::state::Version;
use crate::store::wal::reader::WalReader;

/// What an open would make of a log.
#[derive(Debug)]
pub enum LogCheck {
    /// It would read all of it, with every value that it names.
    Whole(ReplayReport),
    /// It would read it as far as that says, and end it there. But intact records lie behind, or
    /// values are missing that what it reads has names of.
    Ends(ReplayReport),
    /// It would refuse it: what was durable is damaged or missing.
    Refused,
}

impl LogCheck {
    /// The transactions that an open would find prepared. Errors: none of what was read once.
    pub fn prepared(&self) -> Result<Vec<KeptPrepared>> {
        let logged = self.accepted().into_iter();
        let logged = logged.flat_map(|replayed| &replayed.prepared);
        // Nothing is lost behind them, and they lie where the log is needed.
        logged
            .map(|one| KeptPrepared::of(one, FileNumber(0), &[]))
            .collect()
    }

    /// What an open would read of it, `None` where it would refuse it.
    pub fn accepted(&self) -> Option<&ReplayReport> {
        match self {
            LogCheck::Whole(replayed) | LogCheck::Ends(replayed) => Some(replayed),
            LogCheck::Refused => None,
        }
    }
}

/// What an open would make of the log of `version`, which lies in the segments `wals`.
///
/// Errors: those of reading that are no damage.
pub fn check_log(
    env: &Env,
    dir: &Path,
    version: &Version,
    wals: &[FileNumber],
    values: &mut Segments<'_>,
) -> Result<LogCheck> {
    let replayed = match only_damage(survey_log(&env.fs, dir, version, wals))? {
        Ok(replayed) => replayed,
        Err(_) => return Ok(LogCheck::Refused),
    };
    let is_whole =
        replayed.torn_records == 0 && !lacks_values((env, dir, version), wals, &replayed, values)?;
    Ok(match is_whole {
        true => LogCheck::Whole(replayed),
        false => LogCheck::Ends(replayed),
    })
}

// Whether a value is missing that the log names as far as an open would read it.
fn lacks_values(
    (env, dir, version): (&Env, &Path, &Version),
    wals: &[FileNumber],
    replayed: &ReplayReport,
    values: &mut Segments<'_>,
) -> Result<bool> {
    let mut walk = ValueWalk {
        version,
        values,
        newest: SeqNo::ZERO,
        prepared: PreparedLog::default(),
    };
    let links = chain(&*env.fs, dir, wals)?;
    for link in links.iter().filter(|link| link.is_part) {
        if Some(link.number) > replayed.end.map(|(last, _)| last) {
            break;
        }
        let reader = link.reader(&*env.fs, dir)?;
        let end = replayed.end.filter(|(last, _)| *last == link.number);
        if walk.lacks_value(link.number, reader, end.map(|(_, end)| end))? {
            return Ok(true);
        }
    }
    // Whatever becomes of those that are prepared, their values are needed.
    for prepared in std::mem::take(&mut walk.prepared).into_live() {
        if walk.lacks_one(&prepared.read()?.entries, true)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A walk over what the log names in the value log.
struct ValueWalk<'a, 'b> {
    version: &'a Version,
    values: &'a mut Segments<'b>,
    newest: SeqNo,
    prepared: PreparedLog,
}

impl ValueWalk<'_, '_> {
    // Whether a value is missing of a segment, which ends at `end` where that is known.
    fn lacks_value(
        &mut self,
        number: FileNumber,
        mut reader: WalReader,
        end: Option<u64>,
    ) -> Result<bool> {
        let mut prepared = std::mem::take(&mut self.prepared);

        let mut is_head = true;
        while let Ok(Some(record)) = only_damage(reader.next_placed())? {
            if end.is_some_and(|end| record.end > end) {
                break;
            }
            if std::mem::take(&mut is_head) || record.payload.is_empty() {
                continue;
            }
            let followed = prepared.follow((number, record.offset), record.payload);
            let Ok(effect) = only_damage(followed)? else {
                break;
            };
            // One with smaller numbers was dropped by a recovery, which used them again.
            if let Some(batch) = effect.written().filter(|it| it.first_seqno() > self.newest)
                && self.lacks_one(&batch, false)?
            {
                return Ok(true);
            }
        }
        self.prepared = prepared;
        Ok(false)
    }

    // Whether a value of the batch is missing that is needed: of one that is prepared each is.
    fn lacks_one(&mut self, batch: &BatchReader<'_>, is_prepared: bool) -> Result<bool> {
        for entry in batch.entries() {
            let entry = entry?;
            let seqno = entry.trailer.seqno();
            let state = self.version.keyspace(entry.keyspace);
            let is_wanted = is_prepared || state.is_some_and(|state| seqno > state.flushed);
            if is_wanted && self.values.lost_value(&entry.in_keyspace())?.is_some() {
                return Ok(true);
            }
            if !is_prepared {
                self.newest = seqno;
            }
        }
        Ok(false)
    }
}
