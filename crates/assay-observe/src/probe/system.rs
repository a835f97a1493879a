//! Memory, paging, pressure and CPUs of the whole host: one row, and one row a CPU.

use std::path::Path;

use assay_model::Cell;

use super::Probe;
use crate::{ObserveError, ProcRoot, Units, tables};
use assay_kernel::KernelError;
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::{Cpu, Memory, Pressure, SystemStat, VmStat};
use assay_record::Stream;

/// Reads six files of `/proc`.
pub(crate) struct SystemProbe {
    stat: ProcFile,
    meminfo: ProcFile,
    vmstat: ProcFile,
    pressures: [ProcFile; 3],
    buffer: Buffer,
    units: Units,
    streams: [Stream; 2],
}

/// One look at the host.
struct Host {
    stat: SystemStat,
    memory: Memory,
    vmstat: VmStat,
    /// CPU, I/O, memory.
    pressures: [Pressure; 3],
}

impl SystemProbe {
    pub fn new(root: &ProcRoot, raw_dir: &Path) -> Result<Self, ObserveError> {
        let pressures = ["cpu", "io", "memory"];
        Ok(Self {
            stat: ProcFile::lines(root.join("stat")),
            meminfo: ProcFile::lines(root.join("meminfo")),
            vmstat: ProcFile::lines(root.join("vmstat")),
            pressures: pressures.map(|name| ProcFile::record(root.join("pressure").join(name))),
            buffer: Buffer::new(),
            units: Units::of_host(),
            streams: [
                Stream::create(raw_dir, &tables::SYSTEM)?,
                Stream::create(raw_dir, &tables::CPUS)?,
            ],
        })
    }

    fn look(&mut self) -> Result<Host, ObserveError> {
        let Self { stat, meminfo, vmstat, pressures, buffer, units, .. } = self;
        let mut seen = [Pressure::default(); 3];
        for (pressure, file) in seen.iter_mut().zip(pressures) {
            *pressure = parsed(file, buffer, Pressure::parse)?;
        }
        Ok(Host {
            stat: parsed(stat, buffer, |path, text| SystemStat::parse(path, text, units))?,
            memory: parsed(meminfo, buffer, Memory::parse)?,
            vmstat: parsed(vmstat, buffer, VmStat::parse)?,
            pressures: seen,
        })
    }
}

impl Probe for SystemProbe {
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        let host = self.look()?;
        let [system, cpus] = &mut self.streams;
        system.push(&host_cells(time_ns, &host));
        for cpu in &host.stat.cpus {
            cpus.push(&cpu_cells(time_ns, cpu));
        }
        Ok(())
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut self.streams
    }
}

/// A file that is not there gives a value without fields.
fn parsed<T: Default>(
    file: &mut ProcFile,
    buffer: &mut Buffer,
    parse: impl Fn(&Path, &[u8]) -> Result<T, KernelError>,
) -> Result<T, KernelError> {
    match file.read(buffer)? {
        Some(text) => parse(file.path(), text),
        None => Ok(T::default()),
    }
}

fn host_cells(time_ns: i64, host: &Host) -> Vec<Cell<'static>> {
    let mut cells = Vec::with_capacity(tables::SYSTEM.columns.len());
    cells.push(Cell::Int(time_ns));
    let Host { stat, memory, vmstat, pressures } = host;
    let tasks = [stat.context_switches, stat.tasks_created, stat.procs_running, stat.procs_blocked];
    cells.extend(tasks.map(Cell::from));
    for pressure in pressures {
        cells.extend([pressure.some_ns, pressure.full_ns].map(Cell::from));
    }
    cells.extend(memory_values(memory).map(Cell::from));
    cells.extend(vmstat_values(vmstat).map(Cell::from));
    cells
}

fn memory_values(memory: &Memory) -> [Option<u64>; 18] {
    [
        memory.total_bytes,
        memory.free_bytes,
        memory.available_bytes,
        memory.buffers_bytes,
        memory.cached_bytes,
        memory.dirty_bytes,
        memory.writeback_bytes,
        memory.anon_bytes,
        memory.mapped_bytes,
        memory.shmem_bytes,
        memory.slab_bytes,
        memory.slab_reclaimable_bytes,
        memory.page_tables_bytes,
        memory.committed_bytes,
        memory.hugetlb_bytes,
        memory.swap_total_bytes,
        memory.swap_free_bytes,
        memory.swap_cached_bytes,
    ]
}

fn vmstat_values(vmstat: &VmStat) -> [Option<u64>; 17] {
    [
        vmstat.pgpgin_bytes,
        vmstat.pgpgout_bytes,
        vmstat.pswpin_pages,
        vmstat.pswpout_pages,
        vmstat.pgfault,
        vmstat.pgmajfault,
        vmstat.workingset_refault_file_pages,
        vmstat.workingset_refault_anon_pages,
        vmstat.nr_dirty_pages,
        vmstat.nr_writeback_pages,
        vmstat.nr_dirtied_pages,
        vmstat.nr_written_pages,
        vmstat.pgscan_kswapd_pages,
        vmstat.pgscan_direct_pages,
        vmstat.pgsteal_kswapd_pages,
        vmstat.pgsteal_direct_pages,
        vmstat.oom_kill,
    ]
}

fn cpu_cells(time_ns: i64, cpu: &Cpu) -> [Cell<'static>; 12] {
    [
        Cell::Int(time_ns),
        Cell::Count(u64::from(cpu.cpu)),
        Cell::Count(cpu.user_ns),
        Cell::Count(cpu.nice_ns),
        Cell::Count(cpu.system_ns),
        Cell::Count(cpu.idle_ns),
        cpu.iowait_ns.into(),
        cpu.irq_ns.into(),
        cpu.softirq_ns.into(),
        cpu.steal_ns.into(),
        cpu.guest_ns.into(),
        cpu.guest_nice_ns.into(),
    ]
}
