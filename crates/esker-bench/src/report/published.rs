//! Figures that others published, to stand beside ours where the workload is the same.
//!
//! Only figures and the names of things are taken over; each row says where it is from.

/// In what a figure was published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Operations a second.
    Rate,
    /// Microseconds for each operation.
    Micros,
    /// The rate of the first name over the rate of the second.
    Ratio,
}

/// Where a figure is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is called over a column.
    pub short: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Who published it, and when.
    pub source: &'static str,
    /// On what it was measured.
    pub machine: &'static str,
}

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Where it is from.
    pub document: &'static Document,
    /// What was measured, for people.
    pub workload: &'static str,
    /// Names of our workloads that do the same, and how many of that name came before.
    pub names: &'static [(&'static str, usize)],
    /// For ratios: the workload below the line.
    pub below: &'static str,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: Unit,
}

/// What can and cannot be read from figures of two machines.
pub const CAUTION: &str = "Machines, years and disks differ, so a rate here says nothing about \
    which engine is faster; what can be compared is the order of magnitude and, better, a ratio of \
    two lines that one machine measured, such as merge over update.";

/// Counters by reading and writing, and by merging.
pub const MERGES: Document = Document {
    short: "RocksDB, 2013",
    title: "Read-Modify-Write Benchmarks",
    source: "RocksDB wiki, 2013",
    machine: "16 cores Xeon E5-2660, 144 GB, 1.8 TB flash; 50 M keys, 8-byte values, log off",
};

/// LevelDB's list on a desktop.
pub const DESKTOP: Document = Document {
    short: "LevelDB, desktop",
    title: "Key-value stores that turn rows into columns: LevelDB",
    source: "notes on LevelDB 1.20, about 2017",
    machine: "desktop, i5, SATA SSD Kingston SA400; 1 M keys, no packing",
};

/// LevelDB's list on a server.
pub const SERVER: Document = Document {
    short: "LevelDB, server",
    title: "Key-value stores that turn rows into columns: LevelDB",
    source: "notes on LevelDB 1.20, October 2017",
    machine: "server, 8 cores Opteron 4386, hard disk; 1 M keys, no packing",
};

/// Values of 100 KB through a pool of buffers.
pub const KVS: Document = Document {
    short: "kvs, 2012",
    title: "key-value-system performance test",
    source: "FoOTOo Lab, 2012",
    machine: "Pentium E5700, 2 GB, 7200 rpm SATA disk; 100 KB values",
};

/// Documents that have no counterpart here, and why.
pub const WITHOUT_COUNTERPART: &str = "Without a counterpart here: the benchmark of Pegasus \
    1.12.3, about 2019, whose records cross a network and are kept three times; and that of Amazon \
    movie reviews in TerarkDB's documentation, about 2018, which tells its speeds in pictures.";

fn rate(
    document: &'static Document,
    workload: &'static str,
    names: &'static [(&'static str, usize)],
    value: f64,
) -> Figure {
    Figure {
        document,
        workload,
        names,
        below: "",
        value,
        unit: Unit::Rate,
    }
}

/// A line of LevelDB's list on both machines of the notes.
fn both(
    workload: &'static str,
    names: &'static [(&'static str, usize)],
    desktop: f64,
    server: f64,
) -> [Figure; 2] {
    let one = |document, value| Figure {
        document,
        workload,
        names,
        below: "",
        value,
        unit: Unit::Micros,
    };
    [one(&DESKTOP, desktop), one(&SERVER, server)]
}

/// What the document on values of 100 KB tells of one scheme under one configuration of buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SchemeFigures {
    /// Time that the user waited, in milliseconds.
    pub response_ms: u64,
    /// Operations a second.
    pub rate: f64,
    /// Mean time of an operation, in milliseconds.
    pub mean_ms: f64,
}

