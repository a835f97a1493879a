//! Files of the kernel.

use std::path::Path;

use assay_kernel::Units;
use assay_kernel::parse::cgroup::{Hierarchy, Throttling, group, has_quota, mount};
use assay_kernel::parse::{
    Cpu, Disk, Io, Memory, Pressure, ProcessStat, SchedStat, SmapsRollup, Statm, Status,
    SystemCall, SystemStat, TaskState, VmStat, mappings, parent,
};

const UNITS: Units = Units { tick_ns: 10_000_000, page_bytes: 4096 };

/// All parsers on one text.
pub fn read(text: &[u8]) {
    let path = Path::new("file");
    let _ = SystemStat::parse(path, text, &UNITS);
    let _ = Cpu::total(path, text, &UNITS);
    let _ = Memory::parse(path, text);
    let _ = VmStat::parse(path, text);
    let _ = Pressure::parse(path, text);
    let _ = Disk::parse_all(path, text);
    let _ = Disk::parse_stat(path, text);
    let _ = ProcessStat::parse(path, text, &UNITS);
    let _ = (TaskState::parse(text), parent(text));
    if let Ok(stat) = SchedStat::parse(path, text) {
        let _ = stat.busy_ns();
    }
    if let Ok(statm) = Statm::parse(path, text, &UNITS) {
        let _ = statm.private_bytes();
    }
    let _ = Io::parse(path, text);
    let _ = Status::parse(path, text);
    let _ = SmapsRollup::parse(path, text);
    let _ = SystemCall::parse(path, text);
    let _ = Throttling::parse(path, text);
    let _ = has_quota(text);
    for hierarchy in [Hierarchy::Cpu, Hierarchy::Unified] {
        let _ = (group(text, hierarchy), mount(text, hierarchy));
    }
    for mapping in mappings(text) {
        // A byte that is no text is read as a mark of three bytes.
        assert!(mapping.path.len() <= 3 * text.len());
    }
}
