//! `/proc/<pid>/task/<tid>/schedstat`: one task by the scheduler's own clock.

use std::path::Path;

use crate::KernelError;
use crate::text::{Line, number, words};

/// Counters of one task since it started, or a sum over tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Time on a CPU.
    pub on_cpu_ns: u64,
    /// Time runnable and waiting for a CPU.
    pub run_delay_ns: u64,
    /// Times it was given a CPU.
    pub timeslices: u64,
}

impl SchedStat {
    /// Reads the text of one schedstat file.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        let line = Line { path, text };
        let mut fields = words(text);
        Ok(Self {
            on_cpu_ns: line.scaled("time on CPU", fields.next(), 1)?,
            run_delay_ns: line.scaled("run delay", fields.next(), 1)?,
            timeslices: line.scaled("timeslices", fields.next(), 1)?,
        })
    }

    /// Reads one line of such numbers; `None` if it is none.
    pub fn of_line(line: &[u8]) -> Option<Self> {
        let mut numbers = words(line).map(number);
        Some(Self {
            on_cpu_ns: numbers.next()??,
            run_delay_ns: numbers.next()??,
            timeslices: numbers.next()??,
        })
    }

    /// Time during which the task wanted or had a CPU.
    pub fn busy_ns(&self) -> u64 {
        self.on_cpu_ns.saturating_add(self.run_delay_ns)
    }

    /// Adds the counters of another task.
    pub fn add(&mut self, other: &Self) {
        self.on_cpu_ns = self.on_cpu_ns.saturating_add(other.on_cpu_ns);
        self.run_delay_ns = self.run_delay_ns.saturating_add(other.run_delay_ns);
        self.timeslices = self.timeslices.saturating_add(other.timeslices);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_three_numbers() {
        let clock = SchedStat { on_cpu_ns: 12, run_delay_ns: 34, timeslices: 5 };
        assert_eq!(SchedStat::of_line(b"12 34 5\n"), Some(clock));
        assert_eq!(SchedStat::of_line(b"12\n"), None);
    }
}
