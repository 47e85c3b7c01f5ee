//! The little of HTTP that a node speaks: one `GET` or `POST` line, its head, one page, the end.
//!
//! A library would bring bodies, upgrades, pipelining and a second set of bounds to keep; a node
//! shows pages that fit in memory, and closes.

use std::str::from_utf8;

/// Longest head of a request: what it asks for, and what it says of itself.
pub const HEAD_BYTES_MAX: usize = 8 << 10;

/// What a request asks for, as far as it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// Its head is not there whole.
    Partial,
    /// The page of that path, which begins with a slash; what follows a question mark is left out.
    Get(String),
    /// It gets this page, which says why.
    Refused(Page),
}

/// What is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The status: three digits and words.
    pub status: &'static str,
    /// What the body is.
    pub content_type: &'static str,
    /// The body.
    pub body: String,
}

impl Page {
    /// A page of plain text.
    pub fn text(status: &'static str, body: impl Into<String>) -> Page {
        Page {
            status,
            content_type: "text/plain; charset=utf-8",
            body: body.into(),
        }
    }

    /// A page of a kind of its own.
    pub fn of(content_type: &'static str, body: String) -> Page {
        Page {
            status: "200 OK",
            content_type,
            body,
        }
    }

    /// Appends the answer with this page. The connection ends behind it.
    pub fn put(&self, out: &mut Vec<u8>) {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            self.status,
            self.content_type,
            self.body.len()
        );
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(self.body.as_bytes());
    }
}

/// Reads the head of a request from what has come of it. Takes no more time than one pass over
/// [`HEAD_BYTES_MAX`] bytes.
pub fn read_head(bytes: &[u8]) -> Head {
    let begun = &bytes[..bytes.len().min(HEAD_BYTES_MAX)];
    let ends = [&b"\r\n\r\n"[..], b"\n\n"];
    let is_whole = ends
        .iter()
        .any(|end| begun.windows(end.len()).any(|bytes| bytes == *end));
    if !is_whole {
        return match bytes.len() < HEAD_BYTES_MAX {
            true => Head::Partial,
            false => refused(
                "431 Request Header Fields Too Large",
                "a shorter head will do",
            ),
        };
    }
    let line = begun
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let words = from_utf8(line).map(|line| line.trim_end_matches('\r').split(' '));
    let words: Vec<&str> = words.map(Iterator::collect).unwrap_or_default();
    let [method, target, version] = words[..] else {
        return refused("400 Bad Request", "that is no request");
    };
    let is_graphic = target.bytes().all(|byte| byte.is_ascii_graphic());
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') || !is_graphic {
        return refused("400 Bad Request", "that is no request");
    }
    if method != "GET" {
        return refused("405 Method Not Allowed", "pages are read here, with GET");
    }
    let path = target.split('?').next().unwrap_or_default();
    Head::Get(path.to_owned())
}

fn refused(status: &'static str, why: &str) -> Head {
    Head::Refused(Page::text(status, format!("{why}\n")))
}

#[cfg(test)]
mod tests;
