//! The limit of CPU time under which a process is: of its control group, or of one around it.

use std::path::{Path, PathBuf};

use crate::{ObserveError, ProcRoot};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::cgroup::{Hierarchy, Throttling, group, has_quota, mount};

/// The control groups of one process that may be limited, the innermost first.
pub(crate) struct Limits {
    pub pid: u32,
    root: ProcRoot,
    membership: ProcFile,
    /// The membership that `groups` follow from.
    member_of: Vec<u8>,
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
        let membership = ProcFile::lines(root.process(pid).join("cgroup"));
        let mut limits = Self {
            pid,
            root: root.clone(),
            membership,
            member_of: Vec::new(),
            groups: Vec::new(),
            limited: None,
        };
        limits.follow(buffer)?;
        Ok(limits)
    }

    /// Looks for the groups anew if the process was moved into others.
    fn follow(&mut self, buffer: &mut Buffer) -> Result<(), ObserveError> {
        let Some(text) = self.membership.read(buffer)? else { return Ok(()) };
        if text == self.member_of {
            return Ok(());
        }
        self.member_of = text.to_vec();
        self.limited = None;
        self.groups.clear();
        for (hierarchy, quota) in
            [(Hierarchy::Cpu, "cpu.cfs_quota_us"), (Hierarchy::Unified, "cpu.max")]
        {
            for folder in folders(&self.root, &self.member_of, hierarchy, buffer)? {
                self.groups.push(Group {
                    stat: ProcFile::lines(folder.join("cpu.stat")),
                    quota: ProcFile::lines(folder.join(quota)),
                    first: None,
                });
            }
        }
        Ok(())
    }

    /// What the limit has done so far; `None` as long as there is none and none was felt.
    pub fn read(&mut self, buffer: &mut Buffer) -> Result<Option<Throttling>, ObserveError> {
        self.follow(buffer)?;
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
            Some(text) => Ok(Throttling::parse(self.stat.path(), text)?),
            None => Ok(None),
        }
    }
}

/// The folders of the group of a process and of those around it, as far as they are mounted here.
fn folders(
    root: &ProcRoot,
    member_of: &[u8],
    hierarchy: Hierarchy,
    buffer: &mut Buffer,
) -> Result<Vec<PathBuf>, ObserveError> {
    let own = group(member_of, hierarchy);
    let mut mounts = ProcFile::lines(root.join("self/mountinfo"));
    let mounted = mounts.read(buffer)?.and_then(|text| mount(text, hierarchy));
    let (Some(own), Some(mounted)) = (own, mounted) else { return Ok(Vec::new()) };
    let Ok(below) = own.strip_prefix(&mounted.root) else { return Ok(Vec::new()) };
    Ok(below.ancestors().map(|part: &Path| mounted.point.join(part)).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A host on which process 7 is in the group `/outer/inner`, seen from a container that shows
    /// `/outer` at its mount point.
    fn host(line: &str, kind: &str, options: &str) -> (tempfile::TempDir, ProcRoot) {
        let folder = tempfile::tempdir().unwrap();
        let groups = folder.path().join("groups");
        fs::create_dir_all(groups.join("inner")).unwrap();
        fs::create_dir_all(folder.path().join("7")).unwrap();
        fs::create_dir_all(folder.path().join("self")).unwrap();
        fs::write(folder.path().join("7/cgroup"), line).unwrap();
        let mounted = format!("32 31 0:29 /outer {} rw - {kind} any {options}\n", groups.display());
        fs::write(folder.path().join("self/mountinfo"), mounted).unwrap();
        let root = ProcRoot(folder.path().to_owned());
        (folder, root)
    }

    fn first_version() -> (tempfile::TempDir, ProcRoot) {
        host("1:cpu,cpuacct:/outer/inner\n0::/elsewhere\n", "cgroup", "rw,cpu,cpuacct")
    }

    fn stat(folder: &Path, group: &str, throttled: u64) {
        let text = format!("nr_periods 9\nnr_throttled {throttled}\nthrottled_time 50\n");
        fs::write(folder.join("groups").join(group).join("cpu.stat"), text).unwrap();
    }

    fn quota(folder: &Path, group: &str, text: &str) {
        fs::write(folder.join("groups").join(group).join("cpu.cfs_quota_us"), text).unwrap();
    }

    fn read(limits: &mut Limits) -> Option<u64> {
        limits.read(&mut Buffer::new()).unwrap().map(|now| now.throttled_periods)
    }

    fn limits(root: &ProcRoot) -> Limits {
        Limits::of(root, 7, &mut Buffer::new()).unwrap()
    }

    #[test]
    fn a_group_without_a_limit_is_not_told_of() {
        let (folder, root) = first_version();
        stat(folder.path(), "inner", 3);
        quota(folder.path(), "inner", "-1\n");
        assert_eq!(read(&mut limits(&root)), None);
    }

    #[test]
    fn a_limit_of_a_group_into_which_it_was_moved_is_told_of() {
        let (folder, root) = first_version();
        stat(folder.path(), "inner", 3);
        quota(folder.path(), "inner", "-1\n");
        let mut limits = limits(&root);
        assert_eq!(read(&mut limits), None);
        fs::create_dir_all(folder.path().join("groups/narrow")).unwrap();
        stat(folder.path(), "narrow", 5);
        quota(folder.path(), "narrow", "50000\n");
        let line = "1:cpu,cpuacct:/outer/narrow\n0::/elsewhere\n";
        fs::write(folder.path().join("7/cgroup"), line).unwrap();
        assert_eq!(read(&mut limits), Some(5));
    }

    #[test]
    fn a_limit_of_a_group_around_it_is_told_of() {
        let (folder, root) = first_version();
        for (group, text) in [("inner", "-1\n"), ("", "20000\n")] {
            stat(folder.path(), group, group.len() as u64);
            quota(folder.path(), group, text);
        }
        assert_eq!(read(&mut limits(&root)), Some(0));
    }

    #[test]
    fn a_limit_that_was_felt_is_told_of_even_if_it_was_taken_away() {
        let (folder, root) = first_version();
        stat(folder.path(), "inner", 3);
        let mut limits = limits(&root);
        assert_eq!(read(&mut limits), None);
        stat(folder.path(), "inner", 4);
        assert_eq!(read(&mut limits), Some(4));
    }

    #[test]
    fn a_limit_of_the_second_version_is_in_another_file() {
        let (folder, root) = host("0::/outer/inner\n", "cgroup2", "rw");
        stat(folder.path(), "inner", 3);
        fs::write(folder.path().join("groups/inner/cpu.max"), "max 100000\n").unwrap();
        assert_eq!(read(&mut limits(&root)), None);
        fs::write(folder.path().join("groups/inner/cpu.max"), "50000 100000\n").unwrap();
        assert_eq!(read(&mut limits(&root)), Some(3));
    }

    #[test]
    fn a_host_without_the_controller_and_a_group_out_of_sight_have_no_limit() {
        let (_folder, root) = host("1:memory:/a\n", "cgroup", "rw,memory");
        assert_eq!(read(&mut limits(&root)), None);
        let (folder, root) = host("1:cpu:/beside\n", "cgroup", "rw,cpu");
        stat(folder.path(), "inner", 3);
        quota(folder.path(), "inner", "20000\n");
        assert_eq!(read(&mut limits(&root)), None);
    }
}
