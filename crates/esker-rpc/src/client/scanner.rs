//! Scans: the rows of one hash key in their order, or those of a whole table by partition.
//!
//! A server keeps where a scan stands as a context, which may be gone at any time: it was unused
//! for too long, the server has restarted, another one leads. The scanner then opens a new one
//! behind the last row that it has seen.

use std::collections::VecDeque;

use crate::client::failure::{ClientError, Result};
use crate::client::sending::Target;
use crate::client::table::{Table, done, of_hash_key};
use crate::codec::scalars::Blob;
use crate::codec::thrift::Malformed;
use crate::error::Status;
use crate::keys::split_raw_key;
use crate::message::data::{
    ClearScanner, FilterType, GetScanner, GetScannerRequest, Scan, ScanRequest, ScanResponse,
};
use crate::rules::range::{KeyRange, of_scan};

/// Answers without a row or a sign of progress after which a scan fails: servers look at 1000 rows
/// for each answer, so only a broken one gives so many.
const EMPTY_REOPENINGS_MAX: u32 = 16;

/// What a scan returns, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanSettings {
    /// Rows for each answer of a server; 0 lets the server choose.
    pub batch_size: i32,
    /// Without values.
    pub no_value: bool,
    /// Only hash keys that pass.
    pub hash_key_filter: (FilterType, Vec<u8>),
    /// Only sort keys that pass.
    pub sort_key_filter: (FilterType, Vec<u8>),
    /// With the expiry of each row.
    pub return_expire_ts: bool,
}

/// One row of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanRow {
    /// Hash key.
    pub hash_key: Vec<u8>,
    /// Sort key.
    pub sort_key: Vec<u8>,
    /// Value.
    pub value: Vec<u8>,
    /// When it ends, if that was asked for.
    pub expire_ts: Option<i32>,
}

/// Goes over rows, of one partition after the other.
#[derive(Debug)]
pub struct Scanner {
    table: Table,
    parts: VecDeque<Part>,
    rows: VecDeque<ScanRow>,
    // Partitions when a scan of a whole table began.
    partition_count: Option<u32>,
    // True once a meta server has said that these were all, to the end.
    is_whole: bool,
}

/// What is left of the scan of one partition.
#[derive(Clone, Debug)]
struct Part {
    target: Target,
    request: GetScannerRequest,
    // With the version of the route to the server that gave it: elsewhere the number is another's.
    context: Option<(i64, u64)>,
    empty_reopenings: u32,
}

impl Table {
    /// Scans sort keys of `hash_key` from `start` on, up to and without `stop`, which is empty for
    /// all that follow.
    pub fn scan(
        &self,
        hash_key: &[u8],
        (start, stop): (&[u8], &[u8]),
        settings: &ScanSettings,
    ) -> Result<Scanner> {
        let target = of_hash_key(hash_key)?;
        let whole = KeyRange::of_hash_key(hash_key).ok_or(ClientError::Senseless("too long"))?;
        let raw = |sort_key: &[u8]| [&whole.start[..], sort_key].concat();
        let request = GetScannerRequest {
            start_key: Blob::from(raw(start)),
            stop_key: Blob::from(match stop {
                [] => whole.end.unwrap_or_default(),
                stop => raw(stop),
            }),
            // A scan of one hash key meets no rows of other partitions.
            validate_partition_hash: Some(false),
            ..request(settings)
        };
        // The original servers answer such a scan as if it went on.
        let parts = match of_scan(&request).is_empty() {
            true => Vec::new(),
            false => vec![Part::new(target, request)],
        };
        Ok(Scanner::new(self.clone(), parts, None))
    }

    /// Scanners of the whole table, `count` at most, which share the partitions between them and
    /// may run side by side.
    pub async fn scan_all(&self, count: usize, settings: &ScanSettings) -> Result<Vec<Scanner>> {
        let deadline = self.call.deadline();
        // A meta server is asked: a server that has been split goes on answering for the old half.
        let partition_count = self.sender.route.renewed(deadline).await?.partition_count();
        let whole = GetScannerRequest {
            start_key: Blob::of(&[0, 0]),
            stop_key: Blob::of(&[0xff, 0xff]),
            validate_partition_hash: Some(true),
            full_scan: Some(true),
            ..request(settings)
        };
        let parts =
            (0..partition_count).map(|index| Part::new(Target::Partition(index), whole.clone()));
        let most = usize::try_from(partition_count).unwrap_or(usize::MAX);
        let mut shares: Vec<Vec<Part>> = vec![Vec::new(); count.clamp(1, most)];
        for (part, place) in parts.zip((0..shares.len()).cycle()) {
            shares[place].push(part);
        }
        shares.retain(|share| !share.is_empty());
        let scanner = |share| Scanner::new(self.clone(), share, Some(partition_count));
        Ok(shares.into_iter().map(scanner).collect())
    }
}

// The start is always inclusive, until a scan is opened again.
fn request(settings: &ScanSettings) -> GetScannerRequest {
    GetScannerRequest {
        start_inclusive: true,
        batch_size: settings.batch_size,
        no_value: settings.no_value,
        hash_key_filter_type: settings.hash_key_filter.0,
        hash_key_filter_pattern: Blob::of(&settings.hash_key_filter.1),
        sort_key_filter_type: settings.sort_key_filter.0,
        sort_key_filter_pattern: Blob::of(&settings.sort_key_filter.1),
        return_expire_ts: Some(settings.return_expire_ts),
        ..GetScannerRequest::default()
    }
}

