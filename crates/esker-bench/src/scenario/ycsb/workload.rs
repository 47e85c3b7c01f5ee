//! What a workload is, checked: counts, shape of records, mix of operations, choice of keys.

use std::path::Path;

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::generators::{LengthHistogram, Weighted};
use crate::scenario::ycsb::names::KeyShape;
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// Each alike.
    Uniform,
    /// YCSB's zipfian, strewn.
    Zipfian,
    /// The latest are the most popular.
    Latest,
    /// A share of the records gets a share of the operations.
    Hotspot {
        /// The share of the records.
        items: f64,
        /// The share of the operations.
        draws: f64,
    },
    /// From the latest on, ever rarer.
    Exponential {
        /// So many percent of the operations …
        percent: f64,
        /// … go to this share of the records.
        share: f64,
    },
    /// One after another, all threads together.
    Sequential,
    /// A true zipfian of this exponent over the records, the first ones most popular.
    Zipf(f64),
}

/// How long a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldLength {
    /// Always so.
    Constant(u64),
    /// Evenly spread, both ends included.
    Uniform(u64, u64),
    /// Zipfian, short ones most often.
    Zipfian(u64, u64),
    /// By a histogram.
    Histogram(LengthHistogram),
}

/// How long a scan is: both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLength {
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// Whether short ones are more frequent.
    pub is_zipfian: bool,
}

/// What happens when an insert of the load fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retries {
    /// How often it is tried again.
    pub limit: u64,
    /// Seconds between two tries.
    pub interval_s: f64,
    /// Whether the load goes on when all failed.
    pub keeps_going: bool,
}

/// A workload, checked.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Records that are there after the whole load.
    pub record_count: u64,
    /// Operations of a run; 0 has no bound.
    pub operation_count: u64,
    /// The first record of this load.
    pub insert_start: u64,
    /// Records of this load, and those that a run chooses among.
    pub insert_count: u64,
    /// Keys.
    pub keys: KeyShape,
    /// Names of the fields.
    pub field_names: Vec<String>,
    /// Lengths of the fields.
    pub field_length: FieldLength,
    /// Whether reads want all fields.
    pub reads_all: bool,
    /// Whether updates write all fields.
    pub writes_all: bool,
    /// Whether values are made from their keys, and checked.
    pub is_checked: bool,
    /// The mix.
    pub steps: Weighted<Step>,
    /// Weight of inserts among all operations, from 0 to 1.
    pub insert_share: f64,
    /// How records are chosen.
    pub choice: Choice,
    /// How long scans are.
    pub scan_length: ScanLength,
    /// What happens when an insert fails.
    pub retries: Retries,
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
        let insert_start = properties.count("insertstart", 0)?;
        let rest = record_count.saturating_sub(insert_start);
        let insert_count = properties.count("insertcount", rest)?;
        let is_within = insert_start.checked_add(insert_count) <= Some(record_count);
        if !is_within || insert_count == 0 {
            return Err(Failure::usage(format!(
                "insertstart={insert_start} and insertcount={insert_count} do not lie within \
                 recordcount={record_count}; their sum may not be above it, and there must be \
                 something to choose from"
            )));
        }
        let field_count = properties.count("fieldcount", 10)?;
        if !(1..=FIELDS_MAX).contains(&field_count) {
            return Err(wrong(
                "fieldcount",
                field_count,
                format!("1 to {FIELDS_MAX}"),
            ));
        }
        let prefix = properties.text("fieldnameprefix", "field");
        let field_length = field_length(properties)?;
        let is_checked = properties.flag("dataintegrity", false);
        if is_checked && !matches!(field_length, FieldLength::Constant(_)) {
            return Err(Failure::usage(
                "dataintegrity=true needs fieldlengthdistribution=constant: the length belongs to \
                 what is checked",
            ));
        }
        let (steps, insert_share) = steps(properties)?;
        let digits = properties.count("zeropadding", 1)?;
        if digits > DIGITS_MAX {
            return Err(wrong(
                "zeropadding",
                digits,
                format!("at most {DIGITS_MAX}"),
            ));
        }
        Ok(Workload {
            record_count,
            operation_count: properties.count("operationcount", 0)?,
            insert_start,
            insert_count,
            keys: KeyShape {
                is_ordered: properties.text("insertorder", "hashed") != "hashed",
                digits: usize::try_from(digits).expect("a thousand at most"),
            },
            field_names: (0..field_count).map(|n| format!("{prefix}{n}")).collect(),
            field_length,
            reads_all: properties.flag("readallfields", true),
            writes_all: properties.flag("writeallfields", false),
            is_checked,
            steps,
            insert_share,
            choice: choice(properties)?,
            scan_length: scan_length(properties)?,
            retries: Retries {
                limit: properties.count("core_workload_insertion_retry_limit", 0)?,
                interval_s: properties.number("core_workload_insertion_retry_interval", 3.0)?,
                keeps_going: properties.flag("core_workload_insertion_keep_going_on_error", false),
            },
        })
    }
}

