//! What an engine made of each setting, written down while it is told.

use esker_bench::target::settings::{Matched, Packing, StoreSettings};

/// The rows so far, and every wish that has none yet.
pub struct Sheet {
    wishes: Vec<(&'static str, String)>,
    rows: Vec<Matched>,
}

impl Sheet {
    /// A sheet for every wish in `settings`.
    pub fn new(settings: &StoreSettings) -> Sheet {
        Sheet {
            wishes: wishes(settings),
            rows: Vec::new(),
        }
    }

    /// The engine was given just that.
    pub fn given(&mut self, wish: &str, given: impl Into<String>) {
        self.told(wish, given, "");
    }

    /// The engine was given something near, or nothing if `given` is empty; `note` says why.
    /// A wish that nobody had leaves no row.
    pub fn told(&mut self, wish: &str, given: impl Into<String>, note: &str) {
        let Some(place) = self.wishes.iter().position(|(name, _)| *name == wish) else {
            return;
        };
        let (name, wished) = self.wishes.remove(place);
        self.rows.push(Matched {
            wish: name.into(),
            wished,
            given: given.into(),
            note: note.into(),
        });
    }

    /// Something that was not asked for and bears on the numbers.
    pub fn aside(&mut self, wish: &str, given: &str, note: &str) {
        self.rows.push(Matched {
            wish: wish.into(),
            wished: "engine's own".into(),
            given: given.into(),
            note: note.into(),
        });
    }

    /// All rows; wishes that are left were not granted.
    pub fn rows(mut self) -> Vec<Matched> {
        let left = self.wishes.into_iter().map(|(name, wished)| Matched {
            wish: name.into(),
            wished,
            given: String::new(),
            note: "the engine has no such setting".into(),
        });
        self.rows.extend(left);
        self.rows
    }
}

/// The text of a packing with its level, if it has one.
fn packing_text(packing: Packing) -> String {
    match packing {
        Packing::Zstd(level) => format!("zstd:{level}"),
        _ => packing.name().into(),
    }
}

/// Every wish by name, as the fields of the settings.
fn wishes(settings: &StoreSettings) -> Vec<(&'static str, String)> {
    let number = |number: Option<u64>| number.map(|number| number.to_string());
    let switch = |switch: Option<bool>| switch.map(|switch| switch.to_string());
    let level_min = settings.packing_level_min.map(|level| level.to_string());
    let bits = settings.filter_bits.map(|bits| bits.to_string());
    let merges = settings.has_merges.then(|| "uint64add".to_owned());
    let transactions = settings.transactions.map(|kind| kind.name().to_owned());
    let all = [
        ("cache_bytes", number(settings.cache_bytes)),
        ("write_buffer_bytes", number(settings.write_buffer_bytes)),
        ("filter_bits", bits),
        ("packing", settings.packing.map(packing_text)),
        ("packing_level_min", level_min),
        ("block_bytes", number(settings.block_bytes)),
        ("background_threads", number(settings.background_threads)),
        ("l0_trigger", number(settings.l0_trigger)),
        ("level_base_bytes", number(settings.level_base_bytes)),
        ("mapped_reads", switch(settings.mapped_reads)),
        ("sync", Some(settings.sync.to_string())),
        ("merges", merges),
        ("transactions", transactions),
    ];
    let given = all.into_iter();
    given
        .filter_map(|(name, wished)| Some((name, wished?)))
        .collect()
}
