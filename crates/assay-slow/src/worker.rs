//! The loop of the slower's thread: look, reckon, stop the engine for what it owes, have it go on.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_model::Cell;
use assay_record::Stream;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::device::Device;
use crate::family::Family;
use crate::ledger::{Factors, Ledger, together};
use crate::process::Process;
use crate::{SlowError, SlowerReport};
use assay_kernel::clock::{monotonic_ns, sleep_until, thread_cpu_ns};

/// Time between two looks.
const LOOK_INTERVAL_NS: i64 = 500_000;
/// A stop costs some tens of microseconds beside itself: shorter ones are not worth it.
const STOP_MIN_NS: i64 = 2_000_000;
/// What is owed for longer is paid in several stops.
const STOP_MAX_NS: i64 = 50_000_000;
/// A process that slept for so long needs no stopping.
const IDLE_NS: i64 = 50_000_000;
/// Whether a stop has reached everybody is asked again after this time.
const SETTLING_LOOK_NS: i64 = 30_000;
/// A read of a slow disk ends before its reader stops, and who waits for a CPU stops when it has one;
/// beyond this nobody waits for that.
const SETTLING_MAX_NS: i64 = 500_000_000;
/// A process goes on so long after it was told to, where a CPU is free for it.
const GOING_ON_NS: i64 = 20_000;
/// Where nothing is owed it is reckoned this often.
const ACCOUNT_INTERVAL_NS: i64 = 100_000_000;
/// A killed process loses at most what came after its last flush.
const FLUSH_INTERVAL_NS: i64 = 1_000_000_000;
/// The name of it in its cost stream.
const NAME: &str = "slowing";

/// Everything the thread owns.
pub(crate) struct Worker {
    pub family: Family,
    pub factors: Factors,
    pub device: Device,
    pub stops: Stream,
    pub cost: Stream,
    /// CPUs that this thread may use.
    pub allowed: CpuSet,
    /// Those of them that the engine is not on.
    pub aside: CpuSet,
    pub ledger: Ledger,
    pub ahead_bytes: u64,
    pub cpus: u32,
    pub accounted_ns: i64,
    pub flushed_ns: i64,
    pub report: SlowerReport,
}

/// One row of the stream.
struct Stop {
    time_ns: i64,
    until_ns: i64,
    processes: u64,
}

impl Worker {
    /// Slows until it is to end. `started` hears when it begins.
    pub fn run(&mut self, ending: &AtomicBool, started: impl FnOnce()) -> Result<(), SlowError> {
        let mut due_ns = monotonic_ns();
        self.account(due_ns, None);
        self.flush(due_ns)?;
        started();
        while !ending.load(Ordering::Relaxed) {
            due_ns = (due_ns + LOOK_INTERVAL_NS).max(monotonic_ns());
            sleep_until(due_ns);
            let now_ns = monotonic_ns();
            self.look(now_ns);
            // What is asleep would sleep on while it is stopped, and be slowed by nothing.
            if self.expected_due_ns() >= STOP_MIN_NS && self.family.is_active() {
                self.stop(now_ns)?;
            } else if now_ns - self.accounted_ns >= ACCOUNT_INTERVAL_NS {
                self.account(now_ns, None);
            }
            if now_ns - self.flushed_ns >= FLUSH_INTERVAL_NS {
                self.flush(now_ns)?;
            }
        }
        let now_ns = monotonic_ns();
        self.look(now_ns);
        self.account(now_ns, None);
        self.flush(now_ns)
    }

    /// Ends the streams, so that a reader knows that nothing is missing.
    pub fn finish(&mut self) -> Result<(), SlowError> {
        self.stops.finish()?;
        Ok(self.cost.finish()?)
    }

    fn look(&mut self, now_ns: i64) {
        self.family.find(now_ns);
        self.family.look(now_ns);
        self.report.looks += 1;
        let took_ns = monotonic_ns().saturating_sub(now_ns) as u64;
        self.report.longest_ns = self.report.longest_ns.max(took_ns);
    }

    /// What will be due once the kernel has counted everything.
    fn expected_due_ns(&mut self) -> i64 {
        let taken = together(self.family.tasks().map(|task| task.expected()), self.cpus);
        self.ledger.due_ns() + self.factors.owed_ns(taken)
    }

