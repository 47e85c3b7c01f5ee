//! Temperatures of sensors: points kept as they come, and averages of each minute beside them.
//!
//! `cargo run --release -p esker --example time_series`

use std::sync::Arc;

use esker::{Db, Keyspace, KeyspaceOptions, MergeOperator, MergeRule, Result};

/// Folds `count, sum, least, most` of points: four numbers of 8 bytes. The operator of a program's
/// own: it must not matter how operands were grouped.
struct Summary;

#[derive(Clone, Copy)]
struct Parts {
    count: i64,
    sum: i64,
    least: i64,
    most: i64,
}

impl Parts {
    fn of_point(value: i64) -> Parts {
        Parts {
            count: 1,
            sum: value,
            least: value,
            most: value,
        }
    }

    fn with(self, other: Parts) -> Parts {
        Parts {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }

    fn encode(self) -> Vec<u8> {
        [self.count, self.sum, self.least, self.most]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect()
    }

    fn decode(bytes: &[u8]) -> Option<Parts> {
        let bytes: &[u8; 32] = bytes.try_into().ok()?;
        let part = |at: usize| Some(i64::from_le_bytes(bytes[at * 8..][..8].try_into().ok()?));
        Some(Parts {
            count: part(0)?,
            sum: part(1)?,
            least: part(2)?,
            most: part(3)?,
        })
    }
}

impl MergeOperator for Summary {
    fn name(&self) -> &str {
        "example.summary"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let all = base
            .into_iter()
            .chain(operands.iter().copied())
            .map(Parts::decode);
        let all: Option<Vec<Parts>> = all.collect();
        let all = all.ok_or("a summary has 32 bytes")?;
        all.into_iter()
            .reduce(Parts::with)
            .map(Parts::encode)
            .ok_or("no points".into())
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some(Parts::decode(older)?.with(Parts::decode(newer)?).encode())
    }
}

/// Sensor and seconds, both big-endian, so that a sensor's points lie beside each other in time.
fn key(sensor: u32, second: u64) -> Vec<u8> {
    [&sensor.to_be_bytes()[..], &second.to_be_bytes()].concat()
}

/// The averages of a sensor in a span of time, in thousandths of a degree.
fn averages(minutes: &Keyspace, sensor: u32, from: u64, until: u64) -> Result<Vec<(u64, i64)>> {
    minutes
        .range(key(sensor, from)..key(sensor, until))?
        .map(|entry| {
            let (key, value) = entry?;
            let second = u64::from_be_bytes(key[4..].try_into().expect("keys are made here"));
            let parts = Parts::decode(&value).expect("the operator keeps 32 bytes");
            Ok((second / 60, parts.sum / parts.count))
        })
        .collect()
}

pub(crate) fn main() -> Result<()> {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let rule = MergeRule(Arc::new(Summary));
    // Whoever opens the database must know the operators that its keyspaces name.
    let db = Db::builder(dir.path().join("sensors"))
        .known_merge_operator(rule.clone())
        .open()?;
    let points = db.keyspace("points")?;
    let minutes = db.keyspace_with("minutes", KeyspaceOptions::default().merge_operator(rule))?;

    let mut batch = db.batch();
    for second in 0..3600_u64 {
        for sensor in 0..5_u32 {
            let degrees = 20_000 + i64::from(sensor) * 500 + (second % 60) as i64 * 10;
            // The point and its minute in one batch: no restart counts one of them twice.
            batch.put(&points, key(sensor, second), degrees.to_le_bytes());
            batch.merge(
                &minutes,
                key(sensor, second / 60 * 60),
                Parts::of_point(degrees).encode(),
            );
        }
        if second % 100 == 99 {
            batch.commit()?;
        }
    }
    let averages = averages(&minutes, 3, 600, 1200)?;
    for (minute, thousandths) in averages.iter().take(3) {
        println!(
            "sensor 3, minute {minute}: {:.3} degrees",
            *thousandths as f64 / 1000.0
        );
    }
    assert_eq!(averages.len(), 10);
    assert!(
        averages
            .iter()
            .all(|(_, thousandths)| *thousandths == 21_795)
    );
    let last = points
        .prefix(3_u32.to_be_bytes())?
        .next_back()
        .expect("there are points")?;
    assert_eq!(last.0, key(3, 3599));
    db.close()
}
