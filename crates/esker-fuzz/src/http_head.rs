//! Any bytes as the head of a request for a page, at the ports of a node.
//!
//! The first byte says in pieces of which length the rest comes.

use esker_server::front::http::{HEAD_BYTES_MAX, Head, Page, read_head};

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((choice, rest)) = input.split_first() else {
        return;
    };
    let whole = read_head(rest);
    // A door looks again whenever more has come, and answers once it knows.
    let piece_len = usize::from(*choice) + 1;
    let ends = (0..rest.len())
        .step_by(piece_len)
        .skip(1)
        .chain([rest.len()]);
    let told = ends.map(|end| read_head(&rest[..end]));
    let first = told.into_iter().find(|head| *head != Head::Partial);
    assert_eq!(
        first.as_ref().unwrap_or(&Head::Partial),
        &whole,
        "a split changes what is read"
    );
    match &whole {
        Head::Partial => assert!(rest.len() < HEAD_BYTES_MAX, "a head ends at its bound"),
        Head::Get(path) => {
            assert!(rest.starts_with(b"GET /"));
            assert!(path.starts_with('/') && path.len() < HEAD_BYTES_MAX);
            assert!(
                path.bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b'?')
            );
        }
        Head::Refused(page) => answer(page),
    }
}

// What is answered says truly how long it is, and has nothing of what was asked in its head.
fn answer(page: &Page) {
    let mut out = Vec::new();
    page.put(&mut out);
    let text = String::from_utf8(out).expect("a page is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head ends");
    assert_eq!(body, page.body);
    let len = format!("\r\nContent-Length: {}\r\n", body.len());
    assert!(head.contains(&len) && page.status.starts_with('4'));
}

/// Inputs to start from: pages as browsers, collectors and the tool ask for them, and what is none.
pub fn starts() -> Vec<Vec<u8>> {
    let head = "Host: 127.0.0.1:34801\r\nUser-Agent: any\r\nAccept: */*\r\n";
    let asked = [
        format!("GET /metrics HTTP/1.1\r\n{head}\r\n"),
        format!("GET /status/7?x=1 HTTP/1.1\r\n{head}Connection: close\r\n\r\n"),
        "GET / HTTP/1.0\n\n".to_owned(),
        format!("POST /health HTTP/1.1\r\n{head}Content-Length: 2\r\n\r\nab"),
        "GET http://a/ HTTP/1.1\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(HEAD_BYTES_MAX)),
    ];
    let asked = (0u8..).zip(asked);
    asked
        .map(|(index, text)| [&[index * 40][..], text.as_bytes()].concat())
        .collect()
}
