//! CPU time of the calling thread.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use crate::CeilingError;

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
    pub fn of_thread() -> Result<Self, CeilingError> {
        let told = getrusage(UsageWho::RUSAGE_THREAD).map_err(|errno| {
            CeilingError::system("reading the CPU time of a thread")(errno.into())
        })?;
        Ok(Self {
            user_ns: nanoseconds(told.user_time()),
            system_ns: nanoseconds(told.system_time()),
        })
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

fn nanoseconds(time: TimeVal) -> u64 {
    (time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000) as u64
}
