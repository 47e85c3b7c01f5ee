//! Inputs that targets start from, made by the engine's own writers: never older than a format.

use std::path::Path;
use std::sync::{Arc, Mutex};

use esker::internals::base::codec::checksum::hash64;
use esker::internals::base::codec::compress::CompressionType;
use esker::internals::base::options::catalog;
use esker::internals::base::options::keyspace::KeyspaceOptions;
use esker::internals::base::options::pairs::to_pairs;
use esker::internals::base::options::sst::SstOptions;
use esker::internals::base::types::bytes::Bytes;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::error::Result;
use esker::internals::base::types::expiry::Expiry;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId};
use esker::internals::base::types::key::{self, Trailer};
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::range::KeyRange;
use esker::internals::base::types::range_delete::RangeDelete;
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::db::ingest::file_set::LIST_NAME;
use esker::internals::db::ingest::sst_writer::SstWriter;
use esker::internals::env::fs::AppendFile;
use esker::internals::env::sim::world::SimWorld;
use esker::internals::store::batch::two_phases::{
    Claim, NewPrepare, Prepare, copy_of, encode_rollback,
};
use esker::internals::store::batch::{Batch, BatchReader};
use esker::internals::store::sst::any_builder::AnyBuilder;
use esker::internals::store::sst::block::builder::BlockBuilder;
use esker::internals::store::sst::contract::BuildSettings;
use esker::internals::store::sst::filter::block::FilterBuilder;
use esker::internals::store::sst::format::BlockHandle;
use esker::internals::store::sst::index::builder::IndexBuilder;
use esker::internals::store::sst::range_deletes;
use esker::internals::store::version::edit::Change;
use esker::internals::store::version::encode::encode_edit;
use esker::internals::store::vlog::{ValueLiveBytes, ValuePointer};
use esker::internals::store::wal::head::SegmentHead;
use esker_phrase::{Dictionary, Sample, Wish};
use esker_rpc::codec::frame::{RequestHead, Version, put_refusal};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::ErrorCode;
use esker_rpc::message::data::{KeyAnswer, KeyCall, UpdateRequest, UpdateResponse};

use crate::file_set;
use crate::http_head;
use crate::peer_frame;
use crate::raft_log;
use crate::raft_message;
use crate::sorted_file::{NUMBER, props};
use crate::wire_calls;

/// Entries of each sorted file: several blocks of the size below, and few enough to change often.
const ENTRIES: u32 = 60;

/// Bytes of a block of these files.
const BLOCK_BYTES: usize = 512;

/// What the target of that name starts from; at least one input.
pub fn of(target: &str) -> Vec<Vec<u8>> {
    match target {
        "batch_reader" => [vec![batch()], two_phases()].concat(),
        "block" => vec![block(), b"\x84one\0two\0three\0threes".to_vec()],
        "database" => vec![vec![0], vec![1, 2, 0, 1, 1], vec![2, 1, 9, 0, 255]],
        "file_set" => file_sets(),
        "filter" => vec![filter(), props().encode(), deletes(), index(8)],
        "http_head" => http_head::starts(),
        "load" => load(),
        "manifest" => vec![[&[0][..], &edit()].concat(), vec![1, 40, 0, 7, 90, 0, 1]],
        "merge" => (0..8)
            .map(|choice| [&[choice][..], MERGES].concat())
            .collect(),
        "names" => names(),
        "peer_frame" => peer_frame::starts(),
        "phrase" => phrase(),
        "raft_log" => raft_log::starts(),
        "raft_message" => raft_message::starts(),
        "rpc_frame" => rpc_frame(),
        "rpc_message" => rpc_message(),
        "searchable" => vec![sorted_file(true), [&[100][..], &sorted_file(true)].concat()],
        "settings" => vec![settings()],
        "sst_reader" => vec![sorted_file(false), framed()],
        "vlog" => vlog(),
        "wal_reader" => vec![
            b"\x01\x05\x00\x00\x00\x10\x20\x03\x00\xff\x21\x00\x07".to_vec(),
            vec![0; 64],
        ],
        _ => panic!("the target {target} has nothing to start from"),
    }
}

