//! Where the kernel's files are: the real mounts in production, a fixture folder in tests.

use std::path::{Path, PathBuf};

use crate::ObserveError;

/// The mount point of procfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcRoot(pub PathBuf);

/// The mount point of sysfs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysRoot(pub PathBuf);

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

    /// The numbers of all processes.
    pub(crate) fn pids(&self) -> Result<impl Iterator<Item = u32>, ObserveError> {
        let entries = self.0.read_dir().map_err(|error| ObserveError::io(&self.0, error))?;
        Ok(entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()))
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
