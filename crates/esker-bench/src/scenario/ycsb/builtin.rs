//! The six workloads that come with YCSB, as the properties of their files.

/// A workload that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its letter.
    pub letter: char,
    /// What it is like.
    pub story: &'static str,
    /// What sets it apart from the others.
    pub text: &'static str,
}

/// What all six files say.
pub const SHARED: &str = "recordcount=1000\noperationcount=1000\n\
     workload=site.ycsb.workloads.CoreWorkload\nreadallfields=true\n\
     readproportion=0\nupdateproportion=0\nscanproportion=0\ninsertproportion=0\n";

/// All six, in order.
pub const BUILTINS: [Builtin; 6] = [
    Builtin {
        letter: 'a',
        story: "half reads, half updates: a session store",
        text: "readproportion=0.5\nupdateproportion=0.5\nrequestdistribution=zipfian\n",
    },
    Builtin {
        letter: 'b',
        story: "95 % reads, 5 % updates: tags of photos",
        text: "readproportion=0.95\nupdateproportion=0.05\nrequestdistribution=zipfian\n",
    },
    Builtin {
        letter: 'c',
        story: "only reads: a cache of profiles",
        text: "readproportion=1\nrequestdistribution=zipfian\n",
    },
    Builtin {
        letter: 'd',
        story: "95 % reads of the latest, 5 % inserts: status updates",
        text: "readproportion=0.95\ninsertproportion=0.05\nrequestdistribution=latest\n",
    },
    Builtin {
        letter: 'e',
        story: "95 % short scans, 5 % inserts: threaded conversations",
        text: "scanproportion=0.95\ninsertproportion=0.05\nrequestdistribution=zipfian\n\
               maxscanlength=100\nscanlengthdistribution=uniform\n",
    },
    Builtin {
        letter: 'f',
        story: "half reads, half read-modify-writes: records of users",
        text: "readproportion=0.5\nreadmodifywriteproportion=0.5\nrequestdistribution=zipfian\n",
    },
];

/// The workload of a name: `a`, `A`, `workloada`, or a path that ends in that.
pub fn find(name: &str) -> Option<&'static Builtin> {
    let last = name.rsplit('/').next().unwrap_or(name);
    let last = last.to_ascii_lowercase();
    let letter = last.strip_prefix("workload").unwrap_or(&last);
    let mut letters = letter.chars();
    let (first, rest) = (letters.next()?, letters.next());
    BUILTINS
        .iter()
        .find(|builtin| builtin.letter == first && rest.is_none())
}
