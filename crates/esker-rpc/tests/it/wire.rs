//! The double's own manners on the wire, with bytes that the client of this crate never sends.

use std::net::SocketAddrV4;
use std::time::Duration;

use esker_rpc::codec::frame::{RequestHead, Version, put_request, read_result};
use esker_rpc::codec::reply_reader::{Reply, ReplyReader};
use esker_rpc::codec::scalars::Blob;
use esker_rpc::error::{ErrorCode, ErrorName};
use esker_rpc::keys::{hash, raw_key};
use esker_rpc::message::data::{KeyCall, ReadResponse};
use esker_rpc::message::meta::{MetaCall, QueryConfigRequest, QueryConfigResponse};
use esker_rpc::message::not_offered;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::fixture::{Fixture, run};

struct Raw {
    stream: TcpStream,
    reader: ReplyReader,
}

impl Raw {
    async fn open(address: SocketAddrV4) -> Raw {
        Raw {
            stream: TcpStream::connect(address).await.unwrap(),
            reader: ReplyReader::new(1 << 20),
        }
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// The next reply; `None` if the server closes the connection.
    async fn reply(&mut self) -> Option<Reply> {
        loop {
            if let Some(reply) = self.reader.next().unwrap() {
                return Some(reply);
            }
            if self
                .stream
                .read_buf(self.reader.buffer())
                .await
                .unwrap_or(0)
                == 0
            {
                return None;
            }
        }
    }

    /// True if nothing comes for a moment.
    async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(50), self.reply())
            .await
            .is_err()
    }
}

fn head(version: Version) -> RequestHead {
    RequestHead {
        version,
        app_id: 1,
        partition_index: i32::try_from(hash(b"hk") % 8).unwrap(),
        ..RequestHead::default()
    }
}

async fn node(fixture: &Fixture) -> Raw {
    let address = fixture.cluster.state().nodes[0].address;
    for index in 0..8 {
        fixture.cluster.move_partition("t", index, Some(0));
    }
    Raw::open(address).await
}

fn get() -> KeyCall {
    KeyCall::Get(Blob::from(raw_key(b"hk", b"sk").unwrap()))
}

#[test]
fn requests_with_both_headers_are_answered_on_one_connection() {
    run(async {
        let fixture = Fixture::new().await;
        let mut raw = node(&fixture).await;
        let mut bytes = Vec::new();
        for (sequence, version) in [(1, Version::V0), (2, Version::V1), (3, Version::V0)] {
            get().put(&mut bytes, &head(version), sequence);
        }
        // A byte at a time.
        for byte in bytes.chunks(1) {
            raw.write(byte).await;
        }
        for sequence in 1..=3 {
            let reply = raw.reply().await.unwrap();
            assert_eq!(
                (reply.sequence, reply.name.as_str()),
                (sequence, "RPC_RRDB_RRDB_GET_ACK")
            );
            let response: ReadResponse = read_result(reply.result.as_ref().unwrap()).unwrap();
            assert_eq!((response.error.0, response.app_id), (1, 1));
        }
    });
}

#[test]
fn a_cleared_scanner_is_not_answered_even_where_it_would_be_refused() {
    run(async {
        let fixture = Fixture::new().await;
        let mut raw = node(&fixture).await;
        let mut bytes = Vec::new();
        KeyCall::ClearScanner(7).put(&mut bytes, &head(Version::V0), 1);
        let elsewhere = RequestHead {
            app_id: 99,
            ..head(Version::V0)
        };
        KeyCall::ClearScanner(7).put(&mut bytes, &elsewhere, 2);
        raw.write(&bytes).await;
        assert!(raw.is_silent().await);
        let mut bytes = Vec::new();
        get().put(&mut bytes, &head(Version::V0), 3);
        raw.write(&bytes).await;
        assert_eq!(raw.reply().await.unwrap().sequence, 3);
    });
}

#[test]
fn calls_that_are_not_offered_and_arguments_that_make_no_sense_are_refused() {
    run(async {
        let fixture = Fixture::new().await;
        let mut of_node = node(&fixture).await;
        let mut of_meta = Raw::open(fixture.metas[0]).await;
        let mut sequence = 0;
        for raw in [&mut of_node, &mut of_meta] {
            for name in [not_offered::OF_META, not_offered::OF_NODES].concat() {
                sequence += 1;
                let mut bytes = Vec::new();
                put_request(
                    &mut bytes,
                    &head(Version::V1),
                    (name, sequence),
                    &Blob::default(),
                );
                raw.write(&bytes).await;
                let reply = raw.reply().await.unwrap();
                assert_eq!(reply.sequence, sequence);
                assert_eq!(reply.error, ErrorName::Known(ErrorCode::HandlerNotFound));
            }
        }
        let mut bytes = Vec::new();
        let name = "RPC_RRDB_RRDB_MULTI_GET";
        put_request(&mut bytes, &head(Version::V1), (name, 5), &Blob::default());
        of_node.write(&bytes).await;
        let reply = of_node.reply().await.unwrap();
        assert_eq!(
            (reply.sequence, reply.error),
            (5, ErrorCode::InvalidData.into())
        );
    });
}

#[test]
fn meta_calls_do_not_look_at_the_partition_of_their_header() {
    run(async {
        let fixture = Fixture::new().await;
        let mut raw = Raw::open(fixture.metas[0]).await;
        // As Java sends them.
        let java = RequestHead {
            version: Version::V1,
            app_id: -1,
            partition_index: -2,
            ..RequestHead::default()
        };
        let ask = |partition_indices: Vec<i32>| {
            MetaCall::QueryConfig(QueryConfigRequest {
                app_name: "t".to_owned(),
                partition_indices,
            })
        };
        for (indices, count) in [
            (vec![], 8),
            (vec![3, 5], 2),
            (vec![99], 8),
            (vec![-1, 2], 1),
        ] {
            let mut bytes = Vec::new();
            ask(indices).put(&mut bytes, &java, 1);
            raw.write(&bytes).await;
            let reply = raw.reply().await.unwrap();
            let response: QueryConfigResponse =
                read_result(reply.result.as_ref().unwrap()).unwrap();
            assert!(response.is_stateful && response.err.is_ok());
            assert_eq!(
                (response.partition_count, response.partitions.len()),
                (8, count)
            );
        }
    });
}

#[test]
fn bytes_that_are_no_request_end_the_connection() {
    run(async {
        let fixture = Fixture::new().await;
        for bytes in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"RDSN....", &[0; 100]] {
            let mut raw = node(&fixture).await;
            raw.write(bytes).await;
            assert_eq!(raw.reply().await, None);
        }
    });
}