    /// Stops the engine, reckons what it took while it stands still, and has it go on when that is
    /// paid for. Only then the kernel has counted all that it took.
    fn stop(&mut self, now_ns: i64) -> Result<(), SlowError> {
        let is_active = |process: &&mut Process| now_ns - process.active_ns < IDLE_NS;
        for process in self.family.working().filter(is_active) {
            process.stop()?;
        }
        let stood_ns = self.settle(now_ns);
        let read_before = self.device.read_bytes();
        self.step_aside();
        self.reckon();
        sleep_until(stood_ns + self.ledger.due_ns().min(STOP_MAX_NS) - GOING_ON_NS);
        let read_after = self.device.read_bytes();
        let until_ns = monotonic_ns() + GOING_ON_NS;
        let processes = self.go_on(until_ns)?;
        self.ledger.stopped_ns += until_ns - stood_ns;
        if let (Some(before), Some(after)) = (read_before, read_after) {
            self.ahead_bytes += after.saturating_sub(before);
        }
        self.report.stops += 1;
        self.account(until_ns, Some(Stop { time_ns: stood_ns, until_ns, processes }));
        Ok(())
    }

    /// Waits until all that were at work stand still; returns since when they do, which is half-way
    /// between the last look that found one of them at work and the first that did not.
    fn settle(&mut self, begun_ns: i64) -> i64 {
        let (mut seen_ns, mut pause_ns) = (begun_ns, SETTLING_LOOK_NS);
        loop {
            sleep_until(monotonic_ns() + pause_ns);
            let now_ns = monotonic_ns();
            let all_stand = self.family.stopped().all(|process| process.has_stopped(now_ns));
            if all_stand || now_ns - begun_ns > SETTLING_MAX_NS {
                let stood_ns = i64::midpoint(seen_ns, now_ns);
                self.family.stopped().for_each(|process| process.look_at_all(stood_ns));
                return stood_ns;
            }
            seen_ns = now_ns;
            // Who waits for a CPU stops when it gets one.
            pause_ns = (2 * pause_ns).min(LOOK_INTERVAL_NS);
        }
    }

    fn go_on(&mut self, now_ns: i64) -> Result<u64, SlowError> {
        let (mut count, mut failure) = (0, Ok(()));
        for process in self.family.stopped() {
            count += 1;
            failure = failure.and(process.go_on());
            for task in &mut process.tasks {
                task.went_on(now_ns);
            }
        }
        failure.map(|()| count)
    }

    /// Writes into the ledger what was taken since the last time.
    fn reckon(&mut self) {
        let Self { family, cpus, ledger, factors, .. } = self;
        let mut all_cpu_ns = 0;
        let taken = together(
            family.tasks().map(|task| {
                let taken = task.take();
                all_cpu_ns += taken.cpu_ns;
                taken
            }),
            *cpus,
        );
        ledger.add(taken, all_cpu_ns, *factors);
    }

    /// Leaves the CPUs on which the engine works, where there are others.
    fn step_aside(&mut self) {
        let mut aside = self.allowed;
        for process in self.family.stopped() {
            for task in process.tasks.iter().filter(|task| task.worked()) {
                aside.unset(task.cpu);
            }
        }
        if aside.count() > 0 && aside != self.aside && sched_setaffinity(None, &aside).is_ok() {
            self.aside = aside;
        }
    }

    /// A row of how things stand; without a stop what was taken is reckoned before.
    fn account(&mut self, now_ns: i64, stop: Option<Stop>) {
        if stop.is_none() {
            self.reckon();
            self.cpus = self.family.working().map(|process| process.cpus()).max().unwrap_or(1);
        }
        self.accounted_ns = now_ns;
        let Stop { time_ns, until_ns, processes } =
            stop.unwrap_or(Stop { time_ns: now_ns, until_ns: now_ns, processes: 0 });
        let (Ledger { taken, all_cpu_ns, owed_ns, stopped_ns }, read) =
            (self.ledger, self.device.read_bytes());
        self.stops.push(&[
            Cell::Int(time_ns),
            Cell::Int(until_ns),
            Cell::Count(processes),
            Cell::Int(taken.cpu_ns),
            Cell::Int(all_cpu_ns),
            Cell::Int(taken.disk_ns),
            Cell::Int(owed_ns),
            Cell::Int(stopped_ns),
            read.into(),
            read.map(|_| self.ahead_bytes).into(),
        ]);
    }

    fn flush(&mut self, now_ns: i64) -> Result<(), SlowError> {
        self.flushed_ns = now_ns;
        self.report.cpu_ns = thread_cpu_ns();
        self.stops.flush()?;
        self.cost.push(&[
            Cell::Int(now_ns),
            Cell::Text(NAME),
            Cell::Count(self.report.cpu_ns),
            Cell::Count(self.report.looks),
            Cell::Count(self.report.longest_ns),
        ]);
        Ok(self.cost.flush()?)
    }
}
