//! Reads the kernel's counters while an engine works. Sampler threads read those of the host, its
//! disks and followed processes, and record their own cost. Meters read one process, or a server's
//! tree of processes, just outside each timed interval.
//!
//! Invariant: what is stored is what the kernel printed, converted to bytes and nanoseconds. No
//! rate is computed here, and what the kernel does not give is `None`, never zero.

mod at_work;
mod cgroup;
mod descent;
mod device_meter;
mod error;
mod followed;
pub mod meter;
pub mod page_cache;
mod probe;
mod pss;
mod reads_meter;
mod sampler;
mod schedule;
mod server_meter;
pub mod tables;
mod tasks;
mod title;
mod totals;
mod tree;
mod waits;
mod worker;

pub use assay_kernel::{ProcRoot, SysRoot, Units};
pub use device_meter::DeviceMeter;
pub use error::ObserveError;
pub use meter::ProcessMeter;
pub use probe::ProbeKind;
pub use reads_meter::{Reads, ReadsMeter};
pub use sampler::{Sampler, SamplerConfig, SamplerReport};
pub use server_meter::ServerMeter;
