//! CPU time, page faults and switches by getrusage(2).

use std::mem::MaybeUninit;

/// The tasks that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageOf {
    /// All threads of the calling process, those that ended included.
    Process,
    /// The calling thread.
    Thread,
    /// Children that ended and were waited for.
    Children,
}

/// The counters of getrusage(2), since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode.
    pub user_ns: u64,
    /// CPU time in the kernel.
    pub system_ns: u64,
    /// Page faults answered without a read.
    pub minor_faults: u64,
    /// Page faults that read from storage.
    pub major_faults: u64,
    /// Times the CPU was given up.
    pub voluntary_switches: u64,
    /// Times the CPU was taken away.
    pub involuntary_switches: u64,
    /// Highest resident memory.
    pub rss_peak_bytes: u64,
}

impl Usage {
    /// Counts so far.
    #[expect(
        unsafe_code,
        reason = "the kernel fills in the whole structure, or the call has failed"
    )]
    pub fn of(tasks: UsageOf) -> Self {
        let tasks = match tasks {
            UsageOf::Process => libc::RUSAGE_SELF,
            UsageOf::Thread => libc::RUSAGE_THREAD,
            UsageOf::Children => libc::RUSAGE_CHILDREN,
        };
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        let failed = unsafe { libc::getrusage(tasks, usage.as_mut_ptr()) };
        // The one error is a number of tasks that there is not.
        assert_eq!(failed, 0, "getrusage");
        let usage = unsafe { usage.assume_init() };
        Self {
            user_ns: nanoseconds(usage.ru_utime),
            system_ns: nanoseconds(usage.ru_stime),
            minor_faults: usage.ru_minflt as u64,
            major_faults: usage.ru_majflt as u64,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            rss_peak_bytes: usage.ru_maxrss as u64 * 1024,
        }
    }

    /// CPU time in user mode and in the kernel.
    pub const fn cpu_ns(&self) -> u64 {
        self.user_ns + self.system_ns
    }
}

const fn nanoseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_uses_no_more_than_its_process() {
        let thread = Usage::of(UsageOf::Thread);
        let process = Usage::of(UsageOf::Process);
        assert!(thread.cpu_ns() <= process.cpu_ns() && thread.minor_faults <= process.minor_faults);
        assert!(process.rss_peak_bytes > 0);
    }
}
