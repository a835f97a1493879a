//! `processes.arrows`.

use assay_model::{Column, Kind, Table};

/// What each followed process has used since it started.
pub static PROCESSES: Table = Table {
    file: "processes.arrows",
    about: "One row a followed process a sample: counters since the process started; one that ended has no more rows.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the sample was begun, CLOCK_MONOTONIC"),
        Column::needed("pid", Kind::UInt32, "the process"),
        Column::needed("ppid", Kind::UInt32, "its parent"),
        Column::needed(
            "started_ns",
            Kind::UInt64,
            "when it started, since boot; tells apart processes that had the same pid",
        ),
        Column::needed(
            "account",
            Kind::Word,
            "whose cost it is: given when it was followed, or inherited from its parent",
        ),
        Column::needed("comm", Kind::Text, "its name, as the kernel cuts it"),
        Column::needed(
            "state",
            Kind::Word,
            "state of its first task: R, S, D, Z, T, t, I, X, P or other (a gauge)",
        ),
        Column::needed(
            "user_ns",
            Kind::UInt64,
            "CPU time in user mode, of all tasks that ever were, in ticks of the kernel",
        ),
        Column::needed(
            "system_ns",
            Kind::UInt64,
            "CPU time in the kernel, of all tasks that ever were, in ticks of the kernel",
        ),
        Column::optional(
            "on_cpu_ns",
            Kind::UInt64,
            "CPU time by the scheduler's clock, of live tasks and as last seen of ended ones",
        ),
        Column::optional(
            "run_delay_ns",
            Kind::UInt64,
            "time runnable tasks waited for a CPU, of live tasks and as last seen of ended ones",
        ),
        Column::optional(
            "timeslices",
            Kind::UInt64,
            "times a task was given a CPU, of live tasks and as last seen of ended ones",
        ),
        Column::optional(
            "block_delay_ns",
            Kind::UInt64,
            "time tasks waited for block devices, in ticks of the kernel; null without delay accounting",
        ),
        Column::optional(
            "read_bytes",
            Kind::UInt64,
            "bytes fetched from storage, by children that ended and were waited for, too",
        ),
        Column::optional(
            "write_bytes",
            Kind::UInt64,
            "bytes caused to be written to storage, counted when the page cache is dirtied; by children that ended and were waited for, too",
        ),
        Column::needed("minor_faults", Kind::UInt64, "page faults answered without a read"),
        Column::needed("major_faults", Kind::UInt64, "page faults that read from storage"),
        Column::optional(
            "voluntary_switches",
            Kind::UInt64,
            "times a task gave the CPU up, of live tasks and as last seen of ended ones",
        ),
        Column::optional(
            "involuntary_switches",
            Kind::UInt64,
            "times a task was taken off the CPU, of live tasks and as last seen of ended ones",
        ),
        Column::needed("threads", Kind::UInt64, "live tasks (a gauge)"),
        Column::needed(
            "threads_running",
            Kind::UInt64,
            "tasks on a CPU or waiting for one; one that has not run since the last sample counts as it was then (a gauge)",
        ),
        Column::needed(
            "threads_disk",
            Kind::UInt64,
            "tasks in uninterruptible sleep, mostly waiting for a device (a gauge)",
        ),
        Column::needed(
            "rss_bytes",
            Kind::UInt64,
            "resident memory; up to a second old for a process that sleeps (a gauge)",
        ),
        Column::optional(
            "cancelled_write_bytes",
            Kind::UInt64,
            "bytes counted in write_bytes whose pages were thrown away before they were written",
        ),
        Column::needed(
            "children_user_ns",
            Kind::UInt64,
            "CPU time in user mode of children that ended and were waited for, in ticks of the kernel",
        ),
        Column::needed(
            "children_system_ns",
            Kind::UInt64,
            "CPU time in the kernel of children that ended and were waited for, in ticks of the kernel",
        ),
        Column::optional(
            "rss_shared_bytes",
            Kind::UInt64,
            "the part of rss_bytes in files and in memory that processes share, which each of them counts (a gauge)",
        ),
        Column::optional(
            "title",
            Kind::Text,
            "what the process calls itself, else its program; the first 64 bytes, up to a second old",
        ),
        Column::optional(
            "pss_bytes",
            Kind::UInt64,
            "proportional resident memory, where reading it was due: it takes one part of the time in 400 at most (a gauge)",
        ),
    ],
};