impl Scanner {
    fn new(table: Table, parts: Vec<Part>, partition_count: Option<u32>) -> Scanner {
        Scanner {
            table,
            parts: parts.into(),
            rows: VecDeque::new(),
            is_whole: partition_count.is_none(),
            partition_count,
        }
    }

    /// The next row, `None` at the end. After an error it may be asked again: it goes on where it
    /// was.
    pub async fn next(&mut self) -> Result<Option<ScanRow>> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Ok(Some(row));
            }
            if self.parts.is_empty() {
                self.prove_whole().await?;
                return Ok(None);
            }
            self.step().await?;
        }
    }

    /// One answer of a server, for the first of the parts.
    async fn step(&mut self) -> Result<()> {
        let deadline = self.table.call.deadline();
        let routing = self.table.sender.route.current(deadline).await?;
        self.refuse_split(routing.partition_count())?;
        let Some(part) = self.parts.front_mut() else {
            return Ok(());
        };
        let (sender, call) = (&self.table.sender, self.table.call.until(deadline));
        let (answer, version) = match part.context {
            Some((context_id, version)) => {
                let request = ScanRequest { context_id };
                let place = (part.target, version);
                let answer = sender.send_to_same::<Scan>(place, &request, call).await?;
                (answer.unwrap_or_else(no_such_context), version)
            }
            None => {
                let request = &part.request;
                sender
                    .send_routed::<GetScanner>(part.target, request, call)
                    .await?
            }
        };
        let rows = part.go_on(answer, version)?;
        if part.has_ended() {
            self.parts.pop_front();
        }
        self.rows.extend(rows);
        Ok(())
    }

    /// At the end of a whole table asks a meta server whether it is still the same number of
    /// partitions that have been scanned.
    async fn prove_whole(&mut self) -> Result<()> {
        if !self.is_whole {
            let deadline = self.table.call.deadline();
            let routing = self.table.sender.route.renewed(deadline).await?;
            self.refuse_split(routing.partition_count())?;
            self.is_whole = true;
        }
        Ok(())
    }

    // With twice the partitions, rows have moved to such as are not scanned.
    fn refuse_split(&self, count: u32) -> Result<()> {
        match self.partition_count.is_none_or(|before| before == count) {
            true => Ok(()),
            false => Err(ClientError::Senseless(
                "the table was split meanwhile: begin the scan again",
            )),
        }
    }
}

/// What a server says that has no such context.
fn no_such_context() -> ScanResponse {
    ScanResponse {
        error: Status::NOT_FOUND,
        ..ScanResponse::default()
    }
}

/// Context of a part that has ended; no server gives it to a scan that goes on.
const ENDED: i64 = crate::message::data::SCAN_ENDED;

impl Part {
    fn new(target: Target, request: GetScannerRequest) -> Part {
        Part {
            target,
            request,
            context: None,
            empty_reopenings: 0,
        }
    }

    fn has_ended(&self) -> bool {
        self.context.is_some_and(|(context, _)| context == ENDED)
    }

    /// Takes an answer in: its rows, and how the part goes on.
    fn go_on(&mut self, answer: ScanResponse, version: u64) -> Result<Vec<ScanRow>> {
        let is_lost = answer.error == Status::NOT_FOUND && self.context.is_some();
        let is_cut_short = answer.error == Status::INCOMPLETE;
        if !is_lost && !is_cut_short {
            done(answer.error)?;
        }
        let last = answer.kvs.last().map(|row| row.key.clone());
        let rows = answer.kvs.into_iter().map(|row| {
            let split = split_raw_key(&row.key).ok_or(Malformed::Ends)?;
            Ok(ScanRow {
                hash_key: split.0.to_vec(),
                sort_key: split.1.to_vec(),
                value: row.value.into_vec(),
                expire_ts: row.expire_ts_seconds,
            })
        });
        let rows = rows.collect::<Result<Vec<ScanRow>>>()?;
        if let Some(last) = last {
            // A context that is lost from here on is opened again behind this row.
            self.request.start_key = last;
            self.request.start_inclusive = false;
            self.empty_reopenings = 0;
        }
        if is_lost || is_cut_short {
            self.context = None;
            self.empty_reopenings += 1;
            if self.empty_reopenings > EMPTY_REOPENINGS_MAX {
                return Err(ClientError::Status(answer.error));
            }
        } else {
            // Whatever is negative is no context.
            self.context = Some((answer.context_id.max(ENDED), version));
        }
        Ok(rows)
    }
}

impl Drop for Scanner {
    /// Lets the server forget where the scan stands.
    fn drop(&mut self) {
        let Some(part) = self.parts.front() else {
            return;
        };
        let Some((context, _)) = part.context.filter(|(context, _)| *context > ENDED) else {
            return;
        };
        let (sender, target) = (std::sync::Arc::clone(&self.table.sender), part.target);
        // Outside of a runtime nothing is told, and the server forgets by itself.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { sender.tell::<ClearScanner>(target, context).await });
        }
    }
}
