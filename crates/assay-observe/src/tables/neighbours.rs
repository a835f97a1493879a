//! `neighbours.arrows`.

use assay_model::{Column, Kind, Table};

/// What each process of the host has used since it started.
pub static NEIGHBOURS: Table = Table {
    file: "neighbours.arrows",
    about: "One row a process of the host at the first look, later only if it used a CPU since its last row: counters since it started.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the look was begun, CLOCK_MONOTONIC"),
        Column::needed("pid", Kind::UInt32, "the process"),
        Column::needed(
            "started_ns",
            Kind::UInt64,
            "when it started, since boot; tells apart processes that had the same pid",
        ),
        Column::needed("comm", Kind::Text, "its name, as the kernel cuts it"),
        Column::needed(
            "cpu_ns",
            Kind::UInt64,
            "CPU time in user mode and in the kernel, in ticks of the kernel",
        ),
        Column::optional("read_bytes", Kind::UInt64, "bytes fetched from storage"),
        Column::optional(
            "write_bytes",
            Kind::UInt64,
            "bytes caused to be written to storage, counted when the page cache is dirtied",
        ),
    ],
};
