//! Reads one process just outside each timed interval. What belongs to a clock is read nearest to
//! the interval, what is costly farthest from it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};

use assay_model::{Edge, Meter, TaskCounters};

use crate::at_work::count_at_work;
use crate::pss::Pss;
use crate::tasks::{Task, TaskCounts, TaskSet};
use crate::{ObserveError, ProcRoot, Units};
use assay_kernel::clock::monotonic_ns;
use assay_kernel::file::{Buffer, ProcFile};
use assay_kernel::parse::{Io, ProcessStat, Status};
use assay_kernel::usage::{Usage, UsageOf};

/// Tasks of the laboratory itself bear names that begin so.
const OURS: &[u8] = b"assay-";
/// Proportional memory is read between operations in at most one part of the time in this many.
pub(crate) const PSS_PARTS: i64 = 100;

/// A meter of one process, tasks named `assay-...` excepted where the kernel counts by task.
///
/// For our own process, CPU time, faults and switches come from `getrusage`, which also brings the
/// scheduler's clock of the calling thread up to date; a task that is running on another CPU is up
/// to one tick behind. For another process they come from its files.
pub struct ProcessMeter {
    root: ProcRoot,
    pid: u32,
    is_self: bool,
    pss: Pss,
    block_delay: bool,
    units: Units,
    buffer: Buffer,
    stat: ProcFile,
    io: ProcFile,
    tasks: TaskSet,
    ours: Vec<u32>,
    start: Option<Start>,
    error: Option<ObserveError>,
}

/// What the reading at the end is compared with.
struct Start {
    time_ns: i64,
    busy_ns_by_tid: HashMap<u32, u64>,
    peak_was_reset: bool,
}

impl ProcessMeter {
    /// A meter of process `pid`.
    pub fn new(root: ProcRoot, pid: u32) -> Result<Self, ObserveError> {
        let dir = root.process(pid);
        Ok(Self {
            pid,
            is_self: pid == std::process::id() && root == ProcRoot::default(),
            pss: Pss::new(root.clone(), PSS_PARTS),
            block_delay: root.counts_block_delay(),
            units: Units::of_host(),
            buffer: Buffer::new(),
            stat: ProcFile::record(dir.join("stat")),
            io: ProcFile::record(dir.join("io")),
            tasks: TaskSet::new(&dir),
            ours: Vec::new(),
            start: None,
            error: None,
            root,
        })
    }

    /// A meter of the calling process.
    pub fn of_self() -> Result<Self, ObserveError> {
        Self::new(ProcRoot::default(), std::process::id())
    }

    fn read_start(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        self.start = None;
        let peak_was_reset = self.reset_rss_peak().is_ok();
        self.read_rss(counters, false)?;
        self.find_tasks()?;
        self.read_io(counters)?;
        self.read_block_delays()?;
        self.read_usage(counters)?;
        self.tasks.read_clocks(&mut self.buffer)?;
        self.read_switches()?;
        self.fill_sums(counters);
        let busy = self.tasks.live.iter().map(|task| (task.tid, task.counts.clock.busy_ns()));
        let busy_ns_by_tid = busy.collect();
        counters.time_ns = monotonic_ns();
        self.start = Some(Start { time_ns: counters.time_ns, busy_ns_by_tid, peak_was_reset });
        Ok(())
    }

    fn read_end(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        let start = self.start.take();
        self.read_usage(counters)?;
        self.tasks.read_clocks(&mut self.buffer)?;
        self.find_tasks()?;
        self.read_io(counters)?;
        self.read_switches()?;
        self.read_block_delays()?;
        self.fill_sums(counters);
        if let Some(start) = start {
            counters.threads_at_work = self.threads_at_work(&start, counters.time_ns);
            self.read_rss(counters, start.peak_was_reset)?;
        }
        Ok(())
    }

