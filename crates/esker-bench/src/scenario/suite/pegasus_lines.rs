//! What the benchmark of Pegasus measured, line by line, as `pegasus.tsv` tells it.

/// Figures of one kind of operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Operations a second.
    pub rate: f64,
    /// Mean, in microseconds.
    pub mean_us: f64,
    /// 99th percentile, in microseconds.
    pub p99_us: f64,
}

/// What a table is like: lines of one shape are measured on one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Replicas of each partition.
    pub replicas: i32,
    /// Partitions.
    pub partitions: i32,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Sort keys of a hash key, each with a value.
    pub sort_keys: u32,
}

/// How it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Whether keys are drawn by rank; else each alike.
    pub is_zipf: bool,
    /// Client programs.
    pub clients: usize,
    /// Threads of each.
    pub threads: usize,
    /// So many reads …
    pub reads: u64,
    /// … to so many writes.
    pub writes: u64,
}

impl Load {
    /// Whether it puts the records there that others need.
    pub fn is_loading(self) -> bool {
        self.reads == 0
    }

    /// As a line shows it: `3×15 1:3`.
    pub fn text(self) -> String {
        let distribution = if self.is_zipf { "" } else { " uniform" };
        format!(
            "{}×{} {}:{}{distribution}",
            self.clients, self.threads, self.reads, self.writes
        )
    }
}

/// One line of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Version that was measured; empty where the line is ours alone.
    pub version: &'static str,
    /// The table.
    pub shape: Shape,
    /// The load on it.
    pub load: Load,
    /// What came out of reads.
    pub reads: Option<Figures>,
    /// What came out of writes.
    pub writes: Option<Figures>,
}

/// Every line, those of one shape and one load together.
pub fn lines() -> Vec<Line> {
    let lines = include_str!("pegasus.tsv").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let lines =
        lines.map(|text| line(text).unwrap_or_else(|| panic!("no line is told by: {text}")));
    lines.collect()
}

fn line(text: &'static str) -> Option<Line> {
    let fields: Vec<&str> = text.split('\t').collect();
    let [
        version,
        replicas,
        partitions,
        bytes,
        sorts,
        distribution,
        rest @ ..,
    ] = &fields[..]
    else {
        return None;
    };
    let [clients, threads, reads, writes, figures @ ..] = rest else {
        return None;
    };
    Some(Line {
        version: version.trim_matches('-'),
        shape: Shape {
            replicas: replicas.parse().ok()?,
            partitions: partitions.parse().ok()?,
            value_bytes: bytes.parse().ok()?,
            sort_keys: sorts.parse().ok()?,
        },
        load: Load {
            is_zipf: *distribution == "zipf",
            clients: clients.parse().ok()?,
            threads: threads.parse().ok()?,
            reads: reads.parse().ok()?,
            writes: writes.parse().ok()?,
        },
        reads: figures_of(figures.get(..3)?),
        writes: figures_of(figures.get(3..6)?),
    })
}

fn figures_of(fields: &[&str]) -> Option<Figures> {
    let number = |place: usize| fields.get(place)?.parse().ok();
    Some(Figures {
        rate: number(0)?,
        mean_us: number(1)?,
        p99_us: number(2)?,
    })
}

#[cfg(test)]
mod tests;
