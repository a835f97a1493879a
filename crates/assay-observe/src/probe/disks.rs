//! The block devices, one row a device.

use std::collections::HashMap;
use std::path::Path;

use assay_model::Cell;

use super::Probe;
use crate::{ObserveError, ProcRoot, SysRoot, tables};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::Disk;
use assay_record::Stream;

/// Reads `/proc/diskstats`.
pub(crate) struct DisksProbe {
    file: ProcFile,
    buffer: Buffer,
    sys_root: SysRoot,
    kinds: HashMap<String, Option<&'static str>>,
    streams: [Stream; 1],
}

impl DisksProbe {
    pub fn new(root: &ProcRoot, sys_root: SysRoot, raw_dir: &Path) -> Result<Self, ObserveError> {
        Ok(Self {
            file: ProcFile::lines(root.join("diskstats")),
            buffer: Buffer::new(),
            sys_root,
            kinds: HashMap::new(),
            streams: [Stream::create(raw_dir, &tables::DISKS)?],
        })
    }

    fn kind(&mut self, device: &str) -> Option<&'static str> {
        if let Some(kind) = self.kinds.get(device) {
            return *kind;
        }
        let kind = self.sys_root.block_device_kind(device);
        self.kinds.insert(device.to_owned(), kind);
        kind
    }
}

impl Probe for DisksProbe {
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        let Some(text) = self.file.read(&mut self.buffer)? else { return Ok(()) };
        for disk in Disk::parse_all(self.file.path(), text)? {
            let kind = self.kind(&disk.device);
            self.streams[0].push(&cells(time_ns, &disk, kind));
        }
        Ok(())
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut self.streams
    }
}

fn cells<'a>(time_ns: i64, disk: &'a Disk, kind: Option<&'static str>) -> [Cell<'a>; 20] {
    [
        Cell::Int(time_ns),
        Cell::Text(&disk.device),
        kind.map_or(Cell::Null, Cell::Text),
        Cell::Count(disk.reads),
        Cell::Count(disk.reads_merged),
        Cell::Count(disk.read_bytes),
        Cell::Count(disk.read_ns),
        Cell::Count(disk.writes),
        Cell::Count(disk.writes_merged),
        Cell::Count(disk.write_bytes),
        Cell::Count(disk.write_ns),
        Cell::Count(disk.in_flight),
        Cell::Count(disk.io_ns),
        Cell::Count(disk.weighted_io_ns),
        disk.discards.into(),
        disk.discards_merged.into(),
        disk.discard_bytes.into(),
        disk.discard_ns.into(),
        disk.flushes.into(),
        disk.flush_ns.into(),
    ]
}
