//! Tests of `grpc`, against a server of written frames.

use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::runtime::Builder;

use super::*;

/// Calls `/a/B` on a server that answers with `frames`; what came of it, and what the server was
/// sent behind the preface.
fn call(message: &[u8], frames: &[u8]) -> (Outcome<Vec<u8>>, Vec<u8>) {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let SocketAddr::V4(address) = listener.local_addr().expect("an address") else {
            panic!("IPv4 was asked for");
        };
        let frames = frames.to_vec();
        let server = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            socket
                .write_all(&frames)
                .await
                .expect("a client that reads");
            let mut seen = Vec::new();
            // Until the client lets go, which may be as a reset: it leaves some frames unread.
            let _ = socket.read_to_end(&mut seen).await;
            seen
        });
        let mut grpc = Grpc::connect(address).await.expect("a connection");
        let answer = grpc.call("/a/B", message).await;
        drop(grpc);
        let seen = server.await.expect("a server that ends");
        let behind = seen.strip_prefix(PREFACE).expect("the preface").to_vec();
        (answer, behind)
    })
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    put_frame(&mut out, (kind, flags), stream, payload);
    out
}

#[test]
fn a_call_is_headers_and_a_message() {
    // The frames are those of the standard, byte by byte.
    let answer = [
        frame(SETTINGS, 0, 0, &[]),
        frame(HEADERS, END_HEADERS, 1, &[0x88]),
        frame(DATA, 0, 1, &[0, 0, 0, 0, 2, b'o', b'k']),
        frame(HEADERS, END_HEADERS | END_STREAM, 1, &[]),
    ];
    let (answer, seen) = call(b"hello", &answer.concat());
    assert_eq!(answer, Ok(b"ok".to_vec()));
    let own = [
        &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0][..],
        &[0, 0, 4, 8, 0, 0, 0, 0, 0, 0x3f, 0xff, 0, 1],
    ];
    assert!(seen.starts_with(&own.concat()), "{seen:?}");
    let has = |wanted: &[u8]| seen.windows(wanted.len()).any(|window| window == wanted);
    assert!(has(b"\x83\x86\x04\x04/a/B\x01"));
    assert!(has(b"\x0f\x10\x10application/grpc\x00\x02te\x08trailers"));
    assert!(has(&[0, 0, 10, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 5]));
    assert!(seen.ends_with(b"hello"), "{seen:?}");
}

#[test]
fn a_message_in_pieces_is_put_together() {
    // Padded pieces, with a question for a sign of life and a larger window between them.
    let answer = [
        frame(DATA, PADDED, 1, &[2, 0, 0, 0, 0, 9, 9]),
        frame(PING, 0, 0, &[7; 8]),
        frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 9]),
        frame(DATA, 0, 1, &[3, b'a', b'b']),
        frame(DATA, END_STREAM, 1, b"c"),
    ];
    assert_eq!(call(b"", &answer.concat()).0, Ok(b"abc".to_vec()));
}

#[test]
fn what_fails_is_an_error() {
    // A refusal has no message; a reset, a farewell and a longer frame than may be are told apart.
    let told = |frames: &[u8]| call(b"", frames).0.expect_err("no answer").message;
    let refused = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x88]);
    assert!(told(&refused).contains("refuses"));
    assert!(told(&frame(RESET, 0, 1, &[0; 4])).contains("reset"));
    assert!(told(&frame(GO_AWAY, 0, 0, &[0; 8])).contains("closes"));
    assert!(told(&frame(DATA, END_STREAM, 1, &[0, 0, 0, 0, 9, 1])).contains("no message"));
    assert!(told(&[0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]).contains("longer"));
}
