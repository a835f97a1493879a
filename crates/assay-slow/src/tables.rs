//! `slowing.arrows`, and what slowing itself costs.

use assay_model::{Column, Kind, Table};
use assay_record::{COST_ABOUT, COST_COLUMNS};

/// What the engine took, and for how long it was stopped.
pub static SLOWING: Table = Table {
    file: "slowing.arrows",
    about: "One row a stop, and one at the begin and at the end: what the engine took of the resources so far, and for how long it stood still for that.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it stood still, CLOCK_MONOTONIC"),
        Column::needed("until_ns", Kind::Int64, "when it went on"),
        Column::needed("processes", Kind::UInt32, "processes that were stopped"),
        Column::needed(
            "cpu_ns",
            Kind::Int64,
            "time that the engine computed so far; what ran side by side counts once",
        ),
        Column::needed("all_cpu_ns", Kind::Int64, "CPU time of all its tasks so far"),
        Column::needed("disk_ns", Kind::Int64, "time that it waited for disks so far, likewise"),
        Column::needed("owed_ns", Kind::Int64, "time that it had to stand still for that so far"),
        Column::needed(
            "stopped_ns",
            Kind::Int64,
            "time that it stood still so far, this stop included",
        ),
        Column::optional(
            "read_bytes",
            Kind::UInt64,
            "bytes that the device of its data has read so far, for everybody; null where there is no such device",
        ),
        Column::optional(
            "ahead_bytes",
            Kind::UInt64,
            "those of them that it read during stops, which were not slowed",
        ),
    ],
};

/// What slowing costs.
pub static PROBE_SLOWING: Table =
    Table { file: "probe-slowing.arrows", about: COST_ABOUT, columns: COST_COLUMNS };
