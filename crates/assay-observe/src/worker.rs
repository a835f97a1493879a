//! The loop of a sampler's thread: sample, write down its cost, wait for the next due time.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use assay_model::Cell;

use crate::probe::{Probe, ProbeKind};
use crate::schedule::Schedule;
use crate::{ObserveError, SamplerReport};
use assay_kernel::clock::{monotonic_ns, thread_cpu_ns};
use assay_record::Stream;

/// A killed process loses at most what came after its last flush.
const FLUSH_INTERVAL_NS: i64 = 1_000_000_000;
/// After so many samples it is known what one costs.
const SAMPLES_TO_KNOW: u64 = 10;

/// What the sampler's owner asks of the thread.
pub(crate) enum Command {
    Follow(u32, String),
    Stop,
}

/// Everything the thread owns.
pub(crate) struct Worker {
    pub kind: ProbeKind,
    pub probe: Box<dyn Probe>,
    pub cost: Stream,
    pub interval_ns: i64,
    /// How much of a core it may take; it looks less often where a look costs too much for that.
    pub core_share_max: Option<f64>,
    pub report: SamplerReport,
    pub flushed_ns: i64,
    pub flushed_samples: u64,
    pub flushed_apart_ns: u64,
}

impl Worker {
    /// Samples until told to stop, and once more then. `started` hears of the first sample.
    pub fn run(
        &mut self,
        commands: &Receiver<Command>,
        started: impl FnOnce(),
    ) -> Result<(), ObserveError> {
        self.report.interval_ns = self.interval_ns;
        let mut schedule = Schedule::new(monotonic_ns(), self.interval_ns);
        let mut due_ns = self.sample()?;
        self.flush()?;
        started();
        loop {
            due_ns = schedule.due_after(monotonic_ns().max(due_ns));
            if self.wait_until(due_ns, commands)? {
                break;
            }
            self.sample()?;
            if self.report.samples == SAMPLES_TO_KNOW {
                schedule = schedule.with_interval(self.affordable_interval_ns());
            }
            if monotonic_ns() + self.interval_ns - self.flushed_ns > FLUSH_INTERVAL_NS {
                let affordable_ns = self.affordable_interval_ns();
                self.flush()?;
                schedule = schedule.with_interval(affordable_ns);
            }
        }
        self.sample()?;
        self.flush()
    }

    /// Ends the streams, so that a reader knows that nothing is missing.
    pub fn finish(&mut self) -> Result<(), ObserveError> {
        for stream in self.probe.streams() {
            stream.finish()?;
        }
        Ok(self.cost.finish()?)
    }

    /// True: stop.
    fn wait_until(
        &mut self,
        due_ns: i64,
        commands: &Receiver<Command>,
    ) -> Result<bool, ObserveError> {
        loop {
            let wait_ns = due_ns.saturating_sub(monotonic_ns()).max(0);
            match commands.recv_timeout(Duration::from_nanos(wait_ns as u64)) {
                Ok(Command::Follow(pid, account)) => self.probe.follow(pid, account)?,
                Ok(Command::Stop) | Err(RecvTimeoutError::Disconnected) => return Ok(true),
                Err(RecvTimeoutError::Timeout) => return Ok(false),
            }
        }
    }

    fn sample(&mut self) -> Result<i64, ObserveError> {
        let begin_ns = monotonic_ns();
        self.probe.sample(begin_ns)?;
        let took_ns = monotonic_ns().saturating_sub(begin_ns) as u64;
        self.report.samples += 1;
        self.report.longest_ns = self.report.longest_ns.max(took_ns);
        Ok(begin_ns)
    }

    /// The interval at which what a look cost since the last flush is no more than it may be.
    fn affordable_interval_ns(&mut self) -> i64 {
        let Some(share) = self.core_share_max else { return self.interval_ns };
        let samples = self.report.samples - self.flushed_samples;
        let apart_ns = self.probe.apart_ns() - self.flushed_apart_ns;
        let spent_ns = thread_cpu_ns().saturating_sub(self.report.cpu_ns + apart_ns);
        let look_ns = spent_ns as f64 / samples.max(1) as f64;
        let interval_ns = self.interval_ns.max((look_ns / share) as i64);
        self.report.interval_ns = self.report.interval_ns.max(interval_ns);
        interval_ns
    }

    fn flush(&mut self) -> Result<(), ObserveError> {
        self.flushed_ns = monotonic_ns();
        self.flushed_samples = self.report.samples;
        self.flushed_apart_ns = self.probe.apart_ns();
        // Before the streams are written, so that what that costs is paid for by later looks.
        self.report.cpu_ns = thread_cpu_ns();
        for stream in self.probe.streams() {
            stream.flush()?;
        }
        self.cost.push(&[
            Cell::Int(self.flushed_ns),
            Cell::Text(self.kind.name()),
            Cell::Count(self.report.cpu_ns),
            Cell::Count(self.report.samples),
            Cell::Count(self.report.longest_ns),
        ]);
        Ok(self.cost.flush()?)
    }
}