/// Schemes 1 to 3 of that document, each under configurations 1 to 3.
pub fn kvs_schemes() -> [[SchemeFigures; 3]; 3] {
    let one = |response_ms, rate, mean_ms| SchemeFigures {
        response_ms,
        rate,
        mean_ms,
    };
    [
        [
            one(109_171, 962.0, 1.04),
            one(107_260, 977.0, 1.02),
            one(106_174, 987.0, 1.01),
        ],
        [
            one(408_266, 122.0, 8.17),
            one(399_450, 125.0, 7.99),
            one(392_116, 127.0, 7.84),
        ],
        [
            one(351_500, 149.0, 6.70),
            one(348_910, 150.0, 6.65),
            one(337_489, 156.0, 6.42),
        ],
    ]
}

/// A scheme's rates under the three configurations, which one record holds one after another.
fn scheme(
    workload: &'static str,
    names: [&'static [(&'static str, usize)]; 3],
    told: [SchemeFigures; 3],
) -> [Figure; 3] {
    [0, 1, 2].map(|place| rate(&KVS, workload, names[place], told[place].rate))
}

/// Every figure.
pub fn figures() -> Vec<Figure> {
    let ratio = Figure {
        unit: Unit::Ratio,
        below: "updaterandom",
        ..rate(&MERGES, "merge over update", &[("mergerandom", 0)], 3.16)
    };
    let mut all = vec![
        rate(&MERGES, "updaterandom", &[("updaterandom", 0)], 33_498.0),
        rate(&MERGES, "mergerandom", &[("mergerandom", 0)], 105_892.0),
        ratio,
    ];
    all.extend(leveldb().into_iter().flatten());
    const PUT: [&[(&str, usize)]; 3] = [&[("put", 0)], &[("put", 1)], &[("put", 2)]];
    const GET: [&[(&str, usize)]; 3] = [&[("get", 0)], &[("get", 1)], &[("get", 2)]];
    const MIX: [&[(&str, usize)]; 3] = [&[("mixed", 0)], &[("mixed", 1)], &[("mixed", 2)]];
    let [put, get, mix] = kvs_schemes();
    all.extend(scheme("sequential put", PUT, put));
    all.extend(scheme("cold random get", GET, get));
    all.extend(scheme("get and put, 200 : 1", MIX, mix));
    all
}

/// The figure that `document` published for the workload that we call `name`, where `before` of
/// that name came before it in one run.
pub fn value(document: &Document, name: &str, before: usize) -> Option<f64> {
    let is_asked = |figure: &Figure| {
        figure.document == document
            && figure.unit != Unit::Ratio
            && figure.names.contains(&(name, before))
    };
    let found = figures().into_iter().find(is_asked);
    found.map(|figure| figure.value)
}

/// The lines of LevelDB's list, in microseconds for each operation.
fn leveldb() -> [[Figure; 2]; 15] {
    [
        both("fillseq", &[("fillseq", 0)], 4.430, 4.420),
        both("fillsync", &[("fillsync", 0)], 51.263, 42_371.754),
        both("fillrandom", &[("fillrandom", 0)], 3.984, 13.551),
        both("overwrite", &[("overwrite", 0)], 4.235, 20.956),
        both("readrandom, first", &[("readrandom", 0)], 4.318, 6.782),
        both("readrandom, second", &[("readrandom", 1)], 3.711, 4.308),
        both("readseq", &[("readseq", 0)], 0.166, 0.224),
        both("readreverse", &[("readreverse", 0)], 0.308, 0.381),
        both("compact", &[("compact", 0)], 693_897.0, 3_167_857.0),
        both(
            "readrandom, compacted",
            &[("readrandom", 2), ("compacted-readrandom", 0)],
            2.339,
            2.745,
        ),
        both(
            "readseq, compacted",
            &[("readseq", 1), ("compacted-readseq", 0)],
            0.139,
            0.188,
        ),
        both(
            "readreverse, compacted",
            &[("readreverse", 1), ("compacted-readreverse", 0)],
            0.246,
            0.329,
        ),
        both("fill100K", &[("fill100K", 0)], 4904.830, 6323.643),
        both("crc32c, 4 KiB", &[("crc32c", 0)], 1.066, 2.097),
        both("loads of a pointer", &[("acquireload", 0)], 12.601, 0.666),
    ]
}

#[cfg(test)]
mod tests;
