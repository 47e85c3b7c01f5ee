//! What a phase came to: lines for the output, a record for a file.

use std::fs;
use std::io::Write;
use std::time::Duration;

use crate::fail::{Failure, Outcome};
use crate::report::record::{EngineWork, LatencyRecord, Measurement};
use crate::scenario::ycsb::drive::Driven;
use crate::scenario::ycsb::exporter::{Row, Value, overall_rows, tally_rows, write_rows};
use crate::scenario::ycsb::plan::Plan;
use crate::scenario::ycsb::properties::Properties;

/// Prints the results to the output, or into the file that the plan names.
pub fn print(
    plan: &Plan,
    driven: &Driven,
    work: &EngineWork,
    elapsed: Duration,
    out: &mut dyn Write,
) -> Outcome {
    let Some(path) = &plan.export_path else {
        return print_to(plan, driven, work, elapsed, out);
    };
    let mut text = Vec::new();
    print_to(plan, driven, work, elapsed, &mut text)?;
    fs::write(path, text)
        .map_err(|error| Failure::system(format!("cannot write {}", path.display()), &error))
}

fn print_to(
    plan: &Plan,
    driven: &Driven,
    work: &EngineWork,
    elapsed: Duration,
    out: &mut dyn Write,
) -> Outcome {
    let run_ms = u64::try_from(elapsed.as_millis())
        .unwrap_or(u64::MAX)
        .max(1);
    let mut rows = overall_rows(run_ms, driven.finished.ops());
    rows.extend(tally_rows(&driven.tally, &plan.export));
    rows.extend(engine_rows(driven, work));
    write_rows(out, &rows)
}

/// What the engine and the process did, in YCSB's form; what is not known is left out.
fn engine_rows(driven: &Driven, work: &EngineWork) -> Vec<Row> {
    let usage = &driven.finished.usage;
    let whole = |number: Option<u64>| number.map(Value::Whole);
    let all = [
        ("UserBytes", whole(work.user_bytes)),
        ("WrittenBytes", whole(work.written_bytes)),
        ("ReadBytes", whole(work.read_bytes)),
        ("LiveBytes", whole(work.live_bytes)),
        ("CompactionDebt(bytes)", whole(work.debt_bytes)),
        (
            "WriteAmplification",
            work.write_amplification.map(Value::Real),
        ),
        (
            "SpaceAmplification",
            work.space_amplification.map(Value::Real),
        ),
        ("StallTime(s)", work.stall_s.map(Value::Real)),
        ("CpuTime(s)", Some(Value::Real(usage.cpu_s))),
        (
            "PeakMemory(bytes)",
            Some(Value::Whole(usage.peak_rss_bytes)),
        ),
        (
            "DeviceWrittenBytes",
            Some(Value::Whole(usage.device_write_bytes)),
        ),
        (
            "DeviceReadBytes",
            Some(Value::Whole(usage.device_read_bytes)),
        ),
    ];
    let rows = all.into_iter();
    rows.filter_map(|(name, value)| Some(Row::new("ENGINE", name, value?)))
        .collect()
}

/// The phase as a measurement; the names of engine and settings are still to be filled in.
pub fn measurement(
    plan: &Plan,
    driven: &Driven,
    work: EngineWork,
    properties: &Properties,
) -> Measurement {
    let rows = driven.tally.rows(plan.meter.span);
    let latencies = rows.iter().filter_map(|row| {
        let latencies = row.latencies?;
        Some(LatencyRecord::of(&row.name, latencies))
    });
    let replies = rows.iter().flat_map(|row| {
        let counts = row.replies.iter();
        counts.map(|(reply, count)| format!("{} {}={count}", row.name, reply.name()))
    });
    let workload = properties.iter();
    Measurement {
        name: if plan.is_load { "load" } else { "run" }.into(),
        workload: workload
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        target_rate: plan.target_rate,
        latencies: latencies.collect(),
        message: replies.collect::<Vec<_>>().join(", "),
        is_verified: is_verified(driven),
        engine_work: work,
        ..Measurement::of(&driven.finished, &[])
    }
}

/// Whether values were looked at, and all were right.
fn is_verified(driven: &Driven) -> bool {
    use crate::scenario::ycsb::meter::Metric::Verify;
    use crate::scenario::ycsb::reply::Reply;
    let count = |reply| driven.tally.count(Verify, reply);
    count(Reply::Ok) > 0 && count(Reply::UnexpectedState) == 0 && count(Reply::Error) == 0
}
