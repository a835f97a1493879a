//! Reads the block device that holds the data nearest to each timed interval, beside a meter.

use std::path::PathBuf;

use assay_model::{DeviceCounters, Edge, Meter, TaskCounters};

use crate::ObserveError;
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::Disk;

/// A meter that also tells what a device did. Its file is one line that the kernel makes at each
/// reading, which takes microseconds.
pub struct DeviceMeter {
    tasks: Box<dyn Meter + Send>,
    stat: ProcFile,
    buffer: Buffer,
    error: Option<ObserveError>,
}

impl DeviceMeter {
    /// A meter of what `tasks` reads, and of the device whose `stat` in sysfs is given.
    #[must_use]
    pub fn new(tasks: Box<dyn Meter + Send>, stat: PathBuf) -> Self {
        Self { tasks, stat: ProcFile::record(stat), buffer: Buffer::new(), error: None }
    }

    fn device(&mut self) -> DeviceCounters {
        self.take().unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            DeviceCounters::default()
        })
    }

    fn take(&mut self) -> Result<DeviceCounters, ObserveError> {
        let Some(text) = self.stat.read(&mut self.buffer)? else {
            return Ok(DeviceCounters::default());
        };
        let disk = Disk::parse_stat(self.stat.path(), text)?;
        Ok(DeviceCounters {
            reads: Some(disk.reads),
            reads_merged: Some(disk.reads_merged),
            read_bytes: Some(disk.read_bytes),
            read_ns: Some(disk.read_ns),
            writes: Some(disk.writes),
            write_bytes: Some(disk.write_bytes),
            io_ns: Some(disk.io_ns),
        })
    }
}

impl Meter for DeviceMeter {
    fn read(&mut self, edge: Edge) -> TaskCounters {
        match edge {
            Edge::Start => {
                let tasks = self.tasks.read(edge);
                TaskCounters { device: self.device(), ..tasks }
            }
            Edge::End => {
                let device = self.device();
                TaskCounters { device, ..self.tasks.read(edge) }
            }
        }
    }

    fn read_pss_bytes(&mut self, wanted: bool) -> Option<u64> {
        self.tasks.read_pss_bytes(wanted)
    }

    fn error(&self) -> Option<String> {
        self.tasks.error().or_else(|| self.error.as_ref().map(ToString::to_string))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks of which the CPU time is told.
    struct Tasks;

    impl Meter for Tasks {
        fn read(&mut self, _: Edge) -> TaskCounters {
            TaskCounters { user_ns: Some(7), ..TaskCounters::default() }
        }

        fn read_pss_bytes(&mut self, _: bool) -> Option<u64> {
            Some(9)
        }

        fn error(&self) -> Option<String> {
            None
        }
    }

    fn meter(text: &str) -> (tempfile::TempDir, DeviceMeter) {
        let folder = tempfile::tempdir().unwrap();
        let stat = folder.path().join("stat");
        std::fs::write(&stat, text).unwrap();
        (folder, DeviceMeter::new(Box::new(Tasks), stat))
    }

    #[test]
    fn the_device_stands_beside_the_tasks() {
        let (_folder, mut meter) = meter("   11 2 16 3 4 5 24 6 0 8 9 1 2 3 4 5 6\n");
        for edge in [Edge::Start, Edge::End] {
            let counters = meter.read(edge);
            assert_eq!(counters.user_ns, Some(7));
            let DeviceCounters { reads, reads_merged, read_bytes, read_ns, .. } = counters.device;
            assert_eq!((reads, reads_merged), (Some(11), Some(2)));
            assert_eq!((read_bytes, read_ns), (Some(16 * 512), Some(3_000_000)));
            let DeviceCounters { writes, write_bytes, io_ns, .. } = counters.device;
            assert_eq!((writes, write_bytes, io_ns), (Some(4), Some(24 * 512), Some(8_000_000)));
        }
        assert_eq!(meter.read_pss_bytes(true), Some(9));
        assert_eq!(meter.error(), None);
    }

    #[test]
    fn a_device_that_went_away_is_absent() {
        let (folder, mut meter) = meter("1 2 3 4 5 6 7 8 9 10 11\n");
        assert_eq!(meter.read(Edge::Start).device.reads, Some(1));
        std::fs::remove_file(folder.path().join("stat")).unwrap();
        let mut gone = DeviceMeter::new(Box::new(Tasks), folder.path().join("stat"));
        assert_eq!(gone.read(Edge::End).device, DeviceCounters::default());
        assert_eq!(gone.error(), None);
    }

    #[test]
    fn what_cannot_be_read_is_told_and_the_tasks_are_all_the_same() {
        let (_folder, mut meter) = meter("11 x\n");
        assert_eq!(meter.read(Edge::Start).user_ns, Some(7));
        assert!(meter.error().unwrap().contains("reads merged"));
    }
}
