//! The facts that a picture of the tree shows.

/// One sorted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBox {
    /// Its number.
    pub number: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The first key it covers.
    pub smallest: Vec<u8>,
    /// The last key it covers.
    pub largest: Vec<u8>,
    /// Entries in it.
    pub entry_count: u64,
    /// Those of them that delete.
    pub delete_count: u64,
}

/// Files that do not overlap, in the order of their keys. Level 0 has several, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRow {
    /// Its level.
    pub level: usize,
    /// Its files.
    pub files: Vec<FileBox>,
}

/// The files of one keyspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyspaceMap {
    /// The keyspace.
    pub name: String,
    /// Its runs from the newest to the oldest, without empty ones.
    pub runs: Vec<RunRow>,
}

/// What one level holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelSum {
    /// Which level.
    pub level: usize,
    /// Runs in it.
    pub run_count: u64,
    /// Files in it.
    pub file_count: u64,
    /// Bytes of these files.
    pub size_bytes: u64,
    /// Entries in these files.
    pub entry_count: u64,
    /// Those of them that delete.
    pub delete_count: u64,
}

impl KeyspaceMap {
    /// Every file.
    pub fn files(&self) -> impl Iterator<Item = &FileBox> {
        self.runs.iter().flat_map(|run| &run.files)
    }

    /// Bytes of all files.
    pub fn size_bytes(&self) -> u64 {
        self.files().map(|file| file.size_bytes).sum()
    }

    /// What each level holds, from the top, without empty ones.
    pub fn levels(&self) -> Vec<LevelSum> {
        let mut sums: Vec<LevelSum> = Vec::new();
        for run in &self.runs {
            let sum = match sums.last_mut() {
                Some(sum) if sum.level == run.level => sum,
                _ => {
                    sums.push(LevelSum {
                        level: run.level,
                        run_count: 0,
                        file_count: 0,
                        size_bytes: 0,
                        entry_count: 0,
                        delete_count: 0,
                    });
                    sums.last_mut().expect("it was pushed just now")
                }
            };
            sum.run_count += 1;
            for file in &run.files {
                sum.file_count += 1;
                sum.size_bytes += file.size_bytes;
                sum.entry_count += file.entry_count;
                sum.delete_count += file.delete_count;
            }
        }
        sums
    }
}
