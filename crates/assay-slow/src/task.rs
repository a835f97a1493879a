//! One task: what it took of the CPU, and how long it waited for disks, since the last account.

use assay_kernel::ProcRoot;
use assay_kernel::file::ShortFile;
use assay_kernel::parse::{SchedStat, TaskState};

/// On a CPU, or waiting for one.
pub(crate) const RUNNING: u8 = b'R';
/// Asleep and not to be woken by signals: it waits for a disk.
pub(crate) const DISK: u8 = b'D';
/// Stopped.
const STOPPED: u8 = b'T';
/// Threads of ours; a thread of an embedded engine's process may be one.
const OWN_PREFIX: &str = "assay-";
/// A thread that has run for so long has named itself.
const NAMED_AFTER_NS: u64 = 1_000_000;
/// A task that has slept for long is looked at again after this part of that time, so that the
/// many that an engine keeps for later cost little.
const PART_OF_SLEEP: i64 = 10;
const NEXT_LOOK_MAX_NS: i64 = 5_000_000;
/// A task that had a CPU for less than this only stopped and went on, and slept otherwise.
const AWAKE_MIN_NS: u64 = 50_000;

/// A task by the scheduler's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Clock {
    /// Time on a CPU.
    on_cpu_ns: u64,
    /// Time runnable and without one; counted when it gets one.
    run_delay_ns: u64,
}

impl Clock {
    fn parse(line: &[u8]) -> Option<Self> {
        let SchedStat { on_cpu_ns, run_delay_ns, .. } = SchedStat::of_line(line)?;
        Some(Self { on_cpu_ns, run_delay_ns })
    }
}

/// What was taken of resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// Time on a CPU.
    pub cpu_ns: i64,
    /// Time asleep for a disk.
    pub disk_ns: i64,
}

/// A task that is looked at.
pub(crate) struct Task {
    pub tid: u32,
    schedstat: ShortFile,
    stat: ShortFile,
    comm: ShortFile,
    is_ours: Option<bool>,
    clock: Clock,
    pub state: u8,
    /// The CPU it was on last.
    pub cpu: usize,
    seen_ns: i64,
    slept_since_ns: i64,
    due_ns: i64,
    /// Time off the CPU of which it is not known yet what it was: the next sleep that is seen tells.
    unexplained_ns: i64,
    /// When the kernel last counted CPU time of it; while it runs it does so at every tick only.
    counted_ns: i64,
    taken: Taken,
}

impl Task {
    /// A task as it is now: what it took before is not counted. `None`: it is gone.
    pub fn new(pid: u32, tid: u32, now_ns: i64) -> Option<Self> {
        let folder = ProcRoot::default().thread(pid, tid);
        let open = |name: &str| ShortFile::open(&folder.join(name)).ok();
        let schedstat = open("schedstat")?;
        Some(Self {
            tid,
            clock: schedstat.read(Clock::parse)?,
            schedstat,
            stat: open("stat")?,
            comm: open("comm")?,
            is_ours: None,
            state: RUNNING,
            cpu: 0,
            seen_ns: now_ns,
            slept_since_ns: now_ns,
            due_ns: now_ns,
            unexplained_ns: 0,
            counted_ns: now_ns,
            taken: Taken::default(),
        })
    }

    /// Whether it was at work when it was last looked at.
    pub fn is_active(&self) -> bool {
        !self.is_ours() && matches!(self.state, RUNNING | DISK)
    }

    /// Whether it had a CPU since the last account, or wanted one.
    pub fn worked(&self) -> bool {
        self.taken.cpu_ns > 0
    }

    /// Whether it is of this laboratory, and no part of the engine.
    pub fn is_ours(&self) -> bool {
        self.is_ours == Some(true)
    }

    /// Looks, unless it sleeps and is not due. False: it is gone.
    pub fn look_if_due(&mut self, now_ns: i64) -> bool {
        now_ns < self.due_ns || self.look(now_ns)
    }

    /// Looks at clock and state. False: it is gone.
    pub fn look(&mut self, now_ns: i64) -> bool {
        let Some(now) = self.schedstat.read(Clock::parse) else { return false };
        let before = std::mem::replace(&mut self.clock, now);
        let ran = now != before;
        // What sleeps cannot come to another sleep without running in between.
        if ran || self.is_active() || self.state == STOPPED {
            let Some(TaskState { letter, cpu }) = self.stat.read(TaskState::parse) else {
                return false;
            };
            (self.state, self.cpu) = (letter, cpu);
        }
        self.account(now_ns, before);
        if now.on_cpu_ns.saturating_sub(before.on_cpu_ns) >= AWAKE_MIN_NS || self.is_active() {
            self.slept_since_ns = now_ns;
            self.know_name();
        }
        let asleep_ns = now_ns - self.slept_since_ns;
        self.due_ns = now_ns + (asleep_ns / PART_OF_SLEEP).min(NEXT_LOOK_MAX_NS);
        true
    }

    /// Ours are looked at no more; whose it is is known once it has run for a while.
    fn know_name(&mut self) {
        if self.is_ours.is_none() && self.clock.on_cpu_ns >= NAMED_AFTER_NS {
            let own = |line: &[u8]| Some(line.starts_with(OWN_PREFIX.as_bytes()));
            self.is_ours = self.comm.read(own);
        }
    }

    /// Whether a signal to stop has reached it; so it is with what is asleep and what is gone.
    pub fn has_stopped(&mut self, now_ns: i64) -> bool {
        !self.is_active() || !self.look(now_ns) || !self.is_active()
    }

    /// It went on: the time since the last look is nobody's.
    pub fn went_on(&mut self, now_ns: i64) {
        let stopped_ns = now_ns - self.seen_ns;
        self.seen_ns = now_ns;
        self.counted_ns = now_ns;
        self.slept_since_ns += stopped_ns;
        self.due_ns += stopped_ns;
    }

    /// What it may have taken since the last account; a task that runs has the time for which the
    /// kernel has not counted yet.
    pub fn expected(&self) -> Taken {
        let is_running = self.state == RUNNING && !self.is_ours();
        let running_ns = if is_running { self.seen_ns - self.counted_ns } else { 0 };
        Taken { cpu_ns: self.taken.cpu_ns + running_ns, ..self.taken }
    }

    /// What it took since the last account.
    pub fn take(&mut self) -> Taken {
        let taken = std::mem::take(&mut self.taken);
        if self.is_ours() { Taken::default() } else { taken }
    }

    fn account(&mut self, now_ns: i64, before: Clock) {
        let cpu_ns = self.clock.on_cpu_ns.saturating_sub(before.on_cpu_ns) as i64;
        let delay_ns = self.clock.run_delay_ns.saturating_sub(before.run_delay_ns) as i64;
        self.taken.cpu_ns += cpu_ns;
        if cpu_ns > 0 {
            self.counted_ns = now_ns;
        }
        self.unexplained_ns += now_ns - self.seen_ns - cpu_ns - delay_ns;
        self.seen_ns = now_ns;
        match self.state {
            RUNNING | STOPPED => {}
            DISK => self.taken.disk_ns += std::mem::take(&mut self.unexplained_ns),
            _ => self.unexplained_ns = 0,
        }
    }
}
