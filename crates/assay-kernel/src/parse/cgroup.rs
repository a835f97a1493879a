//! The files by which a control group of processes tells its place, and how its CPU time is limited.

use std::path::{Path, PathBuf};

use crate::KernelError;
use crate::text::{fill, lines, number, words};

const MICROSECOND_NS: u64 = 1_000;

/// Which version of control groups has the CPU controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hierarchy {
    /// Version 1: a hierarchy a controller.
    Cpu,
    /// Version 2: one hierarchy of all controllers.
    Unified,
}

/// Where a hierarchy is mounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The group that stands at the mount point.
    pub root: PathBuf,
    /// The mount point.
    pub point: PathBuf,
}

/// What a limit of CPU time has done to a group so far (`cpu.stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Periods of the limit in which the group had something to do.
    pub periods: u64,
    /// Periods in which its time ran out.
    pub throttled_periods: u64,
    /// Time for which it was kept from running, summed over processors.
    pub throttled_ns: u64,
}

/// `cpu.stat` as it is printed: version 1 counts nanoseconds, version 2 microseconds.
#[derive(Default)]
struct CpuStat {
    periods: Option<u64>,
    throttled_periods: Option<u64>,
    throttled_ns: Option<u64>,
    throttled_us: Option<u64>,
}

/// The group of a process in a hierarchy, from `/proc/<pid>/cgroup`; `None`: it is in none.
pub fn group(text: &[u8], hierarchy: Hierarchy) -> Option<PathBuf> {
    lines(text).find_map(|line| {
        let mut fields = line.splitn(3, |byte| *byte == b':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let is_asked_for = match hierarchy {
            Hierarchy::Cpu => has_word(controllers, b"cpu"),
            Hierarchy::Unified => controllers.is_empty(),
        };
        is_asked_for.then(|| as_path(path))
    })
}

/// The first mount of a hierarchy, from `/proc/self/mountinfo`.
pub fn mount(text: &[u8], hierarchy: Hierarchy) -> Option<Mount> {
    lines(text).find_map(|line| {
        let mut fields = words(line).skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let mut described = fields.skip_while(|word| *word != b"-").skip(1);
        let (kind, _, options) = (described.next()?, described.next()?, described.next()?);
        let is_asked_for = match hierarchy {
            Hierarchy::Cpu => kind == b"cgroup" && has_word(options, b"cpu"),
            Hierarchy::Unified => kind == b"cgroup2",
        };
        is_asked_for.then(|| Mount { root: as_path(root), point: as_path(point) })
    })
}

/// Whether `cpu.max` or `cpu.cfs_quota_us` sets a limit; without one they begin with `max` or -1.
pub fn has_quota(text: &[u8]) -> bool {
    words(text).next().and_then(number).is_some()
}

impl Throttling {
    /// Reads the text of a `cpu.stat`; `None`: the group cannot be limited, as the root's cannot.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Option<Self>, KernelError> {
        let stat = fill(path, text, |stat: &mut CpuStat, key| match key {
            b"nr_periods" => Some(&mut stat.periods),
            b"nr_throttled" => Some(&mut stat.throttled_periods),
            b"throttled_time" => Some(&mut stat.throttled_ns),
            b"throttled_usec" => Some(&mut stat.throttled_us),
            _ => None,
        })?;
        let of_microseconds = stat.throttled_us.map(|us| us.saturating_mul(MICROSECOND_NS));
        let all = stat.periods.zip(stat.throttled_periods);
        Ok(all.zip(stat.throttled_ns.or(of_microseconds)).map(
            |((periods, throttled_periods), throttled_ns)| Self {
                periods,
                throttled_periods,
                throttled_ns,
            },
        ))
    }
}

fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|byte| *byte == b',').any(|part| part == word)
}

fn as_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
