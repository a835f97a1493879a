//! Every process of the host, so that others who used CPUs or disks can be named.

use std::collections::HashMap;
use std::path::Path;

use assay_model::Cell;

use super::Probe;
use crate::{ObserveError, ProcRoot, Units, tables};
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::{Io, ProcessStat};
use assay_record::Stream;

/// Reads `/proc/<pid>/stat` of all processes, and `io` of those that used a CPU.
pub(crate) struct NeighboursProbe {
    root: ProcRoot,
    units: Units,
    buffer: Buffer,
    /// CPU time at the last row of each process.
    seen: HashMap<u32, u64>,
    streams: [Stream; 1],
}

impl NeighboursProbe {
    pub fn new(root: ProcRoot, raw_dir: &Path) -> Result<Self, ObserveError> {
        Ok(Self {
            root,
            units: Units::of_host(),
            buffer: Buffer::new(),
            seen: HashMap::new(),
            streams: [Stream::create(raw_dir, &tables::NEIGHBOURS)?],
        })
    }

    fn look(&mut self, time_ns: i64, pid: u32) -> Result<Option<u64>, ObserveError> {
        // Opened for one look: kept open, the files of all processes would be too many.
        let mut file = ProcFile::record(self.root.process(pid).join("stat"));
        let Some(text) = file.read(&mut self.buffer)? else { return Ok(None) };
        let stat = ProcessStat::parse(file.path(), text, &self.units)?;
        let cpu_ns = stat.user_ns + stat.system_ns;
        if self.seen.get(&pid) != Some(&cpu_ns) {
            let io = self.io(pid)?;
            self.streams[0].push(&cells(time_ns, &stat, cpu_ns, &io));
        }
        Ok(Some(cpu_ns))
    }

    /// Absent of a process whose file is not ours to read.
    fn io(&mut self, pid: u32) -> Result<Io, ObserveError> {
        let mut file = ProcFile::record(self.root.process(pid).join("io"));
        let text = file.read(&mut self.buffer)?;
        Ok(text.map_or_else(|| Ok(Io::default()), |text| Io::parse(file.path(), text))?)
    }
}

impl Probe for NeighboursProbe {
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        let mut seen = HashMap::with_capacity(self.seen.len());
        let pids = self.root.processes().map_err(|error| ObserveError::io(&self.root.0, error))?;
        for pid in pids {
            if let Some(cpu_ns) = self.look(time_ns, pid)? {
                seen.insert(pid, cpu_ns);
            }
        }
        self.seen = seen;
        Ok(())
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut self.streams
    }
}

fn cells<'a>(time_ns: i64, stat: &'a ProcessStat, cpu_ns: u64, io: &Io) -> [Cell<'a>; 7] {
    [
        Cell::Int(time_ns),
        Cell::Count(u64::from(stat.pid)),
        Cell::Count(stat.started_ns),
        Cell::Text(&stat.comm),
        Cell::Count(cpu_ns),
        io.read_bytes.into(),
        io.write_bytes.into(),
    ]
}
