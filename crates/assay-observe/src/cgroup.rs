//! The limit of CPU time under which a process is: of its control group, or of one around it.

use std::path::{Path, PathBuf};

use crate::file::{Buffer, ProcFile};
use crate::parse::cgroup::{Hierarchy, Throttling, group, has_quota, mount};
use crate::{ObserveError, ProcRoot};

/// The control groups of one process that may be limited, the innermost first.
pub(crate) struct Limits {
    pub pid: u32,
    groups: Vec<Group>,
    /// The one that is told of, once there is a reason to.
    limited: Option<usize>,
}

struct Group {
    stat: ProcFile,
    quota: ProcFile,
    first: Option<Throttling>,
}

impl Limits {
    /// The groups of a process; none where the host has no CPU controller.
    pub fn of(root: &ProcRoot, pid: u32, buffer: &mut Buffer) -> Result<Self, ObserveError> {
        let mut groups = Vec::new();
        for (hierarchy, quota) in
            [(Hierarchy::Cpu, "cpu.cfs_quota_us"), (Hierarchy::Unified, "cpu.max")]
        {
            for folder in folders(root, pid, hierarchy, buffer)? {
                groups.push(Group {
                    stat: ProcFile::lines(folder.join("cpu.stat")),
                    quota: ProcFile::lines(folder.join(quota)),
                    first: None,
                });
            }
        }
        Ok(Self { pid, groups, limited: None })
    }

    /// What the limit has done so far; `None` as long as there is none and none was felt.
    pub fn read(&mut self, buffer: &mut Buffer) -> Result<Option<Throttling>, ObserveError> {
        if self.limited.is_none() {
            self.limited = self.find(buffer)?;
        }
        match self.limited.and_then(|place| self.groups.get_mut(place)) {
            Some(group) => group.read(buffer),
            None => Ok(None),
        }
    }

    /// The innermost group that has a quota, or had one meanwhile that it reached.
    fn find(&mut self, buffer: &mut Buffer) -> Result<Option<usize>, ObserveError> {
        for (place, group) in self.groups.iter_mut().enumerate() {
            let Some(now) = group.read(buffer)? else { continue };
            let first = *group.first.get_or_insert(now);
            let is_limited = group.quota.read(buffer)?.is_some_and(has_quota);
            if is_limited || now.throttled_periods > first.throttled_periods {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }
}

impl Group {
    fn read(&mut self, buffer: &mut Buffer) -> Result<Option<Throttling>, ObserveError> {
        match self.stat.read(buffer)? {
            Some(text) => Throttling::parse(self.stat.path(), text),
            None => Ok(None),
        }
    }
}

/// The folders of the group of a process and of those around it, as far as they are mounted here.
fn folders(
    root: &ProcRoot,
    pid: u32,
    hierarchy: Hierarchy,
    buffer: &mut Buffer,
) -> Result<Vec<PathBuf>, ObserveError> {
    let mut membership = ProcFile::lines(root.process(pid).join("cgroup"));
    let own = membership.read(buffer)?.and_then(|text| group(text, hierarchy));
    let mut mounts = ProcFile::lines(root.join("self/mountinfo"));
    let mounted = mounts.read(buffer)?.and_then(|text| mount(text, hierarchy));
    let (Some(own), Some(mounted)) = (own, mounted) else { return Ok(Vec::new()) };
    let Ok(below) = own.strip_prefix(&mounted.root) else { return Ok(Vec::new()) };
    Ok(below.ancestors().map(|part: &Path| mounted.point.join(part)).collect())
}
