//! Golden scripts: what a part of the engine does, as plain text that a review can read.
//!
//! A script is a row of blocks. A block is some lines of commands, a line `---`, and the output
//! that they are expected to give, up to an empty line. `# …` lines and empty lines between
//! blocks are for people. `BLESS=1 cargo test -p esker --test it scripts` writes the outputs
//! anew; the diff is then reviewed.
//!
//! A command is a line of words parted by spaces; a word in double quotes may hold spaces.

use std::fmt::Write;
use std::fs;
use std::path::Path;

mod memory_file;
mod text;
mod batch;
mod wal;
mod block;
mod sst;
mod version;
mod tree;
mod compact;
mod read;
mod vlog;

/// One kind of script: what its commands do.
trait Stage {
    /// Runs one command and appends what it says, each line ended, to `out`. `Err` is a command
    /// that makes no sense, not one that fails as it should.
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String>;
}

/// Runs all scripts whose names start with `prefix`, each on a stage of its own.
fn run_scripts<S: Stage>(prefix: &str, new_stage: impl Fn() -> S) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let mut ran_count = 0;
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with(prefix) || !name.ends_with(".txt") {
            continue;
        }
        ran_count += 1;
        let expected = fs::read_to_string(&path).unwrap();
        let actual = perform(&expected, &mut new_stage());
        let actual = actual.unwrap_or_else(|error| panic!("{name}: {error}"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, actual).unwrap();
        } else if let Some(difference) = first_difference(&expected, &actual) {
            panic!("{name} tells another story (BLESS=1 accepts it)\n{difference}");
        }
    }
    assert!(ran_count > 0, "no script starts with {prefix}");
}

// The script with the outputs that its commands give now.
fn perform(script: &str, stage: &mut impl Stage) -> Result<String, String> {
    let mut actual = String::new();
    let mut lines = script.lines().enumerate().peekable();
    let mut output = String::new();
    while let Some((index, line)) = lines.next() {
        actual.push_str(line);
        actual.push('\n');
        if line == "---" {
            actual.push_str(&output);
            output.clear();
            while lines.next_if(|(_, line)| !line.is_empty()).is_some() {}
        } else if !line.is_empty() && !line.starts_with('#') {
            let words = split_words(line);
            let ran = stage.run(&words, &mut output);
            ran.map_err(|error| format!("line {}: {line}: {error}", index + 1))?;
        }
    }
    if output.is_empty() {
        Ok(actual)
    } else {
        Err(format!(
            "commands without a `---` behind them; they said\n{output}"
        ))
    }
}

fn split_words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let same = expected
        .lines()
        .zip(actual.lines())
        .take_while(|(left, right)| left == right);
    let same_count = same.count();
    let mut text = format!("line {}\n", same_count + 1);
    let (old, new) = (
        expected.lines().nth(same_count),
        actual.lines().nth(same_count),
    );
    writeln!(text, "- {}", old.unwrap_or("(end)")).unwrap();
    writeln!(text, "+ {}", new.unwrap_or("(end)")).unwrap();
    Some(text)
}
