//! One run of the driver: sessions on threads of their own, the recorder and the watchdog beside.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use assay_model::{Meter, OutcomeCounts, Plan, split_mix};
use serde::Serialize;

use crate::clock::{Clock, MonotonicClock};
use crate::drive::{Results, Shared, Worker};
use crate::error::DriveError;
use crate::latency::{LatencyBook, Quantiles};
use crate::recorder::{ErrorClass, ErrorClasses, Recorder, RingSink, RingSource, rings};
use crate::schedule::Schedule;
use crate::session::Session;
use crate::watchdog::Watch;

/// How often the recorder empties the rings and the watchdog looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// Asks a run to stop, from any thread.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks for the end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the end was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The plan was played to its end.
    Done,
    /// It was asked to stop.
    Cancelled,
    /// The run's deadline came.
    Deadline,
}

/// What one operation came to in one phase, over all sessions.
#[derive(Clone, Debug, Serialize)]
pub struct OperationReport {
    /// Name of the operation.
    pub operation: String,
    /// Outcomes.
    pub counts: OutcomeCounts,
    /// From the schedule to the last row.
    pub latency: Option<Quantiles>,
    /// From the start to the last row.
    pub service: Option<Quantiles>,
}

/// What one phase came to.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseReport {
    /// Name of the phase.
    pub phase: String,
    /// CLOCK_MONOTONIC at its beginning.
    pub begun_ns: i64,
    /// CLOCK_MONOTONIC when its last session was done.
    pub ended_ns: i64,
    /// Operations that were due in it.
    pub operations: Vec<OperationReport>,
}

/// What a run came to. The events in the record are the authority; this is for a quick look.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// How it ended.
    pub ended: Ended,
    /// Phases that were begun.
    pub phases: Vec<PhaseReport>,
    /// Classes of errors, with the first message of each.
    pub errors: Vec<ErrorClass>,
    /// Times a worker had to wait for the recorder; above 0 the times of events are in doubt.
    pub recorder_waits: u64,
    /// Why readings of the engine's tasks lack something; `None`: nothing went wrong.
    pub meter_error: Option<String>,
}

/// How far the run is, for whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Name of the phase.
    pub phase: String,
    /// Operations ended in the run so far.
    pub ended: u64,
    /// Nanoseconds since the phase began.
    pub phase_ns: i64,
}

/// What a run is made of besides its plan.
pub struct Parts {
    /// One session for each of `Plan::sessions()`.
    pub sessions: Vec<Box<dyn Session>>,
    /// Reads the engine's tasks; for plans with one session.
    pub meter: Option<Box<dyn Meter + Send>>,
    /// Asks for the end.
    pub cancel: CancelFlag,
}

type PhaseBooks = Mutex<Vec<(LatencyBook, Vec<OutcomeCounts>)>>;

/// State of a run that its threads share.
struct Stage<'a> {
    plan: &'a Plan,
    schedules: Vec<Schedule<'a>>,
    ends_ns: Vec<AtomicI64>,
    books: Vec<PhaseBooks>,
    barrier: Barrier,
    shared: Shared,
    phase: AtomicU64,
    meter_error: Mutex<Option<String>>,
}

