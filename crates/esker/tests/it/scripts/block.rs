//! Scripts of blocks: `add` entries, `dump` bytes and meaning, `seek`, `get`, `damage` a byte.

use std::fmt::Write;

use esker::internals::base::codec::checksum::hash64;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::error::Result as EskerResult;
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::store::sst::block::builder::BlockBuilder;
use esker::internals::store::sst::block::checked::Checked;
use esker::internals::store::sst::block::cursor::BlockCursor;
use esker::internals::store::sst::block::format::head_at;
use esker::internals::store::sst::block::point::{Wanted, find};

use crate::scripts::text::{hex, number, quoted};
use crate::scripts::{Stage, run_scripts};

#[test]
fn blocks_tell_their_story() {
    // Every script in tests/scripts/block*.txt.
    run_scripts("block", || BlockStage {
        builder: BlockBuilder::new(16, false),
        bytes: Vec::new(),
    });
}

struct BlockStage {
    builder: BlockBuilder,
    bytes: Vec<u8>,
}

impl Stage for BlockStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        let done = match words {
            ["block", interval, "hashed"] => {
                self.builder = BlockBuilder::new(number(interval)?, true);
                Ok(())
            }
            ["block", interval] => {
                self.builder = BlockBuilder::new(number(interval)?, false);
                Ok(())
            }
            ["put", key, seqno, value] => self.add(key, seqno, Kind::Put, value).map(Ok)?,
            ["delete", key, seqno] => self.add(key, seqno, Kind::Delete, "").map(Ok)?,
            ["finish"] => {
                self.bytes = self.builder.finish().to_vec();
                self.builder.clear();
                Ok(())
            }
            ["damage", offset, byte] => {
                let byte = u8::from_str_radix(byte, 16).map_err(|error| error.to_string())?;
                self.bytes[number::<usize>(offset)?] = byte;
                Ok(())
            }
            ["dump"] => dump(&self.bytes, out),
            ["read"] => self.read(out),
            ["seek", key, seqno] => self.seek(key, SeqNo::new(number(seqno)?), out),
            ["get", key, seqno] => self.get(key, SeqNo::new(number(seqno)?), out),
            _ => return Err("no such command".into()),
        };
        if let Err(error) = done {
            writeln!(out, "{error}").unwrap();
        }
        Ok(())
    }
}

impl BlockStage {
    fn add(&mut self, key: &str, seqno: &str, kind: Kind, value: &str) -> Result<(), String> {
        let trailer = Trailer::new(SeqNo::new(number(seqno)?), kind);
        let internal = key::encode(key.as_bytes(), trailer);
        self.builder
            .add(&internal, hash64(key.as_bytes()), value.as_bytes());
        Ok(())
    }

    fn cursor(&self) -> EskerResult<BlockCursor> {
        let mut cursor = BlockCursor::default();
        cursor.enter(Checked::new(self.bytes.clone())?);
        Ok(cursor)
    }

    fn read(&self, out: &mut String) -> EskerResult<()> {
        let mut cursor = self.cursor()?;
        let mut is_on = cursor.seek_to_first()?;
        while is_on {
            show(&cursor, out);
            is_on = cursor.next()?;
        }
        Ok(())
    }

    fn seek(&self, key: &str, at: SeqNo, out: &mut String) -> EskerResult<()> {
        let mut cursor = self.cursor()?;
        let target = key::encode(key.as_bytes(), Trailer::seek(at));
        match cursor.seek(&Comparator::Bytewise, &target)? {
            true => show(&cursor, out),
            false => writeln!(out, "behind the last entry").unwrap(),
        }
        Ok(())
    }

    fn get(&self, key: &str, at: SeqNo, out: &mut String) -> EskerResult<()> {
        let block = Checked::new(self.bytes.clone())?;
        let hash = hash64(key.as_bytes());
        let wanted = Wanted {
            key: key.as_bytes(),
            hash,
            newest: Trailer::seek(at),
        };
        let bucket = block.bucket(hash);
        match find(&block, &Comparator::Bytewise, wanted)? {
            Some((trailer, value)) => {
                let value = quoted(&block.slice(value));
                writeln!(out, "{trailer:?} {value}, by {bucket:?}").unwrap();
            }
            None => writeln!(out, "nothing, by {bucket:?}").unwrap(),
        }
        Ok(())
    }
}

fn show(cursor: &BlockCursor, out: &mut String) {
    let (user_key, trailer) = key::split(cursor.key());
    let (user_key, value) = (quoted(user_key), quoted(cursor.value()));
    writeln!(out, "{user_key} {trailer:?} {value}").unwrap();
}

// Entries, restarts and the rest, each with its meaning.
fn dump(bytes: &[u8], out: &mut String) -> EskerResult<()> {
    let block = Checked::new(bytes.to_vec())?;
    let entries = block.entries();
    let mut at = 0;
    while let Some(head) = head_at(entries, at) {
        let suffix = quoted(&entries[head.suffix_start..head.trailer_start]);
        let value = quoted(&entries[head.value_start..head.value_end]);
        let shown = hex(&entries[at..head.value_end]);
        writeln!(
            out,
            "{at:>6} {shown} | shares {}, {suffix} {value}",
            head.shared
        )
        .unwrap();
        at = head.value_end;
    }
    let restarts_end = entries.len() + block.restart_count() * 4;
    let restarts = hex(&bytes[entries.len()..restarts_end]);
    writeln!(out, "{:>6} {restarts} | restarts", entries.len()).unwrap();
    let tail = bytes.len() - 4;
    if restarts_end < tail {
        let buckets = hex(&bytes[restarts_end..tail]);
        writeln!(out, "{restarts_end:>6} {buckets} | buckets and their count").unwrap();
    }
    writeln!(
        out,
        "{tail:>6} {} | {} restarts",
        hex(&bytes[tail..]),
        block.restart_count()
    )
    .unwrap();
    Ok(())
}
