//! The two clocks of a probe: the record's clock, and what the probe itself costs.

use nix::time::{ClockId, clock_gettime};

const SECOND_NS: i64 = 1_000_000_000;

/// Time on the clock that all processes of the host share, `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> i64 {
    read_ns(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread since it started.
pub(crate) fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID) as u64
}

fn read_ns(clock: ClockId) -> i64 {
    // Both clocks are part of every Linux kernel; the call cannot fail on them.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() * SECOND_NS + time.tv_nsec())
}
