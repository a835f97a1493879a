//! What a disk reads while the engine stands still: what runs ahead there is not slowed.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use assay_kernel::file::ShortFile;
use assay_kernel::text::{number, words};

const SECTOR_BYTES: u64 = 512;
/// Sectors read are the third number.
const SECTORS_READ: usize = 2;

/// The block device that a folder is on.
pub(crate) struct Device(Option<ShortFile>);

impl Device {
    /// Of some file systems there is no device that counts; then nothing is told.
    pub fn of(folder: Option<&Path>) -> Self {
        Self(folder.and_then(counters).and_then(|path| ShortFile::open(&path).ok()))
    }

    /// Bytes read so far, for everybody.
    pub fn read_bytes(&self) -> Option<u64> {
        let sectors = |line: &[u8]| words(line).nth(SECTORS_READ).and_then(number);
        self.0.as_ref()?.read(sectors).map(|sectors| sectors * SECTOR_BYTES)
    }
}

fn counters(folder: &Path) -> Option<PathBuf> {
    let device = folder.metadata().ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    Some(PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_no_device_nothing_is_told() {
        assert_eq!(Device::of(None).read_bytes(), None);
        assert_eq!(Device::of(Some(Path::new("/proc"))).read_bytes(), None);
    }
}
