//! Where the kernel's files are: the real mounts in production, a fixture folder in tests.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use crate::text::{number, words_of};

/// The mount point of procfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcRoot(pub PathBuf);

/// The mount point of sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot(pub PathBuf);

/// Where a number that the kernel gave out belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinship {
    /// The process that it is a thread of; the number itself if it is a process.
    pub process: u32,
    /// The parent of that process.
    pub parent: u32,
}

impl Default for ProcRoot {
    fn default() -> Self {
        Self(PathBuf::from("/proc"))
    }
}

impl Default for SysRoot {
    fn default() -> Self {
        Self(PathBuf::from("/sys"))
    }
}

impl ProcRoot {
    /// A file below the root.
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.0.join(relative)
    }

    /// The folder of one process.
    pub fn process(&self, pid: u32) -> PathBuf {
        self.0.join(pid.to_string())
    }

    /// The folder of one thread.
    pub fn thread(&self, pid: u32, tid: u32) -> PathBuf {
        self.0.join(format!("{pid}/task/{tid}"))
    }

    /// The numbers of all processes.
    pub fn processes(&self) -> io::Result<Vec<u32>> {
        numbers_in(&self.0)
    }

    /// The numbers of a process's threads.
    pub fn threads(&self, pid: u32) -> io::Result<Vec<u32>> {
        numbers_in(&self.0.join(format!("{pid}/task")))
    }

    /// The process and the parent of a process's or thread's number; `None` where there is no such.
    pub fn kinship(&self, number: u32) -> Option<Kinship> {
        let text = std::fs::read(self.process(number).join("status")).ok()?;
        Some(Kinship { process: small(&text, "Tgid")?, parent: small(&text, "PPid")? })
    }

    /// Whether it is this host's own, so that its processes can be asked by other ways, too.
    pub fn is_of_host(&self) -> bool {
        *self == Self::default()
    }

    /// Whether tasks' waits for block devices are counted. A kernel that does not say so (before
    /// 5.14, or built without it) may print zeros, so its counter is not believed.
    pub fn counts_block_delay(&self) -> bool {
        std::fs::read(self.join("sys/kernel/task_delayacct"))
            .is_ok_and(|text| text.trim_ascii() != b"0")
    }
}

/// The names in a folder that are numbers, as those of processes and of threads are.
pub fn numbers_in(folder: &Path) -> io::Result<Vec<u32>> {
    // An entry that cannot be read belongs to a task that just ended.
    let number = |entry: DirEntry| entry.file_name().to_str()?.parse().ok();
    Ok(folder.read_dir()?.flatten().filter_map(number).collect())
}

fn small(status: &[u8], key: &str) -> Option<u32> {
    words_of(status, key)?.next().and_then(number)?.try_into().ok()
}

impl SysRoot {
    /// What kind of block device `name` is: `partition`, `stacked` (made of other devices, as by
    /// the device mapper or md, or of a file, as a loop device) or `disk`; `None` if sysfs does not
    /// show it.
    pub fn block_device_kind(&self, name: &str) -> Option<&'static str> {
        // sysfs writes the slash of names such as `cciss/c0d0` as an exclamation mark.
        let device = self.0.join("class/block").join(name.replace('/', "!"));
        if !device.exists() {
            return None;
        }
        if device.join("partition").exists() {
            return Some("partition");
        }
        // sysfs says so only while a loop device has a file, and kinds are looked up once.
        let made_of_others = name.starts_with("loop")
            || device.join("slaves").read_dir().is_ok_and(|mut slaves| slaves.next().is_some());
        Some(if made_of_others { "stacked" } else { "disk" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_listed_with_its_threads() {
        let (root, us) = (ProcRoot::default(), std::process::id());
        assert!(root.processes().unwrap().contains(&us));
        assert_eq!(root.kinship(us).unwrap().process, us);
        let thread = std::thread::spawn(move || {
            let tid = rustix::thread::gettid().as_raw_pid().cast_unsigned();
            let root = ProcRoot::default();
            (tid, root.kinship(tid).unwrap(), root.threads(us).unwrap())
        });
        let (tid, kinship, threads) = thread.join().unwrap();
        assert_eq!(kinship.process, us);
        assert!(threads.contains(&tid) && threads.contains(&us));
    }

    #[test]
    fn a_process_that_is_gone_has_nothing() {
        let root = ProcRoot("/nowhere".into());
        assert!(root.processes().is_err() && root.threads(1).is_err());
        assert_eq!(root.kinship(1), None);
    }
}
