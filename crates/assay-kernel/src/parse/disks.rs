//! `/proc/diskstats`: what every block device did since boot.

use std::path::Path;

use crate::KernelError;
use crate::text::{Line, lines, words};

/// The kernel counts in these, whatever the sector of the device.
const SECTOR_BYTES: u64 = 512;
const MILLISECOND_NS: u64 = 1_000_000;

/// One block device. Discards came with Linux 4.18, flushes with 5.5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the kernel's own words, explained in tables::DISKS")]
pub struct Disk {
    pub device: String,
    pub reads: u64,
    pub reads_merged: u64,
    pub read_bytes: u64,
    pub read_ns: u64,
    pub writes: u64,
    pub writes_merged: u64,
    pub write_bytes: u64,
    pub write_ns: u64,
    pub in_flight: u64,
    pub io_ns: u64,
    pub weighted_io_ns: u64,
    pub discards: Option<u64>,
    pub discards_merged: Option<u64>,
    pub discard_bytes: Option<u64>,
    pub discard_ns: Option<u64>,
    pub flushes: Option<u64>,
    pub flush_ns: Option<u64>,
}

impl Disk {
    /// Reads the text of `/proc/diskstats`; loop, RAM and zram devices that never did anything
    /// are left out.
    pub fn parse_all(path: &Path, text: &[u8]) -> Result<Vec<Self>, KernelError> {
        let mut disks = Vec::new();
        for text in lines(text) {
            let disk = Self::parse(Line { path, text })?;
            if disk.is_real() || disk.was_used() {
                disks.push(disk);
            }
        }
        Ok(disks)
    }

    /// Reads the text of `/sys/dev/block/*/stat`, which has the same counters without the name.
    pub fn parse_stat(path: &Path, text: &[u8]) -> Result<Self, KernelError> {
        Self::counters(Line { path, text }, String::new(), words(text))
    }

    fn parse(line: Line<'_>) -> Result<Self, KernelError> {
        let mut fields = words(line.text).skip(2);
        let name = fields.next().ok_or_else(|| line.bad("device"))?;
        Self::counters(line, String::from_utf8_lossy(name).into_owned(), fields)
    }

    fn counters<'a>(
        line: Line<'a>,
        device: String,
        mut fields: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Self, KernelError> {
        let mut needed = |field, unit| line.scaled(field, fields.next(), unit);
        let mut disk = Self {
            device,
            reads: needed("reads", 1)?,
            reads_merged: needed("reads merged", 1)?,
            read_bytes: needed("sectors read", SECTOR_BYTES)?,
            read_ns: needed("ms reading", MILLISECOND_NS)?,
            writes: needed("writes", 1)?,
            writes_merged: needed("writes merged", 1)?,
            write_bytes: needed("sectors written", SECTOR_BYTES)?,
            write_ns: needed("ms writing", MILLISECOND_NS)?,
            in_flight: needed("in flight", 1)?,
            io_ns: needed("ms doing I/O", MILLISECOND_NS)?,
            weighted_io_ns: needed("weighted ms doing I/O", MILLISECOND_NS)?,
            ..Self::default()
        };
        let mut newer = |field, unit| line.scaled_if_there(field, fields.next(), unit);
        disk.discards = newer("discards", 1)?;
        disk.discards_merged = newer("discards merged", 1)?;
        disk.discard_bytes = newer("sectors discarded", SECTOR_BYTES)?;
        disk.discard_ns = newer("ms discarding", MILLISECOND_NS)?;
        disk.flushes = newer("flushes", 1)?;
        disk.flush_ns = newer("ms flushing", MILLISECOND_NS)?;
        Ok(disk)
    }

    fn is_real(&self) -> bool {
        !["loop", "ram", "zram"].iter().any(|kind| self.device.starts_with(kind))
    }

    fn was_used(&self) -> bool {
        self.reads > 0 || self.writes > 0 || self.discards.is_some_and(|discards| discards > 0)
    }
}
