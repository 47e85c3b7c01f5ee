//! Internal keys to seek to.

use crate::base::types::key::{self, Trailer};
use crate::base::types::kind::Kind;
use crate::base::types::seqno::SeqNo;

/// The trailer that sorts before every entry of a key.
pub fn first_trailer() -> Trailer {
    Trailer::seek(SeqNo::MAX)
}

/// The trailer that sorts behind every entry of a key but an equal one.
pub fn last_trailer() -> Trailer {
    Trailer::new(SeqNo::ZERO, Kind::Delete)
}

/// Makes `target` the internal key of `user_key` and `trailer`, in the memory it has.
pub fn set_seek_target(target: &mut Vec<u8>, user_key: &[u8], trailer: Trailer) {
    target.clear();
    key::encode_into(target, user_key, trailer);
}
