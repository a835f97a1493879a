//! Counters of the engine's own tasks, read just outside each timed interval.

use crate::table::{Column, Kind, Table};

/// Which side of the timed interval a reading was taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Just before the operation was sent.
    Start,
    /// Just after its last row was fetched.
    End,
}

/// One reading of the engine's tasks. Counters grow from the start of the process; gauges and
/// values of the interval say so. `None`: the kernel does not give the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounters {
    /// When the reading was taken, CLOCK_MONOTONIC.
    pub time_ns: i64,
    /// CPU time in user mode.
    pub user_ns: Option<u64>,
    /// CPU time in the kernel.
    pub system_ns: Option<u64>,
    /// CPU time of the live engine tasks by the scheduler's clock.
    pub on_cpu_ns: Option<u64>,
    /// Time the live engine tasks were runnable and waited for a CPU.
    pub run_delay_ns: Option<u64>,
    /// Time the tasks waited for block devices (needs the kernel's delay accounting).
    pub block_delay_ns: Option<u64>,
    /// Bytes fetched from storage.
    pub read_bytes: Option<u64>,
    /// Bytes caused to be written to storage.
    pub write_bytes: Option<u64>,
    /// Page faults answered without a read.
    pub minor_faults: Option<u64>,
    /// Page faults that read from storage.
    pub major_faults: Option<u64>,
    /// Times a task gave the CPU up.
    pub voluntary_switches: Option<u64>,
    /// Times a task was taken off the CPU.
    pub involuntary_switches: Option<u64>,
    /// Live engine tasks (a gauge).
    pub threads: Option<u64>,
    /// Engine tasks at work since the reading at the start of the interval; null there.
    pub threads_at_work: Option<u64>,
    /// Resident memory at this moment (a gauge).
    pub rss_bytes: Option<u64>,
    /// Highest resident memory since the reading at the start of the interval; null there.
    pub rss_peak_bytes: Option<u64>,
    /// Proportional resident memory (a gauge), taken at the end only, where it is in no interval.
    pub pss_bytes: Option<u64>,
    /// The block device that holds the data, whoever it works for.
    pub device: DeviceCounters,
}

/// What a block device did since boot, in the words of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads completed.
    pub reads: Option<u64>,
    /// Reads joined with a neighbour before they were issued.
    pub reads_merged: Option<u64>,
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Time all reads took, added up.
    pub read_ns: Option<u64>,
    /// Writes completed.
    pub writes: Option<u64>,
    /// Bytes written.
    pub write_bytes: Option<u64>,
    /// Time during which at least one request was under way.
    pub io_ns: Option<u64>,
}

/// Reads the engine's tasks. The driver calls it outside the timed interval.
pub trait Meter {
    /// Takes one reading; what the host does not give is `None`.
    fn read(&mut self, edge: Edge) -> TaskCounters;

    /// Proportional resident memory now, which takes milliseconds a gigabyte: with `wanted` unless
    /// all readings took too long for that, else as often as its cost allows.
    fn read_pss_bytes(&mut self, wanted: bool) -> Option<u64>;

    /// Why readings lack what the host does give: the first error, if there was one.
    fn error(&self) -> Option<String>;
}

/// The stream of readings, two rows an operation.
pub static TASKS: Table = Table {
    file: "tasks.arrows",
    about: "Two rows an operation: counters of the engine's tasks just before and just after it.",
    columns: &[
        Column::needed("sequence", Kind::UInt64, "the operation, as in events.arrows"),
        Column::needed("edge", Kind::Word, "start or end"),
        Column::needed("time_ns", Kind::Int64, "when the reading was taken"),
        Column::optional("user_ns", Kind::UInt64, "CPU time in user mode"),
        Column::optional("system_ns", Kind::UInt64, "CPU time in the kernel"),
        Column::optional(
            "on_cpu_ns",
            Kind::UInt64,
            "CPU time of live engine tasks by the scheduler's clock",
        ),
        Column::optional(
            "run_delay_ns",
            Kind::UInt64,
            "time runnable engine tasks waited for a CPU",
        ),
        Column::optional(
            "block_delay_ns",
            Kind::UInt64,
            "time tasks waited for block devices; null without delay accounting",
        ),
        Column::optional("read_bytes", Kind::UInt64, "bytes fetched from storage"),
        Column::optional("write_bytes", Kind::UInt64, "bytes caused to be written to storage"),
        Column::optional("minor_faults", Kind::UInt64, "page faults answered without a read"),
        Column::optional("major_faults", Kind::UInt64, "page faults that read from storage"),
        Column::optional("voluntary_switches", Kind::UInt64, "times a task gave the CPU up"),
        Column::optional(
            "involuntary_switches",
            Kind::UInt64,
            "times a task was taken off the CPU",
        ),
        Column::optional("threads", Kind::UInt64, "live engine tasks"),
        Column::optional(
            "threads_at_work",
            Kind::UInt64,
            "engine tasks at work during the operation; null at the start",
        ),
        Column::optional("rss_bytes", Kind::UInt64, "resident memory at this moment"),
        Column::optional(
            "rss_peak_bytes",
            Kind::UInt64,
            "highest resident memory during the operation; null at the start",
        ),
        Column::optional(
            "pss_bytes",
            Kind::UInt64,
            "proportional resident memory at the end, where reading it was due: it takes one part of the time in 100 at most",
        ),
        Column::optional(
            "device_reads",
            Kind::UInt64,
            "reads completed since boot by the block device that holds the data, whoever asked; so are those below",
        ),
        Column::optional(
            "device_reads_merged",
            Kind::UInt64,
            "reads joined with a neighbour before they were issued",
        ),
        Column::optional("device_read_bytes", Kind::UInt64, "bytes read"),
        Column::optional("device_read_ns", Kind::UInt64, "time all reads took, added up"),
        Column::optional("device_writes", Kind::UInt64, "writes completed"),
        Column::optional("device_write_bytes", Kind::UInt64, "bytes written"),
        Column::optional(
            "device_io_ns",
            Kind::UInt64,
            "time during which at least one request was under way",
        ),
    ],
};
