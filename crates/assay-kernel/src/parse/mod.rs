//! Parsers of the kernel's files, one file a format. Each takes the text and, for its errors, the
//! path it came from; each is total over arbitrary bytes. Formats: proc(5), and the kernel's
//! `Documentation/{filesystems/proc,admin-guide/iostats,accounting/psi,scheduler/sched-stats}.rst`.

pub mod cgroup;
mod disks;
mod mapping;
mod memory;
mod pressure;
mod process;
mod schedstat;
mod statm;
mod status;
mod syscall;
mod system;
mod vmstat;

pub use disks::Disk;
pub use mapping::{Mapping, mappings};
pub use memory::Memory;
pub use pressure::Pressure;
pub use process::{ProcessStat, TaskState, parent, start_ticks};
pub use schedstat::SchedStat;
pub use statm::Statm;
pub use status::{Io, SmapsRollup, Status};
pub use syscall::SystemCall;
pub use system::{Cpu, SystemStat};
pub use vmstat::VmStat;
