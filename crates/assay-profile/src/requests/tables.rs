//! `requests.arrows` and what tracing costs.

use assay_model::{Column, Kind, Table};
use assay_record::{COST_ABOUT, COST_COLUMNS};

/// One row a request.
pub static REQUESTS: Table = Table {
    file: "requests.arrows",
    about: "One row a request that a block device was given, whoever it works for; of each processor in order, together by time.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it was given to the driver, CLOCK_MONOTONIC"),
        Column::needed("device", Kind::Word, "the whole device, by the kernel's name"),
        Column::needed(
            "sector",
            Kind::UInt64,
            "where it begins on the device, in units of 512 bytes",
        ),
        Column::needed("bytes", Kind::UInt64, "how much"),
        Column::needed(
            "rwbs",
            Kind::Word,
            "the kernel's letters: R read, W write, D discard, F flush; then A read ahead, S synchronous, M metadata, F forced through",
        ),
        Column::optional(
            "pid",
            Kind::UInt32,
            "the process that handed it over; null for a thread of the kernel, by which it was queued before",
        ),
        Column::needed("tid", Kind::UInt32, "the thread that handed it over"),
    ],
};

/// What tracing costs.
pub static PROBE_REQUESTS: Table =
    Table { file: "probe-requests.arrows", about: COST_ABOUT, columns: COST_COLUMNS };
