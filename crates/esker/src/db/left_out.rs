//! Files that compactions leave out, because one failed over them: which, why, and for how long.
//!
//! What an error names is left out alone, and all inputs where it names none of them. A refusal of
//! the operating system may pass, so those files are tried again, after a delay that grows. Damage
//! does not pass: they stay out until somebody asks for a compaction, or opens the database. All
//! other files are compacted meanwhile.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::base::types::error::{Error, ErrorKind};
use crate::base::types::ids::FileNumber;
use crate::store::names::FileName;

/// Until the first try after a failure: what passes by itself, passes soon.
const DELAY_FIRST: Duration = Duration::from_secs(1);

/// Doublings of the delay: up to 17 minutes. What failed for so long hardly mends soon, and a try
/// costs no more than a compaction.
const DOUBLINGS_MAX: u32 = 10;

/// The files that compactions leave out, or did until the latest try began.
#[derive(Debug, Default)]
pub struct LeftOut {
    files: BTreeMap<FileNumber, LeftOutFile>,
}

/// One of them.
#[derive(Debug)]
pub struct LeftOutFile {
    /// Of the latest try.
    pub error: Error,
    /// How often it was tried.
    pub try_count: u32,
    /// When it is tried again, by the monotonic clock; `None` is not by itself.
    pub retry_at: Option<Duration>,
    is_out: bool,
}

impl LeftOut {
    /// Takes note of a compaction of `inputs` that failed at `now`: the files to leave out, and
    /// after how long [`LeftOut::take_due`] is to be asked.
    pub fn note(
        &mut self,
        inputs: &[FileNumber],
        error: &Error,
        now: Duration,
    ) -> (Vec<FileNumber>, Option<Duration>) {
        let blamed = match named(error).filter(|number| inputs.contains(number)) {
            Some(number) => vec![number],
            None => inputs.to_vec(),
        };
        let may_pass = matches!(error.kind(), ErrorKind::Io | ErrorKind::OutOfFiles);
        let mut delay = Duration::ZERO;
        for number in &blamed {
            let earlier = self.files.get(number).map_or(0, |file| file.try_count);
            delay = delay.max(DELAY_FIRST * (1 << earlier.min(DOUBLINGS_MAX)));
            let file = LeftOutFile {
                error: error.again(),
                try_count: earlier + 1,
                retry_at: None,
                is_out: true,
            };
            self.files.insert(*number, file);
        }
        let delay = may_pass.then_some(delay);
        for number in &blamed {
            let file = self.files.get_mut(number).expect("it was put there");
            file.retry_at = delay.map(|delay| now + delay);
        }
        (blamed, delay)
    }

    /// Those whose time has come by `now`: they are left out no longer, unless they fail again.
    pub fn take_due(&mut self, now: Duration) -> Vec<FileNumber> {
        self.take(|file| file.retry_at.is_some_and(|at| at <= now))
    }

    /// As [`LeftOut::take_due`], of all: somebody asked for them.
    pub fn take_all(&mut self) -> Vec<FileNumber> {
        self.take(|_| true)
    }

    fn take(&mut self, is_wanted: impl Fn(&LeftOutFile) -> bool) -> Vec<FileNumber> {
        let mut taken = Vec::new();
        for (number, file) in &mut self.files {
            if file.is_out && is_wanted(file) {
                file.is_out = false;
                taken.push(*number);
            }
        }
        taken
    }

    /// Forgets files that a compaction has read to their ends.
    pub fn forget(&mut self, inputs: &[FileNumber]) {
        for number in inputs {
            self.files.remove(number);
        }
    }

    /// What who wants to compact is told where files of `keyspace` are in the way since another
    /// compaction failed over them: an error of that kind, about the first that is left out.
    pub fn refusal(&self, keyspace: &str, in_the_way: &[FileNumber]) -> Error {
        let out = |number: &FileNumber| self.files.get(number).filter(|file| file.is_out);
        let mut files = in_the_way.iter();
        let found = files.find_map(|number| out(number).map(|file| (*number, file)));
        let (number, file) =
            found.expect("files stay busy without a compaction only when left out");
        let name = FileName::Sst(number);
        let message = format!(
            "another compaction in the range, of the keyspace `{keyspace}`, failed meanwhile over \
             {name}"
        );
        Error::new(file.error.kind(), message).caused_by(file.error.again())
    }

    /// Whether the file is left out now.
    pub fn is_out(&self, number: FileNumber) -> bool {
        self.files.get(&number).is_some_and(|file| file.is_out)
    }

    /// All, by number.
    pub fn files(&self) -> impl Iterator<Item = (FileNumber, &LeftOutFile)> {
        self.files.iter().map(|(number, file)| (*number, file))
    }
}

// The sorted file that an error names.
fn named(error: &Error) -> Option<FileNumber> {
    let name = Path::new(error.file()?).file_name()?.to_str()?;
    match FileName::parse(name)? {
        FileName::Sst(number) => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
