//! The two clocks of a probe: the record's clock, and what the probe itself costs.

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

const SECOND_NS: i64 = 1_000_000_000;

/// Time on the clock that all processes of the host share, `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> i64 {
    read_ns(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread since it started.
pub(crate) fn thread_cpu_ns() -> u64 {
    read_ns(ClockId::CLOCK_THREAD_CPUTIME_ID) as u64
}

/// The clock of all CPU time that a process of this host has used, to the nanosecond and up to now;
/// `None`: there is no such process.
pub(crate) fn process_clock(pid: u32) -> Option<ClockId> {
    clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()
}

/// What a process's clock shows; `None`: the process is gone.
pub(crate) fn process_cpu_ns(clock: ClockId) -> Option<u64> {
    let time = clock_gettime(clock).ok()?;
    u64::try_from(time.tv_sec() * SECOND_NS + time.tv_nsec()).ok()
}

fn read_ns(clock: ClockId) -> i64 {
    // Both clocks are part of every Linux kernel; the call cannot fail on them.
    clock_gettime(clock).map_or(0, |time| time.tv_sec() * SECOND_NS + time.tv_nsec())
}
