//! Scripts of manifests: changes are collected, `append` logs them, `reopen` reads them back.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use esker::internals::base::types::bytes::Bytes;
use esker::internals::base::types::error::Result as EskerResult;
use esker::internals::base::types::ids::{FileNumber, KeyspaceId, Level};
use esker::internals::base::types::seqno::SeqNo;
use esker::internals::env::fs::Fs;
use esker::internals::env::sim::SimFs;
use esker::internals::store::version::edit::{Change, Edit};
use esker::internals::store::version::encode::encode_edit;
use esker::internals::store::version::file::FileRecord;
use esker::internals::store::version::manifest::Manifest;
use esker::internals::store::version::state::{Identity, Orders, Version};

use crate::scripts::text::number;
use crate::scripts::{Stage, run_scripts};

#[test]
fn versions_tell_their_story() {
    // Every script in tests/scripts/version*.txt.
    run_scripts("version", || {
        let fs: Arc<dyn Fs> = Arc::new(SimFs::new(1));
        fs.create_dir_all(dir()).unwrap();
        let identity = Identity {
            database_id: [7; 16],
            created_unix_s: 1_795_000_000,
        };
        let first = Version::empty(identity, Orders::default());
        VersionStage {
            manifest: Manifest::create(Arc::clone(&fs), dir(), first).unwrap(),
            fs,
            edit: Edit::new(),
        }
    });
}

fn dir() -> &'static Path {
    Path::new("/db")
}

struct VersionStage {
    fs: Arc<dyn Fs>,
    manifest: Manifest,
    edit: Edit,
}

impl Stage for VersionStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        let done = match words {
            ["append"] => self.append(out),
            ["show"] => {
                show(self.manifest.version(), out);
                Ok(())
            }
            ["reopen"] => self.reopen(out),
            _ => {
                self.edit.push(change(words)?);
                Ok(())
            }
        };
        if let Err(error) = done {
            writeln!(out, "{error}").unwrap();
        }
        Ok(())
    }
}

impl VersionStage {
    fn append(&mut self, out: &mut String) -> EskerResult<()> {
        let edit = std::mem::take(&mut self.edit);
        for change in &edit {
            let bytes = encode_edit(std::slice::from_ref(change));
            let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            writeln!(out, "{change}\n    {}", pairs.join(" ")).unwrap();
        }
        self.manifest.append(&edit).map(|_| ())
    }

    fn reopen(&mut self, out: &mut String) -> EskerResult<()> {
        let (manifest, version, report) =
            Manifest::recover(Arc::clone(&self.fs), dir(), &Orders::default())?;
        self.manifest = manifest;
        writeln!(
            out,
            "MANIFEST-{}: {} edits, {:?}",
            report.manifest, report.edit_count, report.tail
        )
        .unwrap();
        show(&version, out);
        Ok(())
    }
}

fn show(version: &Version, out: &mut String) {
    writeln!(
        out,
        "next file {}, next keyspace {}, last seqno {}, first log {}",
        version.next_file, version.next_keyspace, version.last_seqno, version.first_log
    )
    .unwrap();
    for (id, state) in version.keyspaces.iter() {
        let (name, flushed) = (&state.name, state.flushed);
        write!(out, "keyspace {id} {name:?} flushed {flushed}").unwrap();
        if let Some(mark) = &state.mark {
            write!(out, " mark \"{}\"", mark.escape_ascii()).unwrap();
        }
        if let Some(clock_ms) = state.clock_ms {
            write!(out, " clock {clock_ms}").unwrap();
        }
        writeln!(out).unwrap();
        for (level, run) in state.levels.all_runs() {
            let files: Vec<String> = run
                .files()
                .iter()
                .map(|file| {
                    let end = if file.is_largest_exclusive { ')' } else { ']' };
                    let (smallest, largest) =
                        (file.smallest.escape_ascii(), file.largest.escape_ascii());
                    format!("{}[{smallest}..{largest}{end}", file.number)
                })
                .collect();
            writeln!(out, "  {level} run {}: {}", run.id(), files.join(" ")).unwrap();
        }
    }
}

