//! One process of the engine, and the signals that stop it and have it go on.

use std::io;
use std::os::fd::OwnedFd;

use assay_kernel::ProcRoot;
use assay_kernel::parse::start_ticks;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::thread::sched_getaffinity;

use crate::SlowError;
use crate::task::Task;

/// A process that may be stopped. The descriptor is of this process and of none that has its
/// number later.
pub(crate) struct Process {
    pub pid: u32,
    descriptor: OwnedFd,
    pub tasks: Vec<Task>,
    /// When one of its tasks was last at work.
    pub active_ns: i64,
    is_stopped: bool,
}

impl Process {
    /// Opens the process that has a number now. `None`: it is gone.
    pub fn open(pid: u32, now_ns: i64) -> Option<Self> {
        let descriptor = pidfd_open(number(pid)?, PidfdFlags::empty()).ok()?;
        let mut process =
            Self { pid, descriptor, tasks: Vec::new(), active_ns: now_ns, is_stopped: false };
        process.find_threads(now_ns);
        process.lives().then_some(process)
    }

    /// Whether it has not ended, so that nobody else has its number: what was read under the number
    /// since it was opened is then its own.
    pub fn is_there(&self) -> bool {
        let mut asked = [PollFd::new(&self.descriptor, PollFlags::IN)];
        poll(&mut asked, Some(&Timespec::default())).is_ok_and(|ended| ended == 0)
    }

    /// When it started, in ticks since boot; `None`: it is gone.
    pub fn start_ticks(&self) -> Option<u64> {
        let stat = std::fs::read(ProcRoot::default().process(self.pid).join("stat")).ok()?;
        self.is_there().then_some(start_ticks(&stat)?)
    }

    /// The number of its parent; `None`: it is gone.
    pub fn parent(&self) -> Option<u32> {
        let kinship = ProcRoot::default().kinship(self.pid);
        self.is_there().then_some(kinship?.parent)
    }

    /// Finds threads that are not known yet.
    pub fn find_threads(&mut self, now_ns: i64) {
        self.add_threads(threads(self.pid), now_ns);
    }

    /// Looks at more of its threads from now on; at none if it has ended, because these may belong to
    /// a later process of its number.
    pub fn add_threads(&mut self, tids: impl Iterator<Item = u32>, now_ns: i64) {
        let count_before = self.tasks.len();
        for tid in tids {
            if self.tasks[..count_before].iter().all(|task| task.tid != tid) {
                self.tasks.extend(Task::new(self.pid, tid, now_ns));
            }
        }
        if !self.is_there() {
            self.tasks.truncate(count_before);
        }
    }

    /// Looks at the tasks that are due.
    pub fn look(&mut self, now_ns: i64) {
        self.tasks.retain_mut(|task| task.look_if_due(now_ns));
        if self.tasks.iter().any(Task::is_active) {
            self.active_ns = now_ns;
        }
    }

    /// Whether a signal to stop has reached all tasks that were at work.
    pub fn has_stopped(&mut self, now_ns: i64) -> bool {
        self.tasks.iter_mut().all(|task| task.has_stopped(now_ns))
    }

    /// Looks at all tasks.
    pub fn look_at_all(&mut self, now_ns: i64) {
        self.tasks.retain_mut(|task| task.look(now_ns));
    }

    /// Whether it has a task.
    pub fn lives(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// How many CPUs it may use.
    pub fn cpus(&self) -> u32 {
        number(self.pid)
            .and_then(|pid| sched_getaffinity(Some(pid)).ok())
            .filter(|_| self.is_there())
            .map_or(1, |set| set.count())
    }

    /// Asks it to stop. One that is gone is no error.
    pub fn stop(&mut self) -> Result<(), SlowError> {
        self.is_stopped = true;
        self.signal(Signal::STOP)
    }

    /// Has it go on, if it was stopped.
    pub fn go_on(&mut self) -> Result<(), SlowError> {
        if !std::mem::take(&mut self.is_stopped) {
            return Ok(());
        }
        self.signal(Signal::CONT)
    }

    /// Whether it was asked to stop and not yet to go on.
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn signal(&self, signal: Signal) -> Result<(), SlowError> {
        match pidfd_send_signal(&self.descriptor, signal) {
            Err(error) if error != rustix::io::Errno::SRCH => {
                Err(SlowError::Refused { pid: self.pid, source: io::Error::from(error) })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that is dropped while it is stopped has ended, or the slower has.
        let _ = self.go_on();
    }
}

/// Threads of a process; none if it is gone.
fn threads(pid: u32) -> impl Iterator<Item = u32> {
    ProcRoot::default().threads(pid).unwrap_or_default().into_iter()
}

fn number(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}
