//! Scripts of sorted files: build one, `layout`, `props`, read it, `damage` a byte, `cut` it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use esker::base::codec::compress::Compression;
use esker::base::options::call::ReadOptions;
use esker::base::options::sst::SstOptions;
use esker::base::types::bytes::Bytes;
use esker::base::types::cursor::Cursor;
use esker::base::types::error::Result as EskerResult;
use esker::base::types::ids::{FileNumber, KeyspaceId};
use esker::base::types::key::{self, Trailer};
use esker::base::types::kind::Kind;
use esker::base::types::order::KeyOrder;
use esker::base::types::range_delete::RangeDelete;
use esker::base::types::seqno::SeqNo;
use esker::env::fs::Fs;
use esker::env::real::fs::RealFs;
use esker::store::sst::any_builder::AnyBuilder;
use esker::store::sst::any_reader::AnyReader;
use esker::store::sst::block::fetch::BlockCache;
use esker::store::sst::contract::BuildSettings;
use esker::store::sst::format::{FOOTER_BYTES, Footer};

use crate::scripts::text::{hex, number, quoted};
use crate::scripts::{Stage, run_scripts};

#[test]
fn sorted_files_tell_their_story() {
    // Every script in tests/scripts/sst*.txt.
    run_scripts("sst", || {
        let dir = tempfile::tempdir().unwrap();
        SstStage {
            builder: None,
            dir,
            number: FileNumber(0),
        }
    });
}

struct SstStage {
    builder: Option<AnyBuilder>,
    dir: tempfile::TempDir,
    number: FileNumber,
}

impl Stage for SstStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        let done = match words {
            ["build", file, block_size, bits_per_key] => {
                self.number = FileNumber(number(file)?);
                let sst = SstOptions {
                    block_size_bytes: number(block_size)?,
                    filter_bits_per_key: number(bits_per_key)?,
                    ..SstOptions::default()
                };
                self.build(sst)
            }
            ["put", key, seqno, value] => self.add(key, number(seqno)?, Kind::Put, value),
            ["delete", key, seqno] => self.add(key, number(seqno)?, Kind::Delete, ""),
            ["delete_range", start, end, seqno] => {
                let seqno = SeqNo::new(number(seqno)?);
                self.builder().add_range_delete(&RangeDelete {
                    start: Bytes::copy_of(start.as_bytes()),
                    end: Bytes::copy_of(end.as_bytes()),
                    seqno,
                })
            }
            ["finish"] => self
                .builder
                .take()
                .expect("a file is being built")
                .finish()
                .map(|done| {
                    writeln!(out, "{} bytes", done.size_bytes).unwrap();
                }),
            ["open", file] => self
                .open(FileNumber(number(file)?))
                .map(|_| writeln!(out, "opens").unwrap()),
            ["layout"] => self.layout(out),
            ["props"] => self.reader().map(|reader| {
                writeln!(out, "{:#?}", reader.props()).unwrap();
            }),
            ["scan"] => self.scan(out),
            ["get", key, seqno] => self.get(key, SeqNo::new(number(seqno)?), out),
            ["verify"] => self.reader().and_then(|reader| {
                reader.verify()?;
                writeln!(out, "sound").unwrap();
                Ok(())
            }),
            ["damage", offset] => {
                let offset: usize = number(offset)?;
                self.change(|bytes| bytes[offset] ^= 1);
                Ok(())
            }
            ["cut", len] => {
                let len = number(len)?;
                self.change(|bytes| bytes.truncate(len));
                Ok(())
            }
            _ => return Err("no such command".into()),
        };
        if let Err(error) = done {
            writeln!(out, "{error}").unwrap();
        }
        Ok(())
    }
}

impl SstStage {
    fn path(&self) -> std::path::PathBuf {
        Path::new(self.dir.path()).join(format!("{}.sst", self.number))
    }

    fn build(&mut self, sst: SstOptions) -> EskerResult<()> {
        let settings = BuildSettings {
            number: self.number,
            order: KeyOrder::Bytewise,
            sst,
            compression: Compression::None,
            keyspace: KeyspaceId(5),
            created_unix_s: 1_790_000_000,
        };
        let file = RealFs.create(&self.path())?;
        self.builder = Some(AnyBuilder::block_based(file, settings));
        Ok(())
    }

    fn builder(&mut self) -> &mut AnyBuilder {
        self.builder.as_mut().expect("a file is being built")
    }

    fn add(&mut self, key: &str, seqno: u64, kind: Kind, value: &str) -> EskerResult<()> {
        let internal = key::encode(key.as_bytes(), Trailer::new(SeqNo::new(seqno), kind));
        self.builder().add(&internal, value.as_bytes())
    }

    fn open(&self, file: FileNumber) -> EskerResult<Arc<AnyReader>> {
        let cache = Arc::new(BlockCache::new(1 << 20));
        let opened = RealFs.open_read(&self.path())?;
        AnyReader::open(opened, file, KeyOrder::Bytewise, cache).map(Arc::new)
    }

    fn reader(&self) -> EskerResult<Arc<AnyReader>> {
        self.open(self.number)
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(self.path()).unwrap();
        change(&mut bytes);
        std::fs::write(self.path(), bytes).unwrap();
    }

    fn scan(&self, out: &mut String) -> EskerResult<()> {
        let reader = self.reader()?;
        for range in reader.range_deletes().iter() {
            let (start, end) = (quoted(&range.start), quoted(&range.end));
            writeln!(out, "deletes {start} to {end} at {}", range.seqno).unwrap();
        }
        let mut cursor = reader.cursor(ReadOptions::default());
        let mut is_on = cursor.seek_to_first()?;
        while is_on {
            let (user_key, trailer) = key::split(cursor.key());
            let (user_key, value) = (quoted(user_key), quoted(cursor.value()));
            writeln!(out, "{user_key} {trailer:?} {value}").unwrap();
            is_on = cursor.next()?;
        }
        Ok(())
    }

    fn get(&self, key: &str, at: SeqNo, out: &mut String) -> EskerResult<()> {
        match self
            .reader()?
            .get(key.as_bytes(), at, &ReadOptions::default())?
        {
            Some(found) => writeln!(out, "{:?} {}", found.trailer, quoted(&found.value)).unwrap(),
            None => writeln!(out, "nothing").unwrap(),
        }
        Ok(())
    }

    // Where the parts of the file lie, and the footer's own bytes.
    fn layout(&self, out: &mut String) -> EskerResult<()> {
        let bytes = std::fs::read(self.path()).unwrap();
        let (offset, tail) = (
            bytes.len() - FOOTER_BYTES,
            &bytes[bytes.len() - FOOTER_BYTES..],
        );
        let tail: &[u8; FOOTER_BYTES] = tail.try_into().unwrap();
        let footer = Footer::decode(tail, self.number, offset as u64)?;
        let parts = [
            ("filter", footer.filter),
            ("range deletes", footer.range_deletes),
            ("index", Some(footer.index)),
            ("props", Some(footer.props)),
        ];
        for (name, handle) in parts {
            if let Some(handle) = handle {
                let (start, len) = (handle.offset, handle.packed_len);
                writeln!(out, "{start:>6} {name}, {len} bytes and a trailer").unwrap();
            }
        }
        for (index, row) in tail.chunks(16).enumerate() {
            writeln!(out, "{:>6} {} | footer", offset + index * 16, hex(row)).unwrap();
        }
        Ok(())
    }
}
