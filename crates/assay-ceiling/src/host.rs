//! What the whole host did while a trial ran: its time on CPUs, and what was stolen from it.

use std::path::Path;
use std::{fs, io};

use assay_kernel::parse::Cpu;
use assay_kernel::{ProcRoot, Units};

use crate::CeilingError;

/// Time of all CPUs since boot, in steps of the kernel's tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostTime {
    /// On a CPU, whoever it was.
    pub busy_ns: u64,
    /// Ready on a virtual CPU that the hypervisor did not run.
    pub steal_ns: u64,
}

impl HostTime {
    /// The host's time now.
    pub fn now() -> Result<Self, CeilingError> {
        let path = ProcRoot::default().join("stat");
        let text = fs::read(&path).map_err(CeilingError::system("/proc/stat"))?;
        Self::of_text(&path, &text, &Units::of_host())
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
            steal_ns: self.steal_ns.saturating_sub(before.steal_ns),
        }
    }

    /// What a guest used is in the first two times already.
    fn of_text(path: &Path, text: &[u8], units: &Units) -> Result<Self, CeilingError> {
        let cpu = Cpu::total(path, text, units)
            .map_err(|error| CeilingError::system("/proc/stat")(io::Error::other(error)))?;
        let interrupts_ns = cpu.irq_ns.unwrap_or_default() + cpu.softirq_ns.unwrap_or_default();
        Ok(Self {
            busy_ns: cpu.user_ns + cpu.nice_ns + cpu.system_ns + interrupts_ns,
            steal_ns: cpu.steal_ns.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_at_work_and_time_stolen_are_told_apart() {
        let text = "cpu  100 20 30 4000 50 6 7 80 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        let units = Units { tick_ns: 10, page_bytes: 4096 };
        let time = HostTime::of_text(Path::new("stat"), text.as_bytes(), &units).unwrap();
        assert_eq!(time, HostTime { busy_ns: 1_630, steal_ns: 800 });
    }

    #[test]
    fn the_host_was_busy_since_boot() {
        let now = HostTime::now().unwrap();
        assert!(now.busy_ns > 0);
        assert_eq!(now.since(now), HostTime::default());
    }
}
