//! What the whole host did while a trial ran: its time on CPUs, and what was stolen from it.

use std::fs;

use nix::time::{ClockId, clock_gettime};
use nix::unistd::{SysconfVar, sysconf};

use crate::CeilingError;

const PROC_STAT: &str = "/proc/stat";
/// Words of the line `cpu` that are time at work: user, nice, system, irq, softirq. What a guest
/// used is in the first two already.
const AT_WORK: [usize; 5] = [0, 1, 2, 5, 6];
const STOLEN: usize = 7;

/// Time of all CPUs since boot, in steps of the kernel's tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTime {
    /// On a CPU, whoever it was.
    pub busy_ns: u64,
    /// Ready on a virtual CPU that the hypervisor did not run.
    pub steal_ns: u64,
}

impl HostTime {
    /// As the kernel tells it now.
    pub fn now() -> Result<Self, CeilingError> {
        let text = fs::read_to_string(PROC_STAT).map_err(CeilingError::system(PROC_STAT))?;
        Ok(Self::of_text(&text, tick_ns()?))
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
        }
    }

    fn of_text(text: &str, tick_ns: u64) -> Self {
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> =
            line.split_whitespace().skip(1).map_while(|word| word.parse().ok()).collect();
        let of = |place: usize| ticks.get(place).copied().unwrap_or_default();
        Self {
            busy_ns: AT_WORK.into_iter().map(of).sum::<u64>() * tick_ns,
            steal_ns: of(STOLEN) * tick_ns,
        }
    }
}

/// `CLOCK_MONOTONIC`, the clock of the record.
pub fn now_ns() -> Result<i64, CeilingError> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_err(|errno| CeilingError::system("reading the clock")(errno.into()))?;
    Ok(now.tv_sec() * 1_000_000_000 + now.tv_nsec())
}

fn tick_ns() -> Result<u64, CeilingError> {
    let ticks = sysconf(SysconfVar::CLK_TCK)
        .map_err(|errno| CeilingError::system("reading the length of a tick")(errno.into()))?;
    Ok(ticks.and_then(|hz| u64::try_from(hz).ok()).map_or(10_000_000, |hz| 1_000_000_000 / hz))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_at_work_and_time_stolen_are_told_apart() {
        let text = "cpu  100 20 30 4000 50 6 7 80 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let told = HostTime::of_text(text, 10);
        assert_eq!(told, HostTime { busy_ns: 1_630, steal_ns: 800 });
    }

    #[test]
    fn the_host_was_busy_since_boot() {
        let now = HostTime::now().unwrap();
        assert!(now.busy_ns > 0);
        assert_eq!(now.since(now), HostTime::default());
    }
}
