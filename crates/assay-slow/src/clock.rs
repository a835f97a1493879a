//! The record's clock, what this thread costs, and sleeping until a time.

use rustix::io::Errno;
use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute};
use rustix::time::clock_gettime;

const SECOND_NS: i64 = 1_000_000_000;

/// Time on `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> i64 {
    read_ns(ClockId::Monotonic)
}

/// CPU time of the calling thread since it started.
pub(crate) fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::ThreadCPUTime) as u64
}

/// Sleeps until a time on `CLOCK_MONOTONIC`; a signal does not end it.
pub(crate) fn sleep_until(time_ns: i64) {
    let time = Timespec { tv_sec: time_ns / SECOND_NS, tv_nsec: time_ns % SECOND_NS };
    while clock_nanosleep_absolute(ClockId::Monotonic, &time) == Err(Errno::INTR) {}
}

fn read_ns(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * SECOND_NS + time.tv_nsec
}
