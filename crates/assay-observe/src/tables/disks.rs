//! `disks.arrows`.

use assay_model::{Column, Kind, Table};

/// What each block device did since boot.
pub static DISKS: Table = Table {
    file: "disks.arrows",
    about: "One row a block device a sample: counters since boot, as in /proc/diskstats.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the sample was begun, CLOCK_MONOTONIC"),
        Column::needed("device", Kind::Word, "the kernel's name of the device"),
        Column::optional(
            "kind",
            Kind::Word,
            "disk, partition (its I/O is also its disk's) or stacked (its I/O is also that of the devices below)",
        ),
        Column::needed("reads", Kind::UInt64, "reads completed"),
        Column::needed(
            "reads_merged",
            Kind::UInt64,
            "reads joined with a neighbour before they were issued",
        ),
        Column::needed("read_bytes", Kind::UInt64, "bytes read"),
        Column::needed("read_ns", Kind::UInt64, "time all reads took, added up"),
        Column::needed("writes", Kind::UInt64, "writes completed"),
        Column::needed(
            "writes_merged",
            Kind::UInt64,
            "writes joined with a neighbour before they were issued",
        ),
        Column::needed("write_bytes", Kind::UInt64, "bytes written"),
        Column::needed("write_ns", Kind::UInt64, "time all writes took, added up"),
        Column::needed("in_flight", Kind::UInt64, "requests under way (a gauge)"),
        Column::needed(
            "io_ns",
            Kind::UInt64,
            "time during which at least one request was under way",
        ),
        Column::needed(
            "weighted_io_ns",
            Kind::UInt64,
            "time under way, added up over requests; its growth divided by time is the mean queue length",
        ),
        Column::optional("discards", Kind::UInt64, "discards completed"),
        Column::optional(
            "discards_merged",
            Kind::UInt64,
            "discards joined with a neighbour before they were issued",
        ),
        Column::optional("discard_bytes", Kind::UInt64, "bytes discarded"),
        Column::optional("discard_ns", Kind::UInt64, "time all discards took, added up"),
        Column::optional("flushes", Kind::UInt64, "flushes of the device's cache completed"),
        Column::optional("flush_ns", Kind::UInt64, "time all flushes took, added up"),
    ],
};
