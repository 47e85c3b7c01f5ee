//! What a phase came to: lines for the output, a record for a file.

use std::io::Write;

use crate::fail::Outcome;
use crate::report::record::{EngineWork, LatencyRecord, Measurement};
use crate::scenario::ycsb::drive::Driven;
use crate::scenario::ycsb::exporter::{line, measured, overall};
use crate::scenario::ycsb::plan::Plan;
use crate::scenario::ycsb::properties::Properties;

/// Prints the results.
pub fn print(plan: &Plan, driven: &Driven, work: &EngineWork, out: &mut dyn Write) -> Outcome {
    let elapsed = driven.finished.wall();
    let run_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let text = overall(run_ms.max(1), driven.finished.ops())
        + &measured(&driven.tally, &plan.percentiles)
        + &engine(driven, work);
    Ok(out.write_all(text.as_bytes())?)
}

/// What the engine and the process did, in YCSB's form; what is not known is left out.
fn engine(driven: &Driven, work: &EngineWork) -> String {
    let usage = &driven.finished.usage;
    let whole = |number: Option<u64>| number.map(|number| number.to_string());
    let real = |number: Option<f64>| number.map(|number| format!("{number:?}"));
    let all = [
        ("UserBytes", whole(work.user_bytes)),
        ("WrittenBytes", whole(work.written_bytes)),
        ("LiveBytes", whole(work.live_bytes)),
        ("CompactionDebt(bytes)", whole(work.debt_bytes)),
        ("WriteAmplification", real(work.write_amplification)),
        ("SpaceAmplification", real(work.space_amplification)),
        ("StallTime(s)", real(work.stall_s)),
        ("CpuTime(s)", real(Some(usage.cpu_s))),
        ("PeakMemory(bytes)", whole(Some(usage.peak_rss_bytes))),
        ("DeviceWrittenBytes", whole(Some(usage.device_write_bytes))),
        ("DeviceReadBytes", whole(Some(usage.device_read_bytes))),
    ];
    let told = all.into_iter();
    let told = told.filter_map(|(name, value)| Some(line("ENGINE", name, value?)));
    let servers = work
        .own
        .iter()
        .filter(|(name, _)| name.starts_with("Server"));
    let servers = servers.map(|(name, value)| line("ENGINE", name, value.to_string()));
    told.chain(servers).collect()
}

/// The phase as a measurement; the names of engine and settings are still to be filled in.
pub fn measurement(
    plan: &Plan,
    driven: &Driven,
    work: EngineWork,
    properties: &Properties,
) -> Measurement {
    let rows = driven.tally.rows();
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