/// Drives `plan` and writes its streams into `raw_dir`. Blocks; `tick` is called several times a
/// second from this thread.
pub fn drive(
    plan: &Plan,
    parts: Parts,
    raw_dir: &Path,
    mut tick: impl FnMut(&Progress),
) -> Result<RunReport, DriveError> {
    plan.validate()?;
    assert_eq!(parts.sessions.len(), plan.sessions() as usize, "one session for each client");
    let results_dir = raw_dir.join("results");
    std::fs::create_dir_all(&results_dir)
        .map_err(|error| DriveError::record(&results_dir, error))?;
    let errors = ErrorClasses::default();
    let waits = Arc::new(AtomicU64::new(0));
    let stage = Stage::new(plan, parts.sessions.len());
    let watches: Vec<Watch> =
        parts.sessions.iter().map(|session| Watch::new(session.canceller())).collect();
    let (sinks, sources): (Vec<RingSink>, Vec<RingSource>) =
        parts.sessions.iter().map(|_| rings(&errors, &waits)).unzip();
    let recorder = Recorder::create(plan, errors.clone(), sources, raw_dir)?;
    let guard = Guard { plan, stage: &stage, watches: &watches, cancel: &parts.cancel };
    let ended = thread::scope(|scope| {
        let mut meter = parts.meter;
        let mut workers = Vec::new();
        for (number, (mut session, sink)) in parts.sessions.into_iter().zip(sinks).enumerate() {
            let (stage, watch) = (&stage, &watches[number]);
            let meter = meter.take();
            let results =
                Results::new(results_dir.clone(), plan.operations.len(), plan.results_kept);
            let work = move || {
                let worker = Worker {
                    number: number as u32,
                    clock: &MonotonicClock,
                    session: session.as_mut(),
                    sink,
                    meter,
                    results: Some(results),
                    watch,
                    book: LatencyBook::new(plan.operations.len()),
                    counts: Vec::new(),
                };
                stage.work(worker)
            };
            workers.push(named("session").spawn_scoped(scope, work).map_err(spawn_failed)?);
        }
        let ended = guard.keep(recorder, &mut tick, || {
            workers.iter().all(thread::ScopedJoinHandle::is_finished)
        });
        for worker in workers {
            worker.join().map_err(|_| DriveError::Thread("session"))??;
        }
        ended
    })?;
    Ok(stage.report(ended, &errors, waits.load(Ordering::Relaxed)))
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.into())
}

fn spawn_failed(error: std::io::Error) -> DriveError {
    DriveError::Open { session: 0, reason: format!("no thread could be started: {error}") }
}

impl<'a> Stage<'a> {
    fn new(plan: &'a Plan, sessions: usize) -> Self {
        let seed = |index: usize| split_mix(plan.seed ^ split_mix(index as u64));
        let schedules =
            plan.phases.iter().enumerate().map(|(i, phase)| Schedule::new(phase, seed(i)));
        Self {
            plan,
            schedules: schedules.collect(),
            ends_ns: plan.phases.iter().map(|_| AtomicI64::new(0)).collect(),
            books: plan.phases.iter().map(|_| Mutex::new(Vec::new())).collect(),
            barrier: Barrier::new(sessions),
            shared: Shared::default(),
            phase: AtomicU64::new(0),
            meter_error: Mutex::new(None),
        }
    }

    /// One session's way through all phases. Sessions that a phase does not need wait for its end.
    fn work(
        &self,
        mut worker: Worker<'_, MonotonicClock, dyn Session, RingSink>,
    ) -> Result<(), DriveError> {
        let mut outcome = Ok(());
        for (index, schedule) in self.schedules.iter().enumerate() {
            if self.barrier.wait().is_leader() {
                self.phase.store(index as u64, Ordering::Relaxed);
                schedule.begin(worker.clock.now_ns());
            }
            self.barrier.wait();
            let taking_part = worker.number < self.plan.phases[index].arrival.sessions();
            if !taking_part || outcome.is_err() {
                continue;
            }
            // A panic that left here would leave the other sessions at the barrier for ever.
            let play = || worker.play(self.plan, index as u16, schedule, &self.shared);
            outcome =
                catch_unwind(AssertUnwindSafe(play)).unwrap_or(Err(DriveError::Thread("session")));
            if outcome.is_err() {
                self.shared.stop.store(true, Ordering::Relaxed);
            }
            self.ends_ns[index].fetch_max(worker.clock.now_ns(), Ordering::Relaxed);
            let empty = LatencyBook::new(self.plan.operations.len());
            let book = std::mem::replace(&mut worker.book, empty);
            let counts = std::mem::take(&mut worker.counts);
            self.books[index].lock().unwrap_or_else(PoisonError::into_inner).push((book, counts));
        }
        if let Some(error) = worker.meter.and_then(|meter| meter.error()) {
            self.meter_error.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
        }
        outcome
    }

