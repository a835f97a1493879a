//! The streams of trials.

use assay_model::{Column, Kind, Table};

const ROUND: Column = Column::needed("round", Kind::UInt32, "the round of trials, from 1");
const SEQUENCE: Column =
    Column::needed("sequence", Kind::UInt32, "the place in the order of all trials, from 1");
const BEGUN: Column = Column::needed("begun_ns", Kind::Int64, "when it was begun, CLOCK_MONOTONIC");
const ELAPSED: Column = Column::needed("elapsed_ns", Kind::UInt64, "how long it took by the clock");
const HOST_BUSY: Column = Column::needed(
    "host_busy_ns",
    Kind::UInt64,
    "time that anything of the host was on a CPU meanwhile, in ticks of the kernel",
);
const HOST_STEAL: Column = Column::needed(
    "host_steal_ns",
    Kind::UInt64,
    "time that the hypervisor took from the host meanwhile, in ticks of the kernel",
);
const THREADS: Column = Column::needed("threads", Kind::UInt32, "threads at work");

/// Reads and writes of a file of our own.
pub static CEILING_DISK: Table = Table {
    file: "ceiling-disk.arrows",
    about: "One row a trial of the disk: reads or writes of one size for a short time.",
    columns: &[
        ROUND,
        SEQUENCE,
        BEGUN,
        Column::needed(
            "operation",
            Kind::Word,
            "read, write, or what follows a buffered write: fsync, fdatasync",
        ),
        Column::needed("pattern", Kind::Word, "sequential or random"),
        Column::needed("cache", Kind::Word, "direct (O_DIRECT) or buffered (by the page cache)"),
        Column::needed("method", Kind::Word, "pread (pwrite, a thread each) or io_uring"),
        Column::optional(
            "buffers",
            Kind::Word,
            "of io_uring: registered, or plain where the kernel did not grant it",
        ),
        Column::needed("depth", Kind::UInt32, "requests under way at once"),
        Column::needed("size_bytes", Kind::UInt64, "bytes of a request"),
        Column::needed("requests", Kind::UInt64, "requests that ended within the counted time"),
        Column::needed(
            "requests_outside",
            Kind::UInt64,
            "requests that were made before the queue was full, or were under way when the time was over: only the device's counters have them",
        ),
        ELAPSED,
        Column::needed("user_ns", Kind::UInt64, "CPU time of our threads in user mode"),
        Column::needed("system_ns", Kind::UInt64, "CPU time of our threads in the kernel"),
        Column::needed("latency_mean_ns", Kind::UInt64, "mean time of a request"),
        Column::needed("latency_min_ns", Kind::UInt64, "shortest time of a request"),
        Column::needed("latency_p50_ns", Kind::UInt64, "median time of a request"),
        Column::needed("latency_p90_ns", Kind::UInt64, "90th percentile"),
        Column::needed("latency_p99_ns", Kind::UInt64, "99th percentile"),
        Column::needed("latency_p999_ns", Kind::UInt64, "99.9th percentile"),
        Column::needed("latency_max_ns", Kind::UInt64, "longest time of a request"),
        Column::optional(
            "device_requests",
            Kind::UInt64,
            "requests of this direction that the block device completed meanwhile, others' included",
        ),
        Column::optional(
            "device_merged",
            Kind::UInt64,
            "requests of this direction that were joined with a neighbour before they were issued",
        ),
        Column::optional(
            "device_bytes",
            Kind::UInt64,
            "bytes that the block device moved in this direction",
        ),
        Column::optional(
            "device_other_bytes",
            Kind::UInt64,
            "bytes that it moved in the other direction",
        ),
        HOST_BUSY,
        HOST_STEAL,
    ],
};

/// Memory bandwidth and latency.
pub static CEILING_MEMORY: Table = Table {
    file: "ceiling-memory.arrows",
    about: "One row a trial of memory: threads that stream through arrays, or one that chases pointers.",
    columns: &[
        ROUND,
        SEQUENCE,
        BEGUN,
        Column::needed(
            "kernel",
            Kind::Word,
            "read, write, copy, triad, or chase: each load's address is what the one before it found",
        ),
        THREADS,
        Column::needed("array_bytes", Kind::UInt64, "bytes of an array; each thread has its own"),
        Column::optional(
            "moved_bytes",
            Kind::UInt64,
            "bytes read and written by the program: 1, 1, 2 and 3 arrays a pass; null of chase",
        ),
        Column::optional("loads", Kind::UInt64, "loads, one after another; null but of chase"),
        ELAPSED,
        HOST_BUSY,
        HOST_STEAL,
    ],
};

/// How fast cores are.
pub static CEILING_CORE: Table = Table {
    file: "ceiling-core.arrows",
    about: "One row a trial of cores: a fixed piece of work over and over, in each thread for itself.",
    columns: &[
        ROUND,
        SEQUENCE,
        BEGUN,
        Column::needed(
            "kernel",
            Kind::Word,
            "arithmetic (multiply and add, each needing the one before), sort or hash",
        ),
        THREADS,
        Column::needed(
            "steps",
            Kind::UInt64,
            "steps of arithmetic, numbers sorted or numbers put into a hash table, by all threads",
        ),
        ELAPSED,
        Column::needed("cpu_ns", Kind::UInt64, "CPU time of all threads"),
        HOST_BUSY,
        HOST_STEAL,
    ],
};

/// All of them.
pub static TABLES: [&Table; 3] = [&CEILING_DISK, &CEILING_MEMORY, &CEILING_CORE];
