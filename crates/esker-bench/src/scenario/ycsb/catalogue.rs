//! Every property that is known, and the one that somebody probably meant.

use crate::flags::nearest::nearest;
use crate::scenario::ycsb::properties::Properties;

/// A property: its name, its default as text, what it means.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its default; empty where there is none.
    pub default: &'static str,
    /// What it means; empty where it has no effect here.
    pub doc: &'static str,
}

const fn known(name: &'static str, default: &'static str, doc: &'static str) -> Known {
    Known { name, default, doc }
}

/// A property of YCSB that has no effect here, and is accepted for its files' sake.
const fn unused(name: &'static str) -> Known {
    known(name, "", "")
}

/// Everything with an effect, by subject, then what is accepted only.
pub const KNOWN: &[Known] = &[
    known(
        "workload",
        "CoreWorkload",
        "CoreWorkload or FileWorkload; a class is accepted",
    ),
    known(
        "recordcount",
        "",
        "records that are loaded, or that are there",
    ),
    known(
        "operationcount",
        "0",
        "operations of a run, all threads together; 0: until time is up",
    ),
    known("insertstart", "0", "number of the first record to load"),
    known(
        "insertcount",
        "",
        "records to load; default: recordcount less insertstart",
    ),
    known(
        "maxexecutiontime",
        "0",
        "seconds after which a phase ends; 0: none",
    ),
    known("threadcount", "1", "threads (-threads)"),
    known(
        "target",
        "0",
        "operations per second, all threads together (-target); 0: no limit",
    ),
    known("table", "usertable", "name of the table"),
    known("fieldcount", "10", "fields of a record"),
    known(
        "fieldnameprefix",
        "field",
        "names of fields: this and a number",
    ),
    known("fieldlength", "100", "bytes of a field, or the most"),
    known(
        "minfieldlength",
        "1",
        "the least bytes of a field, where they vary",
    ),
    known(
        "fieldlengthdistribution",
        "constant",
        "constant, uniform, zipfian or histogram",
    ),
    known(
        "fieldlengthhistogram",
        "hist.txt",
        "file with the histogram",
    ),
    known(
        "readallfields",
        "true",
        "whether reads want all fields, or one at random",
    ),
    known(
        "readallfieldsbyname",
        "false",
        "whether they name all of them",
    ),
    known(
        "writeallfields",
        "false",
        "whether updates write all fields, or one at random",
    ),
    known(
        "dataintegrity",
        "false",
        "whether values can be told from their key, and are checked",
    ),
    known("readproportion", "0.95", "weight of reads"),
    known("updateproportion", "0.05", "weight of updates"),
    known("insertproportion", "0", "weight of inserts"),
    known("scanproportion", "0", "weight of scans"),
    known(
        "readmodifywriteproportion",
        "0",
        "weight of read-modify-writes",
    ),
    known(
        "requestdistribution",
        "uniform",
        "uniform, zipfian, latest, hotspot, exponential or sequential, as YCSB does them; \
         zipf[:theta] is a true one of any exponent",
    ),
    known("minscanlength", "1", "the least records of a scan"),
    known("maxscanlength", "1000", "the most records of a scan"),
    known("scanlengthdistribution", "uniform", "uniform or zipfian"),
    known(
        "insertorder",
        "hashed",
        "hashed, or ordered: keys in the order of their numbers",
    ),
    known(
        "zeropadding",
        "1",
        "digits that numbers in keys are filled up to",
    ),
    known(
        "hotspotdatafraction",
        "0.2",
        "share of the records that is hot",
    ),
    known(
        "hotspotopnfraction",
        "0.8",
        "share of the operations that goes there",
    ),
    known(
        "exponential.percentile",
        "95",
        "percent of the operations …",
    ),
    known(
        "exponential.frac",
        "0.8571428571",
        "… that go to this share of the records",
    ),
    known(
        "core_workload_insertion_retry_limit",
        "0",
        "tries after a failed insert of the load",
    ),
    known(
        "core_workload_insertion_retry_interval",
        "3",
        "seconds between them, within a fifth",
    ),
    known(
        "core_workload_insertion_keep_going_on_error",
        "false",
        "whether the load goes on then",
    ),
    known(
        "measurementtype",
        "hdrhistogram",
        "hdrhistogram, histogram, timeseries, raw, hdrhistogram+histogram or hdrhistogram+raw",
    ),
    known(
        "histogram.buckets",
        "1000",
        "buckets of a millisecond of a histogram",
    ),
    known(
        "timeseries.granularity",
        "1000",
        "milliseconds of an interval of a timeseries",
    ),
    known(
        "measurement.raw.output_file",
        "",
        "file for raw lines, behind what is there; without it they go to the output",
    ),
    known(
        "measurement.raw.no_summary",
        "false",
        "whether raw lines have no summary behind them",
    ),
    known(
        "measurement.interval",
        "both",
        "latencies from the start (op), from when due \
         (intended), or both",
    ),
    known(
        "hdrhistogram.percentiles",
        "50,90,95,99,99.9,99.99",
        "percentiles that are printed",
    ),
    known(
        "hdrhistogram.fileoutput",
        "false",
        "whether histograms are logged, a file for each",
    ),
    known(
        "hdrhistogram.output.path",
        "",
        "what the names of those files begin with",
    ),
    known(
        "measurement.histogram.verbose",
        "false",
        "whether whole histograms are printed",
    ),
    known(
        "reportlatencyforeacherror",
        "false",
        "whether each kind of failure has its latencies",
    ),
    known("latencytrackederrors", "", "kinds of failure that have"),
    known(
        "status",
        "false",
        "a line on the error stream now and then (-s)",
    ),
    known("status.interval", "10", "seconds between two such lines"),
    known("label", "", "what such a line begins with (-l)"),
    known(
        "exporter",
        "TextMeasurementsExporter",
        "or JSONMeasurementsExporter, \
         JSONArrayMeasurementsExporter; a class is accepted",
    ),
    known(
        "exportfile",
        "",
        "file for the results; default: the output",
    ),
    known("db", "esker", "what is measured (-db)"),
    known(
        "dotransactions",
        "true",
        "false loads (-load), true runs (-t)",
    ),
    known("seed", "1", "start of all random numbers"),
    known(
        "esker.dir",
        "",
        "directory of the database; rocksdb.dir does as well",
    ),
    known(
        "rocksdb.dir",
        "",
        "the same, under the name that scripts know",
    ),
    known(
        "datafile",
        "",
        "FileWorkload: file with a record in each line",
    ),
    known(
        "delimiter",
        "\\t",
        "FileWorkload: what stands between fields",
    ),
    known(
        "fieldnum",
        "15",
        "FileWorkload: fields that a line must have",
    ),
    known(
        "fieldnames",
        "",
        "FileWorkload: names of the fields, with commas",
    ),
    known(
        "usecustomkey",
        "false",
        "FileWorkload: whether fields make the key",
    ),
    known(
        "keyfield",
        "0",
        "FileWorkload: numbers of those fields, with commas",
    ),
    known(
        "keyfile",
        "",
        "FileWorkload: file with keys to read, a key in each line",
    ),
    known("batchread", "1", "FileWorkload: records of one read"),
    known(
        "writeinread",
        "true",
        "FileWorkload: whether reads write what they found",
    ),
    known("writerate", "0", "FileWorkload: how often they do, 0 to 1"),
    known(
        "writeproportion",
        "0.05",
        "FileWorkload: weight of writes, where reads do not",
    ),
    known(
        "writetable",
        "usertable_for_write",
        "FileWorkload: table that is written to",
    ),
    unused("queuesize"),
    unused("threadplan"),
    unused("mysql.upsert"),
    unused("mongodb.upsert"),
    unused("rocksdb.optionsfile"),
    unused("measurement.trackjvm"),
];

