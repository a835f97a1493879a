//! CPU time of the calling thread.

use assay_kernel::usage::{self, UsageOf};

/// CPU time in nanoseconds, as getrusage(2) tells it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// In user mode.
    pub user_ns: u64,
    /// In the kernel.
    pub system_ns: u64,
}

impl Usage {
    /// What the calling thread has used so far.
    pub fn of_thread() -> Self {
        let usage = usage::Usage::of(UsageOf::Thread);
        Self { user_ns: usage.user_ns, system_ns: usage.system_ns }
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            user_ns: self.user_ns.saturating_sub(before.user_ns),
            system_ns: self.system_ns.saturating_sub(before.system_ns),
        }
    }

    /// Both threads' time together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { user_ns: self.user_ns + other.user_ns, system_ns: self.system_ns + other.system_ns }
    }
}
