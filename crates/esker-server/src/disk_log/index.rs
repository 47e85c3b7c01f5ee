//! What the log knows of all groups: follows its records one by one.

use std::collections::BTreeMap;

use esker::internals::base::types::error::{Error, Result};
use esker::internals::base::types::ids::FileNumber;
use esker_raft::{GroupId, Point, Record, ReplicaId};

use crate::disk_log::format::{Parts, begin_checkpoint, put_point, put_record};
use crate::disk_log::group_index::{GroupIndex, check_append, check_compact};
use crate::disk_log::positions::Place;

/// All groups of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    groups: BTreeMap<GroupId, GroupIndex>,
    /// The largest replica id of each group that was destroyed.
    destroyed: BTreeMap<GroupId, ReplicaId>,
}

impl Index {
    /// Follows a record that lies there.
    ///
    /// Errors: `Corruption` when it cannot come behind what came before.
    pub fn follow(&mut self, record: &Record, place: Place) -> Result<()> {
        match record {
            Record::Begin {
                group,
                replica,
                index,
                term,
                configuration,
            } => {
                let begin = Point {
                    index: *index,
                    term: *term,
                };
                self.begin(*group, *replica, begin, configuration)
            }
            Record::Append { group, entries } => {
                let points = entries.iter().map(|entry| Point {
                    index: entry.index,
                    term: entry.term,
                });
                let points: Vec<_> = points.collect();
                self.begun(*group)?.append(&points, place)
            }
            Record::Hard { group, state } => {
                self.begun(*group)?.hard = *state;
                Ok(())
            }
            Record::Compact { group, index, term } => self.begun(*group)?.compact(Point {
                index: *index,
                term: *term,
            }),
            Record::Destroy { group, replica } => {
                // A late word about an older replica takes nothing from its successor.
                if let Some(known) = self.groups.get(group)
                    && known.replica <= *replica
                {
                    self.groups.remove(group);
                }
                let known = self.destroyed.entry(*group).or_insert(*replica);
                *known = (*known).max(*replica);
                Ok(())
            }
        }
    }

    fn begin(
        &mut self,
        group: GroupId,
        replica: ReplicaId,
        begin: Point,
        configuration: &esker_raft::Configuration,
    ) -> Result<()> {
        check_begin(self.destroyed(group), group, replica)?;
        match self.groups.get_mut(&group) {
            Some(known) if known.replica == replica => {
                known.begin_anew(begin, configuration.clone());
            }
            _ => {
                let begun = GroupIndex::begun(replica, begin, configuration.clone());
                self.groups.insert(group, begun);
            }
        }
        Ok(())
    }

    fn begun(&mut self, group: GroupId) -> Result<&mut GroupIndex> {
        let found = self.groups.get_mut(&group);
        found.ok_or_else(|| never_began(group))
    }

    /// One group.
    pub fn group(&self, group: GroupId) -> Option<&GroupIndex> {
        self.groups.get(&group)
    }

    /// All groups.
    pub fn groups(&self) -> impl Iterator<Item = (GroupId, &GroupIndex)> {
        self.groups.iter().map(|(id, group)| (*id, group))
    }

    /// The largest replica id of a group that was destroyed here.
    pub fn destroyed(&self, group: GroupId) -> Option<ReplicaId> {
        self.destroyed.get(&group).copied()
    }

    /// Every group of which a replica was destroyed here, with the largest id.
    pub fn all_destroyed(&self) -> impl Iterator<Item = (GroupId, ReplicaId)> {
        self.destroyed
            .iter()
            .map(|(group, replica)| (*group, *replica))
    }

    /// The oldest segment that has an entry which is needed.
    pub fn oldest_needed(&self) -> Option<FileNumber> {
        let needed = self.groups.values();
        needed
            .filter_map(|group| group.positions.oldest_segment())
            .min()
    }

    /// All of it but where entries lie, as a record of a segment, for [`set_oldest`] to complete.
    ///
    /// [`set_oldest`]: crate::disk_log::format::set_oldest
    pub fn checkpoint(&self) -> Vec<u8> {
        let mut out = begin_checkpoint();
        for (&group, &replica) in &self.destroyed {
            put_record(&mut out, &Record::Destroy { group, replica });
        }
        for (&group, known) in &self.groups {
            let begin = Record::Begin {
                group,
                replica: known.replica,
                index: known.begin.index,
                term: known.begin.term,
                configuration: known.configuration.clone(),
            };
            put_record(&mut out, &begin);
            let compact = Record::Compact {
                group,
                index: known.compacted.index,
                term: known.compacted.term,
            };
            put_record(&mut out, &compact);
            let state = known.hard;
            put_record(&mut out, &Record::Hard { group, state });
            put_point(&mut out, known.last);
        }
        out
    }

    /// What a checkpoint says; the entries of before are missing until records say that none is
    /// needed.
    pub fn from_checkpoint(mut parts: Parts<'_>) -> Result<Index> {
        let mut index = Index::default();
        while !parts.is_at_end() {
            match parts.record()? {
                Record::Destroy { group, replica } => {
                    index.destroyed.insert(group, replica);
                }
                Record::Begin {
                    group,
                    replica,
                    index: at,
                    term,
                    configuration,
                } => {
                    let begin = Point { index: at, term };
                    let mut known = GroupIndex::begun(replica, begin, configuration);
                    read_group(&mut parts, group, &mut known)?;
                    index.groups.insert(group, known);
                }
                _ => return Err(disordered()),
            }
        }
        Ok(index)
    }

