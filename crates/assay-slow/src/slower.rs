//! A slower in a thread of its own. An error on its way ends it, has the engine go on, and stays
//! readable.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};

use assay_record::Stream;
use rustix::thread::{sched_getaffinity, set_current_timer_slack};

use crate::SlowError;
use crate::device::Device;
use crate::family::Family;
use crate::ledger::{Factors, Ledger};
use crate::tables::{PROBE_SLOWING, SLOWING};
use crate::worker::Worker;
use assay_kernel::clock::{monotonic_ns, thread_cpu_ns};

/// The kernel may be late by this, as by default it may be by fifty times as much.
const TIMER_SLACK_NS: NonZeroU64 = NonZeroU64::new(1_000).unwrap();

/// A process and the time of its start, which no later process with its number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// Its number.
    pub pid: u32,
    /// When it started, in ticks since boot.
    pub start_ticks: u64,
}

/// Whom to slow, and by how much.
#[derive(Clone, Debug)]
pub struct SlowerConfig {
    /// Processes of the engine; their descendants belong to them.
    pub roots: Vec<Root>,
    /// Whether one of these that has descendants does nothing but start them.
    pub roots_listen: bool,
    /// How many times as long each resource is to take.
    pub factors: Factors,
    /// The folder of the record's streams; it must exist.
    pub raw_dir: PathBuf,
    /// Where the engine's data are; `None`: what a disk reads ahead is not told.
    pub data: Option<PathBuf>,
}

/// What a slower did and cost. Times are as in its stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SlowerReport {
    /// Times that it looked at the engine.
    pub looks: u64,
    /// Times that it stopped it.
    pub stops: u64,
    /// Time that the engine computed.
    pub taken_cpu_ns: i64,
    /// CPU time of all its tasks.
    pub all_cpu_ns: i64,
    /// Time that it waited for disks.
    pub taken_disk_ns: i64,
    /// Time that it had to stand still for that.
    pub owed_ns: i64,
    /// Time that it stood still.
    pub stopped_ns: i64,
    /// CPU time of the slower itself.
    pub cpu_ns: u64,
    /// Its longest look.
    pub longest_ns: u64,
    /// Why it ended early; `None`: it did not.
    pub error: Option<String>,
}

/// A slower at work. Dropping it ends it, too.
pub struct Slower {
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<SlowerReport>>,
}

impl Slower {
    /// Starts the thread; the engine is slowed when this returns.
    ///
    /// # Errors
    /// If none of the processes is there, or a stream cannot be made.
    pub fn start(config: SlowerConfig) -> Result<Self, SlowError> {
        let worker = prepared(config)?;
        let ending = Arc::new(AtomicBool::new(false));
        let (started, begun) = sync_channel(1);
        let heard = Arc::clone(&ending);
        let thread = Builder::new()
            .name("assay-slower".to_owned())
            .spawn(move || play(worker, &heard, &started))
            .map_err(|error| SlowError::io("thread".as_ref(), error))?;
        let slower = Self { ending, thread: Some(thread) };
        match begun.recv() {
            Ok(None) => Ok(slower),
            Ok(Some(error)) => Err(error),
            Err(_) => Err(SlowError::Panicked),
        }
    }

    /// Has the engine go on, and ends the streams. An early end is no `Err` here: it is in the
    /// report, with what was done until then.
    pub fn stop(mut self) -> Result<SlowerReport, SlowError> {
        self.join().ok_or(SlowError::Panicked)
    }

    fn join(&mut self) -> Option<SlowerReport> {
        self.ending.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Slower {
    fn drop(&mut self) {
        self.join();
    }
}

fn prepared(config: SlowerConfig) -> Result<Worker, SlowError> {
    let SlowerConfig { roots, roots_listen, factors, raw_dir, data } = config;
    let now_ns = monotonic_ns();
    let allowed = sched_getaffinity(None).map_err(|error| SlowError::io("CPUs".as_ref(), error))?;
    Ok(Worker {
        family: Family::new(&roots, roots_listen, now_ns)?,
        factors,
        device: Device::of(data.as_deref()),
        stops: Stream::create(&raw_dir, &SLOWING)?,
        cost: Stream::create(&raw_dir, &PROBE_SLOWING)?,
        allowed,
        aside: allowed,
        ledger: Ledger::default(),
        ahead_bytes: 0,
        cpus: 1,
        accounted_ns: now_ns,
        flushed_ns: now_ns,
        report: SlowerReport::default(),
    })
}

/// The thread: `started` gets `None` at the begin, or the error that came before it.
fn play(
    mut worker: Worker,
    ending: &AtomicBool,
    started: &SyncSender<Option<SlowError>>,
) -> SlowerReport {
    // Without it sleeping takes some microseconds longer, and nothing else changes.
    let _ = set_current_timer_slack(Some(TIMER_SLACK_NS));
    let played = worker.run(ending, || {
        // The owner waits for this.
        let _ = started.send(None);
    });
    // What is still stopped goes on before anything else is done.
    let gone_on = worker.family.go_on_all();
    let finished = worker.finish();
    if let Err(error) = played.and(gone_on).and(finished) {
        worker.report.error = Some(error.to_string());
        let _ = started.try_send(Some(error));
    }
    let Ledger { taken, all_cpu_ns, owed_ns, stopped_ns } = worker.ledger;
    SlowerReport {
        taken_cpu_ns: taken.cpu_ns,
        taken_disk_ns: taken.disk_ns,
        all_cpu_ns,
        owed_ns,
        stopped_ns,
        cpu_ns: thread_cpu_ns(),
        ..worker.report
    }
}
