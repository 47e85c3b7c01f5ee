//! Scripts of batches: `put`, `delete`…, `dump` shows bytes and meaning, `read` any bytes.

use std::fmt::Write;

use esker::internals::base::types::error::Result as EskerResult;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::range::KeyRange;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::store::batch::two_phases::{
    Claim, NewPrepare, Prepare, copy_of, encode_rollback,
};
use esker::internals::store::batch::{Batch, BatchReader, Record};

use crate::scripts::text::{hex, moment, number, quoted};
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
                let expiry = moment(expiry)?;
                batch.put_expiring(keyspace(ks)?, key, expiry, value)
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
            ["prepare", id, claimed @ ..] => {
                let record = prepare(batch, id, claimed);
                dump(&record, out)
            }
            ["copy", id, segment, offset] => {
                let place = (FileNumber(number(segment)?), number(offset)?);
                dump(&copy_of(&prepare(batch, id, &[]), place), out)
            }
            ["commit_here", id, first, offset] => {
                let record = prepare(batch, id, &[]);
                let read = Prepare::read(&record).unwrap();
                let first = SeqNo::new(number(first)?);
                dump(&read.encode_commit_here(first, number(offset)?), out)
            }
            ["commit_full", id, first] => {
                let record = prepare(batch, id, &[]);
                let read = Prepare::read(&record).unwrap();
                dump(&read.encode_commit_full(SeqNo::new(number(first)?)), out)
            }
            ["rollback", id] => dump(&encode_rollback(id.as_bytes()), out),
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

// The batch as it is prepared, with keys that it claims besides.
fn prepare(batch: &Batch<'_>, id: &str, claimed: &[&str]) -> Vec<u8> {
    let claims: Vec<Claim> = claimed
        .iter()
        .map(|key| Claim {
            keyspace: KeyspaceId::DEFAULT,
            keys: KeyRange::new(*key..=*key),
        })
        .collect();
    let new = NewPrepare {
        id: id.as_bytes(),
        prepared_unix_s: 1_800_000_000,
        claims: &claims,
        count: batch.count(),
    };
    let mut record = new.encode_front();
    record.extend_from_slice(BatchReader::new(batch.bytes()).unwrap().body());
    record
}

// A record of another kind, as bytes and as what it says.
fn dump_other(bytes: &[u8], record: &Record<'_>, out: &mut String) {
    for line in bytes.chunks(20) {
        writeln!(out, "{}", hex(line)).unwrap();
    }
    let text = match record {
        Record::Batch(_) => panic!("dumped elsewhere"),
        Record::Prepare(prepare) => {
            let Prepare {
                origin,
                prepared_unix_s,
                id,
                claims,
                entries,
            } = prepare;
            let (id, count) = (quoted(id), entries.count());
            format!(
                "prepare {id}, at {prepared_unix_s}, from {origin:?}, {count} entries, {claims:?}"
            )
        }
        Record::CommitHere(commit) => format!("{commit:?}"),
        Record::CommitFull(commit) => format!(
            "commit {}, first seqno {}, {} entries",
            quoted(commit.id),
            commit.entries.first_seqno(),
            commit.entries.count()
        ),
        Record::Rollback(id) => format!("rollback {}", quoted(id)),
        Record::Optional(kind) => format!("kind {kind}, passed over"),
    };
    writeln!(out, "       {text}").unwrap();
}

// Header and entries, each with its meaning; entries stand behind one another without gaps, so
// the bytes of an entry end where the rest of the values begins.
fn dump(bytes: &[u8], out: &mut String) -> EskerResult<()> {
    let reader = match Record::read(bytes)? {
        Record::Batch(reader) => reader,
        other => {
            dump_other(bytes, &other, out);
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
