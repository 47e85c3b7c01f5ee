//! Messages that no sound peer sends: `raft` would panic on them, here they are damage with a name.

use raft::eraftpb::{Message, MessageType};
use raft::{Raft, StateRole};

use crate::store::GroupStore;

/// Who must be at fault when a message cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// This replica's log has lost something.
    Here(&'static str),
    /// The peer's has, or it is none of ours.
    There(&'static str),
}

/// What is wrong with `message`, as far as `raft` relies on it being right.
pub(crate) fn damage(raft: &Raft<GroupStore>, message: &Message) -> Option<Damage> {
    if message.term != 0 && message.term < raft.term {
        // `raft` looks no further into what is outdated.
        return None;
    }
    let last = raft.raft_log.last_index();
    let leads = raft.state == StateRole::Leader && message.term == raft.term;
    match message.get_msg_type() {
        MessageType::MsgAppend | MessageType::MsgHeartbeat | MessageType::MsgSnapshot if leads => {
            Some(Damage::There("two replicas lead in one term"))
        }
        MessageType::MsgAppendResponse if leads && !message.reject && message.index > last => Some(
            Damage::There("a follower acknowledges what its leader does not have"),
        ),
        MessageType::MsgSnapshot if is_beside(raft, message) => Some(Damage::There(
            "an image of another entry than the one committed there",
        )),
        MessageType::MsgHeartbeat if message.commit > last => Some(Damage::Here(
            "the log lacks entries that this replica acknowledged",
        )),
        MessageType::MsgAppend if contradicts(raft, message) => Some(Damage::Here(
            "the log has other entries where committed ones should be",
        )),
        _ => None,
    }
}

// Below what is compacted nothing can be held against it, and `raft` ignores it.
fn is_beside(raft: &Raft<GroupStore>, message: &Message) -> bool {
    let metadata = message.get_snapshot().get_metadata();
    let (index, term) = (metadata.index, metadata.term);
    let is_known = index <= raft.raft_log.committed && index + 1 >= raft.raft_log.first_index();
    is_known && !raft.raft_log.match_term(index, term)
}

fn contradicts(raft: &Raft<GroupStore>, message: &Message) -> bool {
    let committed = raft.raft_log.committed;
    let first = raft.raft_log.first_index();
    // `raft` does not look at entries when the one before them is no match.
    raft.raft_log.match_term(message.index, message.log_term)
        && message
            .entries
            .iter()
            .filter(|entry| entry.index >= first && entry.index <= committed)
            .any(|entry| !raft.raft_log.match_term(entry.index, entry.term))
}
