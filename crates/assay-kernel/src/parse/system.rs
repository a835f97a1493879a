//! `/proc/stat`: where each CPU's time went, and how often tasks were switched and created.

use std::path::Path;

use crate::text::{Line, lines, number, words};
use crate::{KernelError, Units};

/// Time of one CPU since boot, by what it did. `user_ns` contains `guest_ns`, and `nice_ns`
/// contains `guest_nice_ns`: the sum of the first eight is all the CPU's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words, explained in tables::CPUS")]
pub struct Cpu {
    pub cpu: u32,
    pub user_ns: u64,
    pub nice_ns: u64,
    pub system_ns: u64,
    pub idle_ns: u64,
    pub iowait_ns: Option<u64>,
    pub irq_ns: Option<u64>,
    pub softirq_ns: Option<u64>,
    pub steal_ns: Option<u64>,
    pub guest_ns: Option<u64>,
    pub guest_nice_ns: Option<u64>,
}

/// What is kept of `/proc/stat`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemStat {
    /// The CPUs that are online, in the kernel's order.
    pub cpus: Vec<Cpu>,
    /// Switches between tasks since boot (`ctxt`).
    pub context_switches: Option<u64>,
    /// Tasks created since boot, threads included (`processes`).
    pub tasks_created: Option<u64>,
    /// Runnable tasks (`procs_running`, a gauge).
    pub procs_running: Option<u64>,
    /// Tasks that wait for a device (`procs_blocked`, a gauge).
    pub procs_blocked: Option<u64>,
}

impl SystemStat {
    /// Reads the text of `/proc/stat`.
    pub fn parse(path: &Path, text: &[u8], units: &Units) -> Result<Self, KernelError> {
        let mut stat = Self::default();
        for text in lines(text) {
            let line = Line { path, text };
            let key = words(text).next().unwrap_or_default();
            if let Some(cpu) = key.strip_prefix(b"cpu").and_then(number) {
                stat.cpus.push(Cpu::parse(line, cpu, units)?);
            } else if let Some((field, place)) = stat.slot(key) {
                *place = Some(line.scaled(field, words(text).nth(1), 1)?);
            }
        }
        Ok(stat)
    }

    fn slot(&mut self, key: &[u8]) -> Option<(&'static str, &mut Option<u64>)> {
        Some(match key {
            b"ctxt" => ("ctxt", &mut self.context_switches),
            b"processes" => ("processes", &mut self.tasks_created),
            b"procs_running" => ("procs_running", &mut self.procs_running),
            b"procs_blocked" => ("procs_blocked", &mut self.procs_blocked),
            _ => return None,
        })
    }
}

impl Cpu {
    /// The sum over all CPUs, from the text of `/proc/stat`; its `cpu` is 0.
    pub fn total(path: &Path, text: &[u8], units: &Units) -> Result<Self, KernelError> {
        let text = lines(text).next().unwrap_or_default();
        let line = Line { path, text };
        if words(text).next() != Some(b"cpu") {
            return Err(line.bad("cpu"));
        }
        Self::parse(line, 0, units)
    }

    fn parse(line: Line<'_>, cpu: u64, units: &Units) -> Result<Self, KernelError> {
        let cpu = u32::try_from(cpu).map_err(|_| line.bad("cpu"))?;
        let mut ticks = words(line.text).skip(1);
        let mut needed = |field| line.scaled(field, ticks.next(), units.tick_ns);
        let (user_ns, nice_ns) = (needed("user")?, needed("nice")?);
        let (system_ns, idle_ns) = (needed("system")?, needed("idle")?);
        let mut newer = |field| line.scaled_if_there(field, ticks.next(), units.tick_ns);
        Ok(Self {
            cpu,
            user_ns,
            nice_ns,
            system_ns,
            idle_ns,
            iowait_ns: newer("iowait")?,
            irq_ns: newer("irq")?,
            softirq_ns: newer("softirq")?,
            steal_ns: newer("steal")?,
            guest_ns: newer("guest")?,
            guest_nice_ns: newer("guest_nice")?,
        })
    }
}
