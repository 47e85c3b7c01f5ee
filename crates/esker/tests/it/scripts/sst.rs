//! Scripts of sorted files: build one, `layout`, `props`, read it, `damage` a byte, `cut` it.
//!
//! `build` begins a file made of blocks, `build_searchable` one that is searched while it is
//! compressed; `pages` and `records` show what lies in such a file.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::options::call::ReadOptions;
use esker::internals::base::options::sst::SstOptions;
use esker::internals::base::types::bytes::Bytes;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::cursor::Cursor;
use esker::internals::base::types::error::Result as EskerResult;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::range_delete::RangeDelete;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::Fs;
use esker::internals::env::real::fs::RealFs;
use esker::internals::store::sst::any_builder::AnyBuilder;
use esker::internals::store::sst::any_reader::AnyReader;
use esker::internals::store::sst::block::fetch::{BlockCache, BlockSource};
use esker::internals::store::sst::contract::BuildSettings;
use esker::internals::store::sst::format::{
    BlockHandle, FOOTER_BYTES, Footer, SEARCHABLE_VERSION, version_of,
};
use esker::internals::store::sst::opening::RawFooter;
use esker::internals::store::sst::searchable;
use esker::internals::store::sst::searchable::keys::OpenGroup;
use esker::internals::store::sst::searchable::reader::SearchableReader;

use crate::scripts::text::{hex, moment, number, quoted};
use crate::scripts::{Stage, run_scripts};