    /// Lists the engine's tasks, and reads the clocks of those that are new. Names are read each
    /// time, because a thread may take its name after it has started.
    fn find_tasks(&mut self) -> Result<(), ObserveError> {
        self.tasks.list()?;
        self.ours.clear();
        let (buffer, ours) = (&mut self.buffer, &mut self.ours);
        let mut failure = None;
        self.tasks.retain(|task| {
            is_engine(task, ours, buffer).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                true
            })
        });
        failure.map_or(Ok(()), Err)
    }

    fn read_usage(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        if self.is_self {
            let usage = Usage::of(UsageOf::Process);
            counters.user_ns = Some(usage.user_ns);
            counters.system_ns = Some(usage.system_ns);
            counters.minor_faults = Some(usage.minor_faults);
            counters.major_faults = Some(usage.major_faults);
            counters.voluntary_switches = Some(usage.voluntary_switches);
            counters.involuntary_switches = Some(usage.involuntary_switches);
            return Ok(());
        }
        if let Some(text) = self.stat.read(&mut self.buffer)? {
            let stat = ProcessStat::parse(self.stat.path(), text, &self.units)?;
            counters.user_ns = Some(stat.user_ns);
            counters.system_ns = Some(stat.system_ns);
            counters.minor_faults = Some(stat.minor_faults);
            counters.major_faults = Some(stat.major_faults);
        }
        Ok(())
    }

    fn read_io(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        if let Some(text) = self.io.read(&mut self.buffer)? {
            let io = Io::parse(self.io.path(), text)?;
            counters.read_bytes = io.read_bytes;
            counters.write_bytes = io.write_bytes;
        }
        self.leave_out_ours(counters)
    }

    /// The record that we write in the engine's process is not the engine's storage traffic.
    fn leave_out_ours(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        for tid in &self.ours {
            let path = self.root.process(self.pid).join("task").join(tid.to_string()).join("io");
            let mut file = ProcFile::record(path);
            let Some(text) = file.read(&mut self.buffer)? else { continue };
            let io = Io::parse(file.path(), text)?;
            for (all, own) in [
                (&mut counters.read_bytes, io.read_bytes),
                (&mut counters.write_bytes, io.write_bytes),
            ] {
                *all = all.map(|all| all.saturating_sub(own.unwrap_or(0)));
            }
        }
        Ok(())
    }

    /// Our own switches are in `getrusage`; reading another process costs that process nothing.
    fn read_switches(&mut self) -> Result<(), ObserveError> {
        if self.is_self {
            return Ok(());
        }
        self.tasks.live.iter_mut().try_for_each(|task| task.read_switches(&mut self.buffer))
    }

    fn read_block_delays(&mut self) -> Result<(), ObserveError> {
        if !self.block_delay {
            return Ok(());
        }
        for task in &mut self.tasks.live {
            if let Some(stat) = task.read_stat(&mut self.buffer, &self.units)? {
                task.counts.block_delay_ns = stat.block_delay_ns;
            }
        }
        Ok(())
    }

    fn fill_sums(&self, counters: &mut TaskCounters) {
        let sum = self.tasks.sum();
        let scheduler = sum.scheduler();
        counters.on_cpu_ns = scheduler.map(|clock| clock.on_cpu_ns);
        counters.run_delay_ns = scheduler.map(|clock| clock.run_delay_ns);
        counters.block_delay_ns = sum.block_delay_ns;
        let live = self.tasks.live.len() as u64;
        counters.threads = (live > 0).then_some(live);
        if !self.is_self {
            counters.voluntary_switches = sum.voluntary_switches;
            counters.involuntary_switches = sum.involuntary_switches;
        }
    }

    fn threads_at_work(&self, start: &Start, end_ns: i64) -> Option<u64> {
        self.tasks.sum().scheduler()?;
        let busy_ns = self.tasks.live.iter().map(|task| {
            let before_ns = start.busy_ns_by_tid.get(&task.tid).copied().unwrap_or(0);
            task.counts.clock.busy_ns().saturating_sub(before_ns)
        });
        Some(count_at_work(busy_ns, end_ns.saturating_sub(start.time_ns).max(0) as u64))
    }

    /// Sets the highest resident memory to the present one; see `clear_refs` in proc(5).
    fn reset_rss_peak(&self) -> io::Result<()> {
        let path = self.root.process(self.pid).join("clear_refs");
        File::options().write(true).open(path)?.write_all(b"5")
    }

    /// Resident memory now and, if the mark was reset before, the highest since then.
    fn read_rss(
        &mut self,
        counters: &mut TaskCounters,
        with_peak: bool,
    ) -> Result<(), ObserveError> {
        let mut file = ProcFile::record(self.root.process(self.pid).join("status"));
        let Some(text) = file.read(&mut self.buffer)? else { return Ok(()) };
        let status = Status::parse(file.path(), text)?;
        counters.rss_bytes = status.rss_bytes;
        counters.rss_peak_bytes = status.rss_peak_bytes.filter(|_| with_peak);
        Ok(())
    }
}

impl Meter for ProcessMeter {
    fn error(&self) -> Option<String> {
        self.error.as_ref().map(ToString::to_string)
    }

    fn read_pss_bytes(&mut self, wanted: bool) -> Option<u64> {
        let read = self.pss.sum(wanted, std::iter::once(self.pid), &mut self.buffer);
        read.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn read(&mut self, edge: Edge) -> TaskCounters {
        let mut counters = TaskCounters { time_ns: monotonic_ns(), ..TaskCounters::default() };
        let read = match edge {
            Edge::Start => self.read_start(&mut counters),
            Edge::End => self.read_end(&mut counters),
        };
        if let Err(error) = read {
            self.error.get_or_insert(error);
        }
        counters
    }
}

/// False for one that ended and for a task of ours, which is noted in `ours`.
fn is_engine(
    task: &mut Task,
    ours: &mut Vec<u32>,
    buffer: &mut Buffer,
) -> Result<bool, ObserveError> {
    let Some(name) = task.read_name(buffer)? else { return Ok(false) };
    if name.starts_with(OURS) {
        ours.push(task.tid);
        return Ok(false);
    }
    if task.counts == TaskCounts::default() {
        return task.read_clock(buffer);
    }
    Ok(true)
}
