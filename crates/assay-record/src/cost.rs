//! What a probe itself costs. Each probe writes a file of its own, because a stream has one writer.

use assay_model::{Column, Kind};

/// What a row of a cost stream is.
pub const COST_ABOUT: &str =
    "One row a flush, about one a second: what the probe itself has cost so far.";

/// The columns of every cost stream.
pub const COST_COLUMNS: &[Column] = &[
    Column::needed("time_ns", Kind::Int64, "when the row was made, CLOCK_MONOTONIC"),
    Column::needed("probe", Kind::Word, "the probe"),
    Column::needed("cpu_ns", Kind::UInt64, "CPU time of the probe's own thread so far"),
    Column::needed("samples", Kind::UInt64, "samples taken so far"),
    Column::needed(
        "longest_ns",
        Kind::UInt64,
        "longest sample so far, from its begin to its end by the clock, waiting included",
    ),
];
