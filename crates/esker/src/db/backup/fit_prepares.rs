//! Which of the prepared transactions that a damaged log has can be kept.

use crate::base::types::error::Result;
use crate::base::types::ids::FileNumber;
use crate::db::backup::report::KeptPrepared;
use crate::db::backup::segments::Segments;
use crate::store::batch::prepared_log::{LoggedPrepare, Place};
use crate::store::version::state::Version;

/// Those that are kept, and those that are left out, each with the reason.
type Fitted = (Vec<LoggedPrepare>, Vec<(LoggedPrepare, String)>);

/// Leaves out those that no opening would accept, or whose commit would write less than was
/// prepared: of keyspaces that are not there any more, and with large values that are lost.
pub fn fit_prepares(
    prepared: Vec<LoggedPrepare>,
    version: &Version,
    segments: &mut Segments<'_>,
) -> Result<Fitted> {
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for one in prepared {
        match flaw_of(&one, version, segments)? {
            None => kept.push(one),
            Some(flaw) => left_out.push((one, flaw)),
        }
    }
    Ok((kept, left_out))
}

fn flaw_of(
    one: &LoggedPrepare,
    version: &Version,
    segments: &mut Segments<'_>,
) -> Result<Option<String>> {
    let is_there = |keyspace| version.keyspace(keyspace).is_some();
    let prepare = one.read()?;
    let id = prepare.id.escape_ascii();
    let homeless = |keyspace| {
        format!("the prepared transaction \"{id}\" needs keyspace {keyspace}, which is not there")
    };
    let mut claims = prepare.claims.iter();
    if let Some(claim) = claims.find(|claim| !is_there(claim.keyspace)) {
        return Ok(Some(homeless(claim.keyspace)));
    }
    for entry in prepare.entries.entries() {
        let entry = entry?;
        if !is_there(entry.keyspace) {
            return Ok(Some(homeless(entry.keyspace)));
        }
        if let Some((_, lost)) = segments.lost_value(&entry.in_keyspace())? {
            let flaw =
                format!("a large value of the prepared transaction \"{id}\" is lost: {lost}");
            return Ok(Some(flaw));
        }
    }
    Ok(None)
}

impl KeptPrepared {
    /// What is told of one that is kept, of a log that is needed from `first_log` on and has gaps
    /// there.
    pub(in crate::db::backup) fn of(
        one: &LoggedPrepare,
        first_log: FileNumber,
        gap_places: &[Place],
    ) -> Result<KeptPrepared> {
        let prepare = one.read()?;
        Ok(KeptPrepared {
            id: prepare.id.to_vec(),
            entry_count: u64::from(prepare.entries.count()),
            // What ended it may lie in a gap behind it, or in a segment that was given back.
            is_in_doubt: one.place.0 < first_log
                || gap_places.iter().any(|place| *place > one.place),
        })
    }
}
