//! Tests of `text_log`.

use std::sync::Arc;

use super::*;

/// What was written, for a test to read.
#[derive(Clone, Default)]
struct Page(Arc<Mutex<Vec<u8>>>);

impl Page {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_line_is_text_and_place() {
    // Two tabs, the file, the line in brackets; a newline inside the text would end the line.
    let page = Page::default();
    let log = TextLog::to(page.clone());
    log.event("KVS INIT SUCCESS.");
    log.refusal(&["one".into(), "two\nthree".into()]);
    let text = page.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("KVS INIT SUCCESS.\t\t"));
    assert!(lines[2].starts_with("two three\t\t"));
    let (_, place) = lines[0].split_once("\t\t").unwrap();
    assert!(place.contains("text_log/tests.rs[") && place.ends_with(']'));
}

#[test]
fn refusals_end_and_events_do_not() {
    // A program that misses all day: the log stops at its bound, and still tells of the exit.
    let page = Page::default();
    let log = TextLog::to(page.clone());
    let long = "x".repeat(1 << 20);
    for _ in 0..100 {
        log.refusal(std::slice::from_ref(&long));
    }
    log.event("KVS EXIT.");
    let text = page.text();
    assert!(text.len() < (34 << 20));
    assert_eq!(text.matches("the log is long").count(), 1);
    assert!(text.lines().last().unwrap().starts_with("KVS EXIT."));
}

#[test]
fn a_log_that_is_there_is_emptied() {
    // As the original, which opens it with "w"; a path without a directory is an error.
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log_file");
    for _ in 0..2 {
        TextLog::open(Some(&path)).unwrap().event("once");
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert!(TextLog::open(Some(&path.join("below"))).is_err());
}
