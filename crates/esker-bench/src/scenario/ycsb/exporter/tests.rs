//! Tests of what is printed.

use std::time::Duration;

use super::*;
use crate::scenario::ycsb::meter::{MeterSettings, Metric, Times};
use crate::scenario::ycsb::reply::Reply;

fn tally() -> (Tally, ExportSettings) {
    let mut properties = Properties::default();
    properties.set("measurement.interval", "op");
    properties.set("hdrhistogram.percentiles", "50,99,99.9");
    let meter = MeterSettings::from_properties(&properties).unwrap();
    let mut tally = Tally::default();
    for micros in [10, 20, 30] {
        let took = Duration::from_nanos(micros * 1000);
        let times = Times {
            actual: took,
            intended: took,
        };
        tally.operation(&meter, Metric::Read, times, Reply::Ok);
    }
    let export = ExportSettings::from_properties(&properties, Format::Text, meter.span).unwrap();
    (tally, export)
}

fn written(format: Format, rows: &[Row]) -> String {
    let mut out = Vec::new();
    write_rows(&mut out, format, rows).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_text_is_ycsb_s() {
    // Line by line: names, order, commas, and how numbers are written.
    let (tally, export) = tally();
    let mut rows = overall_rows(2000, 3);
    rows.extend(tally_rows(&tally, &export));
    assert_eq!(
        written(Format::Text, &rows),
        "[OVERALL], RunTime(ms), 2000\n\
         [OVERALL], Throughput(ops/sec), 1.5\n\
         [TOTAL_GCs], Count, 0\n\
         [TOTAL_GC_TIME], Time(ms), 0\n\
         [TOTAL_GC_TIME_%], Time(%), 0.0\n\
         [READ], Operations, 3\n\
         [READ], AverageLatency(us), 20.006666666666664\n\
         [READ], MinLatency(us), 10\n\
         [READ], MaxLatency(us), 30\n\
         [READ], 50thPercentileLatency(us), 20\n\
         [READ], 99thPercentileLatency(us), 30\n\
         [READ], 99.9PercentileLatency(us), 30\n\
         [READ], Return=OK, 3\n"
    );
}

#[test]
fn json_has_the_form_of_java_s_writer() {
    // One object after another, or an array of them; both are what parsers of YCSB know.
    let rows = [
        Row::new("READ", "Operations", Value::Whole(3)),
        Row::new("READ", "AverageLatency(us)", Value::Real(f64::NAN)),
    ];
    let first = "{\n  \"metric\" : \"READ\",\n  \"measurement\" : \"Operations\",\n  \
                 \"value\" : 3\n}";
    let second = "{\n  \"metric\" : \"READ\",\n  \"measurement\" : \"AverageLatency(us)\",\n  \
                  \"value\" : \"NaN\"\n}";
    assert_eq!(written(Format::Json, &rows), format!("{first} {second}\n"));
    let array = written(Format::JsonArray, &rows);
    assert_eq!(array, format!("[ {first}, {second} ]\n"));
    assert!(serde_json::from_str::<serde_json::Value>(&array).is_ok());
}

#[test]
fn go_ycsb_has_a_line_for_each_metric() {
    // As the port in Go prints its summary.
    let (tally, export) = tally();
    let mut out = Vec::new();
    write_go(&mut out, &tally, export.span, 1.5).unwrap();
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "Run finished, takes 1.500s\n\
         READ   - Takes(s): 1.5, Count: 3, OPS: 2.0, Avg(us): 20, Min(us): 10, Max(us): 30, \
         50th(us): 20, 90th(us): 30, 95th(us): 30, 99th(us): 30, 99.9th(us): 30, \
         99.99th(us): 30\n"
    );
}

#[test]
fn ordinals_are_english_and_fractions_are_bare() {
    // As scripts search for them.
    let told = [1.0, 2.0, 3.0, 11.0, 21.0, 50.0, 99.0, 99.99].map(ordinal);
    assert_eq!(
        told,
        ["1st", "2nd", "3rd", "11th", "21st", "50th", "99th", "99.99"]
    );
}

#[test]
fn verbose_prints_the_histogram() {
    // Each microsecond with something in it, its count as a double.
    let (tally, mut export) = tally();
    export.is_verbose = true;
    let text = written(Format::Text, &tally_rows(&tally, &export));
    assert!(
        text.ends_with("[READ], 10, 1.0\n[READ], 20, 1.0\n[READ], 30, 1.0\n"),
        "{text}"
    );
}

#[test]
fn wrong_percentiles_are_refused() {
    // YCSB warns and takes its default, and hours later the number is not there.
    let mut properties = Properties::default();
    properties.set("hdrhistogram.percentiles", "50,x");
    assert!(ExportSettings::from_properties(&properties, Format::Text, Span::Both).is_err());
    assert!(Format::of_word("xml").is_err());
    assert_eq!(
        Format::of_exporter("site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter"),
        Some(Format::JsonArray)
    );
}
