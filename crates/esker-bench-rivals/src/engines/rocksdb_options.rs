//! Neutral settings in the words of RocksDB's options.

use ::rocksdb::{BlockBasedOptions, Cache, DBCompressionType, MergeOperands, Options};
use esker_bench::target::settings::{Packing, StoreSettings};

use crate::engines::sheet::Sheet;

/// What a store is opened with.
pub struct Translated {
    /// RocksDB's options.
    pub options: Options,
    /// The block cache, shared with the options.
    pub cache: Option<Cache>,
    /// Whether there is a merge operator.
    pub has_merge: bool,
}

/// Levels of a tree unless told.
const LEVELS: usize = 7;

/// Translates `settings`, writing down on `sheet` what became of each.
pub fn translate(settings: &StoreSettings, sheet: &mut Sheet) -> Translated {
    let mut options = Options::default();
    options.create_if_missing(true);
    let cache = memory(settings, &mut options, sheet);
    blocks(settings, &mut options, cache.as_ref(), sheet);
    packing(settings, &mut options, sheet);
    levels(settings, &mut options, sheet);
    let has_merge = merges(settings, &mut options, sheet);
    sheet.given("sync", format!("WriteOptions::sync={}", settings.sync));
    sheet.aside("checksums", "verify_checksums=true", "as Esker always does");
    Translated {
        options,
        cache,
        has_merge,
    }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

fn number(count: u64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn memory(settings: &StoreSettings, options: &mut Options, sheet: &mut Sheet) -> Option<Cache> {
    if let Some(bytes) = settings.write_buffer_bytes {
        options.set_write_buffer_size(size(bytes));
        sheet.given("write_buffer_bytes", format!("write_buffer_size={bytes}"));
    }
    if let Some(count) = settings.background_threads {
        options.set_max_background_jobs(number(count));
        options.increase_parallelism(number(count));
        sheet.given("background_threads", format!("max_background_jobs={count}"));
    }
    if let Some(is_mapped) = settings.mapped_reads {
        options.set_allow_mmap_reads(is_mapped);
        sheet.given("mapped_reads", format!("allow_mmap_reads={is_mapped}"));
    }
    let bytes = settings.cache_bytes?;
    sheet.given(
        "cache_bytes",
        format!("block_cache=HyperClockCache {bytes}"),
    );
    // Its fastest cache, and the one its makers advise; blocks' sizes are estimated by itself.
    Some(Cache::new_hyper_clock_cache(size(bytes), 0))
}

fn blocks(
    settings: &StoreSettings,
    options: &mut Options,
    cache: Option<&Cache>,
    sheet: &mut Sheet,
) {
    let mut blocks = BlockBasedOptions::default();
    if let Some(cache) = cache {
        blocks.set_block_cache(cache);
    }
    match settings.filter_bits {
        Some(bits) if bits > 0.0 => {
            blocks.set_bloom_filter(bits, false);
            sheet.given("filter_bits", format!("full bloom filter, {bits} bits"));
        }
        Some(_) => sheet.given("filter_bits", "no filter"),
        None => {}
    }
    if let Some(bytes) = settings.block_bytes {
        blocks.set_block_size(size(bytes));
        sheet.given("block_bytes", format!("block_size={bytes}"));
    }
    options.set_block_based_table_factory(&blocks);
}

fn packing(settings: &StoreSettings, options: &mut Options, sheet: &mut Sheet) {
    let Some(packing) = settings.packing else {
        return;
    };
    let kind = match packing {
        Packing::None => DBCompressionType::None,
        Packing::Snappy => DBCompressionType::Snappy,
        Packing::Lz4 => DBCompressionType::Lz4,
        Packing::Zstd(level) => {
            options.set_compression_options(-14, level, 0, 0);
            DBCompressionType::Zstd
        }
    };
    options.set_compression_type(kind);
    sheet.given("packing", format!("compression={}", packing.name()));
    if let Some(first) = settings.packing_level_min {
        let of_level = |level| {
            if level < first {
                DBCompressionType::None
            } else {
                kind
            }
        };
        let kinds: Vec<_> = (0..LEVELS).map(of_level).collect();
        options.set_compression_per_level(&kinds);
        sheet.given(
            "packing_level_min",
            format!("compression_per_level from {first}"),
        );
    }
}

fn levels(settings: &StoreSettings, options: &mut Options, sheet: &mut Sheet) {
    if let Some(count) = settings.l0_trigger {
        options.set_level_zero_file_num_compaction_trigger(number(count));
        let given = format!("level0_file_num_compaction_trigger={count}");
        sheet.given("l0_trigger", given);
    }
    if let Some(bytes) = settings.level_base_bytes {
        options.set_max_bytes_for_level_base(bytes);
        let given = format!("max_bytes_for_level_base={bytes}");
        sheet.given("level_base_bytes", given);
    }
}

fn merges(settings: &StoreSettings, options: &mut Options, sheet: &mut Sheet) -> bool {
    if settings.has_merges {
        // RocksDB's own operator of this name cannot be reached from C; this does the same.
        options.set_merge_operator_associative("uint64add", add);
        sheet.given("merges", "uint64add");
    }
    settings.has_merges
}

fn word(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn add(_key: &[u8], existing: Option<&[u8]>, operands: &MergeOperands) -> Option<Vec<u8>> {
    let start = existing.map_or(0, word);
    let sum = operands
        .iter()
        .fold(start, |sum, operand| sum.wrapping_add(word(operand)));
    Some(sum.to_le_bytes().to_vec())
}
