//! The tasks of one process. Counters that the kernel keeps by task are summed here over the live
//! tasks and, as last seen, over those that ended, so that a sum never goes backwards.

use std::path::{Path, PathBuf};

use crate::{ObserveError, Units};
use assay_kernel::file::{Buffer, ProcFile, is_absence};
use assay_kernel::numbers_in;
use assay_kernel::parse::{ProcessStat, SchedStat, Status};

/// On a CPU or waiting for one.
pub(crate) const RUNNING: char = 'R';
/// Uninterruptible sleep, mostly for a device.
pub(crate) const DISK: char = 'D';

/// Counters that the kernel keeps by task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskCounts {
    pub clock: SchedStat,
    pub voluntary_switches: Option<u64>,
    pub involuntary_switches: Option<u64>,
    pub block_delay_ns: Option<u64>,
}

/// One task and what was last seen of it.
pub(crate) struct Task {
    pub tid: u32,
    pub counts: TaskCounts,
    dir: PathBuf,
    schedstat: ProcFile,
    stat: ProcFile,
    state: char,
    ran: bool,
    ran_ns: i64,
    due_ns: i64,
    switches_due_ns: i64,
}

/// A task that has slept is looked at again after as long, but at most after this.
const NEXT_LOOK_MAX_NS: i64 = 2_000_000_000;
/// One that sleeps for so long leaves its descriptors to others.
const CLOSED_AFTER_NS: i64 = 400_000_000;
/// How often a task was switched stands in a long text.
const SWITCHES_INTERVAL_NS: i64 = 500_000_000;

/// The tasks of one process.
pub(crate) struct TaskSet {
    dir: PathBuf,
    pub live: Vec<Task>,
    ended: TaskCounts,
}

impl TaskCounts {
    pub fn add(&mut self, other: &Self) {
        self.clock.add(&other.clock);
        add(&mut self.voluntary_switches, other.voluntary_switches);
        add(&mut self.involuntary_switches, other.involuntary_switches);
        add(&mut self.block_delay_ns, other.block_delay_ns);
    }

    /// The scheduler's clock; `None` on a kernel that prints zeros because it keeps none.
    pub fn scheduler(&self) -> Option<SchedStat> {
        (self.clock.timeslices > 0).then_some(self.clock)
    }
}

fn add(sum: &mut Option<u64>, value: Option<u64>) {
    if let Some(value) = value {
        *sum = Some(sum.unwrap_or(0).saturating_add(value));
    }
}

impl Task {
    fn new(tasks: &Path, tid: u32) -> Self {
        let dir = tasks.join(tid.to_string());
        let schedstat = ProcFile::record(dir.join("schedstat"));
        let stat = ProcFile::record(dir.join("stat"));
        Self {
            tid,
            counts: TaskCounts::default(),
            dir,
            schedstat,
            stat,
            state: RUNNING,
            ran: true,
            ran_ns: 0,
            due_ns: i64::MIN,
            switches_due_ns: i64::MIN,
        }
    }

    /// Whether it has not slept for so long that its clock can be left for later.
    pub fn is_due(&self, time_ns: i64) -> bool {
        time_ns >= self.due_ns
    }

    /// Sets when its clock is due next.
    fn looked_at_clock(&mut self, time_ns: i64) {
        if self.may_have_changed() {
            (self.ran_ns, self.due_ns) = (time_ns, time_ns);
            return;
        }
        let slept_ns = time_ns.saturating_sub(self.ran_ns);
        self.due_ns = time_ns.saturating_add(slept_ns.min(NEXT_LOOK_MAX_NS));
        if slept_ns >= CLOSED_AFTER_NS {
            self.schedstat.close();
            self.stat.close();
        }
    }

    /// As `read_switches`, if they were not read just now.
    pub fn read_switches_when_due(
        &mut self,
        time_ns: i64,
        buffer: &mut Buffer,
    ) -> Result<(), ObserveError> {
        if time_ns < self.switches_due_ns {
            return Ok(());
        }
        self.switches_due_ns = time_ns.saturating_add(SWITCHES_INTERVAL_NS);
        self.read_switches(buffer)
    }

    /// Reads the scheduler's clock. False: the task ended.
    pub fn read_clock(&mut self, buffer: &mut Buffer) -> Result<bool, ObserveError> {
        let Some(text) = self.schedstat.read(buffer)? else {
            self.ran = true;
            return Ok(self.dir.exists());
        };
        let clock = SchedStat::parse(self.schedstat.path(), text)?;
        // A kernel that keeps no such clock prints zeros: the task may have run then.
        self.ran |= clock != self.counts.clock || clock.timeslices == 0;
        self.counts.clock = clock;
        Ok(true)
    }

    /// Whether it may have changed since `looked_at`: it ran, or was about to.
    pub fn may_have_changed(&self) -> bool {
        self.ran || self.state == RUNNING
    }