/// More fields than this are a slip of the finger: a record would be gigabytes.
const FIELDS_MAX: u64 = 100_000;

/// Keys longer than this are a slip of the finger.
const DIGITS_MAX: u64 = 1000;

fn field_length(properties: &Properties) -> Outcome<FieldLength> {
    let max = properties.count("fieldlength", 100)?;
    let min = properties.count("minfieldlength", 1)?;
    if max > FIELD_BYTES_MAX {
        let right = format!("at most {FIELD_BYTES_MAX}");
        return Err(wrong("fieldlength", max, right));
    }
    let checked = |length| match min <= max {
        true => Ok(length),
        false => Err(Failure::usage(format!(
            "minfieldlength={min} is above fieldlength={max}; lower it"
        ))),
    };
    match properties.text("fieldlengthdistribution", "constant") {
        "constant" => Ok(FieldLength::Constant(max)),
        "uniform" => checked(FieldLength::Uniform(min, max)),
        "zipfian" => checked(FieldLength::Zipfian(min, max)),
        "histogram" => {
            let path = properties.text("fieldlengthhistogram", "hist.txt");
            let histogram = LengthHistogram::load(Path::new(path))?;
            match histogram.longest() <= FIELD_BYTES_MAX {
                true => Ok(FieldLength::Histogram(histogram)),
                false => Err(Failure::usage(format!(
                    "{path} has lengths above {FIELD_BYTES_MAX} bytes, which no field can have"
                ))),
            }
        }
        other => {
            let right = "constant, uniform, zipfian or histogram";
            Err(wrong("fieldlengthdistribution", other, right))
        }
    }
}

fn steps(properties: &Properties) -> Outcome<(Weighted<Step>, f64)> {
    let weight = |name: &str, default| properties.number(name, default);
    let weights = [
        (weight("readproportion", 0.95)?, Step::Read),
        (weight("updateproportion", 0.05)?, Step::Update),
        (weight("insertproportion", 0.0)?, Step::Insert),
        (weight("scanproportion", 0.0)?, Step::Scan),
        (
            weight("readmodifywriteproportion", 0.0)?,
            Step::ReadModifyWrite,
        ),
    ];
    let sum: f64 = weights.iter().map(|(weight, _)| weight).sum();
    let steps = Weighted::new(&weights).ok_or_else(|| {
        Failure::usage(
            "all proportions are 0, so there is nothing to do; give one of readproportion, \
             updateproportion, insertproportion, scanproportion and readmodifywriteproportion a \
             weight",
        )
    })?;
    Ok((steps, weights[2].0 / sum))
}

fn choice(properties: &Properties) -> Outcome<Choice> {
    let text = properties.text("requestdistribution", "uniform");
    match text {
        "uniform" => Ok(Choice::Uniform),
        "zipfian" => Ok(Choice::Zipfian),
        "latest" => Ok(Choice::Latest),
        "sequential" => Ok(Choice::Sequential),
        "hotspot" => Ok(Choice::Hotspot {
            items: properties.number("hotspotdatafraction", 0.2)?,
            draws: properties.number("hotspotopnfraction", 0.8)?,
        }),
        "exponential" => {
            let percent = properties.number("exponential.percentile", 95.0)?;
            let share = properties.number("exponential.frac", 0.857_142_857_1)?;
            if percent <= 0.0 || percent >= 100.0 || share <= 0.0 {
                return Err(Failure::usage(format!(
                    "exponential.percentile={percent} and exponential.frac={share} make no sense; \
                     the one lies between 0 and 100, the other above 0"
                )));
            }
            Ok(Choice::Exponential { percent, share })
        }
        _ => true_zipf(text).map(Choice::Zipf).ok_or_else(|| {
            let right = "uniform, zipfian, latest, hotspot, exponential, sequential, or \
                         zipf:<theta> such as zipf:0.8";
            wrong("requestdistribution", text, right)
        }),
    }
}

/// The exponent of `zipf` or `zipf:<theta>`.
fn true_zipf(text: &str) -> Option<f64> {
    let rest = text.strip_prefix("zipf")?;
    if rest.is_empty() {
        return Some(crate::scenario::ycsb::zipfian::THETA);
    }
    let theta: f64 = rest.strip_prefix(':')?.parse().ok()?;
    (theta > 0.0 && theta.is_finite()).then_some(theta)
}

fn scan_length(properties: &Properties) -> Outcome<ScanLength> {
    let min = properties.count("minscanlength", 1)?;
    let max = properties.count("maxscanlength", 1000)?;
    if min > max || max == 0 {
        return Err(Failure::usage(format!(
            "minscanlength={min} and maxscanlength={max} make no sense; the first may not be \
             above the second, and the second not 0"
        )));
    }
    let is_zipfian = match properties.text("scanlengthdistribution", "uniform") {
        "uniform" => false,
        "zipfian" => true,
        other => return Err(wrong("scanlengthdistribution", other, "uniform or zipfian")),
    };
    Ok(ScanLength {
        min,
        max,
        is_zipfian,
    })
}

#[cfg(test)]
mod tests;
