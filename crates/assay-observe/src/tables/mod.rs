//! The streams of this crate, column by column.

mod cost;
mod disks;
mod neighbours;
mod processes;
mod system;
mod waits;

pub use cost::{PROBE_DISKS, PROBE_NEIGHBOURS, PROBE_PROCESSES, PROBE_SYSTEM, PROBE_WAITS};
pub use disks::DISKS;
pub use neighbours::NEIGHBOURS;
pub use processes::PROCESSES;
pub use system::{CPUS, SYSTEM};
pub use waits::{CGROUP, WAITS};
