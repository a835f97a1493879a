//! `waits.arrows` and `cgroup.arrows`.

use assay_model::{Column, Kind, Table};

/// What the engine's threads wait for while they are off the CPU.
pub static WAITS: Table = Table {
    file: "waits.arrows",
    about: "One row a look at a thread of the engine in which something had changed since the look before; a thread's first look has a row, and its last one is of the look that found it gone.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when the look was, CLOCK_MONOTONIC"),
        Column::optional(
            "seen_ns",
            Kind::Int64,
            "when the look before at this thread was; until then it was as its row before says; null at its first",
        ),
        Column::needed("pid", Kind::UInt32, "the process"),
        Column::needed(
            "tid",
            Kind::UInt32,
            "the thread; it may be given out again after a row of state X",
        ),
        Column::needed("comm", Kind::Text, "name of the thread, as the kernel cuts it"),
        Column::needed(
            "state",
            Kind::Word,
            "R on a CPU or waiting for one, S asleep, D asleep and not to be woken by signals, T, t, I, Z, P, other, and X: gone",
        ),
        Column::optional(
            "channel",
            Kind::Word,
            "function of the kernel in which it sleeps; null where it does not sleep or the kernel does not tell",
        ),
        Column::optional(
            "call",
            Kind::Int64,
            "number of the system call in which it sleeps, -1 in a page fault; null where it does not sleep or the kernel does not tell",
        ),
        Column::optional(
            "address",
            Kind::UInt64,
            "what a futex call waits at, an address of the process; null in other calls",
        ),
        Column::optional(
            "on_cpu_ns",
            Kind::UInt64,
            "its CPU time since it started, by the scheduler's clock",
        ),
        Column::optional(
            "run_delay_ns",
            Kind::UInt64,
            "for how long it was runnable and waited for a CPU since it started; counted when it gets one",
        ),
        Column::optional("timeslices", Kind::UInt64, "times it was given a CPU since it started"),
    ],
};

/// What a limit of CPU time has done to the engine's control group.
pub static CGROUP: Table = Table {
    file: "cgroup.arrows",
    about: "One row a reading, ten a second, of the limit of CPU time under which a followed process is; no stream without a limit.",
    columns: &[
        Column::needed("time_ns", Kind::Int64, "when it was read, CLOCK_MONOTONIC"),
        Column::needed("pid", Kind::UInt32, "the process whose control group it is"),
        Column::needed(
            "periods",
            Kind::UInt64,
            "periods of the limit in which the group had something to do",
        ),
        Column::needed("throttled_periods", Kind::UInt64, "periods in which its time ran out"),
        Column::needed(
            "throttled_ns",
            Kind::UInt64,
            "time for which the group was kept from running, summed over processors",
        ),
    ],
};
