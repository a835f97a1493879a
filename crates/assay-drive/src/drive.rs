//! The loop. It reads an arrival, a clock and a session, and tells a sink what happened. It takes
//! no lock, allocates nothing and calls nothing but those three, as long as no operation fails.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use assay_model::{Edge, Event, Meter, Outcome, OutcomeCounts, Plan, TaskCounters};

use crate::clock::Clock;
use crate::error::DriveError;
use crate::latency::LatencyBook;
use crate::schedule::{Schedule, Ticket};
use crate::session::{Fetched, Session, SessionError};
use crate::watchdog::Watch;

/// Receives what the loop saw.
pub trait Sink {
    /// One ended operation.
    fn event(&mut self, event: &Event);
    /// One reading of the engine's tasks.
    fn reading(&mut self, sequence: u64, edge: Edge, counters: &TaskCounters);
    /// The number by which events refer to a class of errors; keeps the first message.
    fn error_class(&mut self, operation: u16, error: &SessionError) -> u16;
}

/// State that all sessions of a run share. Counters only.
#[derive(Default)]
pub struct Shared {
    /// Set when the run must stop: Ctrl-C or deadline.
    pub stop: AtomicBool,
    /// Next event's number.
    pub sequence: AtomicU64,
    /// Operations that ended.
    pub ended: AtomicU64,
}

/// One session at work, with its own books.
pub struct Worker<'a, C, S: ?Sized, K> {
    /// Number of the session.
    pub number: u32,
    /// Source of time.
    pub clock: &'a C,
    /// The connection.
    pub session: &'a mut S,
    /// Where events go.
    pub sink: K,
    /// Reads the engine's tasks outside the timed interval, in serial tests.
    pub meter: Option<Box<dyn Meter + Send>>,
    /// Where rows of results are kept, if they are.
    pub results: Option<Results>,
    /// Tells the watchdog what is running.
    pub watch: &'a Watch,
    /// Latencies of the phase.
    pub book: LatencyBook,
    /// Outcomes of the phase.
    pub counts: Vec<OutcomeCounts>,
}

/// Keeps the rows of each distinct result once; the same rows in another order are another result.
pub struct Results {
    directory: PathBuf,
    kept: Vec<Vec<(u64, u64)>>,
    kept_max: usize,
}

impl Results {
    /// Keeps up to `kept_max` distinct results of each of `operations` operations.
    pub fn new(directory: PathBuf, operations: usize, kept_max: u32) -> Self {
        let kept_max = kept_max as usize;
        let kept = (0..operations).map(|_| Vec::with_capacity(kept_max)).collect();
        Self { directory, kept, kept_max }
    }

    /// The file that a result not seen before is to be written to.
    fn place(&mut self, plan: &Plan, operation: u16, fetched: Fetched) -> Option<PathBuf> {
        let Fetched { digest, ordered_digest, .. } = fetched;
        let kept = &mut self.kept[usize::from(operation)];
        if kept.len() >= self.kept_max || kept.contains(&(digest, ordered_digest)) {
            return None;
        }
        kept.push((digest, ordered_digest));
        let name = &plan.operations[usize::from(operation)];
        Some(self.directory.join(format!("{name}-{digest:016x}-{ordered_digest:016x}.arrow")))
    }
}

/// How one operation ended.
struct Ended {
    started_ns: i64,
    finished_ns: i64,
    retries: u32,
    result: Result<(), SessionError>,
}

