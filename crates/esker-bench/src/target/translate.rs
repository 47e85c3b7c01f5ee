//! Neutral settings in the words of our engine's catalogue.

use crate::target::settings::{Matched, Packing, StoreSettings, Transactions};
use esker::internals::base::options::db::DbOptions;

/// Memtables at the same time unless told: one live, one being flushed, one sealed meanwhile.
const MEMTABLES: u64 = 3;

/// Memtables that the memory limit must hold at the least.
const LIMIT_MEMTABLES: u64 = 4;

/// The engine's memory limit unless told.
const DEFAULT_LIMIT: u64 = 256 << 20;

/// Bytes of a file and of the first sorted level unless told: a file must fit in the level.
const FILE_BYTES: u64 = 32 << 20;
const BASE_BYTES: u64 = 256 << 20;

/// A setting of the catalogue and its text.
type Pair = (&'static str, String);

/// The pairs for the builder, and what became of each wish.
pub fn translate(settings: &StoreSettings) -> (Vec<(String, String)>, Vec<Matched>) {
    let mut sheet = Sheet::default();
    memory(settings, &mut sheet);
    files(settings, &mut sheet);
    levels(settings, &mut sheet);
    if let Some(kind) = settings.transactions {
        // No setting of the database: each transaction says what it is.
        let given = match kind {
            Transactions::Optimistic => "TransactionMode::Optimistic, Isolation::Snapshot",
            Transactions::Locking => "TransactionMode::Locking, Isolation::ReadCommitted",
        };
        sheet.matched.push(Matched {
            wish: "transactions".into(),
            wished: kind.name().into(),
            given: given.into(),
            note: String::new(),
        });
    }
    for (name, text) in &settings.own {
        sheet.matched.push(Matched {
            wish: "own".into(),
            wished: format!("{name}={text}"),
            given: format!("{name}={text}"),
            note: String::new(),
        });
    }
    let pairs = sheet.pairs.into_iter();
    let pairs = pairs.map(|(name, text)| (name.to_owned(), text));
    // Those of the user come last and win: the engine refuses a setting that is given twice.
    let pairs: Vec<(String, String)> = pairs.chain(settings.own.iter().cloned()).collect();
    let is_last = |place: usize, name: &str| pairs[place + 1..].iter().all(|(it, _)| it != name);
    let last = pairs.iter().enumerate();
    let last = last.filter(|(place, (name, _))| is_last(*place, name));
    let last = last.map(|(_, pair)| pair.clone()).collect();
    (last, sheet.matched)
}

/// Gives a wish that is a number under one name of the catalogue, within what the engine takes.
macro_rules! number {
    ($sheet:ident, $settings:ident.$wish:ident => $name:literal, $min:expr, $max:expr) => {
        if let Some(wished) = $settings.$wish {
            let given = wished.clamp($min, $max).to_string();
            $sheet.given(stringify!($wish), wished, $name, given);
        }
    };
}

#[derive(Default)]
struct Sheet {
    pairs: Vec<Pair>,
    matched: Vec<Matched>,
}

impl Sheet {
    fn given(&mut self, wish: &str, wished: impl ToString, name: &'static str, text: String) {
        self.told(wish, wished, vec![(name, text)], "");
    }

    fn told(&mut self, wish: &str, wished: impl ToString, pairs: Vec<Pair>, note: &str) {
        let given: Vec<String> = pairs
            .iter()
            .map(|(name, text)| format!("{name}={text}"))
            .collect();
        self.matched.push(Matched {
            wish: wish.into(),
            wished: wished.to_string(),
            given: given.join(" "),
            note: note.into(),
        });
        self.pairs.extend(pairs);
    }
}

// One limit covers cache, memtables, filters and indexes: what the cache gets is the limit less
// the rest, while others hold filters and indexes beside their cache.
fn memory(settings: &StoreSettings, sheet: &mut Sheet) {
    number!(sheet, settings.write_buffer_bytes => "memtable.size", 16 << 10, 2 << 30);
    if let Some(cache) = settings.cache_bytes {
        let buffer = settings.write_buffer_bytes.unwrap_or(0);
        // The engine wants four memtables to fit, so that reads have some of the memory.
        let wished = cache + buffer * MEMTABLES;
        let limit = wished.max(buffer * LIMIT_MEMTABLES);
        let note = match limit == wished {
            true => "one limit for cache, memtables, filters and indexes",
            false => "one limit for all, raised above the wish so that four memtables fit",
        };
        let limit = limit.max(DbOptions::MEMORY_LIMIT_MIN).to_string();
        sheet.told("cache_bytes", cache, vec![("memory_limit", limit)], note);
    } else if let Some(buffer) = settings.write_buffer_bytes {
        let limit = (buffer * LIMIT_MEMTABLES).max(DEFAULT_LIMIT);
        sheet.told(
            "memory_limit",
            "automatic",
            vec![("memory_limit", limit.to_string())],
            "no cache size was given: the default, or what four memtables need",
        );
    }
    let durability = if settings.sync { "sync" } else { "buffered" };
    sheet.given("sync", settings.sync, "durability", durability.into());
    number!(sheet, settings.background_threads => "background_threads", 1, 256);
    if let Some(is_mapped) = settings.mapped_reads {
        let pairs = vec![("mapped_reads", is_mapped.to_string())];
        let note = "of files that are searched while they are packed";
        sheet.told("mapped_reads", is_mapped, pairs, note);
    }
}

fn files(settings: &StoreSettings, sheet: &mut Sheet) {
    if let Some(packing) = settings.packing {
        let mut pairs: Vec<Pair> = vec![("compression", packing.name().into())];
        // From 2 on, exactly the two newest levels stay unpacked: that is what can be said.
        let upper = match settings.packing_level_min {
            Some(1..) => "none",
            _ => packing.name(),
        };
        pairs.push(("sst.compression_upper", upper.into()));
        if let Packing::Zstd(level) = packing {
            pairs.push(("sst.zstd_level", level.clamp(-7, 22).to_string()));
        }
        let note = match settings.packing_level_min {
            None | Some(0 | 2) => "",
            Some(_) => "unpacked are exactly the two newest levels",
        };
        sheet.told("packing", packing.name(), pairs, note);
    }
    number!(sheet, settings.filter_bits => "sst.filter_bits", 0.0, 32.0);
    number!(sheet, settings.block_bytes => "sst.block_size", 512, 16 << 20);
    let base = settings.level_base_bytes.unwrap_or(BASE_BYTES);
    if base < FILE_BYTES {
        sheet.told(
            "file_bytes",
            "automatic",
            vec![("sst.file_size", base.max(64 << 10).to_string())],
            "a file must fit in the first sorted level",
        );
    }
    if settings.has_merges {
        sheet.given("merges", "uint64add", "merge_operator", "uint64add".into());
    }
}

fn levels(settings: &StoreSettings, sheet: &mut Sheet) {
    number!(sheet, settings.l0_trigger => "compaction.l0_trigger", 1, 1024);
    number!(sheet, settings.level_base_bytes => "compaction.base_level", 64 << 10, 1 << 50);
}

#[cfg(test)]
mod tests;
