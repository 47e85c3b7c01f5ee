//! Scripts of reading: memtables over sealed memtables over runs of files, and what readers see.

use std::fmt::Write;
use std::ops::Bound;

use esker::internals::base::hooks::merge_builtin::builtin;
use esker::internals::base::options::call::ReadOptions;
use esker::internals::base::types::ids::Level;
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::range::KeyRange;
use esker::internals::base::types::seqno::{SeqNo, Visibility};
use esker::internals::flow::read::get::{ReadAt, contains, get_valued};
use esker::internals::flow::read::multi_get::multi_get;
use esker::internals::flow::read::scan::{Scan, scan};

use crate::scripts::text::{moment, number};
use crate::scripts::tree::Tree;
use crate::scripts::{Stage, run_scripts};

#[test]
fn reads_tell_their_story() {
    // Every script in tests/scripts/read*.txt.
    run_scripts("read", ReadStage::new);
}

struct ReadStage {
    tree: Tree,
    /// The snapshot that reads use; `None` reads the newest.
    at: Option<SeqNo>,
    /// The cursor of `seek`, `next` and `prev`.
    cursor: Option<Scan>,
}

impl ReadStage {
    fn new() -> ReadStage {
        ReadStage {
            tree: Tree::new(builtin("append:+")),
            at: None,
            cursor: None,
        }
    }

    fn reader(&self) -> ReadAt {
        ReadAt {
            visibility: Visibility::at(self.at.unwrap_or(self.tree.seqno)),
            now_unix_ms: self.tree.settings.env.clock.unix_millis(),
            options: ReadOptions::default(),
        }
    }

    fn open(&self, bounds: &[&str]) -> Result<Scan, String> {
        let range = match *bounds {
            [] => KeyRange::new::<&[u8]>(..),
            [from] => KeyRange::new(from.as_bytes()..),
            ["..", to] => KeyRange::new(..to.as_bytes()),
            [from, to] => KeyRange::new(from.as_bytes()..to.as_bytes()),
            [from, "to", last] => {
                let (from, last) = (from.as_bytes(), last.as_bytes());
                KeyRange::new::<&[u8]>((Bound::Included(from), Bound::Included(last)))
            }
            _ => return Err("a range is at most two keys".into()),
        };
        scan(&self.tree.current.view(), range, &self.reader()).map_err(|error| error.to_string())
    }

    // One line: what a point read says, and that its two other forms say the same.
    fn get(&self, key: &str) -> String {
        let (view, at) = (self.tree.current.view(), self.reader());
        let key_bytes = key.as_bytes();
        let valued = match get_valued(&view, key_bytes, &at) {
            Ok(valued) => valued,
            Err(error) => return format!("{key}: {error}"),
        };
        assert_eq!(contains(&view, key_bytes, &at).unwrap(), valued.is_some());
        let many = multi_get(&view, &[key_bytes, b"other", key_bytes], &at);
        let value = valued.as_ref().map(|valued| &valued.value[..]);
        for place in [0, 2] {
            assert_eq!(many[place].as_ref().unwrap().as_deref(), value);
        }
        match valued {
            None => format!("{key} is not there"),
            Some(valued) => {
                let text = entry_text(key_bytes, &valued.value);
                let until = valued.expiry;
                until.map_or(text.clone(), |until| format!("{text} until {until}"))
            }
        }
    }

    fn sources(&self, out: &mut String) {
        let view = self.tree.current.view();
        for (index, table) in view.parts().memtables.iter().enumerate() {
            let name = if index == 0 { "live" } else { "sealed" };
            let (count, range_delete_count) = (table.entry_count(), table.range_deletes().len());
            writeln!(out, "  {name}: {count}, {range_delete_count} range deletes").unwrap();
        }
        self.tree.show(out);
    }

