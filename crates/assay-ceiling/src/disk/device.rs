//! What the block device counted: whether it got the requests as we made them.

use std::fs;
use std::path::{Path, PathBuf};

/// The kernel counts in these, whatever the block of the device.
const SECTOR_BYTES: u64 = 512;

/// One direction of a device's counters since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Requests completed.
    pub requests: u64,
    /// Requests that were joined with a neighbour before they were issued.
    pub merged: u64,
    /// Bytes moved.
    pub bytes: u64,
}

/// A device's counters since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounters {
    /// Reads.
    pub read: Direction,
    /// Writes.
    pub write: Direction,
}

impl Direction {
    const fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(before.requests),
            merged: self.merged.saturating_sub(before.merged),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl DeviceCounters {
    /// The file of a device's counters, by the number of a file system on it. None where it lies
    /// on no block device of its own.
    pub fn path(sys: &Path, device_number: u64) -> Option<PathBuf> {
        let (major, minor) = (rustix::fs::major(device_number), rustix::fs::minor(device_number));
        let path = sys.join(format!("dev/block/{major}:{minor}/stat"));
        path.is_file().then_some(path)
    }

    /// As the kernel tells them now; None where it does not.
    pub fn read(path: &Path) -> Option<Self> {
        Self::of_text(&fs::read_to_string(path).ok()?)
    }

    /// What was counted since an earlier reading.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self { read: self.read.since(before.read), write: self.write.since(before.write) }
    }

    fn of_text(text: &str) -> Option<Self> {
        let counters: Vec<u64> =
            text.split_whitespace().map_while(|word| word.parse().ok()).take(7).collect();
        let [reads, reads_merged, read_sectors, _, writes, writes_merged, write_sectors] =
            counters.try_into().ok()?;
        let direction = |requests, merged, sectors: u64| Direction {
            requests,
            merged,
            bytes: sectors * SECTOR_BYTES,
        };
        Some(Self {
            read: direction(reads, reads_merged, read_sectors),
            write: direction(writes, writes_merged, write_sectors),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_understood() {
        let counters =
            DeviceCounters::of_text("   10  2  48  7  5  1  16  3  0  9  10  0 0 0 0 4 5\n");
        let read = Direction { requests: 10, merged: 2, bytes: 48 * 512 };
        let write = Direction { requests: 5, merged: 1, bytes: 16 * 512 };
        assert_eq!(counters, Some(DeviceCounters { read, write }));
        assert_eq!(DeviceCounters::of_text("1 2 3"), None);
    }

    #[test]
    fn a_file_system_without_a_device_has_no_counters() {
        let sys = tempfile::tempdir().unwrap();
        assert_eq!(DeviceCounters::path(sys.path(), 0x2e), None);
    }
}