#[cfg_attr(not(feature = "zstd"), ignore = "needs the feature `zstd`")]
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
            ["build_searchable", file, page_size, compression] => {
                self.number = FileNumber(number(file)?);
                self.build_searchable(number(page_size)?, compression)
            }
            ["put", key, seqno, value] => self.add(key, number(seqno)?, Kind::Put, value),
            ["merge", key, seqno, value] => self.add(key, number(seqno)?, Kind::Merge, value),
            ["put_until", key, seqno, at, value] => {
                let end = moment(at)?;
                self.add_raw(
                    key,
                    number(seqno)?,
                    end.put_kind(),
                    &end.join(value.as_bytes()),
                )
            }
            ["delete", key, seqno] => self.add(key, number(seqno)?, Kind::Delete, ""),
            ["delete_range", start, end, seqno] => {
                let seqno = SeqNo::new(number(seqno)?);
                self.builder().add_range_delete(&RangeDelete {
                    start: Bytes::copy_of(start.as_bytes()),
                    end: Bytes::copy_of(end.as_bytes()),
                    seqno,
                });
                Ok(())
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
            ["pages"] => self.pages(out),
            ["records"] => self.records(out),
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
        let file = RealFs.create(&self.path())?;
        let settings = self.settings(sst, CompressionType::None);
        self.builder = Some(AnyBuilder::block_based(file, settings));
        Ok(())
    }

    fn build_searchable(&mut self, page_size: usize, compression: &str) -> EskerResult<()> {
        let compression = match compression {
            "zstd" => CompressionType::Zstd,
            _ => CompressionType::None,
        };
        let sst = SstOptions {
            block_size_bytes: page_size,
            ..SstOptions::default()
        };
        let file = RealFs.create(&self.path())?;
        let settings = self.settings(sst, compression);
        self.builder = Some(AnyBuilder::searchable(file, settings, None)?);
        Ok(())
    }

    fn settings(&self, sst: SstOptions, compression: CompressionType) -> BuildSettings {
        BuildSettings {
            number: self.number,
            comparator: Comparator::Bytewise,
            sst,
            compression,
            keyspace: KeyspaceId(5),
            created_unix_s: 1_790_000_000,
        }
    }

    fn builder(&mut self) -> &mut AnyBuilder {
        self.builder.as_mut().expect("a file is being built")
    }

    fn add(&mut self, key: &str, seqno: u64, kind: Kind, value: &str) -> EskerResult<()> {
        self.add_raw(key, seqno, kind, value.as_bytes())
    }

    fn add_raw(&mut self, key: &str, seqno: u64, kind: Kind, raw: &[u8]) -> EskerResult<()> {
        let internal = key::encode(key.as_bytes(), Trailer::new(SeqNo::new(seqno), kind));
        self.builder().add(&internal, raw)
    }

    fn open(&self, file: FileNumber) -> EskerResult<Arc<AnyReader>> {
        let cache = Arc::new(BlockCache::new(1 << 20));
        let opened = RealFs.open_read(&self.path())?;
        AnyReader::open(opened, file, Comparator::Bytewise, cache).map(Arc::new)
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
            let (user_key, value) = (quoted(user_key), quoted(cursor.value().unwrap()));
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
        for (name, handle) in parts(tail, self.number, offset as u64)? {
            if let Some(handle) = handle {
                let (start, len) = (handle.offset, handle.compressed_len);
                writeln!(out, "{start:>6} {name}, {len} bytes and a trailer").unwrap();
            }
        }
        for (index, row) in tail.chunks(16).enumerate() {
            writeln!(out, "{:>6} {} | footer", offset + index * 16, hex(row)).unwrap();
        }
        Ok(())
    }

    fn searchable(&self) -> EskerResult<SearchableReader> {
        let cache = Arc::new(BlockCache::new(1 << 20));
        let opened = RealFs.open_read(&self.path())?;
        let footer = RawFooter::read(&*opened, self.number)?;
        let footer = footer.decode(searchable::format::Footer::decode)?;
        let source = BlockSource::new(opened, self.number, cache);
        SearchableReader::open(source, &footer, Comparator::Bytewise)
    }

    // The bytes of every key page, and what they say of each entry.
    fn pages(&self, out: &mut String) -> EskerResult<()> {
        let reader = self.searchable()?;
        let bytes = std::fs::read(self.path()).unwrap();
        for slot in 0..reader.page_count() {
            let handle = reader.index().handle(slot);
            let start = usize::try_from(handle.offset).unwrap();
            for (index, row) in bytes[start..start + handle.plain_len as usize]
                .chunks(16)
                .enumerate()
            {
                let what = if index == 0 { " | key page" } else { "" };
                writeln!(out, "{:>6} {}{what}", start + index * 16, hex(row)).unwrap();
            }
            let page = reader.page(slot, true)?;
            writeln!(out, "       from ordinal {}", page.first_ordinal()).unwrap();
            let mut group = OpenGroup::default();
            for index in 0..page.group_count() {
                group.open(&page, index)?;
                for entry in (0..group.len()).filter_map(|entry| group.entry(entry)) {
                    let (prefix, trailer) = (quoted(entry.prefix), entry.trailer);
                    let (offset, len) = (entry.record.offset, entry.record.len);
                    writeln!(out, "       {prefix} {trailer:?} at {offset}, {len} bytes").unwrap();
                }
            }
        }
        Ok(())
    }

    // The bytes of every record, its key's tail and how its value is compressed.
    fn records(&self, out: &mut String) -> EskerResult<()> {
        let reader = self.searchable()?;
        let bytes = std::fs::read(self.path()).unwrap();
        let mut group = OpenGroup::default();
        for slot in 0..reader.page_count() {
            let page = reader.page(slot, true)?;
            for index in 0..page.group_count() {
                group.open(&page, index)?;
                for entry in (0..group.len()).filter_map(|entry| group.entry(entry)) {
                    let start = usize::try_from(entry.record.offset).unwrap();
                    let own = &bytes[start..start + entry.record.len as usize];
                    let shown = hex(own);
                    let place = entry.record;
                    match reader.record(own, entry.prefix, entry.trailer, place) {
                        Ok(record) => {
                            let mut tail = Vec::new();
                            record.tail.put_into(&mut tail);
                            let (tail, method) = (quoted(&tail), record.method());
                            writeln!(out, "{start:>6} {shown} | {tail} {method:?}").unwrap();
                        }
                        Err(error) => writeln!(out, "{start:>6} {shown} | {error}").unwrap(),
                    }
                }
            }
        }
        Ok(())
    }
}

// The parts that the footer of either kind of file names.
fn parts(
    tail: &[u8; FOOTER_BYTES],
    number: FileNumber,
    offset: u64,
) -> EskerResult<Vec<(&'static str, Option<BlockHandle>)>> {
    if version_of(tail) == SEARCHABLE_VERSION {
        let footer = searchable::format::Footer::decode(tail, number, offset)?;
        return Ok(vec![
            ("key index", Some(footer.index)),
            ("dictionary", footer.dictionary),
            ("range deletes", footer.range_deletes),
            ("props", Some(footer.props)),
        ]);
    }
    let footer = Footer::decode(tail, number, offset)?;
    Ok(vec![
        ("filter", footer.filter),
        ("range deletes", footer.range_deletes),
        ("index", Some(footer.index)),
        ("props", Some(footer.props)),
    ])
}
