//! The flags of `mixgraph`, `timeseries` and `multiscan`.

use crate::flags::flag::{Flag, Kind, Known, flag, without};

const COUNT: Kind = Kind::Whole(0, 1_000_000_000_000);
const MORE: Kind = Kind::Whole(1, 1_000_000_000_000);
/// Shares and parameters of curves.
const SHARE: Kind = Kind::Number(0.0, 1e9);
const PARAMETER: Kind = Kind::Number(-1e18, 1e18);
const SINE: &str = "--target_rate keeps to one rate";

/// All of them. Defaults are those of the paper on which `mixgraph` rests: Cao and others,
/// "Characterizing, Modeling, and Benchmarking RocksDB Key-Value Workloads at Facebook", 2020.
pub static MIXED_FLAGS: &[Flag] = &[
    flag(
        "mix_get_ratio",
        SHARE,
        Known::New,
        "1",
        "mixgraph: share of gets",
    ),
    flag(
        "mix_put_ratio",
        SHARE,
        Known::New,
        "0",
        "mixgraph: share of puts",
    ),
    flag(
        "mix_seek_ratio",
        SHARE,
        Known::New,
        "0",
        "mixgraph: share of seeks",
    ),
    flag(
        "mix_max_scan_len",
        MORE,
        Known::New,
        "10000",
        "mixgraph: entries behind a seek at the most",
    ),
    flag(
        "mix_max_value_size",
        Kind::Whole(10, 1 << 20),
        Known::New,
        "1024",
        "mixgraph: bytes of a value at the most",
    ),
    flag(
        "keyrange_num",
        Kind::Whole(1, 1_000_000),
        Known::New,
        "1",
        "mixgraph: ranges of keys, each as hot as keyrange_dist says",
    ),
    flag(
        "keyrange_dist_a",
        PARAMETER,
        Known::New,
        "0",
        "mixgraph: heat of a range, a·e^(b·x) + c·e^(d·x)",
    ),
    flag("keyrange_dist_b", PARAMETER, Known::New, "0", "the same"),
    flag("keyrange_dist_c", PARAMETER, Known::New, "0", "the same"),
    flag("keyrange_dist_d", PARAMETER, Known::New, "0", "the same"),
    flag(
        "key_dist_a",
        PARAMETER,
        Known::New,
        "0",
        "mixgraph: heat of a key, a·x^b",
    ),
    flag("key_dist_b", PARAMETER, Known::New, "0", "the same"),
    flag(
        "value_theta",
        PARAMETER,
        Known::New,
        "0",
        "mixgraph: bytes of values, a generalised Pareto distribution",
    ),
    flag("value_k", PARAMETER, Known::New, "0.2615", "the same"),
    flag("value_sigma", PARAMETER, Known::New, "25.45", "the same"),
    flag(
        "iter_theta",
        PARAMETER,
        Known::New,
        "0",
        "mixgraph: entries behind a seek, likewise",
    ),
    flag("iter_k", PARAMETER, Known::New, "2.517", "the same"),
    flag("iter_sigma", PARAMETER, Known::New, "14.236", "the same"),
    flag(
        "key_id_range",
        MORE,
        Known::RocksDbs,
        "100000",
        "timeseries: how many things have times",
    ),
    flag(
        "time_range",
        COUNT,
        Known::RocksDbs,
        "100000",
        "timeseries: entries after which one is too old",
    ),
    flag(
        "expire_style",
        Kind::Text,
        Known::RocksDbs,
        "none",
        "timeseries: none, or delete: threads that delete what is too old",
    ),
    flag(
        "num_deletion_threads",
        COUNT,
        Known::RocksDbs,
        "1",
        "timeseries: how many of the threads that read delete instead",
    ),
    flag(
        "multiscan_size",
        Kind::Whole(1, 1_000_000),
        Known::New,
        "10",
        "multiscan: ranges of one operation",
    ),
    flag(
        "multiscan_stride",
        COUNT,
        Known::New,
        "100",
        "multiscan: keys between two ranges",
    ),
    without("sine_mix_rate", Kind::Bool, Known::New, SINE),
    without("sine_mix_rate_noise", SHARE, Known::New, SINE),
    without(
        "sine_mix_rate_interval_milliseconds",
        COUNT,
        Known::New,
        SINE,
    ),
    without("sine_write_rate", Kind::Bool, Known::New, SINE),
    without(
        "sine_write_rate_interval_milliseconds",
        COUNT,
        Known::New,
        SINE,
    ),
    without("sine_a", PARAMETER, Known::New, SINE),
    without("sine_b", PARAMETER, Known::New, SINE),
    without("sine_c", PARAMETER, Known::New, SINE),
    without("sine_d", PARAMETER, Known::New, SINE),
];
