//! Lines, their ends, numbers and bounds.

use std::io::{BufReader, Cursor, Read, repeat};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Bounds, Line, Lines};

fn bounds(piece: usize) -> Bounds {
    Bounds {
        piece,
        ..Bounds::default()
    }
}

fn lines_of(text: &'static str, piece: usize) -> Lines {
    // A buffer of three bytes makes every line cross its edge.
    let input = BufReader::with_capacity(3, Cursor::new(text));
    Lines::new(Box::new(input), bounds(piece))
}

/// Every line, put together of its pieces.
fn read(text: &'static str, piece: usize) -> Vec<Vec<u8>> {
    let mut lines = lines_of(text, piece);
    let mut found = Vec::new();
    while let Some(line) = lines.next_line().unwrap() {
        found.push(match line {
            Line::Text(bytes) => bytes.to_vec(),
            Line::Long(mut line) => {
                let mut whole = Vec::new();
                while let Some(piece) = line.next_piece().unwrap() {
                    assert!(!piece.is_empty());
                    whole.extend_from_slice(piece);
                }
                assert!(line.next_piece().unwrap().is_none());
                whole
            }
        });
        assert_eq!(lines.number(), found.len() as u64);
    }
    found
}

#[test]
fn lines_end_in_several_ways() {
    // Unix ends, Windows ends, an empty line, carriage returns inside, and a last line without an
    // end: the same lines in pieces of any size.
    let text = "one\ntwo\r\n\nth\rr\r\ree\r\r\n\r\nlast\r";
    let expected = [&b"one"[..], b"two", b"", b"th\rr\r\ree\r", b"", b"last"];
    for piece in 1..20 {
        assert_eq!(read(text, piece), expected, "pieces of {piece}");
    }
    assert!(read("", 100).is_empty());
}

#[test]
fn long_line_is_passed_over() {
    // What nobody reads of a line, all of it or the rest, does not hide the next one.
    for taken in 0..3 {
        let mut lines = lines_of("short\nmuch too long\r\nshort", 5);
        lines.next_line().unwrap().unwrap();
        let Some(Line::Long(mut line)) = lines.next_line().unwrap() else {
            panic!("it is longer than a piece");
        };
        for _ in 0..taken {
            line.next_piece().unwrap().unwrap();
        }
        let next = lines.next_line().unwrap().unwrap();
        assert!(matches!(next, Line::Text(b"short")));
        assert_eq!(lines.number(), 3);
    }
}

#[test]
fn line_can_be_given_back() {
    // Whoever guesses the format looks at the start of the first line and gives it back.
    for piece in [3, 100] {
        let mut lines = lines_of("abcdefg\nb\n", piece);
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.start().starts_with(b"abc"));
        lines.unread();
        assert!(
            lines
                .next_line()
                .unwrap()
                .unwrap()
                .start()
                .starts_with(b"abc")
        );
        assert_eq!(lines.number(), 1);
        let next = lines.next_line().unwrap().unwrap();
        assert!(matches!(next, Line::Text(b"b")));
        assert!(lines.next_line().unwrap().is_none());
    }
}

/// Counts the bytes that are read.
struct Counted<R>(R, Arc<AtomicU64>);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[test]
fn endless_line_is_refused() {
    // It is read up to the bound and held in memory by the piece.
    let read = Arc::new(AtomicU64::new(0));
    let input = BufReader::with_capacity(64, Counted(repeat(b'x'), Arc::clone(&read)));
    let bounds = Bounds {
        line: 10_000,
        ..bounds(100)
    };
    let mut lines = Lines::new(Box::new(input), bounds);
    assert!(lines.next_line().unwrap().is_some());
    // Not before somebody asks for what is behind it: what was seen can be told first.
    assert!(read.load(Ordering::Relaxed) < 300);
    let error = lines.next_line().unwrap_err();
    assert!(error.to_string().contains("has no end"), "{error}");
    assert!(read.load(Ordering::Relaxed) < 10_300);
    assert!(lines.piece.capacity() < 300);
}
