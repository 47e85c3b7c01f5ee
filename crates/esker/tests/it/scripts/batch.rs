//! Scripts of batches: `put`, `delete`…, `dump` shows bytes and meaning, `read` any bytes.

use std::fmt::Write;

use esker::internals::base::types::error::Result as EskerResult;
use esker::internals::base::types::ids::KeyspaceId;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::store::batch::{Batch, Record};

use crate::scripts::text::{hex, number, quoted};
use crate::scripts::{Stage, run_scripts};

#[test]
fn batches_tell_their_story() {
    // Every script in tests/scripts/batch*.txt.
    run_scripts("batch", || BatchStage(Batch::new()));
}

struct BatchStage(Batch<'static>);

impl Stage for BatchStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        let batch = &mut self.0;
        let keyspace = |word: &str| number(word).map(KeyspaceId);
        let done = match words {
            ["put", ks, key, value] => batch.put(keyspace(ks)?, key.as_bytes(), value.as_bytes()),
            ["put_expiring", ks, key, expiry, value] => {
                let (key, value) = (key.as_bytes(), value.as_bytes());
                batch.put_expiring(keyspace(ks)?, key, number(expiry)?, value)
            }
            ["delete", ks, key] => batch.delete(keyspace(ks)?, key.as_bytes()),
            ["delete_range", ks, start, end] => {
                batch.delete_range(keyspace(ks)?, start.as_bytes(), end.as_bytes())
            }
            ["merge", ks, key, operand] => {
                batch.merge(keyspace(ks)?, key.as_bytes(), operand.as_bytes())
            }
            ["long_key", len] => batch.delete(KeyspaceId::DEFAULT, &vec![b'k'; number(len)?]),
            ["seqno", first] => {
                batch.set_first_seqno(SeqNo::new(number(first)?));
                Ok(())
            }
            ["clear"] => {
                batch.clear();
                Ok(())
            }
            ["dump"] => dump(batch.bytes(), out),
            ["read", pairs @ ..] => {
                let byte = |pair: &&str| u8::from_str_radix(pair, 16);
                let bytes: Result<Vec<u8>, _> = pairs.iter().map(byte).collect();
                dump(&bytes.map_err(|error| error.to_string())?, out)
            }
            _ => return Err("no such command".into()),
        };
        if let Err(error) = done {
            writeln!(out, "{error}").unwrap();
        }
        Ok(())
    }
}

// Header and entries, each with its meaning; entries stand behind one another without gaps, so
// the bytes of an entry end where the rest of the values begins.
fn dump(bytes: &[u8], out: &mut String) -> EskerResult<()> {
    let reader = match Record::read(bytes)? {
        Record::Batch(reader) => reader,
        Record::Optional(kind) => {
            writeln!(out, "kind {kind}, passed over").unwrap();
            return Ok(());
        }
    };
    let (first, count) = (reader.first_seqno(), reader.count());
    writeln!(
        out,
        "header {} | first seqno {first}, {count} entries",
        hex(&bytes[..12])
    )
    .unwrap();
    let mut start = 12;
    let base = bytes.as_ptr() as usize;
    for entry in reader.entries() {
        let entry = entry?;
        let last = if entry.value.is_empty() && entry.trailer.kind().byte() == 0 {
            entry.key
        } else {
            entry.value
        };
        let end = last.as_ptr() as usize - base + last.len();
        let (key, value) = (quoted(entry.key), quoted(entry.value));
        writeln!(out, "{start:>6} {}", hex(&bytes[start..end])).unwrap();
        writeln!(
            out,
            "       {:?} keyspace {} {key} {value}",
            entry.trailer, entry.keyspace
        )
        .unwrap();
        start = end;
    }
    Ok(())
}
