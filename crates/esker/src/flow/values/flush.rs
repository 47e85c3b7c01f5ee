//! Writes values that wait in memory: in packets, in the background.
//!
//! What was overwritten or deleted meanwhile is passed over: its memtable keeps it for whoever can
//! still see it, and the flush of that memtable, which knows of every snapshot, decides whether it
//! is ever written. So passing over too much costs memory for a while, and nothing else.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::base::types::bytes::Bytes;
use crate::base::types::error::Result;
use crate::base::types::seqno::SeqNo;
use crate::flow::read::view::View;
use crate::flow::values::value_log::ValueLog;
use crate::store::mem::memtable::Memtable;
use crate::store::vlog::packet::{PACKET_VALUES, PackedValue};
use crate::store::vlog::value_pool::WaitingValue;

/// Writes what waits in the memtables of a view, oldest first. Gives the bytes that were passed
/// over, and go on waiting.
///
/// Errors: those of writing; what was not written waits on.
pub fn write_waiting(log: &Arc<ValueLog>, view: &View) -> Result<u64> {
    write_from(log, view, 0)
}

/// The same of the `count` oldest memtables, which are about to be flushed: what waits in memtables
/// of an unlogged keyspace goes to its own segment, which stays open, rather than to a fresh one
/// for each flush. What younger ones overwrite is written too, since the flush needs it.
pub fn write_oldest(log: &Arc<ValueLog>, view: &View, count: usize) -> Result<u64> {
    let tables = view.parts().memtables.len();
    write_from(log, view, tables.saturating_sub(count))
}

fn write_from(log: &Arc<ValueLog>, view: &View, youngest: usize) -> Result<u64> {
    let mut passed_bytes = 0;
    for index in (youngest..view.parts().memtables.len()).rev() {
        passed_bytes += write_table(log, view, youngest..=index)?;
    }
    Ok(passed_bytes)
}

// Those of the oldest of `tables` that nothing newer in them hides.
fn write_table(log: &Arc<ValueLog>, view: &View, tables: RangeInclusive<usize>) -> Result<u64> {
    let table = &view.parts().memtables[*tables.end()];
    let mut packet = Vec::new();
    let mut packet_bytes = 0;
    let mut passed_bytes = 0;
    for waiting in table.values().kept() {
        let Some(value) = waiting.unwritten() else {
            continue;
        };
        if !is_newest(view, tables.clone(), &waiting) {
            passed_bytes += waiting.waiting_bytes();
            continue;
        }
        let bytes = compressed(&waiting, value.clone()).record_bytes();
        let is_beyond = packet_bytes + bytes > log.packet_bytes_max();
        if !packet.is_empty() && (is_beyond || packet.len() == PACKET_VALUES) {
            write_packet(log, table, std::mem::take(&mut packet))?;
            packet_bytes = 0;
        }
        packet.push((waiting, value));
        packet_bytes += bytes;
    }
    if !packet.is_empty() {
        write_packet(log, table, packet)?;
    }
    Ok(passed_bytes)
}

type Compressed = (Arc<WaitingValue>, Bytes);

fn write_packet(log: &Arc<ValueLog>, table: &Arc<Memtable>, packet: Vec<Compressed>) -> Result<()> {
    let mut pending = log.pending();
    let values = packet.iter();
    let values = values.map(|(waiting, value)| compressed(waiting, value.clone()));
    let places = log.write_packet(values.collect(), &mut pending)?;
    for ((waiting, _), place) in packet.iter().zip(&places) {
        // Named before anybody can follow a pointer there.
        table.values().moved_to(place.segment);
        waiting.written(place);
    }
    Ok(())
}

fn compressed(waiting: &WaitingValue, value: Bytes) -> PackedValue<'_> {
    PackedValue {
        keyspace: waiting.keyspace(),
        key: waiting.key(),
        value,
        crc: waiting.pointer().crc,
    }
}

/// Whether nothing newer of its key is in these memtables, the oldest of which it waits in.
fn is_newest(view: &View, tables: RangeInclusive<usize>, waiting: &WaitingValue) -> bool {
    let newest = SeqNo::MAX;
    let (youngest, oldest) = tables.clone().into_inner();
    let memtables = &view.parts().memtables;
    let key = waiting.key();
    let Some(own) = memtables[oldest].get(key, newest) else {
        return false;
    };
    let pointer = waiting.pointer().encode();
    own.value.ends_with(&pointer)
        && memtables[youngest..oldest]
            .iter()
            .all(|table| table.get(key, newest).is_none())
        && tables
            .into_iter()
            .all(|index| view.memtable_cover(index, key, newest) < Some(own.seqno()))
}