impl<C: Clock, S: Session + ?Sized, K: Sink> Worker<'_, C, S, K> {
    /// Plays one phase to its end.
    pub fn play(
        &mut self,
        plan: &Plan,
        phase: u16,
        schedule: &Schedule<'_>,
        shared: &Shared,
    ) -> Result<(), DriveError> {
        self.book.reset();
        self.counts = vec![OutcomeCounts::default(); plan.operations.len()];
        while !shared.stop.load(Ordering::Relaxed) {
            let Some(ticket) = schedule.next(self.clock.now_ns()) else { break };
            if !self.await_due(&ticket, shared) {
                break;
            }
            let sequence = shared.sequence.fetch_add(1, Ordering::Relaxed);
            let event = match ticket.due_ns {
                Some(due_ns) if schedule.too_late(due_ns, self.clock.now_ns()) => {
                    self.skipped(sequence, phase, &ticket, due_ns)
                }
                _ => self.issued(plan, sequence, phase, &ticket)?,
            };
            self.counts[usize::from(event.operation)].add(event.outcome, event.retries);
            self.sink.event(&event);
            shared.ended.fetch_add(1, Ordering::Relaxed);
        }
        assert!(
            self.counts.iter().all(OutcomeCounts::balanced),
            "scheduled = ok + skipped + failed"
        );
        Ok(())
    }

    /// Waits until the operation is due; false if the run was stopped before.
    fn await_due(&self, ticket: &Ticket, shared: &Shared) -> bool {
        let Some(due_ns) = ticket.due_ns else { return true };
        while self.clock.now_ns() < due_ns {
            if shared.stop.load(Ordering::Relaxed) {
                return false;
            }
            self.clock.sleep_until(due_ns);
        }
        true
    }

    fn skipped(&self, sequence: u64, phase: u16, ticket: &Ticket, due_ns: i64) -> Event {
        Event {
            sequence,
            phase,
            pass: ticket.pass,
            session: self.number,
            operation: ticket.operation,
            scheduled_ns: due_ns,
            started_ns: None,
            finished_ns: None,
            outcome: Outcome::Skipped,
            error: None,
            retries: 0,
            rows: None,
            digest: None,
        }
    }

    fn issued(
        &mut self,
        plan: &Plan,
        sequence: u64,
        phase: u16,
        ticket: &Ticket,
    ) -> Result<Event, DriveError> {
        self.read_meter(sequence, Edge::Start);
        let mut ended = self.attempt(plan, ticket.operation);
        self.read_meter(sequence, Edge::End);
        let fetched = self.fetched(plan, ticket.operation, &mut ended)?;
        self.session.release();
        let scheduled_ns = ticket.due_ns.unwrap_or(ended.started_ns);
        let error = match &ended.result {
            Ok(()) => None,
            Err(error) => Some(self.sink.error_class(ticket.operation, error)),
        };
        if error.is_none() {
            let latency_ns = ended.finished_ns - scheduled_ns;
            self.book.record(ticket.operation, latency_ns, ended.finished_ns - ended.started_ns);
        }
        Ok(Event {
            sequence,
            phase,
            pass: ticket.pass,
            session: self.number,
            operation: ticket.operation,
            scheduled_ns,
            started_ns: Some(ended.started_ns),
            finished_ns: Some(ended.finished_ns),
            outcome: if error.is_none() { Outcome::Ok } else { Outcome::Failed },
            error,
            retries: ended.retries,
            rows: fetched.map(|fetched| fetched.rows),
            digest: fetched.map(|fetched| fetched.digest),
        })
    }

    /// Sends the operation until it succeeds, may not be retried, or was retried often enough.
    fn attempt(&mut self, plan: &Plan, operation: u16) -> Ended {
        let started_ns = self.clock.now_ns();
        let mut retries = 0;
        loop {
            self.watch.begin(started_ns);
            let result = self.session.execute(operation);
            let finished_ns = self.clock.now_ns();
            let cut = self.watch.end();
            let late = plan.operation_deadline_ns > 0
                && finished_ns - started_ns > plan.operation_deadline_ns;
            let result = cut.judge(result, late);
            match &result {
                Err(error) if error.retryable && retries < plan.retries_max => retries += 1,
                _ => return Ended { started_ns, finished_ns, retries, result },
            }
        }
    }

    /// Counts, digests and keeps the rows. An error while looking at rows fails the operation.
    fn fetched(
        &mut self,
        plan: &Plan,
        operation: u16,
        ended: &mut Ended,
    ) -> Result<Option<Fetched>, DriveError> {
        if ended.result.is_err() {
            return Ok(None);
        }
        let fetched = match self.session.fetched() {
            Ok(fetched) => fetched,
            Err(error) => {
                ended.result = Err(error);
                return Ok(None);
            }
        };
        let place = self.results.as_mut().and_then(|r| r.place(plan, operation, fetched));
        if let Some(path) = place {
            self.session.keep(&path).map_err(|error| DriveError::record(path, error.message))?;
        }
        Ok(Some(fetched))
    }

    fn read_meter(&mut self, sequence: u64, edge: Edge) {
        if let Some(meter) = &mut self.meter {
            let counters = meter.read(edge);
            self.sink.reading(sequence, edge, &counters);
        }
    }
}
