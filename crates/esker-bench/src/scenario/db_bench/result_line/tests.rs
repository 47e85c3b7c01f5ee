//! Tests of result lines.

use super::*;

fn line(name: &str, ops: u64, bytes: u64, seconds: f64, message: &str) -> ResultLine {
    ResultLine {
        name: name.into(),
        ops,
        bytes,
        wall_s: seconds,
        lane_s: seconds,
        message: message.into(),
    }
}

#[test]
fn published_lines_are_reproduced() {
    // Lines from published logs of each dialect, from their numbers.
    let fillseq = line("fillseq", 1_000_000, 116_000_000, 1.765, "");
    assert_eq!(
        fillseq.text(Dialect::LevelDb),
        "fillseq      :       1.765 micros/op;   62.7 MB/s\n"
    );
    let read = line(
        "readrandom",
        1_000_000,
        0,
        26.436,
        "(864322 of 1000000 found)",
    );
    assert_eq!(
        read.text(Dialect::LevelDb),
        "readrandom   :      26.436 micros/op; (864322 of 1000000 found)\n"
    );
    let update = line(
        "updaterandom",
        500_000_000,
        0,
        14_926.117,
        "( updates:50000000 found:45003817)",
    );
    assert_eq!(
        update.text(Dialect::RocksDb2013),
        "updaterandom :      29.852 micros/op 33498 ops/sec; \
         ( updates:50000000 found:45003817)\n"
    );
    let fill = line("fillrandom", 100_000_000, 10_792_600_000, 378.417, "");
    assert_eq!(
        fill.text(Dialect::RocksDb),
        "fillrandom   :       3.784 micros/op 264258 ops/sec 378.417 seconds \
         100000000 operations;   27.2 MB/s\n"
    );
}

#[test]
fn time_without_operations_is_told_as_one() {
    // `compact` finishes none: its whole time stands there, and nothing behind the semicolon.
    let compact = line("compact", 0, 0, 2.0, "");
    assert_eq!(
        compact.text(Dialect::LevelDb),
        "compact      : 2000000.000 micros/op;\n"
    );
}
