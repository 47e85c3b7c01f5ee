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
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Where it is from.
    pub document: &'static Document,
    /// What was measured, for people.
    pub workload: &'static str,
    /// Names of our workloads that do the same, and how many of that name came before.
    pub names: Vec<(&'static str, usize)>,
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
    1.12.3, about 2019, which is of a cluster and stands beside ours in the scenario pegasus; and \
    that of Amazon movie reviews in TerarkDB's documentation, about 2018, which tells its speeds \
    in pictures.";

/// What the document on values of 100 KB tells of schemes 1 to 3 besides their rates, each under
/// configurations 1 to 3: milliseconds that the user waited, and those of one operation.
pub const KVS_TIMES: [[(f64, f64); 3]; 3] = [
    [(109_171.0, 1.04), (107_260.0, 1.02), (106_174.0, 1.01)],
    [(408_266.0, 8.17), (399_450.0, 7.99), (392_116.0, 7.84)],
    [(351_500.0, 6.70), (348_910.0, 6.65), (337_489.0, 6.42)],
];

/// Every figure, as the table `published.tsv` tells it.
pub fn figures() -> Vec<Figure> {
    let lines = include_str!("published.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let figures =
        lines.map(|line| figure(line).unwrap_or_else(|| panic!("no figure is told by: {line}")));
    figures.collect()
}

fn figure(line: &'static str) -> Option<Figure> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [document, workload, names, value, unit] = fields[..] else {
        return None;
    };
    let name = |name: &'static str| match name.split_once('#') {
        Some((name, place)) => Some((name, place.parse::<usize>().ok()? - 1)),
        None => Some((name, 0)),
    };
    Some(Figure {
        document: match document {
            "merges" => &MERGES,
            "desktop" => &DESKTOP,
            "server" => &SERVER,
            "kvs" => &KVS,
            _ => return None,
        },
        workload,
        names: names.split(',').map(name).collect::<Option<_>>()?,
        value: value.parse().ok()?,
        unit: match unit {
            "/s" => Unit::Rate,
            "µs" => Unit::Micros,
            _ => return None,
        },
    })
}

/// The figure that `document` published for the workload that we call `name`, where `before` of
/// that name came before it in one run.
pub fn value(document: &Document, name: &str, before: usize) -> Option<f64> {
    let is_asked =
        |figure: &Figure| figure.document == document && figure.names.contains(&(name, before));
    let found = figures().into_iter().find(is_asked);
    found.map(|figure| figure.value)
}

#[cfg(test)]
mod tests;