    fn move_cursor(&mut self, words: &[&str]) -> Result<String, String> {
        let cursor = match &mut self.cursor {
            Some(cursor) => cursor,
            None => return Err("no cursor is open".into()),
        };
        let moved = match *words {
            ["first"] => cursor.seek_to_first(),
            ["last"] => cursor.seek_to_last(),
            ["seek", key] => cursor.seek(key.as_bytes()),
            ["seek_back", key] => cursor.seek_for_prev(key.as_bytes()),
            ["next"] => cursor.next(),
            ["prev"] => cursor.prev(),
            _ => return Err("no such command".into()),
        };
        let is_there = moved.map_err(|error| error.to_string())?;
        Ok(match is_there {
            true => entry_text(cursor.key(), cursor.value().unwrap()),
            false => "end".into(),
        })
    }
}

impl Stage for ReadStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        let tree = &mut self.tree;
        match words {
            ["put", key, value] => tree.write(Kind::Put, key, value.as_bytes()),
            ["put_until", at, key, value] => {
                let end = moment(at)?;
                tree.write(end.put_kind(), key, &end.join(value.as_bytes()));
            }
            ["delete", key] => tree.write(Kind::Delete, key, b""),
            ["merge", key, operand] => tree.write(Kind::Merge, key, operand.as_bytes()),
            ["delete_range", start, end] => tree.write(Kind::RangeDelete, start, end.as_bytes()),
            ["fill", prefix, from, to, value] => {
                for key in number::<u32>(from)?..number(to)? {
                    tree.write(Kind::Put, &format!("{prefix}{key:03}"), value.as_bytes());
                }
            }
            ["clear", prefix, from, to] => {
                for key in number::<u32>(from)?..number(to)? {
                    tree.write(Kind::Delete, &format!("{prefix}{key:03}"), b"");
                }
            }
            ["seal"] => tree.seal(),
            ["flush"] => {
                tree.seal();
                tree.flush_sealed();
            }
            ["sink", level] => {
                let level = Level::new(number(level)?).ok_or("no such level")?;
                tree.sink(level)?;
            }
            ["clock", at] => tree.set_clock(moment(at)?),
            ["snapshot"] => {
                tree.snapshots.push(tree.seqno);
                writeln!(out, "snapshot {}", tree.snapshots.len()).unwrap();
            }
            ["at", "now"] => self.at = None,
            ["at", index] => {
                let index: usize = number(index)?;
                let taken = tree.snapshots.get(index.wrapping_sub(1));
                self.at = Some(*taken.ok_or("no such snapshot")?);
            }
            ["sources"] => self.sources(out),
            ["get", keys @ ..] => {
                for key in keys {
                    writeln!(out, "{}", self.get(key)).unwrap();
                }
            }
            ["scan", bounds @ ..] => writeln!(out, "{}", walk(self.open(bounds)?, true)).unwrap(),
            ["back", bounds @ ..] => writeln!(out, "{}", walk(self.open(bounds)?, false)).unwrap(),
            ["cursor", bounds @ ..] => self.cursor = Some(self.open(bounds)?),
            _ => writeln!(out, "{}", self.move_cursor(words)?).unwrap(),
        }
        Ok(())
    }
}

// Everything a scan yields in one direction, or up to its error.
fn walk(mut cursor: Scan, is_forward: bool) -> String {
    let mut entries = Vec::new();
    let mut moved = match is_forward {
        true => cursor.seek_to_first(),
        false => cursor.seek_to_last(),
    };
    loop {
        match moved {
            Ok(true) => entries.push(entry_text(cursor.key(), cursor.value().unwrap())),
            Ok(false) => break,
            Err(error) => {
                entries.push(error.to_string());
                break;
            }
        }
        moved = match is_forward {
            true => cursor.next(),
            false => cursor.prev(),
        };
    }
    match entries.is_empty() {
        true => "nothing".into(),
        false => entries.join(" "),
    }
}

fn entry_text(key: &[u8], value: &[u8]) -> String {
    format!("{}={}", key.escape_ascii(), value.escape_ascii())
}