    /// Ends a look at the task with the state it was seen in.
    pub fn looked_at(&mut self, state: char) {
        self.state = state;
        self.ran = false;
    }

    /// The state in which it was last looked at.
    pub fn state(&self) -> char {
        self.state
    }

    /// Reads how often the task was switched.
    pub fn read_switches(&mut self, buffer: &mut Buffer) -> Result<(), ObserveError> {
        // Opened anew: only tasks that ran need it, and open files are scarce.
        let mut file = ProcFile::record(self.dir.join("status"));
        if let Some(text) = file.read(buffer)? {
            let status = Status::parse(file.path(), text)?;
            self.counts.voluntary_switches = status.voluntary_switches;
            self.counts.involuntary_switches = status.involuntary_switches;
        }
        Ok(())
    }

    /// Reads the task's own state and block delay; `None`: the task ended.
    pub fn read_stat(
        &mut self,
        buffer: &mut Buffer,
        units: &Units,
    ) -> Result<Option<ProcessStat>, ObserveError> {
        let Some(text) = self.stat.read(buffer)? else { return Ok(None) };
        Ok(Some(ProcessStat::parse(self.stat.path(), text, units)?))
    }

    /// The task's name as it is now.
    pub fn read_name<'b>(&self, buffer: &'b mut Buffer) -> Result<Option<&'b [u8]>, ObserveError> {
        Ok(ProcFile::record(self.dir.join("comm")).read(buffer)?)
    }
}

impl TaskSet {
    pub fn new(process: &Path) -> Self {
        Self { dir: process.join("task"), live: Vec::new(), ended: TaskCounts::default() }
    }

    /// Looks which tasks there are. New ones have zero counts until they are read.
    pub fn list(&mut self) -> Result<(), ObserveError> {
        let tids = tids(&self.dir)?;
        self.retain(|task| tids.contains(&task.tid));
        for tid in tids {
            if !self.live.iter().any(|task| task.tid == tid) {
                self.live.push(Task::new(&self.dir, tid));
            }
        }
        Ok(())
    }

    /// Reads the clocks of all tasks; those that ended are kept in the sum only.
    pub fn read_clocks(&mut self, buffer: &mut Buffer) -> Result<(), ObserveError> {
        self.read_clocks_of(|_| true, None, buffer)
    }

    /// As `read_clocks`; which of them sleep is known then.
    pub fn read_all_clocks(
        &mut self,
        time_ns: i64,
        buffer: &mut Buffer,
    ) -> Result<(), ObserveError> {
        self.read_clocks_of(|_| true, Some(time_ns), buffer)
    }

    /// Reads the clocks of tasks that are new or ran lately, and now and then of those that sleep.
    pub fn read_due_clocks(
        &mut self,
        time_ns: i64,
        buffer: &mut Buffer,
    ) -> Result<(), ObserveError> {
        self.read_clocks_of(|task| task.is_due(time_ns), Some(time_ns), buffer)
    }

    /// Reads the clocks of tasks that were never read.
    pub fn read_new_clocks(
        &mut self,
        time_ns: i64,
        buffer: &mut Buffer,
    ) -> Result<(), ObserveError> {
        self.read_clocks_of(|task| task.due_ns == i64::MIN, Some(time_ns), buffer)
    }

    fn read_clocks_of(
        &mut self,
        is_wanted: impl Fn(&Task) -> bool,
        time_ns: Option<i64>,
        buffer: &mut Buffer,
    ) -> Result<(), ObserveError> {
        let mut failure = None;
        self.retain(|task| {
            if !is_wanted(task) {
                return true;
            }
            let is_live = task.read_clock(buffer).unwrap_or_else(|error| {
                failure.get_or_insert(error);
                true
            });
            if let Some(time_ns) = time_ns {
                task.looked_at_clock(time_ns);
            }
            is_live
        });
        failure.map_or(Ok(()), Err)
    }

    /// The sum over live and ended tasks.
    pub fn sum(&self) -> TaskCounts {
        let mut sum = self.ended;
        self.live.iter().for_each(|task| sum.add(&task.counts));
        sum
    }

    /// Drops tasks, keeping what was last seen of them in the sum.
    pub fn retain(&mut self, mut is_live: impl FnMut(&mut Task) -> bool) {
        let ended = &mut self.ended;
        self.live.retain_mut(|task| {
            let live = is_live(task);
            if !live {
                ended.add(&task.counts);
            }
            live
        });
    }
}

/// The threads whose folders are in `dir`; none if its process is gone.
pub(crate) fn tids(dir: &Path) -> Result<Vec<u32>, ObserveError> {
    match numbers_in(dir) {
        Err(error) if is_absence(&error) => Ok(Vec::new()),
        listed => listed.map_err(|error| ObserveError::io(dir, error)),
    }
}