// A file is told as `number smallest largest first-seqno last-seqno`; `)` behind the largest
// key makes it exclusive.
fn change(words: &[&str]) -> Result<Change, String> {
    let keyspace = |word: &str| number(word).map(KeyspaceId);
    let file = |word: &str| number(word).map(FileNumber);
    let level = |word: &str| Level::new(number(word)?).ok_or("no such level".to_string());
    Ok(match words {
        ["create", id, name, pairs @ ..] => Change::CreateKeyspace {
            id: keyspace(id)?,
            name: name.to_string(),
            comparator_name: "bytewise".into(),
            merge_name: None,
            settings: pairs
                .iter()
                .filter_map(|pair| pair.split_once('='))
                .map(own)
                .collect(),
        },
        ["settings", id, merge, pairs @ ..] => Change::ChangeSettings {
            id: keyspace(id)?,
            settings: pairs
                .iter()
                .filter_map(|pair| pair.split_once('='))
                .map(own)
                .collect(),
            merge_name: Some(merge.to_string()),
        },
        ["drop", id] => Change::DropKeyspace { id: keyspace(id)? },
        ["add", id, at, run, record @ ..] => Change::AddFile {
            keyspace: keyspace(id)?,
            level: level(at)?,
            run: number(run)?,
            record: Arc::new(file_record(record)?),
        },
        ["remove", id, at, word] => Change::RemoveFile {
            keyspace: keyspace(id)?,
            level: level(at)?,
            number: file(word)?,
        },
        ["mark", id, text @ ..] => Change::SetMark {
            keyspace: keyspace(id)?,
            mark: Bytes::copy_of(text.concat().as_bytes()),
        },
        ["clock", id, word] => Change::SetClock {
            keyspace: keyspace(id)?,
            unix_ms: number(word)?,
        },
        ["flushed", id, word] => Change::SetFlushed {
            keyspace: keyspace(id)?,
            seqno: SeqNo::new(number(word)?),
        },
        ["first_log", word] => Change::SetFirstLog {
            number: file(word)?,
        },
        ["next_file", word] => Change::SetNextFile {
            number: file(word)?,
        },
        ["next_keyspace", id] => Change::SetNextKeyspace { id: keyspace(id)? },
        ["last_seqno", word] => Change::SetLastSeqno {
            seqno: SeqNo::new(number(word)?),
        },
        ["format", word] => Change::SetFormat {
            version: number(word)?,
        },
        _ => return Err("no such command".into()),
    })
}

fn own((name, value): (&str, &str)) -> (String, String) {
    (name.to_string(), value.to_string())
}

fn file_record(words: &[&str]) -> Result<FileRecord, String> {
    let (words, has_millis) = match words {
        [words @ .., "millis"] => (words, true),
        _ => (words, false),
    };
    let [word, smallest, largest, first, last] = words else {
        return Err("a file is: number smallest largest first-seqno last-seqno".into());
    };
    let end = largest.strip_suffix(')');
    Ok(FileRecord {
        number: FileNumber(number(word)?),
        size_bytes: 1_000,
        smallest: Bytes::copy_of(smallest.as_bytes()),
        largest: Bytes::copy_of(end.unwrap_or(largest).as_bytes()),
        is_largest_exclusive: end.is_some(),
        smallest_seqno: SeqNo::new(number(first)?),
        largest_seqno: SeqNo::new(number(last)?),
        entry_count: 10,
        delete_count: 2,
        range_delete_count: u64::from(end.is_some()),
        newest_expiry_s: None,
        has_millis,
        values: esker::internals::store::vlog::ValueLiveBytes::default(),
        is_searchable: false,
        raw_bytes: 0,
        passing: None,
        adoption: None,
    })
}
