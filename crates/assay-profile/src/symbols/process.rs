//! The process that mapped code. Another process may have its number when names are looked for, so
//! it is known by its start, too, and its user is kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use assay_kernel::Units;
use assay_kernel::clock::{boot_ns, monotonic_ns};
use assay_kernel::parse::start_ticks;
use assay_kernel::text::{number, words_of};

/// A process, as it was when its code was first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampledProcess {
    /// Its number.
    pub pid: u32,
    /// When it started, since boot; none where it had ended before it was looked at.
    pub started_ns: Option<u64>,
    /// The user that it ran as; ours where it had ended.
    owner: u32,
}

impl SampledProcess {
    /// The process that has a number now.
    pub fn of(proc_root: &Path, pid: u32) -> Self {
        let folder = proc_root.join(pid.to_string());
        match (owner(&folder), started_ns(&folder)) {
            (Some(owner), started_ns @ Some(_)) => Self { pid, started_ns, owner },
            _ => Self::ended(pid),
        }
    }

    /// The process that had a number at a time of `CLOCK_MONOTONIC`: a younger one is another.
    pub fn at(proc_root: &Path, pid: u32, time_ns: i64) -> Self {
        // In this order, a pause between the two readings makes no process younger than it is.
        let awake_ns = monotonic_ns();
        let asleep_ns = boot_ns() - awake_ns;
        let process = Self::of(proc_root, pid);
        let is_younger = |started_ns| started_ns > (time_ns + asleep_ns).cast_unsigned();
        if process.started_ns.is_some_and(is_younger) { Self::ended(pid) } else { process }
    }

    /// A process of which nothing but its number is known.
    pub fn ended(pid: u32) -> Self {
        Self { pid, started_ns: None, owner: rustix::process::geteuid().as_raw() }
    }

    /// Its folder of procfs; none where it has ended, also where another process has its number.
    pub fn folder(&self, proc_root: &Path) -> Option<PathBuf> {
        let folder = proc_root.join(self.pid.to_string());
        (self.started_ns? == started_ns(&folder)?).then_some(folder)
    }

    /// The user that it runs as, or ran as when it was first seen.
    pub(super) fn owner(&self, proc_root: &Path) -> u32 {
        self.folder(proc_root).and_then(|folder| owner(&folder)).unwrap_or(self.owner)
    }

    /// When it began, by the system's clock.
    pub(super) fn begun(&self) -> Option<SystemTime> {
        by_system_clock(self.started_ns?)
    }

    /// When another process began that has its number now.
    pub(super) fn next_begun(&self, proc_root: &Path) -> Option<SystemTime> {
        let next_ns = started_ns(&proc_root.join(self.pid.to_string()))?;
        (self.started_ns != Some(next_ns)).then(|| by_system_clock(next_ns))?
    }
}

fn owner(folder: &Path) -> Option<u32> {
    let status = fs::read(folder.join("status")).ok()?;
    // Real, effective, saved, of the file system.
    number(words_of(&status, "Uid")?.nth(1)?)?.try_into().ok()
}

fn started_ns(folder: &Path) -> Option<u64> {
    let stat = fs::read(folder.join("stat")).ok()?;
    start_ticks(&stat)?.checked_mul(Units::of_host().tick_ns)
}

fn by_system_clock(started_ns: u64) -> Option<SystemTime> {
    let age_ns = boot_ns().cast_unsigned().checked_sub(started_ns)?;
    SystemTime::now().checked_sub(Duration::from_nanos(age_ns))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Writes the procfs files of a process of user `uid` that started `start_ticks` after boot.
    pub fn write(proc_root: &Path, pid: u32, uid: u32, start_ticks: u64) {
        let folder = proc_root.join(pid.to_string());
        fs::create_dir_all(&folder).unwrap();
        let status = format!("Uid:\t1\t{uid}\t1\t1\nNSpid:\t{pid}\t7\n");
        fs::write(folder.join("status"), status).unwrap();
        let before = "0 ".repeat(18);
        fs::write(folder.join("stat"), format!("{pid} (a) S {before}{start_ticks} 0\n")).unwrap();
    }

    #[test]
    fn who_has_the_number_later_is_another_process() {
        let proc_root = tempfile::tempdir().unwrap();
        let root = proc_root.path();
        write(root, 4711, 10, 300);
        let process = SampledProcess::of(root, 4711);
        assert_eq!(process.folder(root), Some(root.join("4711")));
        assert_eq!((process.owner(root), process.next_begun(root)), (10, None));
        write(root, 4711, 20, 301);
        assert_eq!((process.folder(root), process.owner(root)), (None, 10));
        assert!(process.next_begun(root) > process.begun());
        assert_eq!(SampledProcess::of(root, 4712), SampledProcess::ended(4712));
    }

    #[test]
    fn who_started_after_a_record_did_not_cause_it() {
        const SECOND_NS: i64 = 1_000_000_000;
        let us = std::process::id();
        let root = Path::new("/proc");
        let process = SampledProcess::of(root, us);
        assert_eq!(SampledProcess::at(root, us, monotonic_ns()), process);
        let age_ns = boot_ns() - process.started_ns.unwrap() as i64;
        let before_ns = monotonic_ns() - age_ns - SECOND_NS;
        assert_eq!(SampledProcess::at(root, us, before_ns), SampledProcess::ended(us));
    }
}
