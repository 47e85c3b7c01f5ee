//! What a workload is, checked: counts, shape of records, mix of operations, choice of keys.

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::properties::{Properties, wrong};
use crate::scenario::ycsb::record::FIELD_BYTES_MAX;

/// What a run does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Reads a record.
    Read,
    /// Updates a record.
    Update,
    /// Inserts a record.
    Insert,
    /// Scans records.
    Scan,
    /// Reads a record and updates it.
    ReadModifyWrite,
}

/// How records are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Each alike.
    Uniform,
    /// YCSB's zipfian, strewn.
    Zipfian,
    /// The latest are the most popular.
    Latest,
}

/// A workload, checked.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Records that are there after the whole load.
    pub record_count: u64,
    /// Operations of a run; 0 has no bound.
    pub operation_count: u64,
    /// Names of the fields.
    pub field_names: Vec<String>,
    /// Bytes of a field.
    pub field_bytes: usize,
    /// Whether updates write all fields.
    pub writes_all: bool,
    /// Whether values are made from their keys, and checked.
    pub is_checked: bool,
    /// The mix: what is done in which share of the operations.
    pub steps: Vec<(f64, Step)>,
    /// Share of inserts among all operations.
    pub insert_share: f64,
    /// How records are chosen.
    pub choice: Choice,
    /// The least and the most records of a scan.
    pub scan_length: (u64, u64),
}

impl Workload {
    /// The workload that the properties describe.
    ///
    /// Errors: `Usage`, with the property and what it may be.
    pub fn from_properties(properties: &Properties) -> Outcome<Workload> {
        let record_count = properties.count("recordcount", 0)?;
        if record_count == 0 {
            return Err(Failure::usage(
                "recordcount is missing or 0; say how many records there are, such as \
                 -p recordcount=1000000",
            ));
        }
        let field_count = bounded(properties, "fieldcount", 10, FIELDS_MAX)?;
        if field_count == 0 {
            return Err(wrong("fieldcount", 0, format!("1 to {FIELDS_MAX}")));
        }
        let prefix = properties.text("fieldnameprefix", "field");
        let steps = steps(properties)?;
        let insert_share = steps.iter().find(|(_, step)| *step == Step::Insert);
        Ok(Workload {
            record_count,
            operation_count: properties.count("operationcount", 0)?,
            field_names: (0..field_count).map(|n| format!("{prefix}{n}")).collect(),
            field_bytes: bounded(properties, "fieldlength", 100, FIELD_BYTES_MAX)?,
            writes_all: properties.flag("writeallfields", false),
            is_checked: properties.flag("dataintegrity", false),
            insert_share: insert_share.map_or(0.0, |(share, _)| *share),
            steps,
            choice: choice(properties)?,
            scan_length: scan_length(properties)?,
        })
    }

    /// The operation that the number `unit`, from 0 up to 1, stands for.
    pub fn step(&self, unit: f64) -> Step {
        let mut left = unit;
        for (share, step) in &self.steps {
            if left < *share {
                return *step;
            }
            left -= share;
        }
        // Rounding may leave a crumb behind the last one.
        self.steps[self.steps.len() - 1].1
    }
}

/// More fields than this are a slip of the finger: a record would be gigabytes.
const FIELDS_MAX: u64 = 100_000;

/// A count that is at most `most`.
fn bounded(properties: &Properties, name: &str, default: u64, most: u64) -> Outcome<usize> {
    let count = properties.count(name, default)?;
    let fits = usize::try_from(count).ok().filter(|_| count <= most);
    fits.ok_or_else(|| wrong(name, count, format!("at most {most}")))
}

/// The operations of positive weight, each with its share of all.
fn steps(properties: &Properties) -> Outcome<Vec<(f64, Step)>> {
    let mut steps = Vec::new();
    for (name, default, step) in [
        ("readproportion", 0.95, Step::Read),
        ("updateproportion", 0.05, Step::Update),
        ("insertproportion", 0.0, Step::Insert),
        ("scanproportion", 0.0, Step::Scan),
        ("readmodifywriteproportion", 0.0, Step::ReadModifyWrite),
    ] {
        let weight = properties.number(name, default)?;
        if weight > 0.0 {
            steps.push((weight, step));
        }
    }
    if steps.is_empty() {
        return Err(Failure::usage(
            "all proportions are 0, so there is nothing to do; give one of readproportion, \
             updateproportion, insertproportion, scanproportion and readmodifywriteproportion a \
             weight",
        ));
    }
    let sum: f64 = steps.iter().map(|(weight, _)| weight).sum();
    Ok(steps
        .into_iter()
        .map(|(weight, step)| (weight / sum, step))
        .collect())
}

fn choice(properties: &Properties) -> Outcome<Choice> {
    match properties.text("requestdistribution", "uniform") {
        "uniform" => Ok(Choice::Uniform),
        "zipfian" => Ok(Choice::Zipfian),
        "latest" => Ok(Choice::Latest),
        other => Err(wrong(
            "requestdistribution",
            other,
            "uniform, zipfian or latest",
        )),
    }
}

fn scan_length(properties: &Properties) -> Outcome<(u64, u64)> {
    let min = properties.count("minscanlength", 1)?;
    let max = properties.count("maxscanlength", 1000)?;
    if min > max || max == 0 {
        return Err(Failure::usage(format!(
            "minscanlength={min} and maxscanlength={max} make no sense; the first may not be \
             above the second, and the second not 0"
        )));
    }
    Ok((min, max))
}

#[cfg(test)]
mod tests;
