//! Runs a command line of db_bench inside a scenario.

use std::io::{self, Write};

use crate::console::{Console, Remarks};
use crate::fail::{Failure, FailureKind, Outcome};
use crate::report::record::Record;
use crate::scenario::db_bench::command::measure;
use crate::scenario::suite::stage::Stage;

/// Runs db_bench with `words` on the scenario's store, and gives what was measured. Result lines
/// are told behind `head`, and the live line passes; the rest is left out.
pub fn run(stage: &mut Stage<'_, '_>, head: &str, words: &[String]) -> Outcome<Record> {
    let mut all = words.to_vec();
    all.push(format!("--db={}", stage.dir().display()));
    if !stage.request.own.is_empty() {
        let pairs = stage.request.own.iter();
        let pairs: Vec<String> = pairs.map(|(name, text)| format!("{name}={text}")).collect();
        all.push(format!("--set={}", pairs.join(",")));
    }
    let mut out = Vec::new();
    let mut live = LiveOnly(&stage.console.err);
    let is_live = stage.console.err.is_live();
    let outcome = {
        let mut console = Console::new(&mut out, &mut live, is_live);
        measure(stage.engine(), &all, &mut console)
    };
    let record = outcome.map_err(|failure| match failure.kind {
        FailureKind::Own(_) => Failure::failed(failure.message),
        _ => failure,
    })?;
    let out = String::from_utf8_lossy(&out);
    for line in out.lines().filter(|line| line.contains(" micros/op")) {
        stage.say(&format!("{head}{line}\n"))?;
    }
    record.ok_or_else(|| Failure::failed("db_bench measured nothing"))
}

/// Lets the live line through, and nothing else.
struct LiveOnly<'a, 'b>(&'a Remarks<'b>);

impl Write for LiveOnly<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.first() == Some(&b'\r') {
            self.0.write(&String::from_utf8_lossy(bytes))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
