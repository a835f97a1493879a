//! The probes. Each turns one look at the host into rows of its own streams.

mod disks;
mod neighbours;
mod processes;
mod system;
mod waits;

use assay_model::Table;

pub(crate) use disks::DisksProbe;
pub(crate) use neighbours::NeighboursProbe;
pub(crate) use processes::ProcessesProbe;
pub(crate) use system::SystemProbe;
pub(crate) use waits::WaitsProbe;

use crate::ObserveError;
use crate::tables;
use assay_record::Stream;

/// What a sampler looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKind {
    /// Memory, paging, pressure and CPUs of the whole host: `system.arrows`, `cpus.arrows`.
    System,
    /// The followed processes and their descendants: `processes.arrows`.
    Processes,
    /// The block devices: `disks.arrows`.
    Disks,
    /// All processes of the host: `neighbours.arrows`.
    Neighbours,
    /// Each thread of the followed processes and their descendants: `waits.arrows`,
    /// `cgroup.arrows`.
    Waits,
}

impl ProbeKind {
    /// The name by which the record and the thread call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Processes => "processes",
            Self::Disks => "disks",
            Self::Neighbours => "neighbours",
            Self::Waits => "waits",
        }
    }

    /// The table into which it writes its own cost.
    pub fn cost_table(self) -> &'static Table {
        match self {
            Self::System => &tables::PROBE_SYSTEM,
            Self::Processes => &tables::PROBE_PROCESSES,
            Self::Disks => &tables::PROBE_DISKS,
            Self::Neighbours => &tables::PROBE_NEIGHBOURS,
            Self::Waits => &tables::PROBE_WAITS,
        }
    }

    /// Whether it looks at processes that it is given, and not at the whole host.
    pub fn follows(self) -> bool {
        matches!(self, Self::Processes | Self::Waits)
    }
}

/// Looks at one part of the host and keeps the rows in its streams until they are flushed.
pub(crate) trait Probe: Send {
    /// Adds the rows of one sample.
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError>;

    /// The streams it writes.
    fn streams(&mut self) -> &mut [Stream];

    /// Follows one more process; only a probe that follows any is ever asked.
    fn follow(&mut self, _pid: u32, _account: String) -> Result<(), ObserveError> {
        Ok(())
    }

    /// CPU time so far of what is not done at every look and is kept cheap in another way.
    fn apart_ns(&self) -> u64 {
        0
    }

    /// What could not be observed, and why: a sentence each.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The kernel's letter as the text of a cell.
pub(crate) fn state_name(state: char) -> &'static str {
    match state {
        'R' => "R",
        'S' => "S",
        'D' => "D",
        'Z' => "Z",
        'T' => "T",
        't' => "t",
        'I' => "I",
        'X' => "X",
        'P' => "P",
        _ => "other",
    }
}
