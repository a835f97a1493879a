//! One run of the driver: sessions on threads of their own, the recorder and the watchdog beside.

mod guard;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError, mpsc};
use std::thread;

use assay_model::{Meter, OutcomeCounts, Plan, split_mix};
use serde::Serialize;

use self::guard::{Ears, Guard};
use crate::books::{Books, Results};
use crate::clock::{Clock, MonotonicClock};
use crate::crew::{Crew, Member};
use crate::drive::{Observer, Shared, Worker};
use crate::error::DriveError;
use crate::latency::{LatencyBook, Quantiles};
use crate::recorder::{ErrorClass, Notes, Recorder, RingSink, RingSource, rings};
use crate::schedule::passes::Passed;
use crate::schedule::{Schedule, Share};
use crate::session::Session;
use crate::terminal::Terminal;
use crate::watchdog::Watch;

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
    /// Which of its texts.
    pub variant: u32,
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

/// Hears the name of a phase whose sessions play its order by themselves, and how many of its passes
/// ended: when it begins, and within 50 ms of the end of one. Says whether they are enough.
pub type PassListener = Box<dyn FnMut(&str, Passed) -> bool + Send>;

/// Hears the name of a phase that is about to begin, and says at which CLOCK_MONOTONIC it does, once
/// that is known: hosts that drive a plan together begin together. `None` ends the run.
pub type PhaseGate = Box<dyn FnMut(&str) -> Option<i64> + Send>;

/// What a run is made of besides its plan.
pub struct Parts {
    /// Sessions of the plan in order, from `first_session` on: all of them, or a host's share.
    pub sessions: Vec<Box<dyn Session>>,
    /// Number of the first of them; others are driven elsewhere.
    pub first_session: u32,
    /// Says when phases begin; `None`: at once.
    pub gate: Option<PhaseGate>,
    /// Reads the engine's tasks, in phases with one session.
    pub meter: Option<Box<dyn Meter + Send>>,
    /// Reads the engine's own counters, in phases with one session.
    pub observer: Option<Observer>,
    /// Hears of passes of orders that sessions play by themselves.
    pub listener: Option<PassListener>,
    /// Asks for the end.
    pub cancel: CancelFlag,
}

/// Latencies and outcomes of one phase, over all workers that have ended it.
struct PhaseTotals {
    latencies: LatencyBook,
    counts: Vec<OutcomeCounts>,
}

impl PhaseTotals {
    fn new(operations: usize) -> Self {
        let counts = vec![OutcomeCounts::default(); operations];
        Self { latencies: LatencyBook::new(operations), counts }
    }

    fn merge<K>(&mut self, books: &Books<K>) {
        self.latencies.merge(&books.latencies);
        self.counts.iter_mut().zip(&books.counts).for_each(|(sum, counts)| sum.merge(counts));
    }
}

/// A worker, whatever number of sessions it owns.
trait Player {
    fn first(&self) -> u32;
    fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError>;
    fn books(&self) -> &Books<RingSink>;
    fn meter_error(&self) -> Option<String> {
        None
    }
}

impl Player for Worker<'_, MonotonicClock, dyn Session, RingSink> {
    fn first(&self) -> u32 {
        self.number
    }

    fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        Worker::play(self, plan, phase, schedule, shared)
    }

    fn books(&self) -> &Books<RingSink> {
        &self.books
    }

    fn meter_error(&self) -> Option<String> {
        self.meter.as_ref().and_then(|meter| meter.error())
    }
}

impl Player for Crew<'_, MonotonicClock, RingSink> {
    fn first(&self) -> u32 {
        self.first_number()
    }

    fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        Crew::play(self, plan, phase, schedule, shared)
    }

    fn books(&self) -> &Books<RingSink> {
        &self.books
    }
}

/// State of a run that its threads share.
struct Stage<'a> {
    plan: &'a Plan,
    schedules: Vec<Schedule<'a>>,
    ends_ns: Vec<AtomicI64>,
    totals: Vec<Mutex<PhaseTotals>>,
    barrier: Barrier,
    gate: Option<Mutex<PhaseGate>>,
    shared: Shared,
    phase: AtomicU64,
    meter_error: Mutex<Option<String>>,
}

