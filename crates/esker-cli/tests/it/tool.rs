//! Runs the tool on a database of its own.

use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory with a database that lives as long as the test.
pub struct Bench {
    dir: TempDir,
}

/// What a run of the tool gave.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// Standard output as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.out).unwrap()
    }

    /// Standard output as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.out).unwrap()
    }

    /// The same run, which must have exited with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Bench {
    pub fn new() -> Bench {
        Bench {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A path inside the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The first file of a database whose name ends so.
    #[track_caller]
    pub fn file_of(&self, db: &str, ending: &str) -> PathBuf {
        let files = std::fs::read_dir(self.path(db)).unwrap();
        let paths = files.map(|file| file.unwrap().path());
        let ends_so = |path: &PathBuf| path.extension().is_some_and(|end| end == ending);
        paths.filter(ends_so).min().unwrap()
    }

    /// Writes a file into the directory; its path as text.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    /// A command of the tool on the database `db`.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command
            .args(words)
            .env("ESKER_DB", self.path("db"))
            .env_remove("ESKER_DATA");
        command.current_dir(self.dir.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command.
    pub fn run(&self, words: &[&str]) -> Ran {
        self.command(words).output().unwrap().into()
    }

    /// Runs a command that must succeed.
    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> Ran {
        self.run(words).exits(0)
    }

    /// Runs a command with `input` on its standard input.
    pub fn feed(&self, words: &[&str], input: &[u8]) -> Ran {
        self.feed_command(self.command(words), input)
    }

    /// The same for a command that was changed.
    pub fn feed_command(&self, mut command: Command, input: &[u8]) -> Ran {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that refuses its words may have ended before it reads anything.
        let fed = child.stdin.take().unwrap().write_all(input);
        assert!(fed.is_ok() || fed.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
        child.wait_with_output().unwrap().into()
    }
}