// The list of what an `SstWriter` made: as it is, and its changes for lists of either maker.
fn file_sets() -> Vec<Vec<u8>> {
    let (env, dir) = (SimWorld::new(1).env(), Path::new("/set"));
    let set = SstWriter::create_in(&env, dir, KeyspaceOptions::default());
    let mut set = set.expect("memory does not fail");
    let written = set
        .put("a", "1")
        .and_then(|()| set.put_until("b", "2", Expiry::from_unix_s(99)));
    written
        .and_then(|()| set.finish())
        .expect("memory does not fail");
    let list = env
        .fs
        .open_read(&dir.join(LIST_NAME))
        .expect("it is finished");
    let mut bytes = Vec::new();
    let len = usize::try_from(list.size_bytes()).expect("it is short");
    list.read_onto(0, len, &mut bytes)
        .expect("memory does not fail");
    let changes = &bytes[file_set::HEAD_BYTES..len - file_set::SUM_BYTES];
    let mut starts = vec![[&[4][..], &bytes].concat()];
    starts.extend((0..4).map(|how| [&[how][..], changes].concat()));
    starts
}

// A transaction that is prepared, copied, committed in both ways and rolled back.
fn two_phases() -> Vec<Vec<u8>> {
    let batch = batch();
    let entries = BatchReader::new(&batch).expect("a batch reads");
    let claims = [Claim {
        keyspace: KeyspaceId(3),
        keys: KeyRange::new(&b"a"[..]..b"z"),
    }];
    let new = NewPrepare {
        id: b"one",
        prepared_unix_s: 1_800_000_000,
        claims: &claims,
        count: entries.count(),
    };
    let mut record = new.encode_front();
    record.extend_from_slice(entries.body());
    let prepare = Prepare::read(&record).expect("a prepare reads");
    let first = SeqNo::new(9);
    vec![
        copy_of(&record, (FileNumber(7), 46)),
        prepare.encode_commit_here(first, 46),
        prepare.encode_commit_full(first),
        encode_rollback(b"one"),
        record.clone(),
    ]
}

const MERGES: &[u8] = b"12345678\xffabcdefgh\xff1\xff12345678\xff\xffvalue";

const TEXT: &[u8] = b"id: 1\nname: a plain text\nid: 2\nname: another plain text\n";

fn batch() -> Vec<u8> {
    let (keyspace, other) = (KeyspaceId(0), KeyspaceId(3));
    let mut batch = Batch::new();
    let added = [
        batch.put(keyspace, b"key", b"value"),
        batch.put_expiring(keyspace, b"key 2", Expiry::from_unix_s(99), b"value"),
        batch.put_expiring(keyspace, b"key 3", Expiry::from_unix_ms(99_250), b"value"),
        batch.delete(other, b"key"),
        batch.merge(other, b"counter", b"12345678"),
        batch.delete_range(keyspace, b"a", b"b"),
    ];
    assert!(added.iter().all(|result| result.is_ok()));
    batch.set_first_seqno(SeqNo::new(7));
    batch.bytes().to_vec()
}

fn internal(number: u32) -> Vec<u8> {
    let put = Trailer::new(SeqNo::new(u64::from(number) + 1), Kind::Put);
    key::encode(format!("key {number:03}").as_bytes(), put)
}

fn block() -> Vec<u8> {
    let mut builder = BlockBuilder::new(4, true);
    for number in 0..12 {
        let internal = internal(number);
        let hash = hash64(key::user_key(&internal));
        builder.add(&internal, hash, b"value");
    }
    builder.finish().to_vec()
}

fn index(blocks: u32) -> Vec<u8> {
    let mut builder = IndexBuilder::default();
    let len = u32::try_from(block().len()).expect("a small block");
    let mut offset = 0;
    for number in 0..blocks {
        let handle = BlockHandle {
            offset,
            compressed_len: len,
            plain_len: len,
        };
        offset = handle.end().expect("small numbers");
        builder.add(format!("key {:03}", number * 9 + 11).as_bytes(), 0, handle);
    }
    builder.encode(0..builder.len())
}

fn filter() -> Vec<u8> {
    let mut builder = FilterBuilder::new(10.0).expect("bits were asked for");
    (0..40_u32).for_each(|number| builder.add(hash64(&number.to_le_bytes())));
    builder.finish()
}

fn deletes() -> Vec<u8> {
    let delete = |start: &[u8], end: &[u8], seqno| RangeDelete {
        start: Bytes::copy_of(start),
        end: Bytes::copy_of(end),
        seqno: SeqNo::new(seqno),
    };
    let mut list = [delete(b"a", b"c", 3), delete(b"b", b"d", 9)];
    range_deletes::encode(&Comparator::Bytewise, &mut list)
}

