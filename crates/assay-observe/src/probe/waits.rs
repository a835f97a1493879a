//! What the engine's threads wait for, one row a change; and the limit of CPU time they are under.

use std::path::{Path, PathBuf};

use assay_model::Cell;

use super::{Probe, state_name};
use crate::cgroup::Limits;
use crate::waits::{Change, Family};
use crate::{ObserveError, ProcRoot, tables};
use assay_kernel::file::Buffer;
use assay_kernel::parse::cgroup::Throttling;
use assay_record::Stream;

/// A period of a limit is as a rule as long as this.
const LIMITS_INTERVAL_NS: i64 = 100_000_000;

const NO_CHANNELS: &str = "in which function of the kernel threads slept: the kernel tells it to root \
     and to the user whose threads they are, if it was built with the names of its functions";
const NO_CALLS: &str = "in which system call threads slept: the kernel tells it to root, and to the \
     user whose threads they are unless kernel.yama.ptrace_scope forbids it";

/// Reads the files of each thread.
pub(crate) struct WaitsProbe {
    root: ProcRoot,
    raw_dir: PathBuf,
    family: Family,
    limits: Vec<Limits>,
    limits_due_ns: i64,
    buffer: Buffer,
    /// Waits and, once there is a limit, what it does.
    streams: Vec<Stream>,
}

impl WaitsProbe {
    pub fn new(
        root: ProcRoot,
        raw_dir: &Path,
        processes: Vec<(u32, String)>,
    ) -> Result<Self, ObserveError> {
        let mut probe = Self {
            family: Family::new(root.clone()),
            raw_dir: raw_dir.to_owned(),
            limits: Vec::new(),
            limits_due_ns: i64::MIN,
            buffer: Buffer::new(),
            streams: vec![Stream::create(raw_dir, &tables::WAITS)?],
            root,
        };
        for (pid, account) in processes {
            probe.follow(pid, account)?;
        }
        Ok(probe)
    }

    fn read_limits(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        for limits in &mut self.limits {
            let Some(throttling) = limits.read(&mut self.buffer)? else { continue };
            if self.streams.len() == 1 {
                self.streams.push(Stream::create(&self.raw_dir, &tables::CGROUP)?);
            }
            self.streams[1].push(&limit_cells(time_ns, limits.pid, &throttling));
        }
        Ok(())
    }
}

impl Probe for WaitsProbe {
    fn sample(&mut self, time_ns: i64) -> Result<(), ObserveError> {
        let Self { family, streams, .. } = self;
        family.look(time_ns, |change| streams[0].push(&cells(time_ns, &change)))?;
        if time_ns >= self.limits_due_ns {
            self.limits_due_ns = time_ns.saturating_add(LIMITS_INTERVAL_NS);
            self.read_limits(time_ns)?;
        }
        Ok(())
    }

    fn streams(&mut self) -> &mut [Stream] {
        &mut self.streams
    }

    fn follow(&mut self, pid: u32, _account: String) -> Result<(), ObserveError> {
        self.family.follow(pid);
        self.limits.push(Limits::of(&self.root, pid, &mut self.buffer)?);
        Ok(())
    }

    fn notes(&self) -> Vec<String> {
        let counts = self.family.sleep_counts();
        let missing = |count: u64| counts.asleep > 0 && count == 0;
        let notes = [(counts.channels, NO_CHANNELS), (counts.calls, NO_CALLS)];
        notes
            .into_iter()
            .filter(|(count, _)| missing(*count))
            .map(|(_, note)| note.to_owned())
            .collect()
    }
}

fn cells<'a>(time_ns: i64, change: &Change<'a>) -> [Cell<'a>; 12] {
    let Change { pid, tid, seen_ns, seen } = change;
    [
        Cell::Int(time_ns),
        seen_ns.map_or(Cell::Null, Cell::Int),
        Cell::Count(u64::from(*pid)),
        Cell::Count(u64::from(*tid)),
        Cell::Text(&seen.comm),
        Cell::Text(state_name(seen.state)),
        seen.channel.as_deref().map_or(Cell::Null, Cell::Text),
        seen.call.map_or(Cell::Null, |call| Cell::Int(call.number)),
        seen.call.and_then(|call| call.address).into(),
        seen.clock.map(|clock| clock.on_cpu_ns).into(),
        seen.clock.map(|clock| clock.run_delay_ns).into(),
        seen.clock.map(|clock| clock.timeslices).into(),
    ]
}

fn limit_cells(time_ns: i64, pid: u32, throttling: &Throttling) -> [Cell<'static>; 5] {
    [
        Cell::Int(time_ns),
        Cell::Count(u64::from(pid)),
        Cell::Count(throttling.periods),
        Cell::Count(throttling.throttled_periods),
        Cell::Count(throttling.throttled_ns),
    ]
}