/// Drives `plan` and writes its streams into `raw_dir`. Blocks; `tick` is called several times a
/// second from this thread, and at least once a phase unless the run is stopped before.
pub fn drive(
    plan: &Plan,
    parts: Parts,
    raw_dir: &Path,
    mut tick: impl FnMut(&Progress),
) -> Result<RunReport, DriveError> {
    plan.validate()?;
    let share = Share { first: parts.first_session, sessions: parts.sessions.len() as u32 };
    let beyond = share.first.saturating_add(share.sessions);
    assert!(beyond <= plan.sessions(), "one session for each client");
    let results_dir = raw_dir.join("results");
    std::fs::create_dir_all(&results_dir)
        .map_err(|error| DriveError::record(&results_dir, error))?;
    let notes = Notes::default();
    let mut sessions = parts.sessions;
    let watches: Vec<Watch> =
        sessions.iter().map(|session| Watch::new(session.canceller())).collect();
    let mut groups = groups(&mut sessions, plan.sessions_per_worker);
    let stage = Stage::new(plan, groups.len(), share, parts.gate);
    let (sinks, sources): (Vec<RingSink>, Vec<RingSource>) =
        groups.iter().map(|_| rings(&notes)).unzip();
    let recorder = Recorder::create(plan, notes.clone(), sources, raw_dir)?;
    let guard = Guard { plan, stage: &stage, watches: &watches, cancel: &parts.cancel };
    let mut ears = Ears { tick: &mut tick, phase: 0, listener: parts.listener, heard: None };
    let books = sinks.into_iter().map(|sink| {
        let results = Results::new(results_dir.clone(), plan.operations.len(), plan.results_kept);
        Books::new(sink, Some(results), plan.operations.len())
    });
    let looks = (parts.meter, parts.observer);
    let players = players((plan.seed, share.first), &mut groups, &watches, books, looks)?;
    let ended = thread::scope(|scope| {
        let mut workers = Vec::new();
        let mut gates = Vec::new();
        for player in players {
            let (gate, stage) = (mpsc::channel::<()>(), &stage);
            // Where not all threads can be started, the gates close and those that were end.
            let work = move || gate.1.recv().map_or(Ok(()), |()| stage.work(player));
            workers.push(named("session").spawn_scoped(scope, work).map_err(spawn_failed)?);
            gates.push(gate.0);
        }
        for gate in &gates {
            gate.send(()).map_err(|_| DriveError::Thread("session"))?;
        }
        let ended = guard.keep(recorder, &mut ears, || {
            workers.iter().all(thread::ScopedJoinHandle::is_finished)
        });
        for worker in workers {
            worker.join().map_err(|_| DriveError::Thread("session"))??;
        }
        ended
    })?;
    Ok(stage.report(ended, &notes))
}

type Looks = (Option<Box<dyn Meter + Send>>, Option<Observer>);

/// One worker a group of sessions, from `first_session` on. The first has what looks at the engine
/// around operations.
fn players<'a>(
    (seed, first_session): (u64, u32),
    groups: &'a mut [Vec<Box<dyn Session>>],
    watches: &'a [Watch],
    books: impl Iterator<Item = Books<RingSink>>,
    looks: Looks,
) -> Result<Vec<Box<dyn Player + Send + 'a>>, DriveError> {
    let mut looks = Some(looks);
    let mut first = 0;
    let mut players: Vec<Box<dyn Player + Send + 'a>> = Vec::with_capacity(groups.len());
    for (group, books) in groups.iter_mut().zip(books) {
        let mine = &watches[first..first + group.len()];
        let numbers = first_session + first as u32..;
        first += group.len();
        let (meter, observer) = looks.take().unwrap_or_default();
        players.push(match group.as_mut_slice() {
            [session] => Box::new(Worker {
                number: numbers.start,
                clock: &MonotonicClock,
                session: session.as_mut(),
                terminal: Terminal::new(seed, numbers.start),
                meter,
                weighed: Vec::new(),
                observer,
                watch: &mine[0],
                free_ns: 0,
                books,
            }),
            several => {
                let members = several.iter_mut().zip(numbers).zip(mine);
                let member = |((session, number), watch): ((&'a mut Box<dyn Session>, u32), _)| {
                    let terminal = Terminal::new(seed, number);
                    Member { number, session: Some(session.as_mut()), terminal, watch }
                };
                Box::new(Crew::new(&MonotonicClock, members.map(member).collect(), books)?)
            }
        });
    }
    Ok(players)
}

/// Sessions by the worker that owns them: several a worker only where they can share a thread.
fn groups(sessions: &mut Vec<Box<dyn Session>>, most: u32) -> Vec<Vec<Box<dyn Session>>> {
    let can_share = sessions.iter_mut().all(|session| session.shared().is_some());
    let most = if can_share { most.max(1) as usize } else { 1 };
    let count = sessions.len().div_ceil(most);
    let mut groups: Vec<Vec<Box<dyn Session>>> = Vec::with_capacity(count);
    let mut left = sessions.drain(..);
    for group in 0..count {
        // As even as possible: the first groups have one more.
        let size = left.len().div_ceil(count - group);
        groups.push(left.by_ref().take(size).collect());
    }
    groups
}