fn edit() -> Vec<u8> {
    encode_edit(&[
        Change::SetFirstLog {
            number: FileNumber(5),
        },
        Change::SetFlushed {
            keyspace: KeyspaceId(0),
            seqno: SeqNo::new(9),
        },
        Change::SetMark {
            keyspace: KeyspaceId(2),
            mark: Bytes::copy_of(b"index 41, term 3"),
        },
        Change::SetClock {
            keyspace: KeyspaceId(2),
            unix_ms: 1_700_000_000_123,
        },
        Change::DropKeyspace { id: KeyspaceId(1) },
    ])
}

fn load() -> Vec<Vec<u8>> {
    vec![
        b"\x01\x20product/productId: B1\nreview/text: good\n\nproduct/productId: B2\n".to_vec(),
        b"\x02\x20key\tvalue\nkey2\tval\\tue\n\tno key\n".to_vec(),
        b"\x07\x20{\"id\": \"a\", \"v\": [1, null]}\n{\"key\":\"b\",\"value\":\"c\"}\n".to_vec(),
        b"\x00\x03a line that is longer than it may be, and another\nk\tv\n".to_vec(),
    ]
}

fn names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        "000123.sst",
        "MANIFEST-000005",
        "CURRENT",
        "MANIFEST-000009\n",
    ]
    .iter()
    .map(|name| name.as_bytes().to_vec())
    .collect();
    let head = SegmentHead {
        previous: Some((FileNumber(5), 64)),
    };
    names.push(head.encode().to_vec());
    names
}

fn phrase() -> Vec<Vec<u8>> {
    let sample = Sample::of(TEXT.split(|byte| *byte == b'\n'));
    let wish = Wish {
        phrase_count: 20,
        class_count: 2,
    };
    let bytes = Dictionary::train(&sample, wish).to_bytes();
    let texts = (2..6).map(|choice| [&[choice][..], TEXT].concat());
    texts.chain([[&[0][..], &bytes].concat()]).collect()
}

// Requests with both headers, one that is too long, and replies.
fn rpc_frame() -> Vec<Vec<u8>> {
    let (mut requests, mut replies) = (vec![14], vec![15]);
    for (version, value) in [(Version::V0, 4), (Version::V1, 9), (Version::V0, 500)] {
        let head = RequestHead {
            version,
            app_id: 2,
            ..RequestHead::default()
        };
        let put = UpdateRequest {
            key: Blob::of(b"\0\x02hksk"),
            value: Blob::from(vec![b'v'; value]),
            ..UpdateRequest::default()
        };
        KeyCall::Put(put).put(&mut requests, &head, 7);
        KeyAnswer::Put(UpdateResponse::default()).put(&mut replies, 7);
    }
    let named = ("RPC_RRDB_RRDB_GET", 8);
    put_refusal(&mut replies, named, &ErrorCode::InvalidState.into());
    vec![requests, replies]
}

// Arguments and results of the calls with most in them, and one of each kind of argument.
fn rpc_message() -> Vec<Vec<u8>> {
    let rows = wire_calls::rows();
    let number = |name: &str| {
        let place = rows.iter().position(|(_, row)| row.name == name);
        u8::try_from(place.expect("a call of that name")).expect("few calls")
    };
    let named = |name: &str, is_result: u8, bytes: &[u8]| {
        [&[number(name) + is_result * 128][..], bytes].concat()
    };
    vec![
        named("RPC_RRDB_RRDB_GET", 0, b"\x0c\0\x01\0\0\0\x06\0\x02hksk\0"),
        named(
            "RPC_RRDB_RRDB_CLEAR_SCANNER",
            0,
            b"\x0a\0\x01\0\0\0\0\0\0\0\x07\0",
        ),
        named("RPC_RRDB_RRDB_MULTI_PUT", 0, MULTI_PUT),
        named("RPC_RRDB_RRDB_CHECK_AND_MUTATE", 0, CHECK_AND_MUTATE),
        named("RPC_CM_CREATE_APP", 0, CREATE_APP),
        named("RPC_CM_QUERY_PARTITION_CONFIG_BY_INDEX", 1, PARTITIONS),
        named("RPC_CLI_CLI_CALL", 1, b"\x0b\0\0\0\0\0\x02ok\0"),
    ]
}