    /// Takes over which groups were destroyed that this one knows as living: an opening says so in
    /// its checkpoint alone.
    pub fn follow_destroyed(&mut self, told: &Index) {
        for (group, replica) in &told.destroyed {
            self.groups
                .retain(|id, known| id != group || known.replica > *replica);
            let known = self.destroyed.entry(*group).or_insert(*replica);
            *known = (*known).max(*replica);
        }
    }

    /// Whether records may follow, in their order. Errors: as [`Index::follow`].
    pub fn may_follow(&self, records: &[Record]) -> Result<()> {
        let mut outlines = Outlines {
            index: self,
            changed: BTreeMap::new(),
            replicas: BTreeMap::new(),
            destroyed: BTreeMap::new(),
        };
        records
            .iter()
            .try_for_each(|record| outlines.follow(record))
    }

    /// Whether both know the same of every group, wherever its entries lie.
    pub fn agrees_with(&self, other: &Index) -> bool {
        let bare = |index: &Index| {
            let groups = index.groups.iter().map(|(id, known)| (*id, known.state()));
            groups.collect::<Vec<_>>()
        };
        self.destroyed == other.destroyed && bare(self) == bare(other)
    }
}

/// What records that are not written yet make of an index, as far as it says what may follow them.
struct Outlines<'a> {
    index: &'a Index,
    /// Last compacted and last entry of the groups that they speak of; `None` of one destroyed.
    changed: BTreeMap<GroupId, Option<(Point, Point)>>,
    /// The replicas that they begin.
    replicas: BTreeMap<GroupId, ReplicaId>,
    destroyed: BTreeMap<GroupId, ReplicaId>,
}

impl Outlines<'_> {
    fn follow(&mut self, record: &Record) -> Result<()> {
        let id = record.group();
        let known = self
            .index
            .group(id)
            .map(|known| (known.compacted, known.last));
        let now = *self.changed.entry(id).or_insert(known);
        let next = match record {
            Record::Begin {
                replica,
                index,
                term,
                ..
            } => {
                let destroyed = self.destroyed.get(&id).copied();
                check_begin(destroyed.or(self.index.destroyed(id)), id, *replica)?;
                self.replicas.insert(id, *replica);
                let begin = Point {
                    index: *index,
                    term: *term,
                };
                Some((begin, begin))
            }
            Record::Destroy { replica, .. } => {
                let destroyed = self.destroyed.entry(id).or_insert(*replica);
                *destroyed = (*destroyed).max(*replica);
                now.filter(|_| {
                    let here = self.replicas.get(&id).copied();
                    let here = here.or(self.index.group(id).map(|known| known.replica));
                    here > Some(*replica)
                })
            }
            Record::Append { entries, .. } => {
                let (compacted, last) = now.ok_or_else(|| never_began(id))?;
                match (entries.first(), entries.last()) {
                    (Some(first), Some(end)) => {
                        check_append(compacted, last, first.index)?;
                        let (index, term) = (end.index, end.term);
                        Some((compacted, Point { index, term }))
                    }
                    _ => return Err(Error::corruption("an append to the raft log has no entry")),
                }
            }
            Record::Compact { index, term, .. } => {
                let (compacted, last) = now.ok_or_else(|| never_began(id))?;
                check_compact(last, *index)?;
                let point = Point {
                    index: *index,
                    term: *term,
                };
                let is_further = point.index > compacted.index;
                Some((if is_further { point } else { compacted }, last))
            }
            Record::Hard { .. } => Some(now.ok_or_else(|| never_began(id))?),
        };
        self.changed.insert(id, next);
        Ok(())
    }
}

fn check_begin(destroyed: Option<ReplicaId>, group: GroupId, replica: ReplicaId) -> Result<()> {
    match destroyed {
        Some(destroyed) if destroyed >= replica => {
            let message =
                format!("{replica} of {group} begins in the raft log after it was destroyed");
            Err(Error::corruption(message))
        }
        _ => Ok(()),
    }
}

fn never_began(group: GroupId) -> Error {
    Error::corruption(format!("the raft log speaks of {group}, which never began"))
}

// The parts behind a group's begin.
fn read_group(parts: &mut Parts<'_>, id: GroupId, known: &mut GroupIndex) -> Result<()> {
    match parts.record()? {
        Record::Compact { group, index, term } if group == id => {
            known.compacted = Point { index, term };
        }
        _ => return Err(disordered()),
    }
    match parts.record()? {
        Record::Hard { group, state } if group == id => known.hard = state,
        _ => return Err(disordered()),
    }
    known.last = parts.point()?;
    if known.last.index < known.compacted.index || known.compacted.index < known.begin.index {
        return Err(disordered());
    }
    known.missing_up_to = known.last.index;
    Ok(())
}

fn disordered() -> Error {
    Error::corruption("a checkpoint of the raft log is not in its order")
}

#[cfg(test)]
mod tests;
