//! Heads that are read, and those that are not.

use super::*;

fn status(head: &Head) -> &str {
    match head {
        Head::Refused(page) => &page.status[..3],
        Head::Partial => "partial",
        Head::Get(path) => path,
    }
}

#[test]
fn a_head_is_read_once_it_is_whole() {
    let request = b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for end in 0..request.len() {
        assert_eq!(read_head(&request[..end]), Head::Partial, "{end}");
    }
    assert_eq!(read_head(request), Head::Get("/metrics".to_owned()));
    // What comes behind it is not looked at, and a lone newline ends a line as well.
    let more = [&request[..], b"GET /"].concat();
    assert_eq!(read_head(&more), Head::Get("/metrics".to_owned()));
    assert_eq!(read_head(b"GET / HTTP/1.0\n\n"), Head::Get("/".to_owned()));
}

#[test]
fn what_is_no_request_for_a_page_is_told_so() {
    for (request, says) in [
        (&b"POST /health HTTP/1.1\r\n\r\n"[..], "405"),
        (b"GET /health\r\n\r\n", "400"),
        (b"GET  /health HTTP/1.1\r\n\r\n", "400"),
        (b"GET health HTTP/1.1\r\n\r\n", "400"),
        (b"GET http://a/ HTTP/1.1\r\n\r\n", "400"),
        (b"GET /\x07 HTTP/1.1\r\n\r\n", "400"),
        (b"GET /\xff HTTP/1.1\r\n\r\n", "400"),
        (b"GET / HTTP/2\r\n\r\n", "400"),
        (b"\r\n\r\n", "400"),
        (b"\n\n", "400"),
    ] {
        let head = read_head(request);
        assert_eq!(status(&head), says, "{}", request.escape_ascii());
    }
}

#[test]
fn a_head_that_does_not_end_is_refused_at_its_bound() {
    let mut endless = b"GET / HTTP/1.1\r\n".to_vec();
    while endless.len() < HEAD_BYTES_MAX {
        assert_eq!(read_head(&endless), Head::Partial);
        endless.extend_from_slice(b"X-Long: and longer\r\n");
    }
    assert_eq!(status(&read_head(&endless)), "431");
    // Its end would have to be within the bound, whatever came at once.
    endless.extend_from_slice(b"\r\n\r\n");
    assert_eq!(status(&read_head(&endless)), "431");
}

#[test]
fn a_page_says_how_long_it_is_and_that_it_is_the_last() {
    let mut out = b"before".to_vec();
    Page::text("503 Service Unavailable", "nö\n").put(&mut out);
    let text = String::from_utf8(out).expect("text");
    assert!(text.starts_with("beforeHTTP/1.1 503 Service Unavailable\r\n"));
    assert!(
        text.contains("\r\nContent-Length: 4\r\n") && text.contains("\r\nConnection: close\r\n")
    );
    assert!(text.ends_with("\r\n\r\nnö\n"));
}