const MULTI_PUT: &[u8] = b"\x0c\0\x01\x0c\0\x01\0\0\0\x02hk\x0f\0\x02\x0c\0\0\0\x02\
    \x0c\0\x01\0\0\0\x01a\x0c\0\x02\0\0\0\x01b\0\0\x08\0\x03\0\0\0\x09\0\0";

const CHECK_AND_MUTATE: &[u8] = b"\x0c\0\x01\x0c\0\x01\0\0\0\x02hk\x0c\0\x02\0\0\0\x01s\
    \x08\0\x03\0\0\0\x0d\x0f\0\x05\x0c\0\0\0\x01\x08\0\x01\0\0\0\x01\0\x02\0\x06\x01\
    \x0b\0\x63\0\0\0\x02??\0\0";

const CREATE_APP: &[u8] = b"\x0c\0\x01\x0b\0\x01\0\0\0\x01t\x0c\0\x02\x08\0\x01\0\0\0\x08\
    \x0d\0\x06\x0b\x0b\0\0\0\x01\0\0\0\x01k\0\0\0\x01v\0\0\0";

const PARTITIONS: &[u8] = b"\x0c\0\0\x0c\0\x01\0\0\0\x06ERR_OK\x08\0\x02\0\0\0\x02\x02\0\x04\x01\
    \x0f\0\x05\x0c\0\0\0\x01\x0c\0\x01\0\0\0\0\0\0\0\x02\x0a\0\x02\0\0\0\0\0\0\0\x03\
    \x0c\0\x04\x7f\0\0\x01\x87\xf1\0\x01\x0f\0\x05\x0c\0\0\0\x01\x7f\0\0\x01\x87\xf2\0\x01\0\0\0";

fn settings() -> Vec<u8> {
    let pairs = to_pairs(&KeyspaceOptions::default());
    let kept = pairs.iter().map(|(name, text)| format!("{name}={text}\n"));
    let all = catalog::settings().map(|setting| format!("{}={}\n", setting.name, setting.example));
    kept.chain(all).collect::<String>().into_bytes()
}

fn vlog() -> Vec<Vec<u8>> {
    let pointer = ValuePointer {
        segment: NUMBER,
        offset: 64,
        len: 100,
        crc: 7,
    };
    let mut live = ValueLiveBytes::default();
    live.add(NUMBER, 100);
    live.add(FileNumber(12), 1 << 20);
    let mut bytes = vec![3];
    live.put(&mut bytes);
    vec![
        [&[2][..], &pointer.encode()].concat(),
        bytes,
        vec![0; 80],
        vec![1; 80],
    ]
}

// A block and an index that leads to it, as the target takes an input apart.
fn framed() -> Vec<u8> {
    let rows = block();
    let index = index(1);
    let whole = [&index[..], &rows].concat();
    let cut = (0..=255).min_by_key(|cut| (whole.len() * cut / 256).abs_diff(index.len()));
    let cut = u8::try_from(cut.expect("a range")).expect("up to 255");
    [&[0, 0, cut][..], &whole].concat()
}

fn sorted_file(is_searchable: bool) -> Vec<u8> {
    let file = Written::default();
    let settings = BuildSettings {
        number: NUMBER,
        comparator: Comparator::Bytewise,
        sst: SstOptions {
            block_size_bytes: BLOCK_BYTES,
            ..SstOptions::default()
        },
        compression: CompressionType::None,
        keyspace: KeyspaceId(1),
        created_unix_s: 0,
    };
    let sink = Box::new(file.clone());
    let mut builder = match is_searchable {
        true => AnyBuilder::searchable(sink, settings, None).expect("memory does not fail"),
        false => AnyBuilder::block_based(sink, settings),
    };
    for number in 0..ENTRIES {
        let value = format!("a value of some length, {number}");
        let added = builder.add(&internal(number), value.as_bytes());
        added.expect("memory does not fail");
    }
    builder.finish().expect("memory does not fail");
    file.0.lock().expect("no one panicked").clone()
}

/// A file being written; clones share the bytes.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl AppendFile for Written {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.lock().expect("no one panicked").extend(bytes);
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.0.lock().expect("no one panicked").len() as u64
    }
}
