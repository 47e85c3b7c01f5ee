//! Runs command lines in directories of their own.

use std::path::PathBuf;

/// A place for databases and files.
pub struct Tool {
    dir: tempfile::TempDir,
}

/// What a command line came to.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Tool {
    /// An empty place.
    pub fn new() -> Tool {
        Tool {
            dir: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs db_bench with the words of `line` on the database `db` in this place. `{}` in the
    /// line is the place.
    pub fn db_bench(&self, line: &str) -> Ran {
        match line.contains("--db=") {
            true => self.bench(&format!("db {line}")),
            false => self.bench(&format!("db {line} --db={{}}/db")),
        }
    }

    /// Runs `esker bench` with the words of `line`.
    pub fn bench(&self, line: &str) -> Ran {
        let place = self.dir.path().display().to_string();
        let words: Vec<String> = line
            .split_whitespace()
            .map(|word| word.replace("{}", &place))
            .collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = esker_bench::run(&words, &mut out, &mut err);
        Ran {
            code,
            out: String::from_utf8(out).expect("text"),
            err: String::from_utf8(err).expect("text"),
        }
    }

    /// The same, and it must succeed.
    pub fn ok(&self, line: &str) -> Ran {
        let ran = self.db_bench(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        ran
    }
}

impl Ran {
    /// Fails unless standard output has that part.
    #[track_caller]
    pub fn tells(&self, part: &str) {
        assert!(self.out.contains(part), "no {part}: {self:?}");
    }

    /// Fails unless standard error has that part.
    #[track_caller]
    pub fn notes(&self, part: &str) {
        assert!(self.err.contains(part), "no {part}: {self:?}");
    }

    /// The result line of a benchmark.
    pub fn line(&self, name: &str) -> &str {
        let found = self
            .out
            .lines()
            .find(|line| line.starts_with(&format!("{name:<12} :")));
        found.unwrap_or_else(|| panic!("no line of {name}: {self:?}"))
    }
}
