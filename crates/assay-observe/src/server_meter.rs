//! Reads a server's processes just outside each timed interval: its roots and all descendants.

use std::collections::HashMap;

use assay_model::{Edge, Meter, TaskCounters};

use crate::at_work::count_at_work;
use crate::followed::Followed;
use crate::meter::PSS_PARTS;
use crate::pss::Pss;
use crate::totals::{Totals, children_ns};
use crate::tree::ProcessTree;
use crate::{ObserveError, ProcRoot};
use assay_kernel::clock::monotonic_ns;
use assay_kernel::file::Buffer;

/// CPU times of ended children are printed in ticks, user and system apart.
const TICKS_UNSURE: u64 = 2;

/// A meter of a server that is a tree of processes, such as one process a connection, or several
/// trees, such as the nodes of a cluster. What a root that ended had used is not known any more.
///
/// CPU times are in ticks of the kernel, but for `on_cpu_ns`, which is by the scheduler's clock for
/// live tasks. Processes that ended are in CPU times, faults and bytes, because their parents wait
/// for them; in delays and switches they are as last seen. Resident memory counts what processes
/// share once, its peak is not measured; proportional memory is the sum over live processes.
pub struct ServerMeter {
    tree: ProcessTree,
    totals: Totals,
    pss: Pss,
    buffer: Buffer,
    start: Option<Start>,
    error: Option<ObserveError>,
}

/// What the reading at the end is compared with.
struct Start {
    time_ns: i64,
    busy_ns_by_task: HashMap<(u32, u32), u64>,
    on_cpu_ns_by_pid: HashMap<u32, u64>,
    children_ns: u64,
}

impl ServerMeter {
    /// A meter of the processes `root_pids` and all their descendants.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn of(root_pids: &[u32]) -> Result<Self, ObserveError> {
        Self::new(ProcRoot::default(), root_pids)
    }

    /// As `of`, with procfs at `root`.
    pub fn new(root: ProcRoot, root_pids: &[u32]) -> Result<Self, ObserveError> {
        for pid in root_pids {
            let folder = root.process(*pid);
            folder.metadata().map_err(|error| ObserveError::io(&folder, error))?;
        }
        let pss = Pss::new(root.clone(), PSS_PARTS);
        let tree = ProcessTree::new(root, root_pids);
        Ok(Self {
            tree,
            totals: Totals::default(),
            pss,
            buffer: Buffer::new(),
            start: None,
            error: None,
        })
    }

    /// How many processes the last reading saw.
    pub fn processes(&self) -> usize {
        self.tree.live.len()
    }

    fn take(&mut self, counters: &mut TaskCounters) -> Result<(), ObserveError> {
        self.tree.look()?;
        let live: Vec<_> = self.tree.samples().collect();
        self.totals.fill(counters, &live, &self.tree.ended);
        Ok(())
    }

    fn begin(&self, time_ns: i64) -> Start {
        let tasks = self.tree.live.iter().flat_map(|process| {
            process.tasks().iter().map(|task| (process.pid(), task.tid, task.counts.clock))
        });
        let busy = tasks.map(|(pid, tid, clock)| ((pid, tid), clock.busy_ns())).collect();
        let on_cpu = self.tree.live.iter();
        let on_cpu = on_cpu.map(|process| (process.pid(), process.counts().clock.on_cpu_ns));
        Start {
            time_ns,
            busy_ns_by_task: busy,
            on_cpu_ns_by_pid: on_cpu.collect(),
            children_ns: children_ns(self.tree.samples()),
        }
    }

    /// Tasks at work since the start, those of ended processes by the least number that can have
    /// used the CPU time that only their parents know of.
    fn threads_at_work(&self, start: &Start, end_ns: i64) -> u64 {
        let wall_ns = end_ns.saturating_sub(start.time_ns).max(1) as u64;
        let busy_ns = self.tree.live.iter().flat_map(|process| {
            process.tasks().iter().map(|task| {
                let before_ns = start.busy_ns_by_task.get(&(process.pid(), task.tid));
                task.counts.clock.busy_ns().saturating_sub(before_ns.copied().unwrap_or(0))
            })
        });
        let unsure_ns = TICKS_UNSURE * self.tree.tick_ns();
        let sure_ns = self.unseen_ns(start).saturating_sub(unsure_ns);
        count_at_work(busy_ns, wall_ns) + sure_ns.div_ceil(wall_ns)
    }

    /// CPU time since the start of processes that have ended since.
    fn unseen_ns(&self, start: &Start) -> u64 {
        let is_live = |pid: u32| self.tree.live.iter().any(|process| process.pid() == pid);
        let seen_ns = start.on_cpu_ns_by_pid.iter().filter(|(pid, _)| !is_live(**pid));
        let seen_ns: u64 = seen_ns.map(|(_, on_cpu_ns)| on_cpu_ns).sum();
        children_ns(self.tree.samples()).saturating_sub(start.children_ns).saturating_sub(seen_ns)
    }
}

impl ServerMeter {
    fn end(&self, counters: &mut TaskCounters, start: Option<Start>) {
        if let Some(start) = start.filter(|_| counters.on_cpu_ns.is_some()) {
            counters.threads_at_work = Some(self.threads_at_work(&start, counters.time_ns));
        }
    }
}

impl Meter for ServerMeter {
    fn error(&self) -> Option<String> {
        self.error.as_ref().map(ToString::to_string)
    }

    fn read_pss_bytes(&mut self, wanted: bool) -> Option<u64> {
        let pids = self.tree.live.iter().map(Followed::pid);
        self.pss.sum(wanted, pids, &mut self.buffer).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn read(&mut self, edge: Edge) -> TaskCounters {
        let mut counters = TaskCounters { time_ns: monotonic_ns(), ..TaskCounters::default() };
        if let Err(error) = self.take(&mut counters) {
            self.error.get_or_insert(error);
            self.start = None;
            return counters;
        }
        match (edge, self.start.take()) {
            (Edge::Start, _) => {
                counters.time_ns = monotonic_ns();
                self.start = Some(self.begin(counters.time_ns));
            }
            (Edge::End, start) => self.end(&mut counters, start),
        }
        counters
    }
}