fn named(name: &str) -> thread::Builder {
    thread::Builder::new().name(name.into())
}

fn spawn_failed(error: std::io::Error) -> DriveError {
    DriveError::Open { session: 0, reason: format!("no thread could be started: {error}") }
}

impl<'a> Stage<'a> {
    fn new(plan: &'a Plan, workers: usize, share: Share, gate: Option<PhaseGate>) -> Self {
        let seed = |index: usize| split_mix(plan.seed ^ split_mix(index as u64));
        let schedule = |(i, phase)| Schedule::shared(phase, seed(i), share);
        let schedules = plan.phases.iter().enumerate().map(schedule);
        let totals = |_| Mutex::new(PhaseTotals::new(plan.operations.len()));
        Self {
            plan,
            schedules: schedules.collect(),
            ends_ns: plan.phases.iter().map(|_| AtomicI64::new(0)).collect(),
            totals: plan.phases.iter().map(totals).collect(),
            barrier: Barrier::new(workers),
            gate: gate.map(Mutex::new),
            shared: Shared::default(),
            phase: AtomicU64::new(0),
            meter_error: Mutex::new(None),
        }
    }

    /// A worker's way through all phases. Workers that a phase does not need wait for its end.
    fn work(&self, mut player: Box<dyn Player + Send + '_>) -> Result<(), DriveError> {
        let mut outcome = Ok(());
        for (index, schedule) in self.schedules.iter().enumerate() {
            if self.barrier.wait().is_leader() {
                schedule.begin(self.start_ns(index));
                self.phase.store(index as u64, Ordering::Release);
            }
            self.barrier.wait();
            let taking_part = player.first() < self.plan.phases[index].arrival.sessions();
            if !taking_part || outcome.is_err() {
                continue;
            }
            // A panic that left here would leave the other workers at the barrier for ever.
            let play = || player.play(self.plan, index as u16, schedule, &self.shared);
            outcome =
                catch_unwind(AssertUnwindSafe(play)).unwrap_or(Err(DriveError::Thread("session")));
            if outcome.is_err() {
                self.shared.stop.store(true, Ordering::Relaxed);
            }
            self.ends_ns[index].fetch_max(MonotonicClock.now_ns(), Ordering::Relaxed);
            let mut totals = self.totals[index].lock().unwrap_or_else(PoisonError::into_inner);
            totals.merge(player.books());
        }
        if let Some(error) = player.meter_error() {
            self.meter_error.lock().unwrap_or_else(PoisonError::into_inner).replace(error);
        }
        outcome
    }

    /// When a phase begins: now, or when its gate says, which is waited for.
    fn start_ns(&self, index: usize) -> i64 {
        let stop = &self.shared.stop;
        if let Some(gate) = self.gate.as_ref().filter(|_| !stop.load(Ordering::Relaxed)) {
            let mut gate = gate.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at_ns) = gate(&self.plan.phases[index].name) {
                while MonotonicClock.now_ns() < at_ns && !stop.load(Ordering::Relaxed) {
                    MonotonicClock.sleep_until(at_ns);
                }
                // A host that comes late is late for what became due since.
                return at_ns;
            }
            stop.store(true, Ordering::Relaxed);
        }
        MonotonicClock.now_ns()
    }

    fn report(&self, ended: Ended, notes: &Notes) -> RunReport {
        let phases = self.plan.phases.iter().enumerate().map(|(index, phase)| PhaseReport {
            phase: phase.name.clone(),
            begun_ns: self.schedules[index].begun_ns(),
            ended_ns: self.ends_ns[index].load(Ordering::Relaxed),
            operations: self.operations(index),
        });
        let meter_error = self.meter_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (errors, recorder_waits) = (notes.errors(), notes.waits());
        RunReport { ended, phases: phases.collect(), errors, recorder_waits, meter_error }
    }

    fn operations(&self, phase: usize) -> Vec<OperationReport> {
        let totals = self.totals[phase].lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.plan.operations.iter().zip(&totals.counts).enumerate();
        all.filter(|(_, (_, counts))| counts.scheduled > 0)
            .map(|(index, (operation, counts))| OperationReport {
                operation: operation.clone(),
                variant: self.plan.variant(index as u16),
                counts: *counts,
                latency: totals.latencies.latency(index as u16),
                service: totals.latencies.service(index as u16),
            })
            .collect()
    }
}
