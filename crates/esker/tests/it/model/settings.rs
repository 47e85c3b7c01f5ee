//! Random settings that must not show in any answer.

use esker::KeyspaceOptions;
use esker::internals::base::options::catalog::set_keyspace;
use esker::internals::env::random::Random;

use super::program::KeyspaceShape;

use crate::compressions::or_plain;

/// Settings of one opening: names and values.
#[derive(Clone, Debug)]
pub struct Settings(pub Vec<(&'static str, &'static str)>);

impl Settings {
    pub fn random(random: &mut Random) -> Settings {
        let mut pick = |choices: &[&'static str]| {
            choices[usize::try_from(random.below(choices.len() as u64)).unwrap()]
        };
        let compressions = ["none", "lz4", "zstd", "snappy", "searchable", "searchable"];
        Settings(vec![
            ("memory_limit", pick(&["1MiB", "4MiB", "64MiB"])),
            ("memtable.size", pick(&["16KiB", "16KiB", "64KiB", "auto"])),
            ("durability", pick(&["memory", "buffered", "sync"])),
            ("wal.segment_size", pick(&["64KiB", "128KiB"])),
            ("wal.total_size", pick(&["128KiB", "64MiB"])),
            ("value_log.threshold", pick(&["none", "32B", "60B", "700B"])),
            ("value_buffer_size", pick(&["128KiB", "auto"])),
            ("value_flush_bytes", pick(&["64KiB", "auto"])),
            ("value_flush_interval", pick(&["none", "1s"])),
            ("max_space_amp", pick(&["1.05", "1.3", "4"])),
            ("value_log.segment_size", pick(&["64KiB", "128KiB"])),
            ("files.open_max", pick(&["16", "1000"])),
            ("sst.block_size", pick(&["512", "1KiB", "4KiB", "16KiB"])),
            ("sst.restart_interval", pick(&["1", "2", "16"])),
            ("sst.filter_bits", pick(&["0", "1", "10"])),
            ("sst.hash_index", pick(&["true", "false"])),
            ("sst.index_partition", pick(&["4KiB", "256KiB"])),
            ("sst.file_size", pick(&["16KiB", "32KiB", "64KiB"])),
            ("compression", or_plain(pick(&compressions))),
            ("sst.compression_upper", or_plain(pick(&compressions[..4]))),
            ("sst.dictionary_min", pick(&["0", "4KiB", "4MiB"])),
            ("compaction.l0_trigger", pick(&["1", "2", "4", "8"])),
            (
                "compaction.base_level",
                pick(&["64KiB", "128KiB", "1MiB", "8MiB"]),
            ),
            ("compaction.level_growth", pick(&["2", "10"])),
            ("compaction.subcompactions", pick(&["1", "2", "4"])),
            ("compaction.automatic", pick(&["true", "true", "false"])),
            ("mapped_reads", pick(&["true", "false"])),
        ])
    }

    /// For a keyspace that is created under them.
    pub fn keyspace(&self, shape: &KeyspaceShape) -> KeyspaceOptions {
        let mut options = KeyspaceOptions {
            comparator: shape.comparator(),
            merge: Some(shape.merge_rule()),
            ttl_ms: shape.ttl_ms.into(),
            ..KeyspaceOptions::default()
        };
        let parts = ["memtable", "sst", "compaction", "compression"];
        for (name, text) in &self.0 {
            let is_own = parts.contains(&name.split('.').next().unwrap());
            if is_own || *name == "value_log.threshold" {
                set_keyspace(&mut options, name, text).unwrap();
            }
        }
        options
    }
}
