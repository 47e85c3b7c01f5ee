//! Scans under way in one partition.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use esker_rpc::keys::{key_hash, split_raw_key};
use esker_rpc::message::data::{GetScannerRequest, KeyValue, SCAN_ENDED};
use esker_rpc::rules::filter::Filter;
use esker_rpc::rules::limits::{SCAN_BYTES_MAX, SCAN_ROWS_MAX, scan_rows};
use esker_rpc::rules::range::{KeyRange, of_scan};
use esker_rpc::time::WireSecond;
use esker_rpc::value::StoredValue;

/// Scans that are remembered; the oldest is forgotten first.
const CONTEXTS_MAX: usize = 1000;

/// The scans of a partition, by the numbers of their contexts.
#[derive(Debug)]
pub struct Scans {
    contexts: HashMap<i64, Scan>,
    last: i64,
}

/// A scan: what it asks for and what it has not seen yet.
#[derive(Clone, Debug)]
pub struct Scan {
    request: GetScannerRequest,
    rest: KeyRange,
}

/// Who asks, as far as rows depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Number of the partition.
    pub index: u32,
    /// Of how many.
    pub count: u32,
    /// True if the table lets no row out that belongs elsewhere.
    pub validates: bool,
    /// The time.
    pub now: WireSecond,
}

/// One step of a scan.
#[derive(Debug, Default)]
pub struct Step {
    /// Its rows.
    pub rows: Vec<KeyValue>,
    /// How many there are, if only that was asked for.
    pub count: Option<i32>,
    /// With which context it goes on.
    pub context: i64,
}

impl Scans {
    /// None; contexts count from `first` on.
    pub fn new(first: i64) -> Scans {
        Scans {
            contexts: HashMap::new(),
            last: first,
        }
    }

    /// A new scan; `None` if a filter of it does not exist.
    pub fn begin(request: GetScannerRequest) -> Option<Scan> {
        Filter::new(request.hash_key_filter_type, &[])?;
        Filter::new(request.sort_key_filter_type, &[])?;
        Some(Scan {
            rest: of_scan(&request),
            request,
        })
    }

    /// Takes a scan that is under way.
    pub fn take(&mut self, context: i64) -> Option<Scan> {
        self.contexts.remove(&context)
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.contexts.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// The next rows of `scan`; it is kept under a new number unless it ends.
    pub fn step(
        &mut self,
        mut scan: Scan,
        rows: &BTreeMap<Vec<u8>, Vec<u8>>,
        place: Place,
    ) -> Step {
        let mut step = Step {
            context: SCAN_ENDED,
            ..Step::default()
        };
        let (mut looked, mut passed, mut size_bytes) = (0, 0, 0);
        let mut last: &[u8] = &[];
        let rows_max = scan_rows(scan.request.batch_size);
        for (key, bytes) in range(rows, &scan.rest) {
            let is_full = passed == rows_max || size_bytes >= SCAN_BYTES_MAX;
            if looked == SCAN_ROWS_MAX || is_full {
                // What is put behind the last row meanwhile is seen as well.
                scan.rest.start = [last, &[0]].concat();
                self.last += 1;
                step.context = self.last;
                break;
            }
            looked += 1;
            last = key;
            let Some(row) = scan.passes(key, bytes, place) else {
                continue;
            };
            passed += 1;
            if scan.request.only_return_count != Some(true) {
                size_bytes += row.key.len() + row.value.len();
                step.rows.push(row);
            }
        }
        if scan.request.only_return_count == Some(true) {
            step.count = Some(i32::try_from(passed).expect("at most 1000"));
        }
        if step.context != SCAN_ENDED {
            if self.contexts.len() >= CONTEXTS_MAX {
                let oldest = self.contexts.keys().min().copied();
                oldest.map(|oldest| self.contexts.remove(&oldest));
            }
            self.contexts.insert(step.context, scan);
        }
        step
    }
}

impl Scan {
    fn passes(&self, key: &[u8], bytes: &[u8], place: Place) -> Option<KeyValue> {
        let request = &self.request;
        let stored = StoredValue::read(bytes).expect("written by this double");
        let (hash_key, sort_key) = split_raw_key(key).expect("written by this double");
        let passes = |kind, pattern: &[u8], bytes: &[u8]| {
            Filter::new(kind, pattern).is_some_and(|filter| filter.matches(bytes))
        };
        let is_here =
            u64::from(place.index) == key_hash(hash_key, sort_key) & u64::from(place.count - 1);
        let validates = place.validates && request.validate_partition_hash.unwrap_or(true);
        let is_returned = !stored.expiry.is_expired(place.now)
            && (is_here || !validates)
            && passes(
                request.hash_key_filter_type,
                &request.hash_key_filter_pattern,
                hash_key,
            )
            && passes(
                request.sort_key_filter_type,
                &request.sort_key_filter_pattern,
                sort_key,
            );
        is_returned.then(|| KeyValue {
            key: key.to_vec().into(),
            value: match request.no_value {
                true => Vec::new().into(),
                false => stored.user.to_vec().into(),
            },
            expire_ts_seconds: (request.return_expire_ts == Some(true))
                .then(|| stored.expiry.to_bits()),
        })
    }
}

/// The rows of `range`, in both directions.
pub fn range<'a>(
    rows: &'a BTreeMap<Vec<u8>, Vec<u8>>,
    range: &KeyRange,
) -> impl DoubleEndedIterator<Item = (&'a Vec<u8>, &'a Vec<u8>)> + use<'a> {
    let end = match &range.end {
        Some(end) => Bound::Excluded(end.clone()),
        None => Bound::Unbounded,
    };
    // A map panics at a range that is turned round.
    let end = match range.is_empty() {
        true => Bound::Excluded(range.start.clone()),
        false => end,
    };
    rows.range((Bound::Included(range.start.clone()), end))
}