    fn report(&self, ended: Ended, errors: &ErrorClasses, recorder_waits: u64) -> RunReport {
        let phases = self.plan.phases.iter().enumerate().map(|(index, phase)| PhaseReport {
            phase: phase.name.clone(),
            begun_ns: self.schedules[index].begun_ns(),
            ended_ns: self.ends_ns[index].load(Ordering::Relaxed),
            operations: self.operations(index),
        });
        let meter_error = self.meter_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let errors = errors.list();
        RunReport { ended, phases: phases.collect(), errors, recorder_waits, meter_error }
    }

    fn operations(&self, phase: usize) -> Vec<OperationReport> {
        let mut book = LatencyBook::new(self.plan.operations.len());
        let mut counts = vec![OutcomeCounts::default(); self.plan.operations.len()];
        for (theirs, more) in
            self.books[phase].lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            book.merge(theirs);
            counts.iter_mut().zip(more).for_each(|(mine, more)| mine.merge(more));
        }
        let all = self.plan.operations.iter().zip(counts).enumerate();
        all.filter(|(_, (_, counts))| counts.scheduled > 0)
            .map(|(index, (operation, counts))| OperationReport {
                operation: operation.clone(),
                counts,
                latency: book.latency(index as u16),
                service: book.service(index as u16),
            })
            .collect()
    }
}

/// What the calling thread does while sessions work: record, watch, tell.
struct Guard<'a> {
    plan: &'a Plan,
    stage: &'a Stage<'a>,
    watches: &'a [Watch],
    cancel: &'a CancelFlag,
}

impl Guard<'_> {
    fn keep(
        &self,
        recorder: Recorder<'_>,
        tick: &mut impl FnMut(&Progress),
        done: impl Fn() -> bool + Sync,
    ) -> Result<Ended, DriveError> {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let record = || self.record(recorder, &over);
            let recording =
                named("assay-recorder").spawn_scoped(scope, record).map_err(spawn_failed)?;
            let ended = self.watch(tick, &done);
            over.store(true, Ordering::Release);
            recording.join().map_err(|_| DriveError::Thread("recorder"))?.map(|()| ended)
        })
    }

    fn record(&self, mut recorder: Recorder<'_>, over: &AtomicBool) -> Result<(), DriveError> {
        while !over.load(Ordering::Acquire) {
            if let Err(error) = recorder.drain() {
                // Dropping the recorder tells the rings that nobody listens any more.
                self.stage.shared.stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
            thread::park_timeout(LOOK_INTERVAL);
        }
        recorder.finish()
    }

    fn watch(&self, tick: &mut impl FnMut(&Progress), done: &impl Fn() -> bool) -> Ended {
        let clock = MonotonicClock;
        let (stop, begun_ns) = (&self.stage.shared.stop, clock.now_ns());
        let mut ended = Ended::Done;
        while !done() {
            let now_ns = clock.now_ns();
            let limit_ns = self.plan.run_deadline_ns;
            if self.cancel.is_cancelled() {
                ended = Ended::Cancelled;
                stop.store(true, Ordering::Relaxed);
            } else if limit_ns > 0 && now_ns - begun_ns > limit_ns && ended == Ended::Done {
                ended = Ended::Deadline;
                stop.store(true, Ordering::Relaxed);
            }
            let stopping = stop.load(Ordering::Relaxed);
            for watch in self.watches {
                watch.look(now_ns, self.plan.operation_deadline_ns, stopping);
            }
            tick(&self.progress(now_ns));
            thread::sleep(LOOK_INTERVAL);
        }
        ended
    }

    fn progress(&self, now_ns: i64) -> Progress {
        let phase = self.stage.phase.load(Ordering::Relaxed) as usize;
        Progress {
            phase: self.plan.phases[phase].name.clone(),
            ended: self.stage.shared.ended.load(Ordering::Relaxed),
            phase_ns: (now_ns - self.stage.schedules[phase].begun_ns()).max(0),
        }
    }
}
