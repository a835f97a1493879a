//! Time as the driver sees it. The loop never asks the system itself, so a test can stall an
//! operation for a second in no time at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use assay_kernel::clock::monotonic_ns;

/// A source of CLOCK_MONOTONIC nanoseconds.
pub trait Clock {
    /// Now, in nanoseconds.
    fn now_ns(&self) -> i64;
    /// Returns once `until_ns` has come, or earlier by at most [`Clock::sleep_max_ns`], so that
    /// the caller can look whether it was asked to stop.
    fn sleep_until(&self, until_ns: i64);
    /// The longest that one call of `sleep_until` may last.
    fn sleep_max_ns(&self) -> i64 {
        50_000_000
    }
}

/// The host's CLOCK_MONOTONIC, which all processes of one host share.
#[derive(Clone, Copy, Debug, Default)]
pub struct MonotonicClock;

/// The scheduler wakes a sleeper about this late; the rest is spun away.
const WAKE_LATENESS_NS: i64 = 60_000;

impl Clock for MonotonicClock {
    fn now_ns(&self) -> i64 {
        monotonic_ns()
    }

    fn sleep_until(&self, until_ns: i64) {
        let wait_ns = until_ns - self.now_ns();
        if wait_ns > self.sleep_max_ns() {
            thread::sleep(Duration::from_nanos(self.sleep_max_ns() as u64));
            return;
        }
        if wait_ns > WAKE_LATENESS_NS {
            thread::sleep(Duration::from_nanos((wait_ns - WAKE_LATENESS_NS) as u64));
        }
        while self.now_ns() < until_ns {
            std::hint::spin_loop();
        }
    }
}

/// A clock that stands still until somebody sleeps on it. For tests of one session.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Arc<AtomicI64>);

impl VirtualClock {
    /// Lets time pass.
    pub fn advance(&self, by_ns: i64) {
        self.0.fetch_add(by_ns, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now_ns(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }

    fn sleep_until(&self, until_ns: i64) {
        self.0.fetch_max(until_ns, Ordering::Relaxed);
    }

    fn sleep_max_ns(&self) -> i64 {
        i64::MAX
    }
}
