//! Clocks in nanoseconds: the record's clock, and CPU time of a thread or of a process.

use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{Timespec, clock_gettime};

const SECOND_NS: i64 = 1_000_000_000;

/// Time on `CLOCK_MONOTONIC`, which all processes of the host share.
pub fn monotonic_ns() -> i64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Time since boot, on `CLOCK_BOOTTIME`: what the host slept is part of it.
pub fn boot_ns() -> i64 {
    nanoseconds(clock_gettime(ClockId::Boottime))
}

/// CPU time of the calling thread since it started.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime)) as u64
}

/// Sleeps until a time on `CLOCK_MONOTONIC`; a signal does not end it.
pub fn sleep_until(time_ns: i64) {
    let time = Timespec { tv_sec: time_ns / SECOND_NS, tv_nsec: time_ns % SECOND_NS };
    while clock_nanosleep_absolute(ClockId::Monotonic, &time) == Err(Errno::INTR) {}
}

/// The clock of the CPU time that a process of this host has used, to the nanosecond and up to now.
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock(libc::clockid_t);

impl ProcessClock {
    /// `None`: there is no such process.
    #[expect(unsafe_code, reason = "the library fills in the number of the clock that it is given")]
    pub fn of(pid: u32) -> Option<Self> {
        let mut clock = 0;
        let failed = unsafe { libc::clock_getcpuclockid(i32::try_from(pid).ok()?, &raw mut clock) };
        (failed == 0).then_some(Self(clock))
    }

    /// The CPU time so far; `None`: the process is gone.
    #[expect(unsafe_code, reason = "the kernel fills in the time that it is given")]
    pub fn cpu_ns(self) -> Option<u64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        if unsafe { libc::clock_gettime(self.0, &raw mut time) } != 0 {
            return None;
        }
        u64::try_from(time.tv_sec * SECOND_NS + time.tv_nsec).ok()
    }
}

fn nanoseconds(time: Timespec) -> i64 {
    time.tv_sec * SECOND_NS + time.tv_nsec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_of_a_process_that_there_is() {
        let used_ns = ProcessClock::of(std::process::id()).and_then(ProcessClock::cpu_ns);
        assert!(used_ns.is_some_and(|used_ns| used_ns >= thread_cpu_ns() / 2));
        assert!(ProcessClock::of(u32::MAX).is_none());
    }

    #[test]
    fn sleep_ends_no_sooner_than_it_is_told() {
        let until_ns = monotonic_ns() + 1_000_000;
        sleep_until(until_ns);
        assert!(monotonic_ns() >= until_ns);
    }
}