/// What properties that are settings of our engine begin with.
pub const OWN: &str = "esker.";

/// One note for each property that has no effect.
pub fn notes(properties: &Properties) -> Vec<String> {
    let note = |(name, value): (&str, &str)| {
        let known = KNOWN.iter().find(|known| known.name == name);
        match known {
            Some(known) if !known.doc.is_empty() => None,
            Some(_) => unused_note(name, value.trim()),
            None if name.starts_with(OWN) || name.starts_with("htrace.") => None,
            None => Some(match nearest(name, KNOWN.iter().map(|known| known.name)) {
                Some(near) => {
                    format!("note: there is no property {name}; did you mean {near}?")
                }
                None => format!("note: there is no property {name}; it has no effect"),
            }),
        }
    };
    properties.iter().filter_map(note).collect()
}

fn unused_note(name: &str, value: &str) -> Option<String> {
    let why = match (name, value) {
        ("queuesize", _) => "threads take lines from the file themselves, without a queue",
        ("threadplan", _) => "all threads do the same mix",
        ("measurement.trackjvm", _) => "there is no Java machine",
        ("rocksdb.optionsfile", _) => "the engine is told its settings as esker.<name>",
        _ => "it belongs to a store that is not measured here",
    };
    Some(format!("note: {name} has no effect: {why}"))
}

#[cfg(test)]
mod tests;
