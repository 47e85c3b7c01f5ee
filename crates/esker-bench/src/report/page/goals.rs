//! The section of goals: what was asked for, what was measured, whether it is met.

use crate::report::page::markup::{Cell, Table, accent, quiet};
use crate::report::page::shell::Section;
use crate::report::record::{Record, Verdict};

/// How many goals were met, missed, and not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Met.
    pub met: usize,
    /// Judged.
    pub judged: usize,
    /// Not judged, because the other side of the comparison was not measured.
    pub open: usize,
}

/// Counts verdicts.
pub fn tally(verdicts: &[Verdict]) -> Tally {
    let count = |is: Option<bool>| verdicts.iter().filter(|it| it.is_met == is).count();
    let (met, missed, open) = (count(Some(true)), count(Some(false)), count(None));
    Tally {
        met,
        judged: met + missed,
        open,
    }
}

/// The section; empty for a record without verdicts.
pub fn section(record: &Record) -> Section {
    let mut table = Table::of_words(["workload", "goal", "measured", "verdict"]);
    for verdict in &record.verdicts {
        table.row([
            verdict.line.clone().into(),
            Cell::from(verdict.asked.clone()),
            verdict.measured_text().into(),
            match verdict.is_met {
                Some(true) => accent(verdict.word()),
                Some(false) => verdict.word().into(),
                None => quiet(verdict.word()),
            },
        ]);
    }
    Section::new("Goals", table.html())
}

#[cfg(test)]
mod tests;
