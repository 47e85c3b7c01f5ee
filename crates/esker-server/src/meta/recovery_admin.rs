//! What is answered to who asks for partitions that nobody leads, or accepts a loss.

use esker_raft::NodeId;
use esker_rpc::error::ErrorName;
use esker_rpc::message::own::{
    PartitionFacts, PartitionStanding, RecoverTableRequest, RecoverTableResponse,
};

use crate::meta::command::Recover;
use crate::meta::ids::PartitionId;
use crate::meta::live::Live;
use crate::meta::outcome::{Cause, Refusal};
use crate::meta::recovery::{Verdict, verdict};
use crate::meta::state::State;
use crate::meta::touched::Result;

/// What becomes of the call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It is answered.
    Told(RecoverTableResponse),
    /// A loss is accepted.
    Recover(Recover),
}

/// What becomes of a call about partitions that nobody leads.
pub(crate) fn asked(state: &State, live: &Live, request: &RecoverTableRequest) -> Result<Asked> {
    let table = state.table(&request.app_name);
    let (table, row) =
        table.ok_or_else(|| Refusal::new(Cause::NoTable, "there is no such table"))?;
    let index = u32::try_from(request.partition_index).ok();
    let is_there = index.map_or(request.partition_index == -1, |one| {
        one < row.partition_count
    });
    if !is_there {
        let why = format!(
            "the table has the partitions 0 to {}",
            row.partition_count - 1
        );
        return Err(Refusal::bad(why));
    }
    match index.filter(|_| request.accepts_loss) {
        Some(index) => accepted(state, live, PartitionId { table, index }),
        None if request.accepts_loss => Err(Refusal::bad(
            "a loss is accepted of one partition at a time",
        )),
        None => {
            let all = (0..row.partition_count).filter(|one| index.is_none_or(|it| it == *one));
            let told = all.filter_map(|index| facts(state, live, PartitionId { table, index }));
            Ok(Asked::Told(RecoverTableResponse {
                err: ErrorName::OK,
                hint_message: String::new(),
                partitions: told.collect(),
            }))
        }
    }
}

fn accepted(state: &State, live: &Live, partition: PartitionId) -> Result<Asked> {
    match verdict(state, live, partition.group()) {
        Verdict::Lost(recover, _) => Ok(Asked::Recover(recover)),
        Verdict::Led => Err(Refusal::new(
            Cause::Stale,
            "the partition is led: nothing is to be given up",
        )),
        Verdict::GoesOn(..) => Ok(Asked::Told(RecoverTableResponse {
            err: ErrorName::OK,
            ..RecoverTableResponse::default()
        })),
        Verdict::Waits(why) => Err(Refusal::new(Cause::Stale, why)),
    }
}

/// None of a partition that is led.
fn facts(state: &State, live: &Live, partition: PartitionId) -> Option<PartitionFacts> {
    let (standing, node, sentence) = match verdict(state, live, partition.group()) {
        Verdict::Led => return None,
        Verdict::GoesOn(_, node, far) => (PartitionStanding::PS_GOES_ON, node, far),
        Verdict::Lost(recover, lost) => (PartitionStanding::PS_LOST, recover.node, lost),
        Verdict::Waits(why) => (PartitionStanding::PS_WAITS, NodeId(0), why),
    };
    Some(PartitionFacts {
        partition_index: i32::try_from(partition.index).unwrap_or(i32::MAX),
        standing,
        node: i64::try_from(node.0).unwrap_or(i64::MAX),
        sentence,
    })
}
