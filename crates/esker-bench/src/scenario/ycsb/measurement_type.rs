//! In which of YCSB's forms latencies are told.

use std::path::PathBuf;
use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::scenario::ycsb::properties::Properties;

/// YCSB's forms. Whatever the form, percentiles of records and status lines come from
/// HdrHistograms, which are kept in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Percentiles of an HdrHistogram.
    Hdr,
    /// Buckets of a millisecond.
    Buckets,
    /// Both of these.
    HdrAndBuckets,
    /// The percentiles, and every operation.
    HdrAndRaw,
    /// Means over time.
    Series,
    /// Every operation.
    Raw,
}

/// What is kept of operations beside a histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing.
    Nothing,
    /// Count and sum for each interval of this length.
    Intervals(Duration),
    /// Each one.
    Each,
}

/// What the properties say of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasurementType {
    /// The form.
    pub form: Form,
    /// Buckets of a millisecond; what is longer counts as one more.
    pub buckets: u64,
    /// Length of an interval of a series.
    pub granularity: Duration,
    /// Where raw lines go; `None` is the output.
    pub raw_path: Option<PathBuf>,
    /// Whether raw lines are followed by a summary.
    pub has_raw_summary: bool,
}

impl MeasurementType {
    /// As the properties say.
    ///
    /// Errors: `Usage` for a form that is not known, and for intervals and buckets of nothing.
    pub fn from_properties(properties: &Properties) -> Outcome<MeasurementType> {
        let form = match properties.text("measurementtype", "hdrhistogram") {
            "hdrhistogram" => Form::Hdr,
            "histogram" => Form::Buckets,
            "hdrhistogram+histogram" => Form::HdrAndBuckets,
            "hdrhistogram+raw" => Form::HdrAndRaw,
            "timeseries" => Form::Series,
            "raw" => Form::Raw,
            other => {
                return Err(Failure::usage(format!(
                    "measurementtype={other} makes no sense; it is hdrhistogram, histogram, \
                     hdrhistogram+histogram, hdrhistogram+raw, timeseries or raw"
                )));
            }
        };
        let positive = |name: &str| {
            let count = properties.count(name, 1000)?;
            match count {
                0 => Err(Failure::usage(format!("{name}=0 makes no sense"))),
                count => Ok(count),
            }
        };
        let raw_path = properties.text("measurement.raw.output_file", "");
        Ok(MeasurementType {
            form,
            buckets: positive("histogram.buckets")?,
            granularity: Duration::from_millis(positive("timeseries.granularity")?),
            raw_path: (!raw_path.is_empty()).then(|| raw_path.into()),
            has_raw_summary: !properties.flag("measurement.raw.no_summary", false),
        })
    }

    /// What the form needs to be kept.
    pub fn kept(&self) -> Kept {
        match self.form {
            Form::Hdr | Form::Buckets | Form::HdrAndBuckets => Kept::Nothing,
            Form::Series => Kept::Intervals(self.granularity),
            Form::HdrAndRaw | Form::Raw => Kept::Each,
        }
    }
}
